"""Seeded mistakes in parallel tempering; the exact checks must catch every one."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.constraints import ContainsWords
from cgmh.draws import Draws
from cgmh.sampling import Info, Kernel, Ladder, Replicas, State, TemperedKernel, acceptance, chain, tempering
from cgmh.target import LogFactors, Target
from cgmh.text.sentences import Sentences
from enumeration import all_sentences
from histories import start_of
from replicas import OnTuples, tempered_history, violations_on_tuples
from spaces import SPACES, A, Favours, Space, fill_edits, word
from toys import FIRST, ToyModel

torch.set_num_threads(1)

Fault = Callable[[Space, pytest.MonkeyPatch], TemperedKernel]
FAULTS: dict[str, tuple[str, bool, Fault]] = {}
LADDER = Ladder((1.0, 0.3))


def space(num_words: int) -> Space:
    """A, AA, AB, BA, and of three words AC and CA, with every C favoured."""
    states = all_sentences(range(FIRST, FIRST + num_words), 3, [lambda words: A in words])
    return Space(ToyModel(num_words, seed=4), [ContainsWords([[word(A)]]), Favours()], states, [])


def fault(name: str, law: str, *, only_exchange: bool = True) -> Callable[[Fault], Fault]:
    """Register a function that builds a broken kernel, with the law that it breaks."""

    def register(build: Fault) -> Fault:
        FAULTS[name] = (law, only_exchange, build)
        return build

    return register


def found_in(built: Space, kernel: TemperedKernel, *, only_exchange: bool) -> list[str]:
    orders = permutations(range(len(kernel.ladder))) if only_exchange else [(1, 0)]
    return [
        one
        for levels in orders
        for one in violations_on_tuples(OnTuples(kernel, 1, levels, only_exchange=only_exchange), built.states, 1.3)
    ]


def _plain(built: Space) -> Kernel:
    return Kernel(built.target, fill_edits(built))


def _with_ratio(built: Space, patch: pytest.MonkeyPatch, change: Callable[..., Tensor]) -> TemperedKernel:
    patch.setattr(tempering, "log_exchange", change)
    return TemperedKernel(_plain(built), LADDER)


@fault("the difference has the wrong sign", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    return _with_ratio(built, patch, lambda *some: -acceptance.log_exchange(*some))


@fault("the factors are tempered before they are compared", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    def twice(colder: LogFactors, hotter: LogFactors, cold: Tensor, hot: Tensor) -> Tensor:
        return (cold - hot) * (hot * hotter.soft.sum(-1) - cold * colder.soft.sum(-1))

    return _with_ratio(built, patch, twice)


@fault("only the language model is compared", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    def model_only(colder: LogFactors, hotter: LogFactors, cold: Tensor, hot: Tensor) -> Tensor:
        return (cold - hot) * (hotter.soft[:, 0] - colder.soft[:, 0])

    return _with_ratio(built, patch, model_only)


@fault("the temperatures are left out", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    return _with_ratio(built, patch, lambda a, b, c, h: acceptance.log_exchange(a, b, c / c, h * 0))


@fault("an exchange is always accepted", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    return _with_ratio(built, patch, lambda *some: 0 * acceptance.log_exchange(*some))


class Rowwise(Kernel):
    """The first replica of a chain always runs cold, wherever it stands."""

    def step(self, draws: Draws, state: State, beta: Any, active: Any = None) -> tuple[State, Info]:
        return super().step(draws, state, beta.view(-1, len(LADDER)).sort(-1, descending=True).values.flatten(), active)


@fault("a replica keeps the temperature of its row", "pi P = pi", only_exchange=False)
def _(built: Space, _: pytest.MonkeyPatch) -> TemperedKernel:
    return TemperedKernel(Rowwise(built.target, fill_edits(built)), LADDER)


class Melting:
    """A requirement as a penalty that temperature melts, in place of a hard factor."""

    name, hard = "melting", False

    def __init__(self, built: Space) -> None:
        self._requirement = Target(built.model, built.constraints[:1])

    def log_factor(self, sentences: Sentences) -> Tensor:
        return torch.where(self._requirement.possible(sentences), 0.0, -9.0)


@fault("the hard factor is tempered", "stays in the space", only_exchange=False)
def _(built: Space, _: pytest.MonkeyPatch) -> TemperedKernel:
    return TemperedKernel(Kernel(Target(built.model, [Melting(built), Favours()]), fill_edits(built)), LADDER)


@fault("replicas of neighbouring chains are compared", "detailed balance")
def _(built: Space, patch: pytest.MonkeyPatch) -> TemperedKernel:
    def across(colder: LogFactors, hotter: LogFactors, cold: Tensor, hot: Tensor) -> Tensor:
        one_on = LogFactors(hotter.hard.roll(1, 0), hotter.soft.roll(1, 0))
        return acceptance.log_exchange(colder, one_on, cold, hot)

    return _with_ratio(built, patch, across)


class Crossing(TemperedKernel):
    """Levels are exchanged with the chain beside."""

    def exchange(self, *some: Any, **more: Any) -> tuple[Tensor, Any]:
        levels, exchange = super().exchange(*some, **more)
        return torch.where(exchange.accepted.any(-1, keepdim=True), levels.roll(1, 0), levels), exchange


class Overlapping(TemperedKernel):
    """Every pair in one turn: a level may be in two of them."""

    def exchange(
        self, draws: Draws, replicas: Replicas, betas: Tensor, clock: Tensor, active: Tensor | None = None
    ) -> tuple[Tensor, Any]:
        _, exchange = super().exchange(draws, replicas, betas, clock, active)
        asked = torch.nn.functional.pad(exchange.log_ratio, (0, 1), value=-torch.inf)
        taken = draws.accept(asked.flatten(), "all pairs").view_as(asked)
        source = torch.arange(asked.shape[1]) + taken.long() - taken.roll(1, -1).long()
        return replicas.levels.argsort(-1).gather(1, source).argsort(-1), exchange


@fault("pairs of one turn overlap", "detailed balance")
def _(built: Space, _: pytest.MonkeyPatch) -> TemperedKernel:
    return Overlapping(_plain(built), Ladder((1.0, 0.5, 0.2)))


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, only_exchange, build = FAULTS[name]
    built = space(3 if only_exchange else 2)
    found = found_in(built, build(built, monkeypatch), only_exchange=only_exchange)
    assert any(one.startswith(law) for one in found), found


@pytest.mark.parametrize("only_exchange", [True, False])
def test_without_the_mistake_nothing_is_found(only_exchange: bool) -> None:
    built = space(3 if only_exchange else 2)
    assert found_in(built, TemperedKernel(_plain(built), LADDER), only_exchange=only_exchange) == []


def test_exchanging_across_chains_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain alone is no longer the chain in a batch."""
    built = SPACES["three inputs"]()
    kernel, start = Kernel(built.target, fill_edits(built)), start_of(built)
    five = torch.tensor([5])

    def parts_differ() -> bool:
        alone = tempered_history(kernel, start.select(five), LADDER, chains=five)
        return alone != {key: some for key, some in tempered_history(kernel, start, LADDER).items() if key[0] == 5}

    assert not parts_differ()
    monkeypatch.setattr(tempering, "TemperedKernel", Crossing)
    assert parts_differ()


def test_replicas_that_share_their_draws_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the candidates of the first step: equal sentences with equal numbers are edited alike."""
    built = SPACES["free"]()
    kernel, start = Kernel(built.target, fill_edits(built)), start_of(built)

    def alike() -> float:
        _, _, info = next(tempering.tempered(kernel, start, 5, 0, LADDER))
        ids = info.replicas.candidate.sentences.ids
        return float((ids[0::2] == ids[1::2]).all(-1).double().mean())

    assert alike() < 0.5
    monkeypatch.setattr(chain, "Draws", lambda seed, names, steps: Draws(seed, names // 2, steps))
    assert alike() == 1
