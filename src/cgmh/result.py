"""What a run gives back."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Sentence:
    """One answer. `nll_per_word` is the mean negative log probability of its words and the end mark."""

    text: str
    words: tuple[str, ...]
    nll_per_word: float
    log_target: float

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "words": list(self.words),
            "nll_per_word": round(self.nll_per_word, 4),
            "log_target": round(self.log_target, 4),
        }


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
    """The answers to one input, best first; acceptance rates by move; one line that says how they came about."""

    input: str
    sentences: tuple[Sentence, ...]
    acceptance: dict[str, float | None]
    signature: str
    trace: tuple[Step, ...] = field(default=(), repr=False)

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

    def to_dict(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {
            "input": self.input,
            "results": [sentence.to_dict() for sentence in self.sentences],
            "acceptance": {move: None if rate is None else round(rate, 4) for move, rate in self.acceptance.items()},
            "signature": self.signature,
        }


@dataclass(frozen=True)
class Score:
    """How probable a sentence is; the perplexity is a word's, the end of the sentence counting as one."""

    text: str
    words: tuple[str, ...]
    log_prob: float
    perplexity: float
    unknown: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "words": list(self.words),
            "log_prob": round(self.log_prob, 4),
            "perplexity": round(self.perplexity, 3),
            "unknown": list(self.unknown),
        }
