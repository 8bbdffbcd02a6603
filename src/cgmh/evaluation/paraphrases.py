"""Paraphrases against what people wrote: BLEU with the reference, BLEU with the source, and both in one number.

Lines are compared token by token as they stand in the data: lower case, in the tokenisation of the Penn Treebank, which
writes ``ca n't``, ``-lrb-``, `` `` '' ``. The sampler reads natural text, so lines are brought into it and back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..training.corpus import read_lines
from .bleu import SIGNATURE, bleu, sentence_bleu

Score = TypeVar("Score", float, NDArray[np.float64])

PARTS = ("train", "val", "test")  # of the data, by their files
REFERENCE_SHARE = 0.9  # of BLEU-ref in iBLEU; the rest is what BLEU-ori takes away
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_MARKS = {**_BRACKETS, "``": '"', "''": '"'}
_TOKENS = {"‘": "`", **{mark: token for token, mark in _BRACKETS.items()}}
_SINGLE = re.compile(r"(?<!\S)` (\S(?:[^`]*?\S)?) '(?!\S)")  # ` so quoted '
_CLITIC = re.compile(r"(?<=\w) (n't|'(?:s|re|ve|ll|d|m))(?!\S)", re.IGNORECASE)
_CANNOT = re.compile(r"\b([Cc]an) not\b")
_ENDING = re.compile(r"^(\w.*)('(?:s|re|ve|ll|d|m))$", re.IGNORECASE)


@dataclass(frozen=True)
class Pair:
    """A sentence, and one paraphrase of it that somebody wrote; both tokenised."""

    source: str
    reference: str


@dataclass(frozen=True)
class Question(Pair):
    """A pair of a file, and its line there (from 1): what a table counts by."""

    line: int

    @property
    def key(self) -> str:
        return f"{self.line}: {self.source}"


@dataclass(frozen=True)
class Scores:
    """What a list of paraphrases reaches: BLEU of the corpus and, as a second view, the mean over its sentences."""

    num_pairs: int
    bleu_ref: float
    bleu_ori: float
    ibleu: float
    sentence_bleu_ref: float
    sentence_bleu_ori: float
    mean_length: float  # tokens
    copies: float  # share of outputs that are the source, token for token
    signature: str


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of a file, on each line a source, a tab and a reference. A source may stand in several lines."""
    pairs = []
    for number, line in enumerate(read_lines(path), start=1):
        fields = [" ".join(part.split()) for part in line.split("\t")]
        if len(fields) != 2:
            raise BadInput(f"{path}, line {number}: {len(fields)} fields; give a source, a tab and a reference")
        if not all(fields):
            missing = "reference" if fields[0] else "source"
            raise BadInput(f"{path}, line {number}: the {missing} is empty; fill it in or drop the line")
        pairs.append(Pair(*fields))
    if not pairs:
        raise BadInput(f"{path}: empty; give at least one pair")
    return pairs


def read_questions(path: Path) -> list[Question]:
    """The pairs of a file with their lines."""
    return [Question(pair.source, pair.reference, at) for at, pair in enumerate(read_pairs(path), start=1)]


def quotable(own: str, parts: Mapping[str, Sequence[Pair]]) -> list[str]:
    """The questions that an output may be, of all parts, its own first; of each part sources, then references."""
    lines = []
    for part in (own, *(part for part in PARTS if part != own)):
        lines += [pair.source for pair in parts[part]] + [pair.reference for pair in parts[part]]
    return lines


def sources(pairs: Sequence[Pair]) -> list[str]:
    """The distinct sources, in the order in which they first appear."""
    return list(dict.fromkeys(pair.source for pair in pairs))


def from_treebank(line: str) -> str:
    """The line with its brackets, quotes and contractions as people write them; other tokens stay apart."""
    line = _SINGLE.sub(r"'\1'", " ".join(line.split()))
    line = " ".join(_MARKS.get(token.lower(), token) for token in line.split())
    return _CANNOT.sub(r"\1not", _CLITIC.sub(r"\1", line))


def to_treebank(words: Sequence[str]) -> list[str]:
    """The words in lower case with contractions and marks as the Treebank has them."""
    tokens: list[str] = []
    opened = False
    for word in map(str.lower, words):
        if word == '"':
            tokens.append("''" if opened else "``")
            opened = not opened
        elif word == "cannot":
            tokens += ["can", "not"]
        elif word.endswith("n't") and len(word) > 3:
            tokens += [word[:-3], "n't"]
        elif match := _ENDING.match(word):
            tokens += match.groups()
        else:
            tokens.append(_TOKENS.get(word, word))
    return tokens


def as_line(words: Sequence[str], source: str) -> str:
    """The words of an answer as a line like its source: Treebank tokens, a question mark at the end only if there."""
    tokens = to_treebank(words)
    if tokens[-1:] == ["?"] != source.split()[-1:]:
        tokens.pop()
    return " ".join(tokens)


def as_question(line: str) -> str:
    """The line as a model of natural text should see it: with a question mark at its end, whatever the data has."""
    text = from_treebank(line)
    return text if text.rstrip('" ').endswith(("?", ".", "!")) else f"{text} ?"


def ibleu(bleu_ref: Score, bleu_ori: Score) -> Score:
    """BLEU with the reference, less a part of BLEU with the source: a copy is no paraphrase."""
    return REFERENCE_SHARE * bleu_ref - (1 - REFERENCE_SHARE) * bleu_ori


def measure(outputs: Sequence[str], pairs: Sequence[Pair]) -> Scores:
    """The scores of the outputs, one for each pair."""
    ori, ref = [pair.source for pair in pairs], [pair.reference for pair in pairs]
    bleu_ref, bleu_ori = bleu(outputs, ref), bleu(outputs, ori)
    return Scores(
        num_pairs=len(pairs),
        bleu_ref=bleu_ref,
        bleu_ori=bleu_ori,
        ibleu=ibleu(bleu_ref, bleu_ori),
        sentence_bleu_ref=float(np.mean(sentence_bleu(outputs, ref))),
        sentence_bleu_ori=float(np.mean(sentence_bleu(outputs, ori))),
        mean_length=float(np.mean([len(line.split()) for line in outputs])),
        copies=float(np.mean([line.split() == source.split() for line, source in zip(outputs, ori, strict=True)])),
        signature=SIGNATURE,
    )
