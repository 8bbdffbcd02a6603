"""One of several proposals, by weight."""

import pytest
import torch

from cgmh.draws import Draws
from cgmh.proposals import FillHead, Mixture, SwapBlocks, View, WordEdits
from cgmh.proposals.protocols import MOVES, SWAP
from cgmh.text.sentences import Sentences
from spaces import A, B, C
from toys import ToyModel, variant_moves

MODEL = ToyModel(4)
ROWS = torch.arange(3000)
SENTENCES = Sentences.from_lists([[A, B, C]] * len(ROWS), 6)
VIEW = View(SENTENCES, MODEL.encode(SENTENCES), ROWS, torch.ones(len(ROWS), dtype=torch.float64))


def share_of(mixture: Mixture, move: int) -> float:
    return float((mixture.propose(Draws(0, ROWS, ROWS), VIEW).move == move).double().mean())


def test_components_have_the_share_of_their_weight() -> None:
    edits, swap = WordEdits(FillHead(MODEL)), SwapBlocks(1)
    assert share_of(Mixture([(edits, 3.0), (swap, 1.0)]), SWAP) == pytest.approx(0.25, abs=0.03)
    assert share_of(Mixture([(swap, 2.0)]), SWAP) == 1.0


def test_a_proposal_beside_a_mixture_takes_its_share_from_all() -> None:
    edits, swap, variants = WordEdits(FillHead(MODEL), (0.0, 1.0, 1.0)), SwapBlocks(1), variant_moves([[(A, B)]])
    mixture = Mixture([(edits, 3.0), (swap, 1.0)]).beside(variants, 0.4)
    shares = [share_of(mixture, move) for move in range(len(MOVES))]
    assert shares == pytest.approx([0.4, 0.225, 0.225, 0.15], abs=0.03)


def test_rows_keep_their_order() -> None:
    edits, swap = WordEdits(FillHead(MODEL)), SwapBlocks(1)
    draws = Draws(0, ROWS, ROWS)
    candidate = Mixture([(edits, 1.0), (swap, 1.0)]).propose(draws, VIEW)
    swapped = candidate.move == SWAP
    for part, rows in ((swap, swapped), (edits, ~swapped)):
        alone = part.propose(draws, VIEW)
        assert torch.equal(alone.sentences.ids[rows], candidate.sentences.ids[rows])
        assert torch.equal(alone.log_reverse[rows], candidate.log_reverse[rows])


def test_together_all_chains_of_a_step_take_the_same_component() -> None:
    edits, swap = WordEdits(FillHead(MODEL)), SwapBlocks(1)
    mixture = Mixture([(edits, 3.0), (swap, 1.0)], together=True)
    assert share_of(mixture, SWAP) == pytest.approx(0.25, abs=0.03)  # over the steps of a chain, as ever
    assert share_of(mixture.beside(swap, 0.2), SWAP) == pytest.approx(0.4, abs=0.03)
    for step in range(8):
        swapped = mixture.propose(Draws(0, ROWS, torch.full_like(ROWS, step)), VIEW).move == SWAP
        assert bool(swapped.all()) or not bool(swapped.any())


@pytest.mark.parametrize("weights", [[], [1.0, 0.0], [1.0, float("inf")], [-1.0, 2.0]], ids=str)
def test_weights_are_positive(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="positive weights"):
        Mixture([(SwapBlocks(1), weight) for weight in weights])
