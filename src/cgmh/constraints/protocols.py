"""A claim about a sentence: a factor of the target.

Look-up tables that follow the sentences to their device.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
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


class OnDevice:
    """Tensors that follow the sentences to their device; one copy a device."""

    def __init__(self, **tensors: Tensor) -> None:
        self._copies: dict[torch.device, dict[str, Tensor]] = {torch.device("cpu"): tensors}

    def at(self, device: torch.device) -> dict[str, Tensor]:
        """The tensors on a device."""
        copy = self._copies.get(device)
        if copy is None:
            copy = {name: tensor.to(device) for name, tensor in self._copies[torch.device("cpu")].items()}
            self._copies[device] = copy
        return copy


def id_table(ids: Collection[int]) -> Tensor:
    """[max + 2] bool: true at the ids; the last entry is false and stands for every larger id."""
    table = torch.zeros(max(ids, default=-1) + 2, dtype=torch.bool)
    table[list(ids)] = True
    return table


def pad(rows: Sequence[Sequence[int]], value: int = -1) -> Tensor:
    """[rows, longest] int64."""
    width = max((len(row) for row in rows), default=0)
    return torch.tensor([[*row, *[value] * (width - len(row))] for row in rows], dtype=torch.int64).reshape(
        len(rows), width
    )
