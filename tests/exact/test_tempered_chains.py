"""The same tempered chain, however it is run; and what it costs and reports."""

from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.sampling import Annealing, Exchanges, Kernel, Ladder, TemperedKernel, Trace, sample, tempered
from cgmh.text.sentences import Sentences
from histories import SCHEDULE, STEPS, history, start_of
from replicas import LADDERS, tempered_history
from spaces import KERNELS, SPACES, fill_edits
from toys import ToyModel

torch.set_num_threads(1)

CASES = [
    ("three inputs", "mixture", 1, "three"),
    ("soft and hard", "mixture", 0, "four"),
    ("free", "gibbs mixture", None, "two, near"),
]


def _built(case: tuple[str, str, int | None, str]) -> tuple[Kernel, Sentences, Ladder]:
    space = SPACES[case[0]]()
    return KERNELS[case[1]](space, case[2]), start_of(space), LADDERS[case[3]]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_chain_alone_is_the_chain_in_a_batch(case: tuple[str, str, int | None, str]) -> None:
    kernel, start, ladder = _built(case)
    together = tempered_history(kernel, start, ladder)
    assert len(together) == 12 * STEPS
    for row in (0, 5, 11):
        alone = tempered_history(kernel, start.select(torch.tensor([row])), ladder, chains=torch.tensor([row]))
        assert alone == {key: value for key, value in together.items() if key[0] == row}
    flip = torch.arange(12).flip(0)
    assert tempered_history(kernel, start.select(flip), ladder, chains=flip) == together


@pytest.mark.parametrize("case", CASES, ids=str)
def test_resumed_is_uninterrupted(case: tuple[str, str, int | None, str]) -> None:
    """Sentences, levels and clocks are enough to go on, also from clocks that differ."""
    kernel, start, ladder = _built(case)
    whole = tempered_history(kernel, start, ladder)
    stops = [7, 12]
    clocks, sentences, levels = [], [], []
    for chain in range(12):
        one = torch.tensor([chain])
        rounds = tempered(kernel, start.select(one), STEPS, 5, ladder, SCHEDULE, chains=one)
        clock, replicas, _ = [next(rounds) for _ in range(stops[chain % 2])][-1]
        clocks.append(clock)
        sentences += replicas.state.sentences.to_lists()
        levels.append(replicas.levels)
    assert any(bool((some != levels[0]).any()) for some in levels)
    inputs = start.inputs.repeat_interleave(len(ladder))
    rest = tempered_history(
        kernel,
        Sentences.from_lists(sentences, start.capacity, inputs),
        ladder,
        first_step=torch.cat(clocks),
        levels=torch.cat(levels),
    )
    assert rest == {(chain, step): value for (chain, step), value in whole.items() if step >= stops[chain % 2]}


def test_a_ladder_of_one_level_is_the_plain_chain() -> None:
    space = SPACES["three inputs"]()
    kernel, start = KERNELS["mixture"](space, 1), start_of(space)
    found = tempered_history(kernel, start, Ladder((1.0,)))
    assert {key: value[:-2] for key, value in found.items()} == history(kernel, start)


def test_replicas_draw_apart_and_the_cold_one_is_read_in_order() -> None:
    space = SPACES["free"]()
    kernel, start = KERNELS["mixture"](space, None), start_of(space)
    trace, moved = Trace(keep_sentences=True), 0
    samples, last = [], start
    for clock, replicas, info in tempered(kernel, start, STEPS, 5, LADDERS["three"]):
        assert info.chain.tolist() == list(range(12))
        assert (clock - 1).tolist() == info.step.tolist()
        cold = replicas.at()
        assert cold.to_lists() == info.sentences.to_lists()
        assert replicas.levels.sort(-1).values.tolist() == [[0, 1, 2]] * 12
        fresh = kernel.init(cold).log_factors.total(1.0)
        torch.testing.assert_close(info.log_target, fresh, rtol=0, atol=1e-12)
        moved += int((last.differs(cold) & ~info.changed).sum())  # came by an exchange
        last = cold
        trace.add(info)
        samples.append(cold.ids)
    assert moved > 20
    assert (torch.from_numpy(trace.ids) == torch.stack(samples, 1)).all()
    assert not bool((info.replicas.candidate.sentences.ids[0::3] == info.replicas.candidate.sentences.ids[1::3]).all())


class Counting(ToyModel):
    """Counts every call."""

    calls = 0

    def __getattribute__(self, name: str) -> Any:
        if name in ("encode", "log_prob", "fill", "candidates", "score", "finish"):
            type(self).calls += 1
        return super().__getattribute__(name)


def test_exchanges_cost_no_model_call() -> None:
    space = SPACES["soft and hard"]()
    space.model = Counting(4, seed=3)
    kernel, ladder, start = Kernel(space.target, fill_edits(space)), LADDERS["four"], start_of(space)

    def calls(levels: Ladder) -> tuple[int, int]:
        Counting.calls, exchanges = 0, Exchanges()
        for _, _, info in tempered(kernel, start, 30, 1, levels):
            exchanges.add(info)
        return Counting.calls, int(exchanges.accepted.sum())

    often, exchanged = calls(ladder)
    assert exchanged > 50
    assert calls(Ladder((1.0,))) == (often, 0)  # as many calls of a plain chain, each with more rows
    *_, (clock, replicas, _) = tempered(kernel, start, 30, 1, ladder)
    Counting.calls = 0
    names = torch.arange(48)
    stepper = TemperedKernel(kernel, ladder)
    betas = ladder.betas(torch.ones(12, dtype=torch.float64))
    _, exchange = stepper.exchange(Draws(0, names, names * 0), replicas, betas, clock)
    assert bool(exchange.accepted.any())
    assert Counting.calls == 0


def test_the_whole_ladder_is_annealed() -> None:
    """Each chain at its own clock, each level at its share of the schedule's beta: in the steps and the exchanges."""
    space = SPACES["free"]()
    seen: list[tuple[Tensor, Tensor]] = []

    class Watched(Kernel):
        def step(self, draws: Draws, state: Any, beta: Any, active: Any = None) -> Any:
            seen.append((beta, state.log_factors.soft.sum(-1)))
            return super().step(draws, state, beta, active)

    kernel, ladder = Watched(space.target, fill_edits(space)), LADDERS["three"]
    schedule, clock = Annealing(0.3, 3.0, 40), torch.tensor([0, 10, 35])
    for after, _, info in tempered(kernel, start_of(space, 3), 50, 2, ladder, schedule, first_step=clock):
        beta, soft = seen.pop()
        expected = ladder.betas(schedule(clock)).gather(1, info.levels)
        assert torch.equal(beta.view(3, 3), expected)
        for chain, pair in info.exchange.accepted.nonzero().tolist():
            now_colder, now_hotter = info.levels[chain].argsort()[pair : pair + 2].tolist()
            gain = soft.view(3, 3)[chain, now_colder] - soft.view(3, 3)[chain, now_hotter]
            by_hand = (expected[chain, now_colder] - expected[chain, now_hotter]) * gain
            torch.testing.assert_close(info.exchange.log_ratio[chain, pair], by_hand)
        clock = after
    assert clock.tolist() == [50, 50, 50]


@pytest.mark.parametrize("space", SPACES)
def test_annealing_runs_over_any_target(space: str) -> None:
    """A chain's beta is that of its own clock, so it is the same chain among chains at other clocks."""
    built = SPACES[space]()
    kernel, start = KERNELS["mixture"](built, 1), start_of(built, 4)
    whole = history(kernel, start)
    *_, (clock, state, _) = sample(kernel, start.select(torch.tensor([0, 1])), 20, 5, SCHEDULE)
    mixed = torch.cat([clock, torch.zeros(2, dtype=torch.int64)])
    both = [*state.sentences.to_lists(), *start.to_lists()[2:]]
    rest = history(kernel, Sentences.from_lists(both, start.capacity, start.inputs), first_step=mixed)
    assert rest == {(chain, step): some for (chain, step), some in whole.items() if step >= mixed[chain]}
    assert bool(built.target.possible(state.sentences).all())


def test_nothing_happens_past_the_end() -> None:
    space = SPACES["free"]()
    kernel, start = KERNELS["fill edits"](space, None), start_of(space)
    assert list(tempered(kernel, start, 0, 0, LADDERS["three"])) == []
    assert list(tempered(kernel, start.select(torch.tensor([], dtype=torch.int64)), 5, 0, LADDERS["three"])) == []
