"""How many sentences per second a pulled LLM scores, and how far each precision is from float32.

    python benchmarks/scoring.py SENTENCES                      # two precisions on the CPU, batches of 64
    python benchmarks/scoring.py SENTENCES --device cuda --batch 8192

SENTENCES is a text file of one sentence per line; used are those of exactly 16 tokens, all different, repeated in other
batches if they are too few. Each precision scores for at least ten seconds. Writes
benchmarks/results/scoring-DEVICE.json.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import torch

from cgmh import __version__
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import load_llama

TOKENS = 16
SECONDS = 10.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("--model", default="smollm2", help="a name of `cgmh models list` or a directory")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--precision", nargs="+", default=["float32", "bfloat16"])
    args = parser.parse_args()
    directory = Path(args.model) if Path(args.model).is_dir() else path_of(args.model)
    lines = list(dict.fromkeys(args.sentences.read_text(encoding="utf-8").splitlines()))
    rows, reference = [], None
    for precision in args.precision:
        model = load_llama(directory, args.device, precision)
        texts = [line for line in lines if line.strip() and len(model.tokenizer.encode(line)) == TOKENS]
        texts *= -(-args.batch // len(texts))  # on a GPU a batch is larger than a file; a text then counts each time
        log_probs = model.log_prob(texts[:256])
        reference = log_probs if reference is None else reference
        error = (log_probs - reference).abs()
        scored, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            at = scored % max(len(texts) - args.batch + 1, 1)
            model.log_prob(distinct(texts[at : at + args.batch], scored))
            scored += args.batch
        seconds = time.perf_counter() - began
        rows.append(
            {
                "precision": precision,
                "sentences_per_second": round(scored / seconds, 1),
                "mean_error": round(float(error.mean()), 4),
                "largest_error": round(float(error.max()), 4),
                "mean_log_prob": round(float(log_probs.mean()), 2),
            }
        )
        print(rows[-1], flush=True)
    where = torch.cuda.get_device_name() if args.device == "cuda" else platform.processor() or platform.machine()
    signature = (
        f"cgmh {__version__} | {model.name} | {where} | torch {torch.__version__} | "
        f"threads {torch.get_num_threads()} | batch {args.batch} | {TOKENS} tokens"
    )
    out = Path(__file__).parent / "results" / f"scoring-{args.device}.json"
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    print(signature)


def distinct(texts: list[str], number: int) -> list[str]:
    """The texts, copies of a text made different by their last mark or a number: equal ones would be scored once."""
    copies: dict[str, int] = {}
    different = []
    for text in texts:
        copy = copies[text] = copies.get(text, -1) + 1
        marked = f"{text[:-1]}{'!?;,:'[copy % 5]}" if copy < 6 else f"{copy + number} {text}"
        different.append(marked if copy else text)
    return different


if __name__ == "__main__":
    main()
