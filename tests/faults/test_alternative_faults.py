"""Seeded mistakes in where phrases stand and what becomes of them; the exact checks must catch every one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.laws import check_proposal
from cgmh.proposals import Alternatives, Candidate, View
from cgmh.proposals import phrases as alternatives
from cgmh.proposals.protocols import INSERT
from cgmh.sampling import Kernel
from cgmh.text.sentences import Sentences
from enumeration import violations
from phrases import FEW, SHAPES, around
from seeding import Faults
from spaces import SPACES, Space
from toys import ToyModel

torch.set_num_threads(1)

SPACE = "channel, two inputs"
fault = Faults()


class Tampered:
    """Alternatives whose candidates are changed afterwards."""

    def __init__(self, change: Callable[[Candidate], Candidate]) -> None:
        self._proposal, self._change = Alternatives(FEW), change

    def propose(self, draws: Draws, view: View) -> Candidate:
        return self._change(self._proposal.propose(draws, view))


def _looking(space: Space, patch: pytest.MonkeyPatch, change: Callable[..., Tensor]) -> Kernel:
    """`change` is given where phrases stand, [R,A,L], then what they were looked for with."""
    honest = alternatives._stands

    def stands(sentences: Sentences, phrases: Tensor, sizes: Tensor) -> Tensor:
        found = honest(sentences, phrases, sizes).view(*sizes.shape, -1)
        return change(found, sentences, phrases, sizes).flatten(1)

    patch.setattr(alternatives, "_stands", stands)
    return around(space, Alternatives(FEW))


def _symmetric(candidate: Candidate) -> Candidate:
    possible = candidate.log_reverse > -torch.inf
    return replace(candidate, log_reverse=torch.where(possible, candidate.log_forward, -torch.inf))


@fault("the step back is taken to be as likely as the step", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    return around(space, Tampered(_symmetric))


@fault("the places are those of the sentence before the edit, on both sides", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    seen: list[Tensor] = []

    def before(found: Tensor, *_: Any) -> Tensor:
        if seen:  # the edited sentences
            return seen.pop()
        seen.append(found)
        return found

    return _looking(space, patch, before)


@fault("the places are counted on the way there only", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    calls = iter(range(10**6))

    def forgetful(found: Tensor, *_: Any) -> Tensor:
        first = (found.flatten(1).cumsum(-1) == 1).view_as(found)
        return found & first if next(calls) % 2 else found

    return _looking(space, patch, forgetful)


@fault("only the first phrase of a group is looked for", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _looking(space, patch, lambda found, *_: found & (torch.arange(found.shape[1]) == 0)[:, None])


@fault("a phrase is looked for only where those before it stand nowhere", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def preferring(found: Tensor, *_: Any) -> Tensor:
        some = found.any(-1, keepdim=True).long()
        return found & (some.cumsum(1) - some == 0)

    return _looking(space, patch, preferring)


@fault("of phrases that begin at one place the first of the group is seen", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _looking(space, patch, lambda found, *_: found & (found.cumsum(1) == 1))


@fault("of phrases that begin at one place the last of the group is seen", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _looking(space, patch, lambda found, *_: found & (found.flip(1).cumsum(1).flip(1) == 1))


@fault("places that overlap the one before are passed over", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def apart(found: Tensor, _: Sentences, __: Tensor, sizes: Tensor) -> Tensor:
        before = torch.nn.functional.pad(found[:, :, :-1], (1, 0))
        return found & ~(before & (sizes > 1)[:, :, None])

    return _looking(space, patch, apart)


@fault("the third word of a phrase is not looked at", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    honest = alternatives._stands
    patch.setattr(alternatives, "_stands", lambda rows, phrases, sizes: honest(rows, phrases, sizes.clamp(max=2)))
    return around(space, Alternatives(FEW))


@fault("steps that lengthen have another weight than on the way back", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def change(candidate: Candidate) -> Candidate:
        return replace(candidate, log_forward=candidate.log_forward + 0.3 * (candidate.move == INSERT))

    return around(space, Tampered(change))


def _splicing(space: Space, patch: pytest.MonkeyPatch, change: Callable[..., Sentences]) -> Kernel:
    honest = alternatives._splice
    patch.setattr(alternatives, "_splice", lambda *args: change(honest(*args), *args))
    return around(space, Alternatives(FEW))


@fault("the length stays what it was", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def stiff(edited: Sentences, sentences: Sentences, *_: Any) -> Sentences:
        return Sentences(edited.ids, sentences.lengths, sentences.inputs)

    return _splicing(space, patch, stiff)


@fault("the words after the edit stay where they were", space=SPACE)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def unmoved(edited: Sentences, sentences: Sentences, at: Tensor, _: Tensor, __: Tensor, size: Tensor) -> Sentences:
        after = sentences.columns >= (at + size)[:, None]
        ids = torch.where(after & edited.present & sentences.present, sentences.ids, edited.ids)
        return Sentences(ids, edited.lengths, edited.inputs)

    return _splicing(space, patch, unmoved)


@fault("the two directions look at different words after the edit", space=SPACE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    def change(candidate: Candidate) -> Candidate:
        fewer = ((candidate.move == INSERT) & (candidate.same_right > 0)).long()
        return replace(candidate, same_right=candidate.same_right - fewer)

    return around(space, Tampered(change), 0)


@pytest.mark.parametrize("name", fault.known)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check(name, monkeypatch)


@pytest.mark.parametrize("window", [None, 0])
def test_without_the_mistake_nothing_is_found(window: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    space = SPACES[SPACE]()
    _looking(space, monkeypatch, lambda found, *_: found)
    _splicing(space, monkeypatch, lambda edited, *_: edited)
    assert violations(around(space, Tampered(lambda candidate: candidate), window), space.states, 0.7) == []


def test_words_that_both_phrases_share_must_not_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a and a a the one a is what both begin with, or what both end with."""

    def greedy(*both: Tensor) -> tuple[Tensor, Tensor]:
        left, right = honest(*both)
        return left, torch.where(torch.minimum(both[1], both[3]) == 1, left, right)

    honest, states = alternatives._same, SPACES[SPACE]().states
    proposal = Alternatives([SHAPES["a word doubled"]] * 2)
    check_proposal(proposal, ToyModel(3), states)
    monkeypatch.setattr(alternatives, "_same", greedy)
    with pytest.raises(AssertionError, match="what is the same fits both sentences"):
        check_proposal(proposal, ToyModel(3), states)
