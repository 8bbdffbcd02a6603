"""Encode the questions of a file of pairs as a further corpus of the embedded model.

    python recipes/english/questions.py QUORA ENCODED

QUORA holds `train.tsv` and `val.tsv`: two questions per line, lower case, in the tokenisation of the Penn Treebank.
ENCODED is what `prepare.py` wrote; it receives `quora.npy` (each question of train once, whatever its pairs) and
`quora.held.npy` (the questions of val). The vocabulary stays that of the general corpora.
"""

import sys
from pathlib import Path

import numpy as np

from cgmh.evaluation.paraphrases import from_treebank
from cgmh.text.tokenizer import TERMINALS, split
from cgmh.text.vocabulary import Vocabulary

NAME = "quora"


def question(line: str, vocabulary: Vocabulary) -> list[str]:
    """The words of a question, with usual capitals and a question mark; quotes around the whole of it are dropped."""
    words = [vocabulary.recase(word) for word in split(from_treebank(line))]
    if len(words) > 2 and words[0] == words[-1] == '"':
        words = [word for word in words if word != '"']
    while words and words[-1] in {*TERMINALS, ",", ":"}:
        words.pop()
    return [*words, "?"] if words else []


def main(pairs: Path, out: Path) -> None:
    vocabulary = Vocabulary.load(out / "vocabulary.json")
    for part, suffix in (("train", ""), ("val", ".held")):
        lines = (pairs / f"{part}.tsv").read_text(encoding="utf-8").splitlines()
        distinct = dict.fromkeys(text for line in lines for text in line.split("\t"))
        ids: list[int] = []
        number = 0
        for text in distinct:
            words = question(text, vocabulary)
            if 3 <= len(words) <= 40:
                ids += [*vocabulary.encode(words), vocabulary.end]
                number += 1
        np.save(out / f"{NAME}{suffix}.npy", np.array(ids, np.uint16))
        print(f"{part}: {number:,} of {len(distinct):,} questions, {len(ids) - number:,} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
