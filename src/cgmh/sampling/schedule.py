"""The inverse temperature of a step."""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class Schedule(Protocol):
    """beta [B] for the clocks [B] of the chains."""

    def __call__(self, clock: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Constant:
    """The same beta at every step: the chain samples from the target at that temperature."""

    beta: float = 1.0

    def __call__(self, clock: Tensor) -> Tensor:
        return torch.full(clock.shape, self.beta, dtype=torch.float64, device=clock.device)


@dataclass(frozen=True)
class Annealing:
    """beta goes from `start` to `end` in equal ratios over `steps` steps and stays there.

    A search heuristic: while beta moves, the chain follows no one distribution.
    """

    start: float
    end: float
    steps: int

    def __call__(self, clock: Tensor) -> Tensor:
        share = (clock.double() / max(self.steps, 1)).clamp(max=1.0)
        return self.start * (self.end / self.start) ** share
