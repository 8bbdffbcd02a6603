"""What each task takes, as a user types it, with the task's defaults; free of torch, as no model is there yet.

The type of an input tells its task: `tasks.TASKS` says which one that is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from .arguments import choice, flag, listed, number, string, strings, whole_number
from .errors import BadInput
from .settings import USES, Rule, Settings, Use
from .text.facts import KINDS

_KEYWORD = re.compile(r'["“”„]([^"“”„]*)["“”„]|([^\s,，]+)')
_KEYWORD_FIELDS: tuple[tuple[str, Callable[[str, Any], Any]], ...] = (
    ("keywords", strings), ("ordered", flag), ("inflect", flag), ("forbid", strings), ("min_words", whole_number),
    ("max_words", whole_number), ("start", string),
)  # fmt: skip
# An input class names what a request, a row of a file or an option may say beside the words or the text: `options` are
# fields of the input itself, `settings` those of `Settings` that its task takes, among them:
_SETTINGS = ("n", "steps", "chains", "seed", "temperature", "select", "use")
_MATCH = re.compile(r"(\w+)(?:([=:])(\d+(?:\.\d*)?|\.\d+))?")
MATCHES = {
    "kw": "=1",
    "wva": ":40",
    "wvm": ":4",
    "st": ":20",
    "minilm": ":20",
    "cw": ":40",
}  # the matching functions, and what a bare name stands for
PROTECTED = (*KINDS, "places")  # kinds of facts, and their places: their order, and what they stand beside
CORRUPTED = {"copy": 0.0, "corrupt-5": 0.05, "corrupt-10": 0.1, "random": 1.0}  # shares of words replaced at the start
STARTS = ("rewritten", *CORRUPTED)  # where the chains of a paraphrase may start
# Before a paraphrase, a big model reads pairs, and then the source.
PAIRS = (
    "Each pair of lines says the same thing in different words.",
    "How can I learn to swim?",
    "What is the best way to learn swimming?",
    "",
    "The shop closes early on Sundays.",
    "On Sundays the store is only open until noon.",
    "",
)


@dataclass(frozen=True)
class KeywordInput:
    """One set of keywords, and what else the sentence must obey."""

    keywords: tuple[str, ...]
    ordered: bool = False
    inflect: bool = False
    forbid: tuple[str, ...] = ()
    min_words: int = 0
    max_words: int = 20
    start: str = ""  # a sentence to start from, which obeys all this; none: the sampler finds one

    options: ClassVar[tuple[str, ...]] = ("ordered", "inflect", "forbid", "min_words", "max_words", "start")
    settings: ClassVar[tuple[str, ...]] = (*_SETTINGS, "context", "temper", "anneal", "readings")
    defaults: ClassVar[Settings] = Settings()
    rules: ClassVar[tuple[Rule, ...]] = ("best", "likeliest", "first", "last", "consensus")
    uses: ClassVar[tuple[Use, ...]] = ("target", "rerank", "resample")  # of a big model; the first by default

    def __post_init__(self) -> None:
        for name, check in _KEYWORD_FIELDS:
            object.__setattr__(self, name, check(name, getattr(self, name)))

    def __str__(self) -> str:
        return " ".join(f'"{keyword}"' if " " in keyword else keyword for keyword in self.keywords)

    @classmethod
    def read(cls, line: str, **asked: Any) -> "KeywordInput":
        """The keywords of a line: separated by blanks or commas, phrases in double quotes; `asked` are the rest."""
        return cls(tuple(quoted or word for quoted, word in _KEYWORD.findall(string("line", line))), **asked)


@dataclass(frozen=True)
class ParaphraseInput:
    """A sentence to say in other words, and what must stay."""

    text: str
    match: tuple[str, ...] = ("kw", "wvm", "cw", "st")
    protect: tuple[str, ...] = PROTECTED
    max_overlap: float = 90.0  # per cent: answers share less than this with the source (BLEU)
    difference: float = 2.0  # the power of 1 - overlap in the target
    start: str = "rewritten"
    keep: tuple[str, ...] = ()  # words or phrases of the text that stay as they are
    gibbs: bool = False  # step by the paper's kernel
    free: tuple[str, ...] = ()  # words or phrases of the text that may change, though they state a fact

    options: ClassVar[tuple[str, ...]] = ("match", "protect", "max_overlap", "difference", "start", "keep", "free")
    settings: ClassVar[tuple[str, ...]] = (*_SETTINGS, "anneal")
    defaults: ClassVar[Settings] = Settings(chains=32, steps=80, temperature=1.0, context=PAIRS)
    rules: ClassVar[tuple[Rule, ...]] = KeywordInput.rules
    uses: ClassVar[tuple[Use, ...]] = USES
    # What the paper asked, stepped by its kernel: no facts protected, nothing said about difference.
    paper: ClassVar[dict[str, Any]] = {
        "match": ("kw", "wvm:1"), "protect": (), "max_overlap": 55.0, "difference": 0.0, "start": "copy", "gibbs": True,
    }  # fmt: skip
    paper_defaults: ClassVar[Settings] = replace(defaults, n=1, chains=1, steps=100, select="first")

    def __post_init__(self) -> None:
        string("text", self.text)
        object.__setattr__(self, "match", listed("match", self.match))
        object.__setattr__(self, "protect", _checked_kinds(self.protect, PROTECTED))
        for name in ("keep", "free"):
            object.__setattr__(self, name, tuple(dict.fromkeys(listed(name, getattr(self, name)))))
        object.__setattr__(self, "gibbs", flag("gibbs", self.gibbs))
        read_matches(self.match)
        for name, high in {"max_overlap": 100, "difference": 1000}.items():
            object.__setattr__(self, name, number(name, getattr(self, name), 0, high))
        if not self.max_overlap:
            raise BadInput("`max_overlap` 0 is out of range: it must lie above 0 and up to 100")
        choice("start", self.start, STARTS)

    def __str__(self) -> str:
        return self.text

    @property
    def about(self) -> str:
        """What is asked, for the signature of a run."""
        kept = f"match {'+'.join(self.match) or 'none'} | protect {'+'.join(self.protect) or 'none'}"
        kept += f" | keep {', '.join(self.keep)}" if self.keep else ""
        kept += f" | free {', '.join(self.free)}" if self.free else ""
        far = f"max-overlap {self.max_overlap:g} | difference {self.difference:g} | start {self.start}"
        return f"{kept} | {far}" + " | the paper's kernel" * self.gibbs


@dataclass(frozen=True)
class CorrectInput:
    """A text to correct, of one or several sentences, and what is left alone in it."""

    text: str
    protect: tuple[str, ...] = ("numbers", "names", "quotes")
    paper: bool = False  # the target and the steps of the paper

    max_characters: ClassVar[int] = 100_000  # of a text; other inputs are single sentences
    options: ClassVar[tuple[str, ...]] = ("protect",)
    settings: ClassVar[tuple[str, ...]] = (*_SETTINGS, "threshold")
    defaults: ClassVar[Settings] = Settings(n=1, chains=12, steps=50, temperature=1.0, select="threshold", context=())
    rules: ClassVar[tuple[Rule, ...]] = ("threshold", "consensus", "best", "last")
    uses: ClassVar[tuple[Use, ...]] = ("target",)
    paper_defaults: ClassVar[Settings] = replace(defaults, chains=1, steps=100, select="last")

    def __post_init__(self) -> None:
        string("text", self.text)
        object.__setattr__(self, "protect", _checked_kinds(self.protect, KINDS))
        object.__setattr__(self, "paper", flag("paper", self.paper))

    def __str__(self) -> str:
        return self.text

    @property
    def about(self) -> str:
        """What is asked, for the signature of a run."""
        return f"protect {'+'.join(self.protect) or 'none'}" + " | the paper's search" * self.paper


def _checked_kinds(kinds: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    names = listed("protect", kinds)
    for name in names:
        if name not in known:
            raise BadInput(f"`protect` {name}: choose among {', '.join(known)}")
    return names


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
        parts = _MATCH.fullmatch(text.strip())
        if not parts or parts[1] not in MATCHES:
            raise BadInput(
                f"`match` {text}: give one of {', '.join(MATCHES)} or none, as NAME, NAME=LEAST or NAME:POWER"
            )
        usual = MATCHES[parts[1]]
        sign, value = parts[2] or usual[0], float(parts[3] or usual[1:])
        if sign == "=" and not 0 <= value <= 1:
            raise BadInput(f"`match` {text}: a least similarity lies between 0 and 1")
        if sign == ":" and value > 1000:
            raise BadInput(f"`match` {text}: a power lies between 0 and 1000")
        return cls(parts[1], sign == "=", value)


@lru_cache(maxsize=256)
def read_matches(texts: tuple[str, ...]) -> tuple[Match, ...]:
    """The matching functions of `match`: several by plus signs or commas; none for ``none``."""
    names = [part for text in texts for part in re.split(r"[+,\s]+", text) if part]
    if "none" in names and len(names) > 1:
        raise BadInput("`match` none stands alone; leave it out, or leave out the others")
    matches = tuple(Match.read(name) for name in names if name != "none")
    if len({match.name for match in matches}) < len(matches):
        raise BadInput("`match` names a matching function twice; give each once")
    return matches
