"""Many chains over the cores of the machine, and a record of what they proposed and visited."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event

import torch
from torch import Tensor

from ..proposals.protocols import MOVES
from ..text.sentences import Sentences
from ..threads import num_cores, single_threaded
from .chain import Schedule, sample
from .kernel import Info, Kernel
from .tempering import Exchanges, Ladder, Replicas, TemperedInfo, rates, tempered

SMALLEST_SHARD = 16  # rows below which another thread does not pay
EXCHANGE = len(MOVES)  # in the column of moves: the coldest replica was exchanged
KINDS = (*MOVES, "exchange")  # the names of what that column may hold


@dataclass(frozen=True)
class Record:
    """Recorded steps, one row each, and the final states, one row a chain; all on the CPU."""

    proposed: Sentences
    # chain (within its input), level (0 but for hotter replicas), step, move (into KINDS), log_ratio, accepted and
    # changed; log_target (untempered) and log_model after it
    steps: dict[str, Tensor]
    final: Sentences
    finals: dict[str, Tensor]  # chain, log_target, log_model; of tempered chains tried, exchanged [,K-1], round_trips
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

    def exchange_rates(self) -> tuple[float | None, ...]:
        """The share of exchanges accepted, by pair of levels from the coldest; nothing if the chains had one level."""
        return rates(self.finals["tried"], self.finals["exchanged"]) if "tried" in self.finals else ()

    def round_trips(self) -> int:
        """How often a replica went from the coldest level to the hottest and back."""
        return int(self.finals["round_trips"].sum()) if "tried" in self.finals else 0


def run(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: int,
    schedule: Schedule,
    chains: Tensor,
    *,
    ladder: Ladder | None = None,
    every: int = 1,
    all_levels: bool = False,
    refused: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Record:
    """Run every chain and record the steps that changed its sentence; with `refused`, all steps.

    With a `ladder` the chains are tempered, and recorded is what the coldest replicas did, exchanges included; with
    `all_levels`, also the steps of the hotter ones, for a search. The final states are those of the coldest.

    On a CPU the chains are shared out to one single-threaded shard a core, which is faster than threads inside the
    matrix products. A chain does not depend on its shard. `progress` is told how many steps the chains made.
    """
    number = len(start)
    on_cpu = start.device.type == "cpu"
    num_levels = 1 if ladder is None else len(ladder)
    shards = max(1, min(num_cores(), number * num_levels // SMALLEST_SHARD, number)) if on_cpu else 1
    rows = torch.arange(number, device=start.device).chunk(shards)

    interrupted = Event()

    def tick(count: int) -> None:
        if interrupted.is_set():  # the other shards end too, at their next step
            raise KeyboardInterrupt
        progress(count)

    def part(some: Tensor) -> Record:
        mine, names = start.select(some), chains[some.cpu()]
        recorder = _Recorder(mine, names, refused)
        with torch.inference_mode():
            if ladder is None:
                for _, state, info in sample(kernel, mine, steps, seed, schedule, chains=names):
                    recorder.add(info, state.log_factors.soft[:, 0])
                    tick(len(mine))
                return recorder.record({})
            exchanges, before = Exchanges(), None
            for _, replicas, info in tempered(kernel, mine, steps, seed, ladder, schedule, every, names):
                exchanges.add(info)
                recorder.add_tempered(before, replicas, info, all_levels=all_levels)
                before = replicas
                tick(len(mine))
            return recorder.record(
                {"tried": exchanges.tried, "exchanged": exchanges.accepted, "round_trips": exchanges.trips}
            )

    if shards == 1:
        return part(rows[0])
    with single_threaded(), ThreadPoolExecutor(shards, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            return _join(list(pool.map(part, rows)))
        except BaseException:
            interrupted.set()
            raise


class _Recorder:
    """What some chains did, round by round."""

    def __init__(self, start: Sentences, chains: Tensor, refused: bool) -> None:
        self._refused = refused
        self._names = chains.to(start.device)
        self._num_inputs = int(start.inputs.max()) + 1
        self._counts = torch.zeros(self._num_inputs * 2 * len(MOVES), dtype=torch.int64, device=start.device)
        self._proposed: list[Sentences] = []
        self._rounds: list[dict[str, Tensor]] = []
        self._final = start
        self._finals: dict[str, Tensor] = {}

    def add(self, info: Info, log_model: Tensor) -> None:
        """A step of each chain."""
        cell = info.sentences.inputs * (2 * len(MOVES)) + info.move
        self._counts.index_add_(0, cell, torch.ones_like(cell))
        self._counts.index_add_(0, cell + len(MOVES), info.accepted.long())
        self._keep(info, log_model, torch.zeros_like(info.chain))
        self._final = info.sentences
        self._finals = {"chain": self._names, "log_target": info.log_target, "log_model": log_model}

    def add_tempered(
        self, before: Replicas | None, replicas: Replicas, info: TemperedInfo, *, all_levels: bool
    ) -> None:
        """A step of each chain's coldest replica, after the exchange that came before it; and the others' steps."""
        if before is not None and replicas.levels.shape[1] > 1:
            self._exchanged(before, info)
        log_model = replicas.state.log_factors.soft[:, 0]  # [B*K]
        self.add(info, log_model[replicas.rows[:, 0]])
        if all_levels:
            hot = (replicas.levels.flatten() > 0).nonzero()[:, 0]
            self._keep(info.replicas.select(hot), log_model[hot], replicas.levels.flatten()[hot])

    def _keep(self, info: Info, log_model: Tensor, level: Tensor) -> None:
        columns = {
            "chain": self._names[info.chain], "level": level, "step": info.step, "move": info.move,
            "log_ratio": info.log_ratio, "accepted": info.accepted, "changed": info.changed,
            "log_target": info.log_target, "log_model": log_model,
        }  # fmt: skip
        self._append(info.candidate.sentences, columns)

    def _exchanged(self, before: Replicas, info: TemperedInfo) -> None:
        """What the next level offered to the coldest."""
        cold, offered = before.rows[:, 0], before.rows[:, 1]
        exchange, factors = info.exchange, before.state.log_factors
        sentences = before.state.sentences.select(offered)
        accepted = exchange.accepted[:, 0]
        after = torch.where(accepted, offered, cold)
        columns = {
            "chain": self._names, "level": torch.zeros_like(cold), "step": info.step,
            "move": torch.full_like(cold, EXCHANGE), "log_ratio": exchange.log_ratio[:, 0], "accepted": accepted,
            "changed": accepted & sentences.differs(before.state.sentences.select(cold)),
            "log_target": factors.total(1.0)[after], "log_model": factors.soft[:, 0][after],
        }  # fmt: skip
        self._append(sentences, columns, exchange.tried[:, 0])

    def _append(self, proposed: Sentences, columns: dict[str, Tensor], tried: Tensor | None = None) -> None:
        kept = columns["changed"]
        if self._refused:
            kept = torch.ones_like(kept) if tried is None else tried
        rows = kept.nonzero()[:, 0]
        self._proposed.append(proposed.select(rows))
        self._rounds.append({name: column[rows] for name, column in columns.items()})

    def record(self, more: dict[str, Tensor]) -> Record:
        """All of it, with `more` about each chain."""
        return Record(
            _concatenate(self._proposed).to("cpu"),
            {name: torch.cat([some[name] for some in self._rounds]).cpu() for name in self._rounds[0]},
            self._final.to("cpu"),
            {name: column.cpu() for name, column in {**self._finals, **more}.items()},
            self._counts.view(self._num_inputs, 2, len(MOVES)).cpu(),
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
