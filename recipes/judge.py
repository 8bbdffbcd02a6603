"""Train the 5-gram judge of the keyword table, and say how well it predicts what it has not read.

    python recipes/judge.py CORPUS --out DIR

CORPUS holds one sentence per line (plain, ``.gz`` or ``.xz``) and must share no document with what a generator is
trained on. Every hundredth stretch of 500 lines is held out. DIR receives the judge (``words.json``, ``ngrams.npz``)
and ``report.json``.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from cgmh.errors import CgmhError
from cgmh.evaluation.judges import NgramJudge, training_lines


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the 5-gram judge.")
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--words", type=int, default=60_000, help="size of the vocabulary")
    parser.add_argument("--cutoffs", default="0,0,0,1,1", help="n-grams seen at most so often are dropped, by length")
    options = parser.parse_args()
    cutoffs = tuple(int(number) for number in options.cutoffs.split(","))
    began = time.perf_counter()
    judge = NgramJudge.train(training_lines(options.corpus), options.words, cutoffs)
    judge.save(options.out)
    seconds = time.perf_counter() - began
    judge = NgramJudge.load(options.out)
    held = [line for line in training_lines(options.corpus, held=True) if line.strip()]
    report = {
        "signature": judge.signature,
        "cutoffs": cutoffs,
        "held_sentences": len(held),
        "held_perplexity": round(judge.perplexity(held), 2),
        "held_nll_per_sentence": round(float(np.mean(judge.nll(held))), 4),
        "held_unknown_rate": round(judge.unknown_rate(held), 4),
        "megabytes": round(sum(file.stat().st_size for file in options.out.glob("*.*")) / 1e6, 1),
        "seconds": round(seconds, 1),
    }
    text = json.dumps(report, indent=2)
    (options.out / "report.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    try:
        main()
    except (CgmhError, OSError) as error:
        sys.exit(f"judge: {error}")
