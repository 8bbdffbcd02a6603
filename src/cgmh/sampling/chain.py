"""The inverse temperature of a step.

Chains as an iterator.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from ..draws import Draws
from ..text.sentences import Sentences
from .kernel import Info, Kernel, State


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


AT_ONCE = 16  # steps whose numbers are drawn together: fewer, larger calls


def sample(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: int,
    schedule: Schedule | None = None,
    prefetch: int = 1,
    chains: Tensor | None = None,
    first_step: int | Tensor = 0,
) -> Iterator[tuple[Tensor, State, Info]]:
    """Run B chains from `start` until each has made step number `steps - 1`; yield (clock [B], State, Info) a round.

    `clock` is how many steps each chain has made, `first_step` included. To go on from (clock, state), start at
    `state.sentences` with `first_step=clock`; it is the same chain. `chains` [B] names the chains (0 .. B-1 if not
    given): equal names, seed and start give equal chains in any batch.

    With `prefetch` k, a round looks at each chain's next k steps as one batch and keeps those up to the first one that
    changes the sentence. Draws are keyed by step, so it is the same chain in fewer rounds; the clocks then differ.
    `Info` has one row a step made in the round, in order, with its chain and its step.
    """
    if prefetch < 1:
        raise ValueError(f"prefetch must be at least 1, not {prefetch}")
    schedule = schedule or Constant()
    chains = torch.arange(len(start)) if chains is None else chains
    chains = chains.to(start.device)
    clock = torch.as_tensor(first_step, dtype=torch.int64, device=start.device).expand(len(start)).clone()
    draws = Draws(seed, chains, clock)
    state = kernel.init(start)
    if prefetch > 1:
        yield from _ahead(kernel, state, steps, draws, schedule, prefetch, clock)
        return
    # Chains that start together also end together; only others need a mask.
    together = not isinstance(first_step, Tensor)
    rounds = steps - int(clock.min()) if len(start) else 0
    upcoming: list[Draws] = []
    for number in range(rounds):
        active = None if together else clock < steps
        if not upcoming:
            upcoming = draws.ahead(clock, min(AT_ONCE, rounds - number))[::-1]
        state, info = kernel.step(upcoming.pop(), state, schedule(clock), active)
        info = _at(info, info.chain, clock)
        if active is None:
            clock = clock + 1
        else:
            clock = clock + active
            info = info.select(active.nonzero()[:, 0])
        yield clock, state, info


def _ahead(
    kernel: Kernel, state: State, steps: int, draws: Draws, schedule: Schedule, prefetch: int, clock: Tensor
) -> Iterator[tuple[Tensor, State, Info]]:
    """Rounds of up to `prefetch` steps a chain."""
    num = len(clock)
    chain = torch.arange(num, device=clock.device).repeat_interleave(prefetch)  # [B*k]
    ahead = torch.arange(prefetch, device=clock.device).repeat(num)  # [B*k]
    draws = draws.select(chain)
    while bool((clock < steps).any()):
        step = clock[chain] + ahead
        active = step < steps
        # Every row of a chain starts from the same sentence: right for all steps before its first change.
        wide, info = kernel.step(draws.at_steps(step), state.select(chain), schedule(step), active)
        changes = torch.where(info.changed, ahead, prefetch).view(num, prefetch).amin(-1)  # [B]
        made = torch.minimum(torch.minimum(changes + 1, steps - clock), torch.full_like(clock, prefetch)).clamp(min=0)
        last = torch.arange(num, device=clock.device) * prefetch + (made - 1).clamp(min=0)
        state = wide.select(last)
        info = _at(info, chain, step).select((ahead < made[chain]).nonzero()[:, 0])
        clock = clock + made
        yield clock, state, info


def _at(info: Info, chain: Tensor, step: Tensor) -> Info:
    """The same steps with their chains and numbers."""
    return Info(
        info.candidate, info.log_ratio, info.accepted, info.changed, info.sentences, info.log_target, chain, step
    )
