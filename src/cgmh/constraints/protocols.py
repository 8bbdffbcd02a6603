"""What a constraint is: a factor of the target, over the word ids of a run or not yet bound to them."""

from abc import ABC, abstractmethod
from typing import Any, Protocol

import torch
from torch import Tensor

from ..arguments import items, shown
from ..errors import BadInput, blaming
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences

CLAIMS = "claims (contains(...), a function under @cgmh.constraint, your own Claim)"  # what `constraints` takes


class Constraint(Protocol):
    """A factor of the target. Data that differ between inputs are looked up by `sentences.inputs`.

    A hard factor is 0 or -inf and is never tempered; a soft one is finite and is.
    """

    @property
    def name(self) -> str: ...

    @property
    def hard(self) -> bool: ...

    def log_factor(self, sentences: Sentences) -> Tensor:
        """[B]: the log factor of each sentence."""
        ...


def require_constraint(factor: object) -> None:
    """Refuse what is no constraint."""
    if not callable(getattr(factor, "log_factor", None)) or not hasattr(factor, "hard") or not hasattr(factor, "name"):
        raise BadInput(f"`constraints` takes a list of {CLAIMS}; {shown(factor)} is none")


def label(factor: object) -> str:
    """Whose a constraint is: its name and, where the two differ, its class."""
    kind = type(factor).__name__
    name = getattr(factor, "name", kind)
    return f"constraint {name}" + (f" of class {kind}" if name != kind else "")


def log_factor_of(constraint: Constraint, sentences: Sentences) -> Tensor:
    """[B]: what a constraint says of sentences, checked, because it may be anybody's."""
    with blaming(label(constraint), BadInput):
        log_factor: Any = constraint.log_factor(sentences)
    if not isinstance(log_factor, Tensor) or log_factor.shape != sentences.lengths.shape:
        given = f"a tensor {list(log_factor.shape)}" if isinstance(log_factor, Tensor) else shown(log_factor)
        asked = f"{len(sentences)} sentences; `log_factor` gives a tensor [{len(sentences)}]"
        raise BadInput(f"{label(constraint)}: gave {given} for {asked}")
    return log_factor


class HardConstraint(ABC):
    """A constraint that holds or does not."""

    name: str
    hard = True

    @abstractmethod
    def holds(self, sentences: Sentences) -> Tensor:
        """[B] bool: whether the claim is true of each sentence, whatever its length, 0 and L included."""

    def log_factor(self, sentences: Sentences) -> Tensor:
        """[B]: 0 where the claim holds, -inf elsewhere."""
        holds = self.holds(sentences)
        return torch.zeros(holds.shape, dtype=torch.float64, device=holds.device).masked_fill(~holds, -torch.inf)


class Claim(ABC):
    """A factor of the target that is not yet bound to the ids of a run."""

    name: str

    @abstractmethod
    def bound(self, lexicon: Lexicon) -> Constraint:
        """The constraint over the ids of a lexicon, which is given the words that it lacks."""

    def __mul__(self, other: "Claim | Product") -> "Product":
        return Product((self,)) * other


def bind(claim: Claim, lexicon: Lexicon) -> Constraint:
    """The constraint of a claim over the ids of a lexicon, checked, because it may be anybody's."""
    with blaming(label(claim), BadInput):
        bound = claim.bound(lexicon)
        require_constraint(bound)
    return bound


def claims_of(constraints: Any) -> "list[Claim]":
    """The claims that a user asks for, one or several."""
    claims = [constraints] if isinstance(constraints, Claim) else items("constraints", constraints, CLAIMS)
    for claim in claims:
        if not isinstance(claim, Claim):
            raise BadInput(f"`constraints` takes a list of {CLAIMS}; {shown(claim)} is none")
    return claims


class Product(tuple[Claim, ...]):
    """Several claims at once: the target is multiplied by the factor of each."""

    def __mul__(self, other: "Claim | Product") -> "Product":  # type: ignore[override]
        return Product((*self, *(other if isinstance(other, Product) else (other,))))
