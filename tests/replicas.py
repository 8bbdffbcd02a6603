"""The product space of a chain's replicas: a tempered step as a kernel over tuples of sentences, to be enumerated."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cgmh.sampling import Kernel, Ladder, Replicas, TemperedKernel, tempered
from cgmh.text.sentences import Sentences
from enumeration import EnumeratingDraws, transition_matrix, violations
from histories import SCHEDULE, STEPS, events


class ReplicaDraws(EnumeratingDraws):
    """One script a chain; the replicas of the chain follow it one after the other."""

    def __init__(self, walk: Any, rows: Tensor, replica: Tensor) -> None:
        super().__init__(walk, rows)
        self._replica = replica  # [R]: which of its chain each row is

    def select(self, rows: Tensor) -> "ReplicaDraws":
        return ReplicaDraws(self._walk, self._rows[rows], self._replica[rows])

    def _decide(self, log_probs: Tensor, site: str) -> Tensor:
        choice = torch.zeros(len(log_probs), dtype=torch.int64)
        for replica in self._replica.unique().tolist():
            mine = (self._replica == replica).nonzero()[:, 0]
            one = EnumeratingDraws(self._walk, self._rows[mine])
            choice[mine] = one._decide(log_probs[mine], f"{site} of replica {replica}")
        return choice


@dataclass
class Tuples:
    """N tuples of K sentences, one a level, of one input each; what the enumeration asks of a batch of sentences."""

    by_level: list[Sentences]

    @classmethod
    def of(cls, states: Sentences, num_levels: int) -> "Tuples":
        """Every tuple of sentences of the same input."""
        rows: list[tuple[int, ...]] = []
        for input in states.inputs.unique():
            mine = (states.inputs == input).nonzero()[:, 0].tolist()
            rows += product(mine, repeat=num_levels)
        return cls([states.select(column) for column in torch.tensor(rows).T])

    def __len__(self) -> int:
        return len(self.by_level[0])

    @property
    def inputs(self) -> Tensor:
        return self.by_level[0].inputs

    def select(self, rows: Tensor) -> "Tuples":
        return Tuples([some.select(rows) for some in self.by_level])

    def to_lists(self) -> list[list[tuple[int, ...]]]:
        return [[tuple(words) for words in row] for row in zip(*(s.to_lists() for s in self.by_level), strict=True)]


class OnTuples:
    """A tempered kernel over tuples of sentences by level, in the form that the enumeration takes.

    The replicas stand at `levels` before the step; what they do may not depend on it. With `only_exchange`, no replica
    makes a step of its own.
    """

    def __init__(
        self, tempered: TemperedKernel, clock: int, levels: Sequence[int], *, only_exchange: bool = False
    ) -> None:
        self.tempered, self.clock, self.only_exchange = tempered, clock, only_exchange
        self.levels = torch.tensor(levels)
        self.target = SimpleNamespace(model=self, soft_factors=lambda log_model, _: log_model[:, None])

    def init(self, states: Tuples) -> Replicas:
        number = len(states)
        stacked = Sentences(
            *(torch.cat([getattr(some, name) for some in states.by_level]) for name in ("ids", "lengths", "inputs"))
        )
        rows = torch.arange(number)[:, None] + self.levels * number  # [N,K]: chain by chain
        return self.tempered.init(stacked.select(rows.flatten()), self.levels.expand(number, -1))

    def step(self, draws: Any, replicas: Replicas, beta: float) -> tuple[Any, None]:
        number, num_levels = replicas.levels.shape
        own = ReplicaDraws(
            draws._walk, draws._rows.repeat_interleave(num_levels), torch.arange(num_levels).repeat(number)
        )
        cold, clock = torch.full((number,), beta, dtype=torch.float64), torch.full((number,), self.clock)
        if self.only_exchange:
            levels, _ = self.tempered.exchange(own, replicas, self.tempered.ladder.betas(cold), clock)
            replicas = Replicas(replicas.state, levels)
        else:
            replicas, _ = self.tempered.step(own, replicas, cold, clock)
        return SimpleNamespace(sentences=Tuples([replicas.at(level) for level in range(num_levels)])), None

    def encode(self, states: Tuples) -> Tuples:
        return states

    def log_prob(self, states: Tuples) -> Tensor:
        """[N]: the log of the product of the tempered targets, from a fresh evaluation, for beta 1 of the coldest."""
        target = self.tempered.kernel.target
        fresh = [
            share * target.soft_factors(target.model.log_prob(target.model.encode(some)), some).sum(-1)
            for share, some in zip(self.tempered.ladder.shares, states.by_level, strict=True)
        ]
        return torch.stack(fresh).sum(0)


def matrix_on_tuples(kernel: OnTuples, states: Sentences, beta: float) -> np.ndarray:
    """[T,T]: the probability of each step between the tuples of the states."""
    tuples: Any = Tuples.of(states, len(kernel.levels))
    subject: Any = kernel
    return transition_matrix(subject, tuples, beta)


def violations_on_tuples(kernel: OnTuples, states: Sentences, beta: float) -> list[str]:
    """What is wrong with a tempered kernel on a space.

    Exchanges alone are reversible and do not connect the space; a whole step connects it and is not reversible.
    """
    tuples: Any = Tuples.of(states, len(kernel.levels))
    exempt = "one communicating class" if kernel.only_exchange else "detailed balance"
    subject: Any = kernel
    return [one for one in violations(subject, tuples, beta) if not one.startswith(exempt)]


LADDERS = {
    "two, near": Ladder((1.0, 0.8)),
    "two, far": Ladder((1.0, 0.05)),
    "three": Ladder.geometric(3, 0.4),
    "three, uneven": Ladder((1.0, 0.35, 0.3)),
    "four": Ladder.geometric(4, 0.2),
}


def tempered_history(
    kernel: Kernel, start: Sentences, ladder: Ladder, **settings: Any
) -> dict[tuple[int, int], tuple[Any, ...]]:
    """What happened at each (chain, step) of tempered chains: as `history`, and the levels and exchanges."""
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    settings = {"steps": STEPS, "seed": 5, "schedule": SCHEDULE, **settings}
    number = len(settings["levels"]) if "levels" in settings else len(start)
    names = settings.get("chains", torch.arange(number))
    for clock, replicas, info in tempered(kernel, start, ladder=ladder, **settings):
        assert len(clock) == len(replicas.levels) == number
        for (chain, step), value in events(info, names).items():
            assert (chain, step) not in found
            row = int((names == chain).nonzero())
            found[chain, step] = (*value, info.levels[row].tolist(), info.exchange.accepted[row].tolist())
    return found
