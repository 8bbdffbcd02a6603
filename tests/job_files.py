"""Inputs of jobs, and a model so small that a row takes milliseconds."""

import json
import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from recurrent_toys import tiny_model

WORDS = ("the", "The", "cat", "Cat", "sat", "dog", "saw", "a", ",", "!", "?", ".")
NOUNS, THE = ("cat", "dog", "catt", "dogs"), ("the", "a", "teh", "the the")
SMALL = ("--chains", "128", "--steps", "1")  # four rows run together


@lru_cache(maxsize=1)
def model() -> str:
    """The directory of a tiny model."""
    directory = Path(mkdtemp(prefix="cgmh-tests-job-"))
    tiny_model(directory, words=WORDS)
    return str(directory)


def texts(number: int, seed: int = 0) -> list[dict[str, Any]]:
    """Rows to correct."""
    chance = random.Random(seed)
    return [
        {"text": f"The {chance.choice(NOUNS)} saw {chance.choice(THE)} {chance.choice(NOUNS)}."} for _ in range(number)
    ]


def write_lines(path: Path, rows: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def job(source: Path | str, out: Path, *options: str) -> list[str]:
    """The arguments of a job on the tiny model."""
    return ["run", "correct", str(source), "--out", str(out), "--model", model(), *SMALL, *options]
