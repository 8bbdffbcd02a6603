"""Chains whose steps are made ahead, so that what has to be read is read together.

A two-stage target refuses most candidates on a cheap model, and such a step leaves the chain where it is. So each chain
goes ahead to its next reading, and one call reads a candidate of almost every chain. Where a reading costs little, it
goes ahead to its next change. Step by step, a chain is the one that `sample` makes; only when its steps are made
differs.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..draws import Draws, Seed, seeds_of
from .chain import Constant, Schedule
from .kernel import Info, Kernel, State

MOST_AHEAD = 16  # steps of a chain that are tried together; about one in seven is read
ROWS_AHEAD = {"cpu": 256, "cuda": 4096}  # steps of all chains that are tried together


def num_ahead(chains: int, most_rows: int, made: float = MOST_AHEAD) -> int:
    """The steps of each of so many chains that are tried together, if `most_rows` of all of them are.

    `made` is how many each made the last time, up to its first change: half as many more are tried, since the others
    are tried in vain.
    """
    return max(1, min(MOST_AHEAD, most_rows // chains, math.ceil(1.5 * made)))


@dataclass(frozen=True, slots=True)
class Round:
    """What the chains did up to their next readings."""

    clock: Tensor  # [B]: steps that each chain has made
    num_readings: (
        Tensor  # [B]: readings that each chain has cost, its start included; its steps, if they are not counted
    )
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
    most_rows: int | None = None,
    *,
    exact_refusals: bool = True,
) -> Iterator[Round]:
    """Run B chains on a two-stage model from a state of `Kernel.init`, in rounds to a reading or a change.

    A chain ends after `steps` steps, or when it has cost its `readings` [B]. Its start is one of them, what it has
    read before is not. When a chain ends depends on itself alone, not on the chains beside it. At most `most_rows`
    steps of all chains are tried together, and `MOST_AHEAD` of each. Who does not need the log ratios of refused steps
    goes without `exact_refusals`: see `Kernel.steps_ahead`.
    """
    schedule = Constant() if schedule is None else schedule
    device = state.sentences.device
    names = torch.arange(len(state.sentences), device=device) if chains is None else chains.to(device)
    clock, ends = torch.zeros_like(names), torch.full_like(names, steps)
    num_readings = _readings(state, clock)
    most = most_rows or ROWS_AHEAD.get(device.type, ROWS_AHEAD["cpu"])
    num_made: float = MOST_AHEAD

    def draws(rows: Tensor, at: Tensor) -> Draws:
        return Draws(seeds_of(seed, rows), names[rows], at)

    def beta(_: Tensor, at: Tensor) -> Tensor:
        return schedule(at)

    while True:
        active = clock < ends
        if readings is not None:
            active = active & (num_readings < readings.to(device))
        going = active.nonzero()[:, 0]
        if not len(going):
            return
        number = num_ahead(len(going), most, num_made)
        made = round_ahead(kernel, state, clock, going, number, draws, beta, ends, exact_refusals)
        state, clock, num_readings = made.state, made.clock, made.num_readings
        if kernel.goes_ahead:  # to the next change, not to the next reading
            num_made = len(made.info.chain) / len(going)
        yield made


def round_ahead(
    kernel: Kernel,
    state: State,
    clock: Tensor,
    going: Tensor,
    number: int,
    draws: Callable[[Tensor, Tensor], Draws],
    beta: Callable[[Tensor, Tensor], Tensor],
    ends: Tensor,
    exact_refusals: bool,
) -> Round:
    """Of the next `number` steps of the chains `going` [G], those up to the first of each that is read, or changes it.

    `draws` and `beta` are asked for rows of the state [N] at steps [N]; a chain makes no step from `ends` [B] on.
    """
    rows = going.repeat_interleave(number)  # [N]
    at = (clock[going][:, None] + torch.arange(number, device=clock.device)).flatten()  # [N]
    after, info, made = kernel.steps_ahead(
        draws(rows, at), state, rows, beta(rows, at), at < ends[rows], number, exact_refusals=exact_refusals
    )
    clock = clock.index_add(0, rows, made.long())
    return Round(clock, _readings(after, clock), state, after, replace(info, step=at[made]))


def _readings(state: State, clock: Tensor) -> Tensor:
    """[B]: what the chains have cost, by their clocks [B] if nobody counts."""
    counted = getattr(state.encoding, "num_readings", None)
    return clock if counted is None else counted.to(clock.device, copy=True)
