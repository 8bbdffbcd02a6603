"""Seeded mistakes in what is drawn of groups of phrases and what the ratio says of it; the exact checks catch each."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.proposals import Alternatives, Candidate, Group, View
from cgmh.proposals import phrases as alternatives
from cgmh.sampling import Kernel
from cgmh.text.sentences import Sentences
from enumeration import violations
from phrases import FEW, SHAPES, around
from seeding import Faults
from spaces import SPACES, Space

torch.set_num_threads(1)

SPACE = "channel, two inputs"
THREE = [SHAPES["nothing or either before a word"], SHAPES["either order or one word"]]
fault = Faults()


class Misled:
    """Alternatives that are given other draws at a site: from other weights, or other numbers than those drawn."""

    def __init__(
        self, site: str, change: Callable[[Tensor, Sentences], Tensor], groups: Sequence[Sequence[Group]] = FEW
    ) -> None:
        self._proposal, self._site, self._change = Alternatives(groups), site, change

    def propose(self, draws: Draws, view: View) -> Candidate:
        def change(value: Tensor, site: str) -> Tensor:
            return self._change(value, view.sentences) if site == self._site else value

        class Other(type(draws)):  # type: ignore[misc]
            def choose(self, log_weights: Tensor, site: str) -> Tensor:
                return draws.choose(change(log_weights, site), site)

            def integer(self, high: Tensor, site: str) -> Tensor:
                return change(draws.integer(high, site), site)

        misled = Other.__new__(Other)
        misled.__dict__.update(draws.__dict__)
        return self._proposal.propose(misled, view)


def _weighing(
    space: Space, patch: pytest.MonkeyPatch, change: Callable[[int, Tensor, Tensor, Tensor], Tensor]
) -> Kernel:
    """`change` stands in for the terms of the ratio: 0 the new share there, 1 what the old one leaves, 2 and 3 back.

    It is given the number of the term, its table [R,A], the old phrase and the new one.
    """
    honest, asked = alternatives._at, []

    def at(table: Tensor, phrase: Tensor) -> Tensor:
        if not table.is_floating_point():  # sizes and words of the old phrase and of the new one come first
            if len(asked) > 1:
                asked.clear()
            asked.append(phrase)
            return honest(table, phrase)
        asked.append(phrase)
        return change(len(asked) - 3, table, asked[0], asked[1])

    patch.setattr(alternatives, "_at", at)
    return around(space, Alternatives(FEW))


def _right(term: int, table: Tensor, old: Tensor, new: Tensor) -> Tensor:
    return table.gather(1, (new, old, old, new)[term][:, None])[:, 0]


@fault("the shares are left out of the ratio", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: _right(term, *rest) * (term in (1, 3)))


@fault("what a share leaves to the others is left out of the ratio", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: _right(term, *rest) * (term in (0, 2)))


@fault("neither shares nor what they leave are in the ratio", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: 0 * _right(term, *rest))


@fault("the share is that of the phrase that goes", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: _right((2, 1, 0, 3)[term], *rest))


@fault("what is left to the others is reckoned from the phrase that comes", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: _right((0, 3, 2, 1)[term], *rest))


@fault("the way back is weighed as the way there", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _weighing(space, patch, lambda term, *rest: _right(term % 2, *rest))


@fault("what is left to the others is one less the share, rounded", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    proposal = Alternatives([SHAPES["one has nearly all the shares"]] * 2)
    tables = proposal._tables.at(torch.device("cpu"))
    share, rest = tables["log_share"].exp(), tables["log_rest"].exp()
    tables["log_rest"] = (1 - share / (share + rest)).log() + (share + rest).log()
    return around(space, proposal)


@fault("alternatives are drawn evenly", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return around(space, Misled("alternative", lambda log_shares, _: _even(log_shares)))


def _even(log_weights: Tensor) -> Tensor:
    """0 where there is a weight, -inf elsewhere."""
    return torch.zeros_like(log_weights).masked_fill(log_weights == -torch.inf, -torch.inf)


@fault("the likeliest alternative is always taken", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def likeliest(log_shares: Tensor, _: Sentences) -> Tensor:
        return log_shares.masked_fill(log_shares < log_shares.amax(-1, keepdim=True), -torch.inf)

    return around(space, Misled("alternative", likeliest))


@fault("the phrase that stands may be drawn again", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def again(log_shares: Tensor, _: Sentences) -> Tensor:
        return log_shares.masked_fill(log_shares == -torch.inf, 0.3)

    return around(space, Misled("alternative", again, THREE))


@fault("the first place is always taken", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return around(space, Misled("group at", lambda drawn, _: 0 * drawn))


@fault("long sentences use every group as often, short ones by weight", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def even(log_weights: Tensor, sentences: Sentences) -> Tensor:
        return torch.where((sentences.lengths > 2)[:, None], _even(log_weights), log_weights)

    return around(space, Misled("group", even))


@pytest.mark.parametrize("name", fault.known)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check(name, monkeypatch)


def test_without_the_mistake_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    space = SPACES[SPACE]()
    _weighing(space, monkeypatch, _right)
    assert violations(around(space, Misled("group at", lambda drawn, _: drawn)), space.states, 0.7) == []
