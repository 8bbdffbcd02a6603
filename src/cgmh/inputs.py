"""What a user types, before any model is there."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .errors import BadInput
from .text.facts import KINDS
from .text.passages import Passage, SourceSentence

_KEYWORD = re.compile(r'"([^"]*)"|([^\s,]+)')


@dataclass(frozen=True)
class KeywordInput:
    """One set of keywords and what else the sentence must obey."""

    keywords: tuple[str, ...]
    ordered: bool = False
    inflect: bool = False
    forbid: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int = 20

    def __str__(self) -> str:
        return " ".join(f'"{keyword}"' if " " in keyword else keyword for keyword in self.keywords)


def read_keywords(line: str) -> tuple[str, ...]:
    """The keywords of a line: separated by blanks or commas, phrases in double quotes."""
    return tuple(match.group(1) if match.group(1) is not None else match.group(2) for match in _KEYWORD.finditer(line))


MATCHES = {
    "kw": "=1",
    "wva": ":40",
    "wvm": ":4",
    "st": ":20",
    "minilm": ":20",
    "cw": ":40",
}  # the matching functions, and what a bare name stands for
STARTS = {"copy": 0.0, "corrupt-5": 0.05, "corrupt-10": 0.1, "random": 1.0}  # shares of words replaced at the start
_MATCH = re.compile(r"(\w+)(?:([=:])(\d+(?:\.\d*)?|\.\d+))?")


@dataclass(frozen=True)
class Match:
    """A matching function as a hard constraint (at least `value`) or as a soft one (to the power of `value`)."""

    name: str
    hard: bool
    value: float

    @property
    def keeps_all(self) -> bool:
        """Whether every keyword must stay."""
        return self == Match("kw", True, 1.0)

    @classmethod
    def read(cls, text: str) -> "Match":
        """``kw`` is the usual form, ``kw=0.5`` hard: at least a half, ``wvm:4`` soft: to the power of 4."""
        found = _MATCH.fullmatch(text.strip())
        if not found or found[1] not in MATCHES:
            raise BadInput(
                f"--match {text}: give one of {', '.join(MATCHES)} or none, as NAME, NAME=LEAST or NAME:POWER"
            )
        usual = MATCHES[found[1]]
        sign, value = found[2] or usual[0], float(found[3] or usual[1:])
        if sign == "=" and not 0 <= value <= 1:
            raise BadInput(f"--match {text}: a least similarity lies between 0 and 1")
        if sign == ":" and value > 1000:
            raise BadInput(f"--match {text}: a power lies between 0 and 1000")
        return cls(found[1], sign == "=", value)


def read_matches(texts: Sequence[str]) -> tuple[Match, ...]:
    """The matching functions of ``--match``: several by plus signs or commas; none for ``none``."""
    names = [part for text in texts for part in re.split(r"[+,\s]+", text) if part]
    if "none" in names and len(names) > 1:
        raise BadInput("--match none stands alone; leave it out, or leave out the others")
    matches = tuple(Match.read(name) for name in names if name != "none")
    if len({match.name for match in matches}) < len(matches):
        raise BadInput("--match names a matching function twice; give each once")
    return matches


@dataclass(frozen=True)
class ParaphraseInput:
    """A sentence to say in other words, and what must stay."""

    text: str
    match: tuple[str, ...] = ("kw", "wvm", "cw", "st")
    protect: tuple[str, ...] = KINDS
    max_overlap: float = 55.0  # per cent: answers share less than this with the source (BLEU)
    difference: float = 2.0  # the power of 1 - overlap in the target
    start: str = "copy"
    gibbs: bool = False  # step by the paper's kernel

    def __str__(self) -> str:
        return self.text

    @property
    def about(self) -> str:
        """What is asked, for the signature of a run."""
        kept = f"match {'+'.join(self.match) or 'none'} | protect {'+'.join(self.protect) or 'none'}"
        far = f"max-overlap {self.max_overlap:g} | difference {self.difference:g} | start {self.start}"
        return f"{kept} | {far}" + " | the paper's kernel" * self.gibbs

    def __post_init__(self) -> None:
        read_matches(self.match)
        for kind in self.protect:
            if kind not in KINDS:
                raise BadInput(f"--protect {kind}: choose among {', '.join(KINDS)}")
        if not 0 < self.max_overlap <= 100:
            raise BadInput(f"--max-overlap {self.max_overlap:g} is out of range: it must lie between 0 and 100")
        if not 0 <= self.difference <= 1000:
            raise BadInput(f"--difference {self.difference:g} is out of range: it must lie between 0 and 1000")
        if self.start not in STARTS:
            raise BadInput(f"--start {self.start}: choose one of {', '.join(STARTS)}")


# What the paper asked of a paraphrase, stepped by its kernel: no facts protected, nothing said about difference.
PAPER_INPUT: dict[str, Any] = {"match": ("kw", "wvm:1"), "protect": (), "difference": 0.0, "gibbs": True}


LONGEST = 120  # words and marks of a sentence to correct
PROTECTED = ("numbers", "names", "quotes")  # what a correction leaves alone, unless told otherwise


@dataclass(frozen=True)
class CorrectInput:
    """A text to correct, of one or several sentences, and what is left alone in it."""

    text: str
    protect: tuple[str, ...] = PROTECTED
    paper: bool = False  # the target and the steps of the paper

    def __str__(self) -> str:
        return self.text

    def __post_init__(self) -> None:
        for kind in self.protect:
            if kind not in KINDS:
                raise BadInput(f"--protect {kind}: choose among {', '.join(KINDS)}")


@dataclass(frozen=True)
class SentenceInput:
    """One sentence of a text to correct."""

    passage: Passage
    number: int
    protect: tuple[str, ...] = PROTECTED
    paper: bool = False

    @property
    def sentence(self) -> SourceSentence:
        return self.passage.sentences[self.number]

    @property
    def about(self) -> str:
        """What is asked, for the signature of a run."""
        return f"protect {'+'.join(self.protect) or 'none'}" + " | the paper's search" * self.paper

    def __str__(self) -> str:
        return self.passage.text[self.sentence.start : self.sentence.end]
