"""Chains as an iterator, at a temperature that a schedule sets for each step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from ..draws import Draws, Seed, seeds_of_chains
from ..text.sentences import Sentences
from .kernel import Info, Kernel, State

STEPS_DRAWN_TOGETHER = 16  # their random numbers come from a few large calls instead of many small ones


class Schedule(Protocol):
    """The inverse temperature beta [B] of chains at clocks [B]."""

    def __call__(self, clock: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Constant:
    """The same beta at every step: the chain samples from the target at that temperature."""

    beta: float = 1.0

    def __call__(self, clock: Tensor) -> Tensor:
        return torch.full(clock.shape, self.beta, dtype=torch.float64, device=clock.device)


@dataclass(frozen=True)
class Annealing:
    """Beta goes from `start` to `end` in equal ratios over `steps` steps and stays there.

    This is a search heuristic: while beta moves, the chain does not follow any one distribution.
    """

    start: float
    end: float
    steps: int

    def __call__(self, clock: Tensor) -> Tensor:
        share = (clock.double() / max(self.steps, 1)).clamp(max=1.0)
        return self.start * (self.end / self.start) ** share


def sample(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: Seed,
    schedule: Schedule | None = None,
    chains: Tensor | None = None,
    first_step: int | Tensor = 0,
    state: State | None = None,
) -> Iterator[tuple[Tensor, State, Info]]:
    """Run B chains from `start` up to step number `steps - 1`; yield (clock [B], State, Info) after each round.

    `clock` is how many steps each chain has made, `first_step` included. To go on from (clock, state), start at
    `state.sentences` with `first_step=clock`: it is the same chain. `chains` [B] names the chains (0 .. B-1 if not
    given): equal names, seed and start give equal chains in any batch. Each chain may have a seed of its own [B].
    `state` is that of the start, where it is known already.
    `Info` has one row for each chain that made a step in the round.
    """
    schedule = schedule or Constant()
    names = torch.arange(len(start)) if chains is None else chains
    state = kernel.init(start) if state is None else state
    for clock, after, draws, active in rounds(seed, names.to(start.device)[:, None], steps, first_step):
        state, info = kernel.step(draws, state, schedule(clock), active)
        info = replace(info, step=clock)
        yield after, state, info if active is None else info.select(active.nonzero()[:, 0])


def rounds(
    seed: Seed, names: Tensor, steps: int, first_step: int | Tensor
) -> Iterator[tuple[Tensor, Tensor, Draws, Tensor | None]]:
    """Each round until every chain has made its steps: clocks before [B] and after [B] it, draws, active chains [B].

    `names` [B,K] are what the K rows of each chain draw as. Chains that start together also end together; then
    `active` is None, because all of them are.
    """
    number, width = names.shape
    clock = torch.as_tensor(first_step, dtype=torch.int64, device=names.device).expand(number).clone()
    num_rounds = steps - int(clock.min()) if number else 0
    draws = Draws(seeds_of_chains(seed, width), names.flatten(), clock.repeat_interleave(width))
    upcoming: list[Draws] = []
    for done in range(num_rounds):
        if not upcoming:
            ahead = min(STEPS_DRAWN_TOGETHER, num_rounds - done)
            upcoming = draws.ahead(clock.repeat_interleave(width), ahead)[::-1]
        active = clock < steps if isinstance(first_step, Tensor) else None
        after = clock + (1 if active is None else active)
        yield clock, after, upcoming.pop(), active
        clock = after
