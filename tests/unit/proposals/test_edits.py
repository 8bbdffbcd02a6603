"""What each proposal proposes."""

import math

import pytest
import torch

from cgmh.constraints import ContainsWords, EndsWith
from cgmh.draws import Draws
from cgmh.proposals import (
    MOVES,
    Candidate,
    FillHead,
    GibbsOver,
    Leap,
    Mixture,
    Proposal,
    SwapBlocks,
    View,
    WordEdits,
)
from cgmh.proposals.protocols import REPLACE, SWAP
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from spaces import OUT, A, B, C, D, word
from toys import FIRST, UNKNOWN, ToyModel, variant_moves

MODEL = ToyModel(4)


def propose(
    proposal: Proposal, words: list[int], rows: int = 400, capacity: int = 6, inputs: list[int] | None = None
) -> Candidate:
    sentences = Sentences.from_lists([words] * rows, capacity, inputs)
    every = torch.arange(rows)
    view = View(sentences, MODEL.encode(sentences), every, torch.ones(rows, dtype=torch.float64))
    return proposal.propose(Draws(0, every, every), view)


def test_edits_are_one_edit_away() -> None:
    words = [A, B, C]
    candidate = propose(WordEdits(FillHead(MODEL, 0.3)), words)
    for after, move, at in zip(
        candidate.sentences.to_lists(), candidate.move.tolist(), candidate.at.tolist(), strict=True
    ):
        if MOVES[move] == "replace":
            assert after == [*words[:at], after[at], *words[at + 1 :]]
        elif MOVES[move] == "insert":
            assert after == [*words[:at], after[at], *words[at:]]
        else:
            assert after == [*words[:at], *words[at + 1 :]]
        assert min(after) >= FIRST
    assert set(candidate.move.tolist()) == {0, 1, 2}
    assert candidate.log_reverse.isfinite().all()


def test_edits_of_a_run_local_word_have_no_way_back() -> None:
    candidate = propose(WordEdits(FillHead(MODEL)), [OUT])
    touched = candidate.move != 1
    assert (candidate.log_reverse[touched] == -torch.inf).all()
    assert candidate.log_reverse[~touched].isfinite().all()


def test_a_move_of_weight_zero_is_never_made_and_has_no_way_back() -> None:
    candidate = propose(WordEdits(FillHead(MODEL), (1.0, 1.0, 0.0)), [A, B])
    assert set(candidate.move.tolist()) == {0, 1}
    assert (candidate.log_reverse[candidate.move == 1] == -torch.inf).all()


def test_bad_settings_are_errors() -> None:
    for weights in ((1.0, 1.0), (0.0, 0.0, 0.0), (1.0, -1.0, 1.0)):
        with pytest.raises(ValueError, match="three numbers"):
            WordEdits(FillHead(MODEL), weights)
    for floor in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="floor"):
            FillHead(MODEL, floor)
        with pytest.raises(ValueError, match="floor"):
            GibbsOver(MODEL, Target(MODEL), 2, floor)
    with pytest.raises(ValueError, match="at least one word"):
        SwapBlocks(0)
    with pytest.raises(ValueError, match="positive weights"):
        Mixture([])
    with pytest.raises(ValueError, match="positive weights"):
        Mixture([(SwapBlocks(), 0.0)])


def fill_of(filler: FillHead | GibbsOver, words: list[int]) -> torch.Tensor:
    """[ids]: log q of every id for the gap at the first word."""
    ids = torch.arange(OUT + 2)
    sentences = Sentences.from_lists([words] * len(ids), 6)
    every = torch.arange(len(ids))
    view = View(sentences, MODEL.encode(sentences), every, torch.ones(len(ids), dtype=torch.float64))
    return filler.fill(view, every * 0, every * 0 + 1).log_prob(ids)


def test_the_floor_is_part_of_the_fill() -> None:
    log_q = fill_of(FillHead(ToyModel(4, holes=1), 0.2), [B, C])
    assert log_q.exp().sum() == pytest.approx(1)
    assert log_q[A].exp() == pytest.approx(0.2 / 4)  # a hole keeps its share of the floor
    assert (log_q[[0, 1, UNKNOWN, OUT, OUT + 1]] == -torch.inf).all()


def test_gibbs_weighs_the_best_words_by_the_target() -> None:
    target = Target(MODEL)
    log_q = fill_of(GibbsOver(MODEL, target, 4, 0.2), [B, C])
    every = Sentences.from_lists([[some, C] for some in (A, B, C, D)], 6)
    exact = torch.softmax(MODEL.log_prob(MODEL.encode(every)), 0)
    torch.testing.assert_close(log_q[[A, B, C, D]].exp(), 0.8 * exact + 0.2 / 4)
    few = fill_of(GibbsOver(MODEL, target, 2, 0.2), [B, C])
    assert sorted(few.exp().tolist())[-3] == pytest.approx(0.05)  # the two outside the list have the floor only


def test_gibbs_counts_hard_constraints() -> None:
    only_a = GibbsOver(MODEL, Target(MODEL, [ContainsWords([[word(A)]])]), 4, 0.2)
    assert fill_of(only_a, [A, C])[A].exp() == pytest.approx(0.8 + 0.2 / 4)
    nothing = GibbsOver(MODEL, Target(MODEL, [EndsWith([OUT])]), 4, 0.2)
    assert fill_of(nothing, [A, C])[[A, B, C, D]].exp().tolist() == pytest.approx([0.25] * 4)


def test_swap_keeps_the_words() -> None:
    candidate = propose(SwapBlocks(2), [A, B, C, D])
    found = {tuple(words) for words in candidate.sentences.to_lists()}
    assert all(sorted(words) == [A, B, C, D] for words in found)
    assert len(found) == 3 + 2 + 2 + 1  # one and one, one and two, two and one, two and two
    assert set(candidate.move.tolist()) == {SWAP}
    torch.testing.assert_close(candidate.log_forward, candidate.log_reverse)


def test_swap_of_blocks_that_do_not_fit_is_refused() -> None:
    candidate = propose(SwapBlocks(2), [A, B])
    refused = candidate.log_reverse == -torch.inf
    assert {tuple(words) for words in candidate.sentences.select(refused.nonzero()[:, 0]).to_lists()} == {(A, B)}
    assert 0.6 < refused.double().mean() < 0.9  # three of four pairs of lengths
    assert (propose(SwapBlocks(1), [A]).log_reverse == -torch.inf).all()


def test_blocks_are_as_long_as_the_input_allows() -> None:
    inputs = [number % 2 for number in range(400)]
    both = propose(SwapBlocks([1, 2]), [A, B, C, D], inputs=inputs).sentences
    for number, longest in enumerate((1, 2)):
        alone = propose(SwapBlocks(longest), [A, B, C, D]).sentences
        own = both.select((both.inputs == number).nonzero()[:, 0])
        assert {tuple(words) for words in own.to_lists()} == {tuple(words) for words in alone.to_lists()}


def test_a_leap_does_not_depend_on_the_width_of_the_array() -> None:
    """What lies between is no longer than both ends, however much room a longer neighbour in the batch brings."""
    found = []
    for capacity in (4, 9):
        candidate = propose(Leap(WordEdits(FillHead(MODEL)), MODEL), [A, B, C], rows=1000, capacity=capacity)
        fits = (candidate.log_reverse > -torch.inf) & (candidate.sentences.lengths < 4)
        rows = fits.nonzero()[:, 0]
        found.append((rows.tolist(), candidate.sentences.select(rows).to_lists()))
    assert found[0] == found[1]
    assert len(found[0][0]) > 100


def test_variants_stay_in_their_group() -> None:
    candidate = propose(variant_moves([[(A, B, OUT), (C,)]]), [A, C, OUT])
    found = {tuple(words) for words in candidate.sentences.to_lists()}
    assert found == {(B, C, OUT), (OUT, C, OUT), (A, C, A), (A, C, B)}
    assert candidate.log_forward.tolist() == pytest.approx([-math.log(4)] * 400)
    assert set(candidate.move.tolist()) == {REPLACE}
    assert (propose(variant_moves([[(A, B)]]), [C, D]).log_reverse == -torch.inf).all()
    assert (propose(variant_moves([[]]), [C, D]).log_reverse == -torch.inf).all()


def test_a_mixture_uses_its_weights() -> None:
    candidate = propose(Mixture([(WordEdits(FillHead(MODEL)), 3.0), (SwapBlocks(1), 1.0)]), [A, B, C], rows=4000)
    assert abs(float((candidate.move == SWAP).double().mean()) - 0.25) < 0.04
