"""Seeded mistakes in what is proposed and how its probability is told; the exact checks must catch every one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.models.protocols import Fill
from cgmh.proposals import FillHead, GibbsOver, Mixture, Proposal, SwapBlocks, WordEdits, fillers
from cgmh.proposals.protocols import DELETE, INSERT, REPLACE, Candidate, View
from cgmh.sampling import Kernel
from cgmh.text.sentences import Sentences
from enumeration import violations
from seeding import Faults
from spaces import SPACES, UNEVEN, A, B, C, Space, fill_edits
from toys import ToyFill, ToyModel, variant_moves

torch.set_num_threads(1)

fault = Faults()


class Tampered:
    """A proposal whose candidates are changed afterwards."""

    def __init__(self, proposal: Proposal, change: Callable[[Candidate, Sentences], Candidate]) -> None:
        self._proposal, self._change = proposal, change

    def propose(self, draws: Draws, view: View) -> Candidate:
        return self._change(self._proposal.propose(draws, view), view.sentences)


def _tampered(space: Space, change: Callable[[Candidate, Sentences], Candidate]) -> Kernel:
    return Kernel(space.target, Tampered(fill_edits(space), change))


@fault("the place term is dropped on one side")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def change(candidate: Candidate, before: Sentences) -> Candidate:
        places = before.lengths + (candidate.move == INSERT)
        return replace(candidate, log_forward=candidate.log_forward + places.double().log())

    return _tampered(space, change)


@fault("the way back counts the places of the sentence before the edit")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def change(candidate: Candidate, before: Sentences) -> Candidate:
        wrong = torch.where(candidate.move == INSERT, (1 + 1 / before.lengths).log(), 0.0)
        return replace(candidate, log_reverse=candidate.log_reverse + wrong)

    return _tampered(space, change)


@fault("the weights of the moves are dropped")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    log_weight = torch.tensor(UNEVEN, dtype=torch.float64).log()
    log_back = log_weight[[REPLACE, DELETE, INSERT]]

    def change(candidate: Candidate, _: Sentences) -> Candidate:
        return replace(
            candidate,
            log_forward=candidate.log_forward - log_weight[candidate.move],
            log_reverse=candidate.log_reverse - log_back[candidate.move],
        )

    return _tampered(space, change)


@fault("a deletion forgets the probability of the word it would put back")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def change(candidate: Candidate, _: Sentences) -> Candidate:
        forgotten = torch.where(candidate.move == DELETE, candidate.log_forward, candidate.log_reverse)
        return replace(candidate, log_reverse=forgotten)

    return _tampered(space, change)


class ReadsTheWord(FillHead):
    """The gap that it reads still holds the word at its right."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        return super().fill(view, left, left)


@fault("the fill is read from the sentence with the word")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, WordEdits(ReadsTheWord(space.model, 0.05), UNEVEN))


class CandidatesWithTheWord(GibbsOver):
    """The K words are ranked with the word itself still in the gap."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        model = self._model
        ranked = type("Ranked", (), {"candidates": lambda _, *at: model.candidates(*at[:-1], at[-2])})()
        ranked.score, ranked.special_ids = model.score, model.special_ids
        self._model = ranked
        try:
            return super().fill(view, left, right)
        finally:
            self._model = model


@fault("the K words depend on the word in the gap")
def _(space: Space, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    gaps = fillers._gaps

    def with_the_word(view: View, *at: Tensor) -> list[Any]:
        return [(*gap, *ids) for gap, ids in zip(gaps(view, *at), view.sentences.to_lists(), strict=True)]

    monkeypatch.setattr(fillers, "_gaps", with_the_word)
    return Kernel(space.target, WordEdits(CandidatesWithTheWord(space.model, space.target, 2, 0.1), UNEVEN))


class BestWord(FillHead):
    """The best word, reported with the probability of a draw."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        fill = super().fill(view, left, right)
        best = self._model.fill(view.encoding, view.rows, left, right).log_words.argmax(-1)  # type: ignore[attr-defined]
        fill.choose = lambda _: best  # type: ignore[method-assign]
        return fill


@fault("the best word is taken instead of a draw")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, WordEdits(BestWord(space.model, 0.05), UNEVEN))


class NoFloor:
    def __init__(self, model: ToyModel) -> None:
        self._model = model

    def fill(self, view: View, left: Tensor, right: Tensor) -> ToyFill:
        return self._model.fill(view.encoding, view.rows, left, right)


@fault("a truncated fill has no floor", law="one communicating class")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    space.model = ToyModel(4, holes=2)
    return Kernel(space.target, WordEdits(NoFloor(space.model), UNEVEN))


class UncountedFloor(FillHead):
    """The floor is drawn from but does not count in q."""

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        fill = super().fill(view, left, right)
        bare = self._model.fill(view.encoding, view.rows, left, right)
        fill.log_prob = bare.log_prob  # type: ignore[method-assign]
        return fill


@fault("the mass of the floor is not part of q")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, WordEdits(UncountedFloor(space.model, 0.2), UNEVEN))


class LopsidedSwap(SwapBlocks):
    """Lengths that favour a long first block, reported as symmetric."""

    def propose(self, draws: Draws, view: View) -> Candidate:
        class Lopsided(type(draws)):  # type: ignore[misc]
            def integer(self, high: Tensor, site: str) -> Tensor:
                drawn = draws.integer(high, site)
                return drawn // 2 * 2 if site == "swap blocks" else drawn  # the second block has one word

        lopsided = Lopsided.__new__(Lopsided)
        lopsided.__dict__.update(draws.__dict__)
        return super().propose(lopsided, view)


@fault("block lengths are drawn unevenly and called symmetric")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, Mixture([(fill_edits(space), 0.5), (LopsidedSwap(2), 0.5)]))


@fault("variants lead somewhere they do not come back from as often")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    variants = variant_moves([[(A, B, C)]])
    variants._tables.at(torch.device("cpu"))["log_share"][0, 0, 0] += 1  # A is chosen more often than that
    variants._tables.at(torch.device("cpu"))["log_rest"][0, 0] += 0.5
    return Kernel(space.target, Mixture([(fill_edits(space), 0.5), (variants, 0.5)]))


class LengthyMixture(Mixture):
    """Swaps for long sentences, edits for short ones, without a word about it in q."""

    def propose(self, draws: Draws, view: View) -> Candidate:
        edits, swap = (component.propose(draws, view) for component in self._components)
        longer = view.sentences.lengths > 2
        pairs = zip(swap.tensors(), edits.tensors(), strict=True)
        return Candidate(
            swap.sentences.where(longer, edits.sentences), *(torch.where(longer, one, other) for one, other in pairs)
        )


@fault("the choice of component depends on the sentence")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, LengthyMixture([(fill_edits(space), 0.5), (SwapBlocks(1), 0.5)]))


@fault("variants alone: most of the space is out of reach", law="one communicating class")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return Kernel(space.target, Mixture([(variant_moves([[(A, B)]]), 0.5), (SwapBlocks(2), 0.5)]))


@pytest.mark.parametrize("name", fault.known)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check(name, monkeypatch)


def test_a_site_drawn_from_twice_is_caught() -> None:
    class Twice(WordEdits):
        def propose(self, draws: Draws, view: View) -> Candidate:
            draws.integer(view.sentences.lengths, "at")
            return super().propose(draws, view)

    space = SPACES["free"]()
    with pytest.raises(AssertionError, match="at: drawn from twice"):
        violations(Kernel(space.target, Twice(FillHead(space.model))), space.states, 1.0)
