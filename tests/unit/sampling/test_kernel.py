"""The order of a step, its report, its errors."""

from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.constraints import ContainsWords, EndsWith
from cgmh.draws import Draws
from cgmh.errors import InfeasibleStart
from cgmh.proposals import FillHead, WordEdits
from cgmh.sampling import Info, Kernel, State, sample
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from spaces import A, B, C, word
from toys import ToyEncoding, ToyModel, ToyPending


class Counting(ToyModel):
    """Counts the rows that it is asked about."""

    def __init__(self) -> None:
        super().__init__(4)
        self.scored = self.finished = 0
        self.seen: list[list[int]] = []

    def score(self, encoding: ToyEncoding, rows: Tensor, sentences: Sentences, *rest: Any) -> ToyPending:
        self.scored += len(rows)
        self.seen += sentences.to_lists()
        return super().score(encoding, rows, sentences, *rest)

    def finish(self, encoding: ToyEncoding, pending: ToyPending, keep: Tensor) -> Tensor:
        self.finished += int(keep.sum())
        return super().finish(encoding, pending, keep)


def run(window: int | None, steps: int = 20) -> tuple[Counting, Sentences, list[tuple[Tensor, State, Info]]]:
    model = Counting()
    target = Target(model, [ContainsWords([[word(A)]])])
    start = Sentences.from_lists([[A, B, C]] * 50, 5)
    kernel = Kernel(target, WordEdits(FillHead(model, 0.1)), window)
    return model, start, list(sample(kernel, start, steps, 0))


def test_impossible_and_unchanged_candidates_cost_no_model_call() -> None:
    model, start, rounds = run(None)
    assert all(A in words for words in model.seen)
    assert max(map(len, model.seen)) == 4  # an insertion past the capacity is not scored either
    possible, before = 0, start
    for _, state, info in rounds:
        proposed = info.candidate.sentences
        differs = proposed.differs(before)
        holds = ((proposed.ids == A) & proposed.present).any(-1) & (proposed.lengths < 5) & (proposed.lengths > 0)
        possible += int((differs & holds).sum())
        before = state.sentences
    assert model.scored == model.finished == possible < 50 * 20


def test_the_second_stage_sees_only_survivors() -> None:
    model, _, _ = run(0)
    assert 0 < model.finished < 0.9 * model.scored


def test_info_tells_what_was_proposed_and_what_came_of_it() -> None:
    for window in (None, 1):
        _, before, rounds = run(window)
        for clock, state, info in rounds:
            proposed = info.candidate.sentences
            assert torch.equal(info.changed, info.accepted & proposed.differs(before))
            assert torch.equal(state.sentences.ids, proposed.where(info.changed, before).ids)
            assert (info.accepted <= (info.log_ratio > -torch.inf)).all()
            assert torch.equal(info.chain, torch.arange(50))
            assert torch.equal(info.step, clock - 1)
            torch.testing.assert_close(info.log_target, ToyModel(4).log_prob(ToyModel(4).encode(state.sentences)))
            before = state.sentences


def test_a_start_that_breaks_a_constraint_is_named() -> None:
    model = ToyModel(4)
    target = Target(model, [ContainsWords([[word(A)], [word(B)]]), EndsWith([C])])
    kernel = Kernel(target, WordEdits(FillHead(model)))
    with pytest.raises(InfeasibleStart, match=r"breaks a constraint \(contains, ending\)") as caught:
        kernel.init(Sentences.from_lists([[A, C], [A]], 4, [0, 1]))
    assert caught.value.sources == {1}
    with pytest.raises(InfeasibleStart, match="length"):
        kernel.init(Sentences.from_lists([[A, A, A, C]], 4))


def test_inactive_rows_stay() -> None:
    model = ToyModel(4)
    kernel = Kernel(Target(model), WordEdits(FillHead(model)))
    start = Sentences.from_lists([[A, B]] * 40, 4)
    active = torch.arange(40) % 2 == 0
    state, info = kernel.step(Draws(0, torch.arange(40), torch.arange(40)), kernel.init(start), 1.0, active)
    assert not info.accepted[~active].any()
    assert info.changed[active].any()
    assert torch.equal(state.sentences.ids[~active], start.ids[~active])


def test_a_batch_where_nothing_is_possible() -> None:
    model = ToyModel(4)
    kernel = Kernel(Target(model, [ContainsWords([[word(A), word(B)]])]), WordEdits(FillHead(model)), window=1)
    start = Sentences.from_lists([[A, B]] * 5, 3)
    before = kernel.init(start)
    state, info = kernel.step(Draws(0, torch.arange(5), torch.arange(5)), before, 1.0, torch.zeros(5, dtype=torch.bool))
    assert not info.changed.any()
    assert torch.equal(state.log_factors.soft, before.log_factors.soft)


def test_info_tells_of_the_first_stage() -> None:
    """What it refused has its log ratio; where there is none, there is nothing to tell."""
    for _, _, info in run(None)[2]:
        assert info.log_first is None
        assert info.passed is None
    for _, _, info in run(0)[2]:
        assert info.log_first is not None
        assert info.passed is not None
        assert not bool((info.accepted & ~info.passed).any())
        assert torch.equal(info.log_ratio[~info.passed], info.log_first[~info.passed])
        chosen = info.select(torch.tensor([1, 0]))
        assert torch.equal(chosen.log_first, info.log_first[[1, 0]])  # type: ignore[arg-type]
        assert torch.equal(chosen.passed, info.passed[[1, 0]])  # type: ignore[arg-type]
