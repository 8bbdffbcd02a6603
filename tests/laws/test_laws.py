"""Every toy model, constraint and proposal obeys the shipped laws, and the laws catch those that do not."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.constraints import Constraint, ContainsWords, EndsWith, Forbids, LengthBetween, PythonConstraint
from cgmh.draws import Draws
from cgmh.laws import check_constraint, check_model, check_proposal
from cgmh.proposals import Alternatives, FillHead, GibbsOver, Mixture, Proposal, SwapBlocks, WordEdits
from cgmh.proposals.protocols import Candidate, View
from cgmh.target import Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from channels import MISSPELT, SOURCES, toy_channel
from phrases import ALL, SPELLING
from spaces import OUT, A, B, C, D, Favours, phrase, word
from toys import ToyEncoding, ToyFill, ToyModel, ToyPending, variant_moves

torch.set_num_threads(1)

LISTS = [[A], [A, B], [C, C, D], [D, A, B, C], [OUT, B], [A, OUT, D, B], [B, B, B, B], [C, A, B, A, B]]
SENTENCES = Sentences.from_lists(LISTS, 7, [0, 1, 0, 1, 0, 1, 0, 1])
ANY_LENGTH = Sentences.from_lists([*LISTS, [], [A, B, C, D, A, B, C]], 7, [0, 1] * 5)
LEXICON = Lexicon(Vocabulary([*SPECIALS, *(f"word{number}" for number in range(20))]))


CONSTRAINTS: dict[str, Constraint] = {
    "contains": ContainsWords([[word(A)], [phrase(A, B), word(C)]]),
    "contains entangled": ContainsWords([[word(A, B), phrase(A, B)], []]),
    "contains in order": ContainsWords([[word(A), word(B)], [phrase(C, D)]], ordered=True),
    "contains id 0": ContainsWords([[word(0)], [word(A)]]),
    "forbids": Forbids([[A, OUT], []]),
    "length": LengthBetween([1, 2], [3, 3], torch.tensor([False] * 4 + [True] * 3)),
    "ends": EndsWith([B, OUT]),
    "python hard": PythonConstraint("short", lambda words: len(words) < 3, LEXICON, hard=True),
    "python soft": PythonConstraint("letters", lambda words: len("".join(words)), LEXICON, hard=False, weight=0.1),
    "soft": Favours(),
    "channel": toy_channel(SOURCES),
    "channel of a misspelt source": toy_channel([SOURCES[0], MISSPELT]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints(name: str) -> None:
    check_constraint(CONSTRAINTS[name], ANY_LENGTH)


class Relative:
    name, hard = "relative", False

    def log_factor(self, sentences: Sentences) -> Tensor:
        return sentences.lengths.double() / sentences.lengths.max().clamp(min=1)


class Halfway:
    name, hard = "halfway", True

    def log_factor(self, sentences: Sentences) -> Tensor:
        return -0.5 * (sentences.lengths > 2).double()


class Padded:
    name, hard = "padded", False

    def log_factor(self, sentences: Sentences) -> Tensor:
        return (sentences.ids == 0).sum(-1).double()


class Vandal:
    name, hard = "vandal", False

    def log_factor(self, sentences: Sentences) -> Tensor:
        sentences.ids[:, 0] = C
        return 0.0 * sentences.lengths


@pytest.mark.parametrize(
    ("constraint", "law"),
    [(Relative(), "alone and in a batch"), (Halfway(), "0 or -inf"), (Padded(), "capacity"), (Vandal(), "left as")],
)
def test_unlawful_constraints_are_caught(constraint: Constraint, law: str) -> None:
    sentences = Sentences(ANY_LENGTH.ids.clone(), ANY_LENGTH.lengths, ANY_LENGTH.inputs)
    with pytest.raises(AssertionError, match=law):
        check_constraint(constraint, sentences)


def proposals() -> dict[str, Proposal]:
    model = ToyModel(4)
    target = Target(model, [ContainsWords([[word(A)], []])])
    edits = WordEdits(FillHead(model), (1.0, 2.0, 3.0))
    swap, variants = SwapBlocks(2), variant_moves([[(A, B), (C, OUT)], []])
    alternatives = Alternatives([ALL, *SPELLING])
    return {
        "edits": edits,
        "gibbs": WordEdits(GibbsOver(model, target, 2)),
        "swap": swap,
        "variants": variants,
        "alternatives": alternatives,
        "alternatives for one input": Alternatives([[], ALL]),
        "mixture": Mixture([(edits, 1.0), (swap, 1.0), (variants, 2.0)]),
        "mixture with alternatives": Mixture([(edits, 1.0), (alternatives, 2.0), (swap, 1.0)]),
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", proposals())
def test_proposals(name: str, seed: int) -> None:
    check_proposal(proposals()[name], ToyModel(4), SENTENCES, seed)


class WrongSide(SwapBlocks):
    def propose(self, draws: Draws, view: View) -> Candidate:
        candidate = super().propose(draws, view)
        return replace(candidate, same_left=candidate.same_left + 1)


class Endless(SwapBlocks):
    def propose(self, draws: Draws, view: View) -> Candidate:
        return replace(super().propose(draws, view), log_forward=torch.full((len(view.rows),), -torch.inf))


class Crowded(SwapBlocks):
    """Its place depends on how many rows there are."""

    def propose(self, draws: Draws, view: View) -> Candidate:
        candidate = super().propose(draws, view)
        return replace(candidate, at=candidate.at + len(view.rows))


@pytest.mark.parametrize(
    ("proposal", "law"),
    [(WrongSide(1), "same"), (Endless(1), "log_forward is finite"), (Crowded(1), "a row alone")],
)
def test_unlawful_proposals_are_caught(proposal: Proposal, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_proposal(proposal, ToyModel(4), SENTENCES)


@pytest.mark.parametrize("settings", [{}, {"holes": 1}, {"num_real": 9, "seed": 3}], ids=str)
def test_models(settings: dict[str, Any]) -> None:
    check_model(ToyModel(**settings), SENTENCES)


class Stale(ToyModel):
    def commit(self, encoding: ToyEncoding, pending: ToyPending, accepted: Tensor) -> None:
        pass


class BatchScaled(ToyModel):
    """Scores move with their neighbours, as with dynamic quantisation."""

    def log_prob(self, encoding: ToyEncoding) -> Tensor:
        log_prob = super().log_prob(encoding)
        return log_prob - 1e-3 * log_prob.min()


class WithTheWord(ToyModel):
    def fill(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> ToyFill:
        return super().fill(encoding, rows, left, torch.minimum(left, right))


class Unnormalised(ToyModel):
    def fill(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> ToyFill:
        return ToyFill(super().fill(encoding, rows, left, right).log_words - 0.1)


class ProposesUnknown(ToyModel):
    def fill(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> ToyFill:
        return ToyFill(super().fill(encoding, rows, left, right).log_words.roll(-1, -1))


class Lopsided(ToyModel):
    def score(self, *args: Any) -> ToyPending:
        pending = super().score(*args)
        return replace(pending, log_gain=pending.log_gain + 0.01)


@pytest.mark.parametrize(
    ("model", "law"),
    [
        (Stale(4), "after commit"),
        (BatchScaled(4), "alone as it does in a batch"),
        (WithTheWord(4), "does not depend on the word"),
        (Unnormalised(4), "sums to 1"),
        (ProposesUnknown(4), "never proposed"),
        (Lopsided(4), "minus the gain"),
    ],
)
def test_unlawful_models_are_caught(model: ToyModel, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_model(model, SENTENCES)
