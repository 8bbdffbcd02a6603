"""What a run gives back."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .text.edits import Edit
from .text.m2 import to_m2
from .text.passages import Passage


def _rounded(value: float, digits: int) -> float | None:
    """For JSON, which knows no infinity: what is impossible has no number."""
    return round(value, digits) if math.isfinite(value) else None


def _number(value: float | None) -> float:
    """The way back: what had no number is none."""
    return math.nan if value is None else value


@dataclass(frozen=True)
class Sentence:
    """One answer.

    `nll_per_word` is the mean negative log probability of its words and the end mark, under the model that was sampled;
    `log_big` its log probability under a big model that only ranked or weighted it. A paraphrase has its `similarity`
    to the source, 0 to 1, and its `overlap` with it, BLEU in per cent.
    """

    text: str
    words: tuple[str, ...]
    nll_per_word: float
    log_target: float
    log_big: float | None = None
    similarity: float | None = None
    overlap: float | None = None

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "words": list(self.words),
            "nll_per_word": _rounded(self.nll_per_word, 4),
            "log_target": _rounded(self.log_target, 4),
            **{
                name: _rounded(value, 4)
                for name in ("log_big", "similarity", "overlap")
                if (value := getattr(self, name)) is not None
            },
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Sentence":
        """The sentence that `to_dict` wrote."""
        numbers = (_number(record["nll_per_word"]), _number(record["log_target"]))
        figures: dict[str, Any] = {name: record.get(name) for name in ("log_big", "similarity", "overlap")}
        return cls(record["text"], tuple(record["words"]), *numbers, **figures)


@dataclass(frozen=True)
class Step:
    """One line of a trace: the sentence proposed at a step, the move, its log acceptance ratio, and its fate."""

    step: int
    text: str
    move: str
    log_ratio: float
    accepted: bool

    def to_dict(self) -> dict[str, Any]:
        """For JSON, which knows no infinity: an impossible step has no log ratio."""
        return {**asdict(self), "log_ratio": self.log_ratio if math.isfinite(self.log_ratio) else None}


@dataclass(frozen=True)
class Result:
    """The answers to one input, best first; acceptance rates by move; one line that says how they came about.

    `effective_samples` is set where samples were weighted: how many independent samples they are worth. `notes` are
    what the task says about the input: a paraphrase's kept keywords and protected words.
    """

    input: str
    sentences: tuple[Sentence, ...]
    acceptance: dict[str, float | None]
    signature: str
    trace: tuple[Step, ...] = field(default=(), repr=False)
    effective_samples: float | None = None
    exchange_rates: tuple[float | None, ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    edits: tuple[Edit[str], ...] | None = None  # of a correction: those made
    doubtful: tuple[Edit[str], ...] = ()  # and those that some samples make, too few
    traced_from: str | None = field(default=None, repr=False)  # the sentence at which the traced chain began, if known
    passage: Passage | None = field(default=None, repr=False)  # of a correction: the input, its sentences and words

    @property
    def is_poor(self) -> bool:
        """Whether weighted samples are worth too few to stand for the distribution that was asked for."""
        return self.effective_samples is not None and self.effective_samples < max(10, len(self))

    @property
    def best(self) -> Sentence:
        return self.sentences[0]

    @property
    def texts(self) -> list[str]:
        return [sentence.text for sentence in self.sentences]

    def __iter__(self) -> Iterator[Sentence]:
        return iter(self.sentences)

    def __len__(self) -> int:
        return len(self.sentences)

    def _edits(self) -> dict[str, Any]:
        return {name: [edit.to_dict() for edit in getattr(self, name) or ()] for name in ("edits", "doubtful")}

    def to_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "input": self.input,
            **self.notes,
            **({} if self.edits is None else self._edits()),
            "results": [sentence.to_dict() for sentence in self.sentences],
            "acceptance": {move: None if rate is None else round(rate, 4) for move, rate in self.acceptance.items()},
            **({} if self.effective_samples is None else {"effective_samples": round(self.effective_samples, 2)}),
            **({"exchange_rates": [r and round(r, 4) for r in self.exchange_rates]} if self.exchange_rates else {}),
            "signature": self.signature,
        }

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> "Result":
        """The result that `to_dict` wrote: without a trace, its numbers rounded."""
        written = ("input", "edits", "doubtful", "results", "acceptance", "effective_samples", "exchange_rates")
        edits, doubtful = (
            tuple(Edit[str].from_dict(edit) for edit in record.get(name, ())) for name in ("edits", "doubtful")
        )
        return cls(
            record["input"],
            tuple(map(Sentence.from_dict, record["results"])),
            dict(record["acceptance"]),
            record["signature"],
            effective_samples=record.get("effective_samples"),
            exchange_rates=tuple(record.get("exchange_rates", ())),
            notes={name: value for name, value in record.items() if name not in (*written, "signature", "trace")},
            edits=edits if "edits" in record else None,
            doubtful=doubtful,
        )

    def to_m2(self, *, tokenised: bool | None = None) -> str:
        """The edits of a correction in the format M2 (`cgmh.text.m2`), as `cgmh correct --m2` prints them.

        A `tokenised` text keeps its tokens and has a block for each line; None: if it looks like one.
        """
        if self.passage is None or self.edits is None:
            raise ValueError("only a correction has edits, which M2 is about")
        return "".join(f"{block}\n\n" for block in to_m2(self.passage, self.edits, tokenised=tokenised))


@dataclass(frozen=True)
class Score:
    """How probable a sentence is; the perplexity is per word, the end of the sentence counting as one."""

    text: str
    words: tuple[str, ...]
    log_prob: float
    perplexity: float
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, text: str, words: Sequence[str], log_prob: float, unknown: tuple[str, ...]) -> "Score":
        """The score of a text with this log probability."""
        try:
            perplexity = math.exp(-log_prob / (len(words) + 1))
        except OverflowError:
            perplexity = math.inf
        return cls(text, tuple(words), log_prob, perplexity, unknown)

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "words": list(self.words),
            "log_prob": _rounded(self.log_prob, 4),
            "perplexity": _rounded(self.perplexity, 3),
            "unknown": list(self.unknown),
        }
