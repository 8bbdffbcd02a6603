"""How much of the held-out simplewiki is known from other simplifications of the same sentences.

    python recipes/english/repeats.py DATA

Half of that corpus are ten simplifications of each sentence, by ten people. A 5-gram model learns Wikipedia, talk and
the rest of simplewiki, with none, a third (as `prepare.py` keeps them) or all of the simplifications outside of the
held-out part, and its perplexity on the held-out part is printed. About 12 minutes on one core.
"""

import argparse
import lzma
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from cleaning import THINNED, clean
from prepare import is_held, source_of

from cgmh.evaluation.judges import NgramJudge

NAME = "simplewiki"
OTHERS = ("wikipedia-1", "wikipedia-2", "talk")
KEPT = {"none": 0, "one in three": 3, "all": 1}  # how many simplifications are kept: one in so many


def lines_of(data: Path, name: str) -> Iterator[str]:
    with lzma.open(source_of(data, name), "rt", encoding="utf-8") as lines:
        yield from map(str.strip, lines)


def is_kept(at: int, every: int) -> bool:
    """Whether line number `at` (from 0) is no simplification, or one of those that are kept."""
    ((first, last, _),) = THINNED[NAME]
    return not first <= at + 1 <= last or (every > 0 and at % every == 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    lines = list(lines_of(data, NAME))
    held = [line for at, line in enumerate(lines) if is_held(at) and clean(line, at, NAME) is not None]
    print(f"{len(held)} held-out sentences")
    for name, every in KEPT.items():
        read = [line for at, line in enumerate(lines) if not is_held(at) and is_kept(at, every)]
        judge = NgramJudge.train(chain(*(lines_of(data, other) for other in OTHERS), read))
        print(f"{name}: perplexity {judge.perplexity(held):.1f}", flush=True)


if __name__ == "__main__":
    main()
