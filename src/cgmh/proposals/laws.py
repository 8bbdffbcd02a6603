"""What every proposal must obey, as a check to run on one of your own.

Whether log_forward and log_reverse are the true probabilities only an enumeration can tell: see docs/exactness.md.
"""

import torch
from torch import Tensor

from ..draws import Draws
from ..models.protocols import WordModel
from ..text.sentences import Sentences
from .protocols import MOVES, Candidate, Proposal, View


@torch.no_grad()
def check_proposal(proposal: Proposal, model: WordModel, sentences: Sentences, seed: int = 0) -> None:
    """Raise AssertionError with the law that `proposal` breaks on these sentences, each shorter than the capacity."""
    rows = torch.arange(len(sentences), device=sentences.device)
    beta = torch.ones(len(sentences), dtype=torch.float64, device=sentences.device)
    draws = Draws(seed, rows, rows)
    view = View(sentences, model.encode(sentences), rows, beta)
    candidate = proposal.propose(draws, view)
    _check_form(candidate, sentences)
    for row in rows:
        one = row[None]
        alone = View(sentences.select(one), model.encode(sentences.select(one)), one * 0, beta[one])
        _check_same(proposal.propose(draws.select(one), alone), candidate.select(one), "a row alone and in a batch")
    half = rows[::2]
    _check_same(proposal.propose(draws.select(half), view.select(half)), candidate.select(half), "rows of a view")
    dense = View(sentences, view.encoding, rows, beta, dense=True)
    _check_same(proposal.propose(draws, dense), candidate, "dense and not")


def _require(holds: Tensor | bool, law: str) -> None:
    if not bool(torch.as_tensor(holds).all()):
        raise AssertionError(f"law broken: {law}")


def _check_form(candidate: Candidate, sentences: Sentences) -> None:
    proposed, left, right = candidate.sentences, candidate.same_left, candidate.same_right
    _require(proposed.inputs == sentences.inputs, "a candidate answers the same input")
    _require((candidate.move >= 0) & (candidate.move < len(MOVES)), "a move is one of MOVES")
    _require(candidate.log_forward.isfinite(), "log_forward is finite")
    _require(~candidate.log_reverse.isnan() & (candidate.log_reverse < torch.inf), "log_reverse is a number or -inf")
    _require(proposed.present | (proposed.ids == 0), "ids past the end are 0")
    live = (candidate.log_reverse > -torch.inf) & (proposed.lengths > 0)
    shorter = torch.minimum(sentences.lengths, proposed.lengths)
    _require(~live | ((left >= 0) & (right >= 0) & (left + right <= shorter)), "what is the same fits both sentences")
    columns = sentences.columns
    from_left = columns < left[:, None]
    _require(~live[:, None] | ~from_left | (proposed.ids == sentences.ids), "the first same_left words are the same")
    for back in range(sentences.capacity):
        mine, theirs = (some.word_at(some.lengths - 1 - back) for some in (proposed, sentences))
        _require(~live | (back >= right) | (mine == theirs), "the last same_right words are the same")


def _check_same(first: Candidate, second: Candidate, where: str) -> None:
    _require(first.sentences.ids == second.sentences.ids, f"the same candidate for {where}")
    for mine, theirs in zip(first.tensors(), second.tensors(), strict=True):
        _require(
            (mine == theirs) | ((mine - theirs).abs() <= 1e-4 + 1e-6 * theirs.abs()),
            f"the same move and probabilities for {where}",
        )
