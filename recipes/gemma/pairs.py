"""Pairs of a sensible and a nonsensical sentence that people wrote, as row numbers, to tell Gemma one from the other.

    python recipes/gemma/pairs.py DATA MODEL ENCODED

DATA holds ``everyday/comve.jsonl.xz`` and ``everyday/plausibility_pairs.jsonl.xz``; ENCODED is the folder of
``prepare.py`` and receives ``pairs.json``. Of the second file, those pairs are taken whose sense can be seen without a
story before them.
"""

import json
import lzma
import sys
from pathlib import Path

import numpy as np

from cgmh.models.text.scored import ScoredPairs

SOURCES = ("ComVE", "SenMaking2019", "CODAH", "Com2Sense-train", "Com2Sense-dev")
FILES = {"comve": ("sense", "nonsense"), "plausibility_pairs": ("good", "bad")}
MAX_TOKENS = 40


def sentence(context: str, text: str) -> str:
    """A text as a sentence: a capital at the front, a mark at the end."""
    words = f"{context} {text}".split()
    whole = " ".join(words)
    return whole[:1].upper() + whole[1:] + ("" if whole.endswith((".", "?", "!")) else ".")


def main(data: Path, model: Path, encoded: Path) -> None:
    record = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    end = json.loads((model / "config.json").read_text(encoding="utf-8"))["end"]
    tokenizer = ScoredPairs(record["tokens"], record["scores"])
    row_of = {token: at for at, token in enumerate(np.load(encoded / "rows.npy").tolist())}
    pairs = []
    for name, fields in FILES.items():
        with lzma.open(data / "everyday" / f"{name}.jsonl.xz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["source"] in SOURCES:
                    texts = [sentence(row.get("context", ""), row[field]) for field in fields]
                    both = [[row_of.get(token) for token in (*tokenizer.encode(text), end)] for text in texts]
                    if all(None not in ids and len(ids) <= MAX_TOKENS for ids in both):
                        pairs.append(both)
    (encoded / "pairs.json").write_text(json.dumps(pairs))
    print(f"{len(pairs):,} pairs")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
