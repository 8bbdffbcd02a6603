"""Log probabilities of a pulled LLM beside the reference implementation (transformers), sentence by sentence.

    python benchmarks/parity.py SENTENCES FILE.gguf [--model smollm2 | gemma3-270m]

SENTENCES is a text file of one sentence per line, of which the first hundred are scored; FILE.gguf is what the model
was converted from (`cgmh models show NAME` names the wheels that hold it). The reference reads each sentence alone,
unpadded, in float32: SmolLM2 between two <|endoftext|>; Gemma between <bos> and the end of a paragraph, with the values
that the gguf package reads and the tokens of our tokenizer (transformers would make a wrong one from this file). Needs
`pip install 'cgmh[hf]' gguf accelerate`. Writes benchmarks/results/parity.json, or parity-MODEL.json.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, Gemma3ForCausalLM, Gemma3TextConfig
from transformers import __version__ as transformers_version

from cgmh import __version__
from cgmh.models.pull.store import INT8, path_of, read_config
from cgmh.models.text.llama import load_llama

NUM_SENTENCES = 100


GEMMA_PARTS = {
    "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj", "attn_norm": "input_layernorm", "ffn_norm": "pre_feedforward_layernorm",
    "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm",
    "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
}  # fmt: skip


def gemma(file: Path, network: dict[str, Any]) -> Gemma3ForCausalLM:
    """Transformers' Gemma with the values of a GGUF file, whose norms are theirs plus 1."""
    config = Gemma3TextConfig(
        vocab_size=network["num_tokens"], hidden_size=network["width"], intermediate_size=network["hidden"],
        num_hidden_layers=network["layers"], num_attention_heads=network["heads"],
        num_key_value_heads=network["kv_heads"], head_dim=network["head"], rms_norm_eps=network["epsilon"],
        sliding_window=512, query_pre_attn_scalar=network["head"],
    )  # fmt: skip
    weights = {}
    for tensor in gguf.GGUFReader(file).tensors:
        values = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        *layer, part, _ = tensor.name.split(".")
        ours = f"layers.{layer[1]}.{GEMMA_PARTS[part]}" if layer else {"token_embd": "embed_tokens"}.get(part, "norm")
        weights[f"model.{ours}.weight"] = values - 1 if values.ndim == 1 else values
    reference = Gemma3ForCausalLM(config)
    reference.load_state_dict({**weights, "lm_head.weight": weights["model.embed_tokens.weight"]}, strict=True)
    return reference.eval()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("gguf", type=Path)
    parser.add_argument("--model", default="smollm2")
    args = parser.parse_args()
    texts = [line for line in args.sentences.read_text(encoding="utf-8").splitlines() if line.strip()][:NUM_SENTENCES]
    directory = Path(args.model) if Path(args.model).is_dir() else path_of(args.model)
    record = read_config(directory)
    is_gemma = record["network"].get("gemma", False)
    if is_gemma:
        reference, encode = gemma(args.gguf, record["network"]), load_llama(directory, precision="float32").encode
    else:
        where = {"pretrained_model_name_or_path": str(args.gguf.parent), "gguf_file": args.gguf.name}
        tokenizer = AutoTokenizer.from_pretrained(**where)
        reference = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32).eval()

        def encode(text: str) -> list[int]:
            return tokenizer(text)["input_ids"]

    expected, num_tokens = [], 0
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor([[record["boundary"], *encode(text), record.get("end", record["boundary"])]])
            num_tokens += ids.shape[1] - 1
            logs = reference(ids).logits[0, :-1].double().log_softmax(-1)
            expected.append(float(logs.gather(1, ids[0, 1:, None]).sum()))
    rows = []
    for precision in ("float32", "bfloat16", *(["int8"] if INT8 in record["sha256"] else [])):
        log_probs = load_llama(directory, precision=precision).log_prob(texts)
        gain = log_probs - torch.tensor(expected, dtype=torch.float64)
        error, per_token = gain.abs(), float(gain.sum()) / num_tokens
        figures = {"largest": float(error.max()), "mean": float(error.mean()), "change per token": per_token}
        rows.append({"precision": precision, **{name: round(figure, 5) for name, figure in figures.items()}})
        print(rows[-1], flush=True)
    signature = (
        f"cgmh {__version__} | {directory.name} | {len(texts)} sentences, mean log probability "
        f"{sum(expected) / len(expected):.2f} | torch {torch.__version__} | transformers {transformers_version}"
    )
    out = Path(__file__).parent / "results" / (f"parity-{directory.name}.json" if is_gemma else "parity.json")
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
