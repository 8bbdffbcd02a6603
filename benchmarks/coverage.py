"""Share of keyword sets whose every sentence contains the keywords, checked by code that is not the constraint.

    python benchmarks/coverage.py DATA

DATA is a tokenised file of one sentence per line; the sets are 1 to 4 words of a sentence. Few chains and steps are
enough: the keywords must be there after any number of steps. Writes benchmarks/results/coverage.json.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from tqdm import tqdm

from cgmh.api import solve
from cgmh.errors import CgmhError
from cgmh.evaluation.checkers import covers, flaws
from cgmh.evaluation.datasets import keyword_sets
from cgmh.inputs import KeywordInput
from cgmh.models.load import load_models
from cgmh.ranking import signature
from cgmh.settings import Settings

MAX_SHOWN = 20  # failures that are printed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--chains", type=int, default=8)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--ordered", action="store_true", help="ask for the words in the order in which they were drawn"
    )
    parser.add_argument("--inflect", action="store_true", help="allow inflected forms")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "coverage.json")
    args = parser.parse_args()
    options = {"ordered": args.ordered, "inflect": args.inflect}
    sets = keyword_sets(args.data, args.sets, args.seed)
    settings = Settings(steps=args.steps, chains=args.chains, seed=args.seed)
    inputs = [KeywordInput(each.keywords, **options) for each in sets]
    uncovered, flawed, covered_sets, num_sentences, num_short = [], [], 0, 0, 0
    began = time.perf_counter()
    results = solve(inputs, settings)
    for each, result in tqdm(zip(sets, results, strict=True), total=len(sets), unit="set", file=sys.stderr):
        missed = [text for text in result.texts if not covers(text, each.keywords, **options)]
        uncovered += [{"line": each.line, "keywords": each.keywords, "text": text} for text in missed]
        flawed += [{"line": each.line, "text": text, "flaws": flaws(text)} for text in result.texts if flaws(text)]
        covered_sets += bool(result.texts) and not missed
        num_sentences += len(result.texts)
        num_short += len(result.texts) < settings.n
    seconds = time.perf_counter() - began
    asked = "".join(f" | {name}" for name, chosen in options.items() if chosen)
    run = signature("keywords", load_models(), settings)
    report = {
        "signature": f"{run} | coverage of {args.sets} sets of 1-4 words{asked}",
        "sets": len(sets),
        "sets_covered": covered_sets,
        "share_of_sets_covered": covered_sets / len(sets),
        "sentences": num_sentences,
        "share_of_sentences_covered": 1 - len(uncovered) / num_sentences,
        "sets_with_fewer_sentences_than_asked": num_short,
        "uncovered": uncovered,
        "flawed": flawed,
        "seconds": round(seconds, 1),
    }
    for failure in [*uncovered, *flawed][:MAX_SHOWN]:
        print(json.dumps(failure, ensure_ascii=False))
    print(f"sets covered       {covered_sets} of {len(sets)} ({covered_sets / len(sets):.1%})")
    print(f"sentences covered  {num_sentences - len(uncovered)} of {num_sentences}")
    print(f"sentences flawed   {len(flawed)}; sets with fewer than {settings.n} sentences {num_short}; {seconds:.0f} s")
    print(report["signature"])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"coverage: {error}")
