"""The distribution asked for: pi(x) proportional to p(x)^beta times the constraints."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .constraints.protocols import Constraint, HardConstraint
from .models.protocols import WordModel
from .text.sentences import Sentences


@dataclass(frozen=True, slots=True)
class LogFactors:
    """The factors of the target at B sentences, untempered; column 0 of `soft` is the language model."""

    hard: Tensor  # [B], 0 or -inf
    soft: Tensor  # [B,F]

    def total(self, beta: Tensor | float) -> Tensor:
        """[B]: log pi up to a constant; beta tempers the soft factors, never the hard ones."""
        soft = self.soft[:, 0] if self.soft.shape[1] == 1 else self.soft.sum(-1)
        return self.hard + beta * soft

    def select(self, rows: Tensor) -> "LogFactors":
        return LogFactors(self.hard.index_select(0, rows), self.soft.index_select(0, rows))


class Target:
    """A language model times constraints."""

    def __init__(self, model: WordModel, constraints: Sequence[Constraint] = ()) -> None:
        self.model = model
        self.constraints = tuple(constraints)
        self._hard = [constraint for constraint in constraints if constraint.hard]
        self._quick = [constraint for constraint in self._hard if isinstance(constraint, HardConstraint)]
        self._slow = [constraint for constraint in self._hard if not isinstance(constraint, HardConstraint)]
        self._soft = [constraint for constraint in constraints if not constraint.hard]
        # Those that cost next to nothing beside a model may screen: their places among the soft ones.
        self._screening = [at for at, constraint in enumerate(self._soft) if getattr(constraint, "screens", False)]

    def possible(self, sentences: Sentences) -> Tensor:
        """[B] bool: every hard constraint holds, and the sentence is neither empty nor as long as the array."""
        holds = (sentences.lengths > 0) & (sentences.lengths < sentences.capacity)
        for constraint in self._quick:
            holds = holds & constraint.holds(sentences)
        if self._slow and bool(holds.any()):  # a function or a network is asked about what the others allow only
            rows = holds.nonzero()[:, 0]
            some = sentences.select(rows)
            for asked in self._slow:
                holds = holds.index_copy(0, rows, holds[rows] & (asked.log_factor(some) == 0))
        return holds

    def soft(self, sentences: Sentences) -> Tensor:
        """[B,F-1]: the soft constraints."""
        if not self._soft:
            return torch.empty(len(sentences), 0, dtype=torch.float64, device=sentences.device)
        return torch.stack([constraint.log_factor(sentences).double() for constraint in self._soft], -1)

    def soft_factors(self, log_model: Tensor, sentences: Sentences) -> Tensor:
        """[B,F]: the language model beside the soft constraints."""
        log_model = log_model.double()[:, None]
        return torch.cat([log_model, self.soft(sentences)], -1) if self._soft else log_model

    def screened_gain(self, sentences: Sentences, soft: Tensor) -> Tensor | float:
        """[R]: what the soft constraints that screen gain from current sentences with factors `soft` [R,F]."""
        gain: Tensor | float = 0.0
        for at in self._screening:
            gain = gain + self._soft[at].log_factor(sentences).double() - soft[:, 1 + at]
        return gain

    def broken(self, sentences: Sentences) -> list[str]:
        """Names of the hard constraints that some sentence breaks."""
        return [constraint.name for constraint in self._hard if not bool(_holds(constraint, sentences).all())]


def _holds(constraint: Constraint, sentences: Sentences) -> Tensor:
    if isinstance(constraint, HardConstraint):
        return constraint.holds(sentences)
    return constraint.log_factor(sentences) == 0
