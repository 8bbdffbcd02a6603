"""Many chains over the cores of the machine, and a record of what they proposed and visited."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

import torch
from torch import Tensor

from ..proposals.protocols import MOVES
from ..text.sentences import Sentences
from .chain import sample
from .kernel import Kernel
from .schedule import Schedule

SMALLEST_SHARD = 16  # chains below which another thread does not pay


@dataclass(frozen=True)
class Record:
    """Recorded steps, one row each, and the final states, one row a chain; all on the CPU."""

    proposed: Sentences
    steps: dict[
        str, Tensor
    ]  # chain (within its input), step, move, log_ratio, accepted, changed; log_target, log_model after it
    final: Sentences
    finals: dict[str, Tensor]  # chain, log_target (untempered), log_model
    counts: Tensor  # [inputs, 2, moves]: steps proposed and accepted

    def of(self, input: int) -> "Record":
        """The part of one input."""
        rows = (self.proposed.inputs == input).nonzero()[:, 0]
        last = (self.final.inputs == input).nonzero()[:, 0]
        return Record(
            self.proposed.select(rows),
            {name: column[rows] for name, column in self.steps.items()},
            self.final.select(last),
            {name: column[last] for name, column in self.finals.items()},
            self.counts[input : input + 1],
        )

    def acceptance(self) -> dict[str, float | None]:
        """The share of proposals accepted, by move; None where a move was never proposed."""
        proposed, accepted = self.counts.sum(0).tolist()
        return {move: a / p if p else None for move, p, a in zip(MOVES, proposed, accepted, strict=True)}


def run(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: int,
    schedule: Schedule,
    chains: Tensor,
    *,
    refused: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Record:
    """Run every chain and record the steps that changed its sentence; with `refused`, all steps.

    On a CPU the chains are shared out to one single-threaded shard a core, which is faster than threads inside the
    matrix products. A chain does not depend on its shard. `progress` is told how many steps were made.
    """
    number = len(start)
    on_cpu = start.device.type == "cpu"
    shards = max(1, min(os.cpu_count() or 1, number // SMALLEST_SHARD)) if on_cpu else 1
    rows = torch.arange(number, device=start.device).chunk(shards)

    interrupted = Event()

    def tick(count: int) -> None:
        if interrupted.is_set():  # the other shards end too, at their next step
            raise KeyboardInterrupt
        progress(count)

    def part(some: Tensor) -> Record:
        return _run(kernel, start.select(some), steps, seed, schedule, chains[some.cpu()], refused, tick)

    if shards == 1:
        return part(rows[0])
    with single_threaded(), ThreadPoolExecutor(shards, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            return _join(list(pool.map(part, rows)))
        except BaseException:
            interrupted.set()
            raise


@contextmanager
def single_threaded() -> Iterator[None]:
    """One thread inside each operation: most are too small to share, and waiting for a busy core costs more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@torch.inference_mode()
def _run(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: int,
    schedule: Schedule,
    chains: Tensor,
    refused: bool,
    progress: Callable[[int], object],
) -> Record:
    num_inputs = int(start.inputs.max()) + 1
    counts = torch.zeros(num_inputs * 2 * len(MOVES), dtype=torch.int64, device=start.device)
    names = chains.to(start.device)
    proposed: list[Sentences] = []
    rounds: list[dict[str, Tensor]] = []
    for _, state, info in sample(kernel, start, steps, seed, schedule, chains=chains):
        cell = info.sentences.inputs * (2 * len(MOVES)) + info.move
        counts.index_add_(0, cell, torch.ones_like(cell))
        counts.index_add_(0, cell + len(MOVES), info.accepted.long())
        rows = info.chain if refused else info.changed.nonzero()[:, 0]
        log_model = state.log_factors.soft[:, 0]
        columns = {
            "chain": names, "step": info.step, "move": info.move, "log_ratio": info.log_ratio,
            "accepted": info.accepted, "changed": info.changed,
            "log_target": info.log_target, "log_model": log_model,
        }  # fmt: skip
        proposed.append(info.candidate.sentences.select(rows))
        rounds.append({name: column[rows] for name, column in columns.items()})
        finals = {"chain": names, "log_target": info.log_target, "log_model": log_model}
        progress(len(start))
    return Record(
        _concatenate(proposed).to("cpu"),
        {name: torch.cat([some[name] for some in rounds]).cpu() for name in rounds[0]},
        state.sentences.to("cpu"),
        {name: column.cpu() for name, column in finals.items()},
        counts.view(num_inputs, 2, len(MOVES)).cpu(),
    )


def _concatenate(parts: list[Sentences]) -> Sentences:
    return Sentences(
        torch.cat([part.ids for part in parts]),
        torch.cat([part.lengths for part in parts]),
        torch.cat([part.inputs for part in parts]),
    )


def _join(records: list[Record]) -> Record:
    counts = torch.zeros(max(len(record.counts) for record in records), *records[0].counts.shape[1:], dtype=torch.int64)
    for record in records:
        counts[: len(record.counts)] += record.counts
    return Record(
        _concatenate([record.proposed for record in records]),
        {name: torch.cat([record.steps[name] for record in records]) for name in records[0].steps},
        _concatenate([record.final for record in records]),
        {name: torch.cat([record.finals[name] for record in records]) for name in records[0].finals},
        counts,
    )
