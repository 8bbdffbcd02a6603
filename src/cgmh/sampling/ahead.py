"""Chains on a target that costs much to ask: steps are made ahead, and what has to be read is read together.

A two-stage target refuses most candidates on a cheap model, and such a step leaves the chain where it is. So each chain
goes ahead to its next reading, and one call reads a candidate of almost every chain. Step by step, a chain is the one
that `sample` makes; only when its steps are made differs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..draws import Draws, Seed, seeds_of
from .chain import Constant, Schedule
from .kernel import Info, Kernel, State

MOST_AHEAD = 16  # steps of a chain that are tried together; about one in seven is read
ROWS_AHEAD = {"cpu": 256, "cuda": 4096}  # steps of all chains that are tried together


@dataclass(frozen=True, slots=True)
class Round:
    """What the chains did up to their next readings."""

    clock: Tensor  # [B]: steps that each chain has made
    num_readings: Tensor  # [B]: readings that each chain has cost, its start included
    before: State
    state: State
    info: Info  # of every step made, `chain` being a row of the state


def sample_ahead(
    kernel: Kernel,
    state: State,
    steps: int,
    seed: Seed,
    schedule: Schedule | None = None,
    chains: Tensor | None = None,
    readings: Tensor | None = None,
    most_ahead: int = MOST_AHEAD,
) -> Iterator[Round]:
    """Run B chains on a two-stage model from a state of `Kernel.init`, in rounds of at most one reading a chain.

    A chain ends after `steps` steps, or when it has cost its `readings` [B]. Its start is one of them, what it has
    read before is not. When a chain ends depends on itself alone, not on the chains beside it. At most `most_ahead`
    steps of a chain are tried together.
    """
    schedule = schedule or Constant()
    device = state.sentences.device
    names = torch.arange(len(state.sentences), device=device) if chains is None else chains.to(device)
    clock = torch.zeros_like(names)
    num_readings = state.encoding.num_readings.to(device)
    most = ROWS_AHEAD.get(device.type, ROWS_AHEAD["cpu"])
    while True:
        active = clock < steps
        if readings is not None:
            active = active & (num_readings < readings.to(device))
        going = active.nonzero()[:, 0]
        if not len(going):
            return
        number = max(1, min(most_ahead, most // len(going)))
        rows = going.repeat_interleave(number)  # [N]
        at = (clock[going][:, None] + torch.arange(number, device=device)).flatten()  # [N]
        before = state
        draws = Draws(seeds_of(seed, rows), names[rows], at)
        state, info, made = kernel.steps_ahead(draws, state, rows, schedule(at), at < steps, number)
        clock = clock.index_add(0, rows, made.long())
        num_readings = state.encoding.num_readings.to(device, copy=True)
        yield Round(clock, num_readings, before, state, replace(info, step=at[made]))
