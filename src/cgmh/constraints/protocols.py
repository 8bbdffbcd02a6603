"""What a constraint is: a factor of the target."""

from abc import ABC, abstractmethod
from typing import Protocol

import torch
from torch import Tensor

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
