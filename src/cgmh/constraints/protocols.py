"""What a constraint is: a factor of the target, over the word ids of a run or not yet bound to them."""

from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor

from ..text.lexicon import Lexicon
from ..text.sentences import Sentences


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


class Product(tuple[Claim, ...]):
    """Several claims at once: the target is multiplied by the factor of each."""

    def __mul__(self, other: "Claim | Product") -> "Product":  # type: ignore[override]
        return Product((*self, *(other if isinstance(other, Product) else (other,))))
