"""A constraint of one's own, written as a Python function of the words."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import torch
from torch import Tensor

from ..errors import BadInput
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from .protocols import Claim

Function = Callable[[list[str]], float]


@dataclass(frozen=True)
class UserConstraint(Claim):
    """A function of the words as a claim: see `constraint`."""

    name: str
    function: Function
    hard: bool
    weight: float = 1.0

    def bound(self, lexicon: Lexicon) -> "PythonConstraint":
        return PythonConstraint(self.name, self.function, lexicon, hard=self.hard, weight=self.weight)

    def __call__(self, words: list[str]) -> float:
        return self.function(words)


@overload
def constraint(function: Function) -> UserConstraint: ...


@overload
def constraint(*, hard: bool = False, weight: float = 1.0) -> Callable[[Function], UserConstraint]: ...


def constraint(
    function: Function | None = None, *, hard: bool = False, weight: float = 1.0
) -> UserConstraint | Callable[[Function], UserConstraint]:
    """Make a constraint of a function of the words: ``@cgmh.constraint(hard=True)``.

    A hard one says whether a sentence is allowed; a soft one gives a log factor, which `weight` multiplies. The
    function must be pure. Its name is the constraint's.
    """

    def decorate(function: Function) -> UserConstraint:
        return UserConstraint(getattr(function, "__name__", "constraint"), function, hard, weight)

    return decorate if function is None else decorate(function)


class PythonConstraint:
    """A function of one sentence's words: true or false if hard, a log factor if soft.

    The function must be pure: the same words give the same answer. It runs once for each distinct sentence of a batch.
    """

    def __init__(self, name: str, function: Function, lexicon: Lexicon, *, hard: bool, weight: float = 1.0) -> None:
        self.name = name
        self.hard = hard
        self._function = function
        self._lexicon = lexicon
        self._weight = weight

    def log_factor(self, sentences: Sentences) -> Tensor:
        rows = [tuple(ids) for ids in sentences.to_lists()]
        factors = {ids: self._ask(ids) for ids in dict.fromkeys(rows)}
        return torch.tensor([factors[ids] for ids in rows], dtype=torch.float64, device=sentences.device)

    def _ask(self, ids: tuple[int, ...]) -> float:
        words = self._lexicon.words(ids)
        try:
            value = self._function(words)
            if self.hard:
                return 0.0 if value else -torch.inf
            factor = self._weight * float(value)
        except Exception as error:
            raise BadInput(f"constraint {self.name}: fails on {' '.join(words)!r} ({error!r})") from error
        if not math.isfinite(factor):
            raise BadInput(f"constraint {self.name}: gives {value} for {' '.join(words)!r}; a soft one must be finite")
        return factor
