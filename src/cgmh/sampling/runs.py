"""Many chains over the cores of the machine, and a record of what they proposed and visited."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Event

import torch
from torch import Tensor

from ..draws import Seed, seeds_of
from ..proposals.protocols import MOVES
from ..text.sentences import MAX_HELD, Sentences, rows_within
from ..threads import num_cores, single_threaded
from .ahead import Round, sample_ahead
from .chain import Schedule, sample
from .kernel import Info, Kernel, State
from .shards import Tick, fair_shares, is_own, share_out
from .tempering import Exchanges, Ladder, Replicas, TemperedInfo, tempered

SMALLEST_SHARD = 16  # rows below which another worker does not pay
SMALLEST_SHARD_AHEAD = 4  # the same, where a step costs much
TRIED_TOGETHER = 2048  # steps of the chains of a shard, where the model allows it
KINDS = (*MOVES, "exchange")  # what a recorded step may be
EXCHANGE = len(MOVES)  # into KINDS: the coldest replica changed places with the next one


@dataclass(frozen=True)
class Record:
    """N recorded steps and the final states of B chains; all on the CPU."""

    proposed: Sentences  # N rows
    # [N]: chain (within its input), step, move (into KINDS), log_ratio, accepted and changed; and, after the step,
    # log_target (untempered) and log_model
    steps: dict[str, Tensor]
    final: Sentences  # B rows
    # [B]: chain, clock (steps made), log_target, log_model; of tempered chains also tried, exchanged [B,K-1]
    finals: dict[str, Tensor]
    counts: Tensor  # [inputs, 2, moves]: steps proposed and accepted
    starts: dict[str, Tensor] = field(default_factory=dict)  # [B]: as `finals`, of the starts; not of tempered chains
    interrupted: bool = False  # the chains were stopped before their end

    def of(self, input: int) -> "Record":
        """The part of one input."""
        rows = (self.proposed.inputs == input).nonzero()[:, 0]
        final_rows = (self.final.inputs == input).nonzero()[:, 0]
        return Record(
            self.proposed.select(rows),
            {name: column[rows] for name, column in self.steps.items()},
            self.final.select(final_rows),
            {name: column[final_rows] for name, column in self.finals.items()},
            self.counts[input : input + 1],
            {name: column[final_rows] for name, column in self.starts.items()},
            self.interrupted,
        )

    def acceptance(self) -> dict[str, float | None]:
        """The share of proposals accepted, by move; None where a move was never proposed."""
        proposed, accepted = self.counts.sum(0).tolist()
        return {move: a / p if p else None for move, p, a in zip(MOVES, proposed, accepted, strict=True)}

    def exchange_rates(self) -> tuple[float | None, ...]:
        """The share of exchanges accepted, by pair of levels from the coldest; nothing if the chains had one level."""
        return Exchanges(self.finals["tried"], self.finals["exchanged"]).rates() if "tried" in self.finals else ()


def num_workers(rows: int, device: torch.device) -> int:
    """The shards that rows are worth at a time: one for each core, each of a fair size; on a GPU one."""
    return max(1, min(num_cores(), rows // SMALLEST_SHARD)) if device.type == "cpu" else 1


def _shares(start: Sentences, workers: int, num_levels: int = 1) -> Sequence[Tensor]:
    """The rows of each shard, so many that what `workers` of them keep at a time is bounded."""
    most = rows_within(MAX_HELD, start.capacity * num_levels * workers, start.device)
    shards = workers * -(-len(start) // (most * workers))
    return torch.arange(len(start), device=start.device).chunk(shards)


def _shares_of_inputs(start: Sentences, workers: int) -> Sequence[Tensor]:
    """The same where the chains of an input share what they read: they stay together, and longer inputs cost more."""
    shards = len(_shares(start, workers))
    inputs, of = torch.unique(start.inputs.cpu(), return_inverse=True)
    if len(inputs) < workers:
        return _shares(start, workers)
    # A long sentence takes more readings, and each takes longer.
    costs = torch.zeros(len(inputs), dtype=torch.float64).index_add_(0, of, start.lengths.cpu().double() ** 2)
    shares = [torch.isin(of, torch.tensor(share)) for share in fair_shares(costs.tolist(), shards)]
    return [share.nonzero()[:, 0].to(start.device) for share in shares]


def run(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: Seed,
    schedule: Schedule,
    chains: Tensor,
    *,
    ladder: Ladder | None = None,
    refused: bool = False,
    progress: Callable[[int], object] = lambda _: None,
) -> Record:
    """Run every chain and record the steps that changed its sentence; with `refused`, all steps.

    With a `ladder` the chains are tempered, and what the coldest replicas did is recorded, exchanges included. On a CPU
    the chains are shared out to one single-threaded shard per core, which is faster than threads inside the matrix
    products. What the shards that run at a time keep of their sentences is bounded; where that takes more shards, the
    others wait. A chain does not depend on its shard. `progress` is told after each round how many steps were made.
    """
    number = len(start)
    num_levels = 1 if ladder is None else len(ladder)
    workers = min(num_workers(number * num_levels, start.device), max(number, 1))
    goes_ahead = ladder is None and kernel.goes_ahead

    @torch.inference_mode()
    def run_shard(rows: Tensor, tick: Tick) -> Record:
        own, names, seeds = start.select(rows), chains[rows.cpu()], seeds_of(seed, rows)
        recorder = Recorder(names.to(start.device), int(start.inputs.max()) + 1, own, refused=refused)
        if ladder is not None:
            for _, replicas, tempered_info in tempered(kernel, own, steps, seeds, ladder, schedule, names):
                recorder.add_tempered(replicas, tempered_info)
                tick(len(own))
            return recorder.record()
        first = kernel.init(own)
        recorder.begin(first)
        if goes_ahead:
            # Fewer rounds of larger operations; the chains are the same.
            ahead = sample_ahead(
                kernel, first, steps, seeds, schedule, names, most_rows=TRIED_TOGETHER, exact_refusals=refused
            )
            for made in ahead:
                recorder.add_ahead(made)
                tick(len(made.info.chain))
        else:
            for _, state, info in sample(kernel, own, steps, seeds, schedule, names, state=first):
                recorder.add(info, state.log_factors.soft[:, 0])
                tick(len(own))
        return recorder.record()

    forks = workers > 1 and is_own((kernel, schedule))
    shares = _shares_of_inputs(start, workers) if goes_ahead else _shares(start, workers, num_levels)
    return _joined(share_out(run_shard, shares, workers, forks=forks, progress=progress))


def run_ahead(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: Seed,
    schedule: Schedule,
    chains: Tensor,
    *,
    readings: Tensor | None = None,
    refused: bool = False,
    progress: Callable[[int], object] = lambda _: None,
    salvage: bool = False,
) -> Record:
    """As `run`, for plain chains on a target that costs much to ask: what has to be read is read together.

    Chains end by `steps` or by `readings` [B] (see `sample_ahead`), and `progress` is told how many of those were made,
    of readings if they are given. With `salvage`, an interruption ends the run, and what was recorded until then is
    returned.
    """
    workers = max(1, min(num_cores(), len(start) // SMALLEST_SHARD_AHEAD)) if start.device.type == "cpu" else 1
    stopped = Event()

    @torch.inference_mode()
    def run_shard(rows: Tensor) -> Record:
        own, names, seeds = start.select(rows), chains[rows.cpu()].to(start.device), seeds_of(seed, rows)
        allowed = None if readings is None else readings.to(start.device)[rows]
        recorder = Recorder(names, int(start.inputs.max()) + 1, own, refused=refused)
        state = kernel.init(own)
        recorder.begin(state)
        num_done = 0 if allowed is None else len(own)
        progress(num_done)
        for made in sample_ahead(kernel, state, steps, seeds, schedule, names, allowed):
            recorder.add_ahead(made)
            before, num_done = num_done, int((made.clock if allowed is None else made.num_readings).sum())
            progress(num_done - before)
            if stopped.is_set():
                break
        return recorder.record()

    # The chains run in threads of their own, so that an interruption cannot come in the middle of a record.
    with single_threaded(), ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        shares = [pool.submit(run_shard, share) for share in _shares(start, workers)]
        try:
            return _joined([share.result() for share in shares])
        except BaseException as error:
            stopped.set()
            if not (salvage and isinstance(error, KeyboardInterrupt)):
                raise
            return replace(_joined([share.result() for share in shares]), interrupted=True)


class Recorder:
    """The steps of a shard's chains, round by round."""

    def __init__(self, names: Tensor, num_inputs: int, start: Sentences, *, refused: bool) -> None:
        self._names, self._refused = names, refused  # [B]
        self.counts = torch.zeros(num_inputs * 2 * len(MOVES), dtype=torch.int64, device=names.device)
        self.rounds: list[tuple[Sentences, dict[str, Tensor]]] = []
        self.end: tuple[Sentences, dict[str, Tensor]] = (start, {})
        self.starts: dict[str, Tensor] = {}
        self._exchanges = Exchanges()
        self._before: Replicas | None = None

    def begin(self, state: State) -> None:
        """Record where the chains start, as sentences that were read."""
        clock = torch.zeros_like(self._names)
        self.starts = self._columns(clock, state.log_factors.total(1.0), state.log_factors.soft[:, 0])
        self.end = (state.sentences, self.starts)
        no, none = torch.zeros_like(clock, dtype=torch.bool), torch.zeros_like(self.starts["log_target"])
        columns = {name: column for name, column in self.starts.items() if name != "clock"}
        columns |= {"step": clock, "move": clock, "log_ratio": none, "accepted": no, "changed": no}
        self._append(state.sentences, columns, no)  # no row, but its columns, in case that no step is made

    def add(self, info: Info, log_model: Tensor) -> None:
        """Record a step of each chain."""
        self._add(info, log_model)
        self.end = (info.sentences, self._columns(info.step + 1, info.log_target, log_model))

    def add_ahead(self, made: Round) -> None:
        """Record the steps of some chains, several of each."""
        info, state = made.info, made.state
        soft, old = (each.log_factors.soft[:, 0][info.chain] for each in (state, made.before))
        self._add(
            info, torch.where(info.changed, soft, old)
        )  # a chain changes in its last step of the round, if at all
        self.end = (
            state.sentences,
            self._columns(made.clock, state.log_factors.total(1.0), state.log_factors.soft[:, 0]),
        )

    def _columns(self, clock: Tensor, log_target: Tensor, log_model: Tensor) -> dict[str, Tensor]:
        return {"chain": self._names, "clock": clock, "log_target": log_target, "log_model": log_model}

    def _add(self, info: Info, log_model: Tensor) -> None:
        cell = info.sentences.inputs * (2 * len(MOVES)) + info.candidate.move
        self.counts.index_add_(0, cell, torch.ones_like(cell))
        self.counts.index_add_(0, cell + len(MOVES), info.accepted.long())
        columns = {
            "chain": self._names[info.chain], "step": info.step, "move": info.candidate.move,
            "log_ratio": info.log_ratio, "accepted": info.accepted, "changed": info.changed,
            "log_target": info.log_target, "log_model": log_model,
        }  # fmt: skip
        self._append(info.candidate.sentences, columns, torch.ones_like(info.changed))

    def add_tempered(self, replicas: Replicas, info: TemperedInfo) -> None:
        """Record a step of each chain's coldest replica, after what the next level offered to it."""
        self._exchanges.add(info)
        if self._before is not None and replicas.levels.shape[1] > 1:
            self._add_exchange(self._before, info)
        state = replace(replicas.state, encoding=None)  # what the model keeps would stay for as long as the record
        self._before = replace(replicas, state=state)
        self.add(info, replicas.state.log_factors.soft[:, 0][replicas.rows[:, 0]])
        final, columns = self.end
        self.end = (final, columns | {"tried": self._exchanges.tried, "exchanged": self._exchanges.accepted})

    def _add_exchange(self, before: Replicas, info: TemperedInfo) -> None:
        cold, offered = before.rows[:, 0], before.rows[:, 1]
        exchange, factors = info.exchange, before.state.log_factors
        sentences = before.state.sentences.select(offered)
        accepted = exchange.accepted[:, 0]
        after = torch.where(accepted, offered, cold)
        columns = {
            "chain": self._names, "step": info.step, "move": torch.full_like(cold, EXCHANGE),
            "log_ratio": exchange.log_ratio[:, 0], "accepted": accepted,
            "changed": accepted & sentences.differs(before.state.sentences.select(cold)),
            "log_target": factors.total(1.0)[after], "log_model": factors.soft[:, 0][after],
        }  # fmt: skip
        self._append(sentences, columns, exchange.tried[:, 0])

    def _append(self, proposed: Sentences, columns: dict[str, Tensor], tried: Tensor) -> None:
        rows = (tried if self._refused else columns["changed"]).nonzero()[:, 0]
        self.rounds.append((proposed.select(rows), {name: column[rows] for name, column in columns.items()}))

    def record(self) -> Record:
        """All of it, on the CPU."""
        final, finals = self.end
        return Record(
            Sentences.concatenate([proposed for proposed, _ in self.rounds]).to("cpu"),
            _concatenate([columns for _, columns in self.rounds]),
            final.to("cpu"),
            {name: column.cpu() for name, column in finals.items()},
            self.counts.view(-1, 2, len(MOVES)).cpu(),
            {name: column.cpu() for name, column in self.starts.items()},
        )


def in_sequence(records: Sequence[Record], input: int) -> Record:
    """The record of the chains of one input that were recorded in parts, one after the other; `input` is its number."""
    joined, last = _joined(records), records[-1]

    def numbered(sentences: Sentences) -> Sentences:
        return replace(sentences, inputs=torch.full_like(sentences.inputs, input))

    return replace(
        joined,
        proposed=numbered(joined.proposed),
        final=numbered(last.final),
        finals=last.finals,
        starts=records[0].starts,
    )


def _joined(records: Sequence[Record]) -> Record:
    """The record of all shards."""
    return Record(
        Sentences.concatenate([record.proposed for record in records]),
        _concatenate([record.steps for record in records]),
        Sentences.concatenate([record.final for record in records]),
        _concatenate([record.finals for record in records]),
        torch.stack([record.counts for record in records]).sum(0),
        _concatenate([record.starts for record in records]),
    )


def _concatenate(tables: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {name: torch.cat([table[name] for table in tables]).cpu() for name in tables[0]}
