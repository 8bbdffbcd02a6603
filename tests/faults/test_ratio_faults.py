"""Seeded mistakes in the ratio, its stages and its factors; the exact checks must catch every one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.proposals import Mixture, SwapBlocks
from cgmh.proposals.protocols import INSERT, REPLACE, Candidate
from cgmh.sampling import Kernel, acceptance, kernel
from cgmh.target import LogFactors
from cgmh.text.sentences import Sentences
from enumeration import violations
from seeding import Faults
from spaces import SPACES, A, B, C, Space, fill_edits, gibbs_edits
from toys import ToyEncoding, ToyModel, ToyPending, variant_moves

torch.set_num_threads(1)

fault = Faults()
SCREENS = "soft that screens"


@fault("a replacement by Gibbs over K is taken to be always right")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def always(current: LogFactors, proposed: LogFactors, candidate: Candidate, beta: Tensor) -> Tensor:
        log_ratio = acceptance.log_acceptance(current, proposed, candidate, beta)
        return torch.where(candidate.move == REPLACE, proposed.hard, log_ratio)

    patch.setattr(kernel, "log_acceptance", always)
    return Kernel(space.target, gibbs_edits(space))


def _with_ratio(space: Space, patch: pytest.MonkeyPatch, change: Callable[..., Tensor]) -> Kernel:
    def changed(current: LogFactors, proposed: LogFactors, candidate: Candidate, beta: Tensor) -> Tensor:
        log_ratio = acceptance.log_acceptance(current, proposed, candidate, beta)
        return change(log_ratio, proposed.total(1.0) - current.total(1.0), candidate, beta)

    patch.setattr(kernel, "log_acceptance", changed)
    return Kernel(space.target, fill_edits(space))


@fault("a likelihood threshold stands outside the ratio")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _with_ratio(space, patch, lambda ratio, gain, *_: ratio.masked_fill(gain < -0.7, -torch.inf))


@fault("insertions get a bonus that deletions do not pay back")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def bonus(ratio: Tensor, _: Tensor, candidate: Candidate, __: Tensor) -> Tensor:
        return ratio + torch.where(candidate.move == INSERT, (10.0 / candidate.sentences.lengths.double()).log(), 0.0)

    return _with_ratio(space, patch, bonus)


@fault("the temperature scales the proposal too")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    def scaled(_: Tensor, gain: Tensor, candidate: Candidate, beta: Tensor) -> Tensor:
        return beta * (gain + candidate.log_reverse - candidate.log_forward)

    return _with_ratio(space, patch, scaled)


@fault("the proposal is left out of the ratio")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _with_ratio(space, patch, lambda _, gain, __, beta: beta * gain)


@fault("the second stage forgets what the first has counted")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    patch.setattr(kernel, "log_second", lambda log_ratio, _: log_ratio)
    return Kernel(space.target, fill_edits(space), window=0)


@fault("the second stage is left out")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    patch.setattr(kernel, "log_second", lambda log_ratio, _: 0 * log_ratio)
    return Kernel(space.target, fill_edits(space), window=0)


class OneSidedWindow(ToyModel):
    """The partial gain leaves out what the current sentence had in the window."""

    def score(self, encoding: ToyEncoding, rows: Tensor, sentences: Sentences, *rest: Any) -> ToyPending:
        pending = super().score(encoding, rows, sentences, *rest)
        return replace(pending, log_gain=pending.log_gain + 0.3 * (sentences.lengths > 1))


@fault("the gain back is not minus the gain")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    space.model = OneSidedWindow(4)
    return Kernel(space.target, fill_edits(space), window=0)


def _with_screen(space: Space, patch: pytest.MonkeyPatch, change: Callable[[Tensor], Tensor]) -> Kernel:
    """Constraints that screen are given other factors of the current sentences."""
    built = Kernel(space.target, fill_edits(space), window=1)
    honest = built.target.screened_gain
    patch.setattr(built.target, "screened_gain", lambda sentences, soft: honest(sentences, change(soft)))
    return built


@fault("a constraint that screens says what is proposed, not what is gained", space=SCREENS)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _with_screen(space, patch, torch.zeros_like)


@fault("a constraint that screens is set against the factor beside it", space=SCREENS)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _with_screen(space, patch, lambda soft: soft.roll(1, -1))


@fault("a constraint that screens is set against another sentence", space=SCREENS)
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    return _with_screen(space, patch, lambda soft: soft.roll(1, 0))


@fault("hard constraints are not looked at", space="one word", law="stays in the space")
def _(space: Space, patch: pytest.MonkeyPatch) -> Kernel:
    built = Kernel(space.target, fill_edits(space))
    short = type(built.target)(space.model)
    patch.setattr(built.target, "possible", lambda sentences: short.possible(sentences) | False)
    return built


@fault("soft constraints are left out of the ratio", space="soft")
def _(space: Space, _: pytest.MonkeyPatch) -> Kernel:
    class Forgetful(Kernel):
        def _soft(self, soft: Tensor, *rest: Any) -> Tensor:
            return torch.cat([super()._soft(soft, *rest)[:, :1], soft[:, 1:]], -1)

    return Forgetful(space.target, fill_edits(space))


@pytest.mark.parametrize("name", fault.known)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check(name, monkeypatch)


@pytest.mark.parametrize("space", sorted({space for space, _, _ in fault.known.values()}))
@pytest.mark.parametrize("window", [None, 0])
def test_without_the_mistake_nothing_is_found(space: str, window: int | None) -> None:
    built = SPACES[space]()
    proposal = Mixture([(fill_edits(built), 0.5), (SwapBlocks(2), 0.3), (variant_moves([[(A, B, C)]]), 0.2)])
    assert violations(Kernel(built.target, proposal, window), built.states, 0.7) == []
