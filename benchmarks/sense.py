"""Top sentences for sets of everyday words, to be read: embedded model alone, ranked by a big one, big one as target.

    python benchmarks/sense.py commongen_dev.jsonl
    python benchmarks/sense.py commongen_dev.jsonl --ways target --chains 64 --steps 400
    python benchmarks/sense.py commongen_dev.jsonl --ways target --readings 800

A set is two or three words (by turns) of a CommonGen concept set. The concepts are base forms, so a word may appear in
any inflected form; with --exact, only as it is. Every way runs at its default settings, unless --chains, --steps (of
every way) or --readings (of the target) are given. The big model is the best one installed, or --big. Whether a
sentence is good English and makes sense is for a reader to say; docs/experiments.md has the verdicts. Writes
benchmarks/results/sense-WAY.json, with -exact, -readings-N, -chains-N and -steps-N in its name where they were given.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np

from cgmh.api import solve
from cgmh.evaluation.datasets import concept_sets
from cgmh.inputs import KeywordInput
from cgmh.models.load import open_model
from cgmh.models.pull.store import installed_big
from cgmh.models.word.checkpoint import load_model
from cgmh.settings import Settings

WAYS = ["embedded", "rerank", "target"]


def everyday_sets(path: Path, num_sets: int, seed: int) -> list[tuple[str, ...]]:
    """Two or three words of each of the concept sets drawn."""
    generator = np.random.default_rng(seed)
    sets = []
    for number, concepts in enumerate(concept_sets(path, num_sets, seed=seed)):
        kept = generator.permutation(len(concepts.keywords))[: 2 + number % 2]
        sets.append(tuple(concepts.keywords[at] for at in sorted(kept.tolist())))
    return sets


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concepts", type=Path)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--big", help="a name of `cgmh models list` or a directory; by default the best one installed")
    parser.add_argument("--readings", type=int, help="of the big model as the target, for each set")
    parser.add_argument("--chains", type=int, help="of each set")
    parser.add_argument("--steps", type=int, help="of each chain")
    parser.add_argument("--exact", action="store_true")
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    name = args.big or installed_big()
    if name is None and args.ways != ["embedded"]:
        parser.error("no big model is installed; run: cgmh models pull smollm2, or give --ways embedded")
    small = load_model(None, args.device)
    sets = everyday_sets(args.concepts, args.sets, args.seed)
    inputs = [KeywordInput(words, inflect=not args.exact) for words in sets]
    for way in args.ways:
        big = None
        if way != "embedded":
            big = open_model(name, args.device)
        readings = args.readings if way == "target" else None
        asked = {} if args.chains is None else {"chains": args.chains}
        settings = Settings(steps=args.steps, readings=readings, use=None if big is None else way, **asked)
        began, rows, signature = time.perf_counter(), [], ""
        print(f"\n{way}", flush=True)
        for result in solve(inputs, settings, model=small, big=big, progress=sys.stderr.isatty()):
            rows.append({"keywords": result.input, "sentence": result.best.text, "others": result.texts[1:]})
            signature = result.signature
            print(f"  {result.input} | {result.best.text}", flush=True)
        seconds = round(time.perf_counter() - began, 1)
        print(f"{seconds} s\n{signature}")
        parts = ["sense", *(["exact"] if args.exact else []), way]
        given = {"readings": readings, "chains": args.chains, "steps": args.steps}
        parts += [f"{name}-{value}" for name, value in given.items() if value]
        out = Path(__file__).parent / "results" / f"{'-'.join(parts)}.json"
        record = {
            "signature": signature,
            "sets drawn by seed": args.seed,
            "device": args.device,
            "seconds": seconds,
            "rows": rows,
        }
        out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
