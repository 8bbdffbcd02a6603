"""How often a model finds the sensible one of two sentences: python benchmarks/pairs.py comve.jsonl.xz [--model MODEL]

Each line of the file has a `sense` and a `nonsense` sentence that people wrote, alike in most words. The sensible one
is found if its log probability is the higher one: read forward, read backward, filled word by word, per word as answers
are ranked, and, with --big, by a model of texts. Writes benchmarks/results/pairs.json.
"""

import argparse
import json
import lzma
import random
from pathlib import Path

import numpy as np
import torch

from cgmh import __version__
from cgmh.models.load import as_model
from cgmh.models.protocols import ask
from cgmh.models.word.experts import log_readings
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.readings import read_words
from cgmh.text.tokenizer import split, truecase


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--model", help="a word model in place of the embedded one")
    parser.add_argument("--big", help="a model of texts")
    parser.add_argument("--limit", type=int, default=3000)
    args = parser.parse_args()
    words = as_model(args.model)
    if not isinstance(words, RecurrentModel):
        parser.error(f"{args.model} is no word model; give it as --big")
    with lzma.open(args.pairs, "rt", encoding="utf-8") as lines:
        pairs = [json.loads(line) for line in lines]
    random.Random(0).shuffle(pairs)  # noqa: S311
    texts = [pair[kind].rstrip(". ") + "." for pair in pairs[: args.limit] for kind in ("sense", "nonsense")]
    vocabulary = words.vocabulary
    ids = [tuple(vocabulary.encode(truecase(split(text), vocabulary.is_ordinary))) for text in texts]
    with torch.inference_mode():
        readings = dict(zip(("forward", "backward", "filled"), log_readings(ids, words), strict=True))
    values = {name: reading.cpu().numpy() for name, reading in readings.items()}
    values["as ranked"] = np.array(read_words([tuple(each) for each in ids], words).fluency())
    big = None if args.big is None else as_model(args.big)
    if big is not None and not isinstance(big, RecurrentModel):
        values[big.name] = ask(big, texts).numpy()
    found = {name: round(float((value[::2] > value[1::2]).mean()), 4) for name, value in values.items()}
    for name, share in found.items():
        print(f"{name:40} {share:.1%}")
    signature = f"cgmh {__version__} | {len(texts) // 2} pairs of {args.pairs.name} | {words.name}"
    print(signature)
    out = Path(__file__).parent / "results" / "pairs.json"
    out.write_text(json.dumps({"signature": signature, "found": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
