"""Schedules, and the clocks that an iterator of chains yields."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from cgmh.proposals import FillHead, WordEdits
from cgmh.sampling import Annealing, Constant, Kernel, chain, sample
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from spaces import A, B
from toys import ToyModel


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Constant(0.7), [0.7, 0.7, 0.7]),
        (Annealing(0.5, 2.0, 10), [0.5, 1.0, 2.0]),
        (Annealing(0.5, 2.0, 0), [0.5, 2.0, 2.0]),
    ],
)
def test_schedules(schedule: Callable[[Tensor], Tensor], expected: list[float]) -> None:
    assert schedule(torch.tensor([0, 5, 40])).tolist() == pytest.approx(expected)


def test_clocks_and_steps_go_on_from_where_each_chain_stands() -> None:
    model = ToyModel(4)
    kernel = Kernel(Target(model), WordEdits(FillHead(model)))
    start = Sentences.from_lists([[A], [B]], 4)
    together = [(clock.tolist(), info.chain.tolist()) for clock, _, info in sample(kernel, start, 3, 0, first_step=1)]
    assert together == [([2, 2], [0, 1]), ([3, 3], [0, 1])]
    rounds = sample(kernel, start, 3, 0, first_step=torch.tensor([0, 2]))
    apart = [(clock.tolist(), info.step.tolist()) for clock, _, info in rounds]
    assert apart == [([1, 3], [0, 2]), ([2, 3], [1]), ([3, 3], [2])]


def test_draws_do_not_depend_on_how_many_steps_are_drawn_together(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ToyModel(4)
    kernel = Kernel(Target(model), WordEdits(FillHead(model)))
    start = Sentences.from_lists([[A, B]] * 5, 5)
    last = []
    for together in (1, 7, 16):
        monkeypatch.setattr(chain, "STEPS_DRAWN_TOGETHER", together)
        *_, (_, state, _) = sample(kernel, start, 20, 3)
        last.append(state.sentences.to_lists())
    assert last[0] == last[1] == last[2] != start.to_lists()
