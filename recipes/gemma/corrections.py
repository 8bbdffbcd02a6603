"""Encode mistaken sentences with what was meant, from which Gemma learns to read one after the other.

    python recipes/gemma/corrections.py MISTAKES MODEL ENCODED

MISTAKES is what ``mistakes.py`` wrote: on each line a JSON list of a mistaken and of the meant text. ENCODED is the
folder of ``prepare.py`` and receives ``corrections.npy``: an asterisk and the mistaken sentence, a new line, the meant
sentence and the end token. Lines with a token that has no row are left out.
"""

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np

from cgmh.models.text.mistaken import line_of
from cgmh.models.text.scored import ScoredPairs

MAX_LENGTH, NUM_PROCESSES, TOGETHER = 96, 14, 5_000


@lru_cache(maxsize=1)
def _opened(model: Path, encoded: Path) -> tuple[ScoredPairs, dict[int, int], int]:
    record = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    row_of = {token: at for at, token in enumerate(np.load(encoded / "rows.npy").tolist())}
    end = row_of[json.loads((model / "config.json").read_text(encoding="utf-8"))["end"]]
    return ScoredPairs(record["tokens"], record["scores"]), row_of, end


def encode(task: tuple[list[str], Path, Path]) -> list[int]:
    lines, model, encoded = task
    pairs, row_of, end = _opened(model, encoded)
    result: list[int] = []
    for mistaken, meant in map(json.loads, lines):
        rows = [row_of.get(token) for token in (*pairs.encode(line_of(mistaken)), *pairs.encode(meant))]
        known = [row for row in rows if row is not None]
        if len(known) == len(rows) < MAX_LENGTH:
            result += [*known, end]
    return result


def main(mistakes: Path, model: Path, encoded: Path) -> None:
    lines = mistakes.read_text(encoding="utf-8").splitlines()
    tasks = [(lines[at : at + TOGETHER], model, encoded) for at in range(0, len(lines), TOGETHER)]
    with ProcessPoolExecutor(NUM_PROCESSES) as pool:
        rows = [row for part in pool.map(encode, tasks) for row in part]
    np.save(encoded / "corrections.npy", np.array(rows, np.uint16))
    print(f"{len(lines):,} lines, {len(rows):,} tokens")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
