"""Seeded mistakes in how constraints enter the target; the exact checks must catch every one."""

from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.constraints import ContainsWords, EndsWith, LengthBetween
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel
from cgmh.text.sentences import Sentences
from enumeration import violations
from seeding import Faults
from spaces import SPACES, A, C, D, Space, fill_edits, varied
from toys import variant_moves

torch.set_num_threads(1)

fault = Faults()
TASK, CLOSE = "paraphrase, two inputs", "close, two inputs"


def _kernel(space: Space) -> Kernel:
    return Kernel(space.target, Mixture([(fill_edits(space), 0.7), (SwapBlocks(3), 0.3)]))


class Tampered:
    """A constraint whose factors are changed afterwards."""

    def __init__(self, constraint: Any, change: Any) -> None:
        self.name, self.hard = constraint.name, constraint.hard
        self._constraint, self._change = constraint, change

    def log_factor(self, sentences: Sentences) -> Tensor:
        changed: Tensor = self._change(self._constraint.log_factor(sentences), sentences)
        return changed


def _tamper(space: Space, name: str, change: Any) -> None:
    space.constraints = [Tampered(one, change) if one.name == name else one for one in space.constraints]


@fault("a similarity moves with its neighbours, as with scales that depend on the batch", space=TASK)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    _tamper(space, "st", lambda factor, _: factor - 1e-6 * factor.sum())
    return _kernel(space)


@fault("the difference is taken from the sentence beside it", space=TASK)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    _tamper(space, "difference", lambda factor, _: factor.roll(1))
    return _kernel(space)


@fault("a similarity is remembered by the number of words", space=CLOSE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    known: dict[tuple[int, int], float] = {}

    def remembered(factor: Tensor, sentences: Sentences) -> Tensor:
        known.clear()  # at every call, so that who comes first decides
        names = zip(sentences.inputs.tolist(), sentences.lengths.tolist(), strict=True)
        values = [known.setdefault(name, value) for name, value in zip(names, factor.tolist(), strict=True)]
        return torch.tensor(values, dtype=torch.float64)

    _tamper(space, "cw", remembered)
    return _kernel(space)


@fault("the similarity of the sentence before the edit is kept", space=CLOSE)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    class Stale(Kernel):
        def _soft(self, soft: Tensor, *rest: Any) -> Tensor:
            found = super()._soft(soft, *rest)
            return torch.cat([found[:, :1], soft[:, 1:2], found[:, 2:]], -1)

    return Stale(space.target, _kernel(space).proposal)


@fault("the difference is not tempered", space=TASK)
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    class Untempered(Kernel):
        def _soft(self, soft: Tensor, *rest: Any) -> Tensor:
            found = super()._soft(soft, *rest)
            whole = soft[:, -1:] + (found[:, -1:] - soft[:, -1:]) / 0.7  # beta times this is the whole gain
            return torch.cat([found[:, :-1], whole], -1)

    return Untempered(space.target, _kernel(space).proposal)


@fault("negations may become fewer", space=TASK, law="stays in the space")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    counted = space.constraints[1]
    assert isinstance(counted, LengthBetween)
    counted._tables.at(torch.device("cpu"))["least"][:] = 0
    return _kernel(space)


@fault("every input ends like the first", space=TASK, law="stays in the space")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    space.constraints[3] = EndsWith([{D, A}, {D, A}])
    space.constraints[2] = LengthBetween([0, 0], [1, 1], space.constraints[2]._tables.at(torch.device("cpu"))["counts"])  # type: ignore[attr-defined]
    return _kernel(space)


@fault("a keyword of another input is the one that stays", space=TASK, law="stays in the space")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    space.constraints[0] = ContainsWords([[], [[[{C}]]]])
    return _kernel(space)


@fault("a hard similarity is not looked at", space=CLOSE, law="stays in the space")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    _tamper(space, "wva", lambda factor, _: torch.zeros_like(factor))
    return _kernel(space)


@fault("pinned words are not counted on the way back", space=TASK)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    contains = space.constraints[0]
    assert isinstance(contains, ContainsWords)
    edits = WordEdits(FillHead(space.model), pinned=contains.pinned)
    honest, calls = edits._editable, iter(range(10**6))

    def forgetful(sentences: Sentences) -> tuple[Tensor, Tensor]:
        mask, count = honest(sentences)
        return (mask, sentences.lengths) if next(calls) % 2 else (mask, count)

    patch.setattr(edits, "_editable", forgetful)
    return Kernel(space.target, Mixture([(edits, 0.9), (SwapBlocks(3), 0.1)]))


@fault("a constraint of one's own is asked about other words", space="of one's own", law="stays in the space")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    own = space.constraints[0]
    patch.setattr(own, "function", lambda words: varied([*words, "another"]))
    return _kernel(space)


@pytest.mark.parametrize("name", fault.known)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check(name, monkeypatch)


@pytest.mark.parametrize("space", sorted({space for space, _, _ in fault.known.values()}))
@pytest.mark.parametrize("window", [None, 0])
def test_without_the_mistake_nothing_is_found(space: str, window: int | None) -> None:
    built = SPACES[space]()
    proposal = Mixture([(fill_edits(built), 0.5), (SwapBlocks(3), 0.3), (variant_moves(built.groups), 0.2)])
    assert violations(Kernel(built.target, proposal, window), built.states, 0.7) == []
