"""Claims as a user writes them: ``contains("river", "boat") * ends_with(".")``, or a function of the words."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import overload

import torch
from torch import Tensor

from ..arguments import MOST, flag, number, shown, whole_number
from ..errors import BadInput, blaming
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import normalize
from ..text.vocabulary import is_counted
from .protocols import Claim, Constraint, HardConstraint
from .words import ContainsWords, EndsWith, Forbids, LengthBetween, Requirement


def contains(*words: str, ordered: bool = False) -> Claim:
    """The sentence contains every word, each in a place of its own; with `ordered`, in the order given.

    Blanks join the words of a phrase, "|" separates alternatives: ``contains("prime minister", "car|automobile")``. A
    word in lower case stands for all of its casings, any other word for itself. A word given twice must occur twice.
    """

    def requirement(text: str, lexicon: Lexicon) -> Requirement:
        phrases = [lexicon.vocabulary.split(alternative) for alternative in text.split("|")]
        return [[lexicon.matches(word) for word in phrase] for phrase in phrases]

    def build(lexicon: Lexicon) -> HardConstraint:
        return ContainsWords([[requirement(text, lexicon) for text in words]], ordered=ordered)

    return _word_claim("contains", words, build, " in this order" * ordered)


def forbids(*words: str) -> Claim:
    """None of the words occurs, in any casing."""
    return _word_claim("forbids", words, lambda lexicon: Forbids([_ids(words, lexicon, lexicon.casings)]))


def ends_with(*words: str) -> Claim:
    """The last word is one of these. A mark such as "." is a word; a word in lower case stands for its casings."""
    return _word_claim("ends_with", words, lambda lexicon: EndsWith(_ids(words, lexicon, lexicon.matches)))


def length_between(low: int, high: int) -> Claim:
    """The sentence has `low` to `high` words; punctuation and the 's of "it's" are not counted."""
    low, high = whole_number("low", low), whole_number("high", high)
    if not 0 <= low <= high:
        raise BadInput(f"length_between({low}, {high}): the numbers must satisfy 0 <= low <= high")

    def build(lexicon: Lexicon) -> HardConstraint:
        counted = torch.tensor([is_counted(lexicon.word(id)) for id in range(len(lexicon))])
        return LengthBetween([low], [high], counted)

    return _WordClaim(f"length_between({low}, {high})", build)


def _word_claim(name: str, words: tuple[str, ...], build: Callable[[Lexicon], HardConstraint], more: str = "") -> Claim:
    """The claim that a function of this name makes of the words, if these are words."""
    if not words:
        raise BadInput(f"{name}: give at least one word")
    for text in words:
        if not isinstance(text, str):
            raise BadInput(f"{name} takes words one by one, not {shown(text)}")
        if not all(normalize(alternative) for alternative in text.split("|")):
            raise BadInput(f"{name}: {text!r} is not a word")
    return _WordClaim(f"{name}({', '.join(words)}{more})", build)


def _ids(words: tuple[str, ...], lexicon: Lexicon, ids_of: Callable[[str], Collection[int]]) -> set[int]:
    """The ids of the words and of their alternatives, none of which may be a phrase."""
    phrases = [lexicon.vocabulary.split(alternative) for text in words for alternative in text.split("|")]
    for phrase in phrases:
        if len(phrase) > 1:
            raise BadInput(f"{' '.join(phrase)!r}: one word at a time can be forbidden or end a sentence")
    return {id for (word,) in phrases for id in ids_of(word)}


@dataclass(frozen=True)
class _WordClaim(Claim):
    """A hard claim; `build` makes its constraint for a run with one input."""

    name: str
    build: Callable[[Lexicon], HardConstraint] = field(repr=False)

    def bound(self, lexicon: Lexicon) -> Constraint:
        return _ForEveryInput(self.name, self.build(lexicon))


class _ForEveryInput(HardConstraint):
    """Asks of the sentences of every input what a constraint asks of those of input 0."""

    def __init__(self, name: str, constraint: HardConstraint) -> None:
        self.name, self._constraint = name, constraint

    def holds(self, sentences: Sentences) -> Tensor:
        return self._constraint.holds(replace(sentences, inputs=torch.zeros_like(sentences.inputs)))


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

    number("weight", weight, -MOST, MOST)
    flag("hard", hard)

    def decorate(function: Function) -> UserConstraint:
        if not callable(function):
            raise BadInput(f"constraint takes a function of the words, not {shown(function)}")
        return UserConstraint(getattr(function, "__name__", "constraint"), function, hard, weight)

    return decorate if function is None else decorate(function)


@dataclass(eq=False)
class PythonConstraint:
    """A function of one sentence's words: true or false if hard, a log factor if soft.

    The function must be pure: the same words give the same answer. It runs once for each distinct sentence of a batch.
    """

    name: str
    function: Function
    lexicon: Lexicon
    hard: bool
    weight: float = 1.0

    def log_factor(self, sentences: Sentences) -> Tensor:
        rows = [tuple(ids) for ids in sentences.to_lists()]
        factors = {ids: self._ask(ids) for ids in dict.fromkeys(rows)}
        return torch.tensor([factors[ids] for ids in rows], dtype=torch.float64, device=sentences.device)

    def _ask(self, ids: tuple[int, ...]) -> float:
        words = self.lexicon.words(ids)
        with blaming(f"constraint {self.name}", BadInput, repr(" ".join(words))):
            value = self.function(words)
            if self.hard:
                return 0.0 if value else -torch.inf
            factor = self.weight * float(value)
        if not math.isfinite(factor):
            raise BadInput(f"constraint {self.name}: gives {value} for {' '.join(words)!r}; a soft one must be finite")
        return factor
