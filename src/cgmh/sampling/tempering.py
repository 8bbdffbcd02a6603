"""Parallel tempering: each chain is the coldest of several replicas, which exchange their temperatures.

Geyer (1991), Markov Chain Monte Carlo Maximum Likelihood.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from torch import Tensor

from ..draws import Draws, Seed
from ..text.sentences import Sentences, indices
from .acceptance import log_exchange
from .chain import Constant, Schedule, rounds
from .kernel import Info, Kernel, State


@dataclass(frozen=True)
class Ladder:
    """The temperatures of a chain's replicas: level l runs at beta times shares[l], level 0 at the beta asked for."""

    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        falling = all(colder > hotter for colder, hotter in pairwise(self.shares))
        if not self.shares or self.shares[0] != 1 or not falling or not self.shares[-1] > 0:
            raise ValueError(f"the shares of a ladder begin with 1, fall, and stay above 0; not {self.shares}")

    @classmethod
    def geometric(cls, num_levels: int, hottest: float = 0.7) -> "Ladder":
        """Levels in equal ratios from 1 down to `hottest`; neighbours then exchange about equally often.

        That is so where the heat capacity is constant. Look at the rates: a few tenths at every pair is good.
        """
        if num_levels < 1 or not 0 < hottest < 1:
            raise ValueError(f"give at least 1 level and a hottest share between 0 and 1, not {num_levels}, {hottest}")
        return cls(tuple(hottest ** (level / max(num_levels - 1, 1)) for level in range(num_levels)))

    def __len__(self) -> int:
        return len(self.shares)

    def betas(self, beta: Tensor) -> Tensor:
        """[B,K]: beta at each level, for the beta [B] of the coldest."""
        return beta[:, None] * torch.tensor(self.shares, dtype=torch.float64, device=beta.device)


@dataclass(frozen=True, slots=True)
class Replicas:
    """What the next step needs: K replicas of each chain, side by side, and where on the ladder each of them stands.

    An exchange moves replicas on the ladder and leaves them in their rows: nothing of the encoding is copied.
    """

    state: State  # B*K rows
    levels: Tensor  # [B,K], a permutation of 0 .. K-1 in each row; 0 is the coldest

    @property
    def rows(self) -> Tensor:
        """[B,K]: the rows of the state, by level."""
        number, num_levels = self.levels.shape
        first = indices(number, self.levels.device)[:, None] * num_levels
        return first + self.levels.argsort(-1)

    def at(self, level: int = 0) -> Sentences:
        """[B]: the sentences of the chains at a level; those of the coldest are the samples."""
        return self.state.sentences.select(self.rows[:, level])


@dataclass(frozen=True, slots=True)
class Exchange:
    """What was proposed and done between neighbouring levels; column l is the pair of levels l and l + 1."""

    log_ratio: Tensor  # [B,K-1]
    tried: Tensor  # [B,K-1] bool
    accepted: Tensor  # [B,K-1] bool


@dataclass(frozen=True, slots=True)
class TemperedInfo(Info):
    """What only a reader needs: the steps of the coldest replicas, as of chains, and what went on around them."""

    replicas: Info  # the steps of all replicas, in the order of their rows
    levels: Tensor  # [B,K]: where each replica stood in this step
    exchange: Exchange  # before it


@dataclass(eq=False)
class TemperedKernel:
    """Exchanges between neighbouring levels, then a step of every replica at its own temperature.

    Both leave the product of the tempered targets unchanged, so the coldest replica samples from the target.
    Exchanges are proposed before each step, between even and odd pairs in turn: pairs of one turn do not overlap.
    """

    kernel: Kernel
    ladder: Ladder

    def init(self, start: Sentences, levels: Tensor | None = None) -> Replicas:
        """The replicas at the start of B chains, all of a chain at its sentence; with `levels`, at B*K sentences."""
        num_levels = len(self.ladder)
        if levels is None:
            start = start.select(indices(len(start), start.device).repeat_interleave(num_levels))
        listed = indices(num_levels, start.device).expand(len(start) // num_levels, num_levels)
        levels = listed if levels is None else levels.to(start.device)
        if levels.numel() != len(start) or not torch.equal(levels.sort(-1).values, listed):
            raise ValueError(f"levels for {len(start)} sentences are [B, {num_levels}], each from 0 up once in a row")
        return Replicas(self.kernel.init(start), levels)

    @torch.no_grad()
    def step(
        self, draws: Draws, replicas: Replicas, beta: Tensor, clock: Tensor, active: Tensor | None = None
    ) -> tuple[Replicas, TemperedInfo]:
        """Step number `clock` [B] of each chain that is `active` [B], at the beta [B] of its coldest replica.

        `draws` has a row for each replica.
        """
        betas = self.ladder.betas(beta)  # [B,K]
        levels, exchange = self.exchange(draws, replicas, betas, clock, active)
        num_levels = len(self.ladder)
        chain = indices(len(clock), clock.device).repeat_interleave(num_levels)  # [B*K]
        own = betas.gather(1, levels).flatten()  # [B*K]
        state, info = self.kernel.step(draws, replicas.state, own, None if active is None else active[chain])
        replicas = Replicas(state, levels)
        info = replace(info, chain=chain, step=clock[chain])
        cold = info.select(replicas.rows[:, 0] if active is None else replicas.rows[active, 0])
        if active is not None:
            info = info.select(active[chain].nonzero()[:, 0])
        return replicas, TemperedInfo(
            cold.candidate, cold.log_ratio, cold.accepted, cold.changed, cold.sentences, cold.log_target, cold.chain,
            cold.step, info, levels, exchange,
        )  # fmt: skip

    def exchange(
        self, draws: Draws, replicas: Replicas, betas: Tensor, clock: Tensor, active: Tensor | None = None
    ) -> tuple[Tensor, Exchange]:
        """[B,K]: the levels after the exchanges that are due before step `clock`; no model is asked."""
        levels = replicas.levels
        number, num_levels = levels.shape
        every_level = indices(num_levels, levels.device)
        pair = every_level[:-1]  # [K-1]
        # Replicas that start together have nothing to exchange. Two levels have one pair, which is always its turn.
        due = clock > 0
        if active is not None:
            due = due & active
        tried = due[:, None] & ((pair - (clock - 1)[:, None]) % min(2, max(num_levels - 1, 1)) == 0)  # [B,K-1]
        rows, factors = replicas.rows, replicas.state.log_factors
        log_ratio = log_exchange(
            factors.select(rows[:, :-1].flatten()), factors.select(rows[:, 1:].flatten()),
            betas[:, :-1].flatten(), betas[:, 1:].flatten(),
        ).view(number, num_levels - 1)  # fmt: skip
        # The decision on a pair is drawn by the name of its colder level; the hottest has none.
        asked = torch.nn.functional.pad(log_ratio.masked_fill(~tried, -torch.inf), (0, 1), value=-torch.inf)  # [B,K]
        taken = draws.accept(asked.flatten(), "exchange").view(number, num_levels)
        source = every_level + taken.long() - taken.roll(1, -1).long()  # [B,K]: the level whose replica comes here
        moved = (rows % num_levels).gather(1, source)  # [B,K]: a chain's replicas, by level
        after = torch.empty_like(moved).scatter_(1, moved, every_level.expand_as(moved))
        return after, Exchange(log_ratio, tried, taken[:, :-1])


def tempered(
    kernel: Kernel,
    start: Sentences,
    steps: int,
    seed: Seed,
    ladder: Ladder,
    schedule: Schedule | None = None,
    chains: Tensor | None = None,
    first_step: int | Tensor = 0,
    levels: Tensor | None = None,
) -> Iterator[tuple[Tensor, Replicas, TemperedInfo]]:
    """Run B tempered chains up to step number `steps - 1`; yield (clock [B], Replicas, TemperedInfo) after each round.

    This is `sample` with K replicas of each chain: the schedule gives the beta of the coldest, the ladder the others.
    The info tells of the coldest replicas as of chains, and fits a `Trace`; its sentences are those of
    `Replicas.at(0)`. `chains` [B] names the chains; replica k of chain c draws as chain c K + k. To go on from (clock,
    replicas), start at `replicas.state.sentences` with `levels=replicas.levels` and `first_step=clock`: it is the same
    chain. A schedule that moves anneals the whole ladder, which is a search heuristic too.
    """
    schedule = schedule or Constant()
    stepper = TemperedKernel(kernel, ladder)
    replicas = stepper.init(start, levels)
    chains = torch.arange(len(replicas.levels)) if chains is None else chains
    names = chains.to(start.device)[:, None] * len(ladder) + indices(len(ladder), start.device)  # [B,K]
    for clock, after, draws, active in rounds(seed, names, steps, first_step):
        replicas, info = stepper.step(draws, replicas, schedule(clock), clock, active)
        yield after, replicas, info


_NONE = torch.zeros(0, 0, dtype=torch.int64)


@dataclass(eq=False)
class Exchanges:
    """How often neighbouring levels exchanged. A pair that almost never does cuts the ladder: put a level between."""

    tried: Tensor = _NONE  # [B,K-1]
    accepted: Tensor = _NONE  # [B,K-1]

    def add(self, info: TemperedInfo) -> None:
        """Count the exchanges of a round."""
        if not self.tried.numel():
            self.tried = self.accepted = torch.zeros_like(info.exchange.tried, dtype=torch.int64)
        self.tried = self.tried + info.exchange.tried
        self.accepted = self.accepted + info.exchange.accepted

    def rates(self) -> tuple[float | None, ...]:
        """The share of exchanges accepted, by pair from the coldest; None where none was proposed."""
        pairs = zip(self.accepted.sum(0).tolist(), self.tried.sum(0).tolist(), strict=True)
        return tuple(accepted / tried if tried else None for accepted, tried in pairs)
