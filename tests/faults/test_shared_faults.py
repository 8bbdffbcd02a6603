"""Seeded mistakes in what chains share and remember; the exact check, or comparing chains, must catch every one."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import Tensor

from cgmh.models.word import recurrent, shared
from cgmh.models.word.recurrent import RecurrentEncoding, RecurrentModel
from cgmh.models.word.shared import SharedEncoding, SharedPending, SharedWords
from cgmh.sampling import Constant, kernel
from cgmh.sampling.acceptance import least_gain
from cgmh.sampling.runs import run
from enumeration import violations
from recurrent_toys import tiny_model
from two_stage_toys import shared_space

torch.set_num_threads(1)
CHAINS, STEPS = 8, 60


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


class RemembersByLength(SharedWords):
    """The log probability of a sentence is given again for the next one that is as long."""

    def finish(self, encoding: SharedEncoding, pending: SharedPending, keep: Tensor) -> Tensor:
        known: dict[int, float] = {}
        found = zip(map(len, pending.keys), super().finish(encoding, pending, keep).tolist(), strict=True)
        return torch.tensor([known.setdefault(*each) for each in found], dtype=torch.float64)


class RemembersTheWindow(SharedWords):
    """What the first stage said is taken for the whole gain."""

    def finish(self, encoding: SharedEncoding, pending: SharedPending, keep: Tensor) -> Tensor:
        return self.log_prob(encoding)[pending.rows] + pending.log_gain


class ForgetsWhereTheChangeIs(SharedWords):
    """A gain is remembered by the number of words alone."""

    def complete(self, encoding: SharedEncoding, pending: SharedPending, *rest: Any) -> None:
        pending.changes = [(0, (0,) * len(key), (), False) for key in pending.keys]
        super().complete(encoding, pending, *rest)


@pytest.mark.parametrize("kind", [RemembersByLength, RemembersTheWindow, ForgetsWhereTheChangeIs])
def test_a_mistake_in_what_is_remembered_is_caught(kind: type[SharedWords], small: RecurrentModel) -> None:
    built = shared_space("soft", small, kind)
    found = violations(built.kernel(1), built.states, 0.7)
    assert any(one.startswith("detailed balance") for one in found), found


def chains_of(small: RecurrentModel) -> list[tuple[object, ...]]:
    """Every change of chains that go ahead, and where they end."""
    built = shared_space("hard and soft", small)
    record = run(built.kernel(1), built.start(CHAINS), STEPS, 3, Constant(), torch.arange(CHAINS))
    columns = [record.steps[name].tolist() for name in ("chain", "step", "log_target")]
    return sorted(zip(*columns, map(tuple, record.proposed.to_lists()), strict=True)) + record.final.to_lists()


def _gives_up_too_soon(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recurrent, "ROUNDING", -20.0)


def _asks_for_more_than_it_takes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kernel, "least_gain", lambda *args: least_gain(*args) + 20.0)


def _takes_the_backward_ratio(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(kernel, "least_gain", lambda *args: -least_gain(*args))


def _takes_a_bound_for_a_gain(patch: pytest.MonkeyPatch) -> None:
    complete = SharedWords.complete

    def mistaken(self: SharedWords, encoding: SharedEncoding, *rest: Any) -> None:
        encoding.most_gains = encoding.gains
        complete(self, encoding, *rest)

    patch.setattr(SharedWords, "complete", mistaken)


def _keeps_the_states_before(patch: pytest.MonkeyPatch) -> None:
    """A chain goes to a sentence and takes the states of the one that it came from."""

    def states(_: SharedWords, encoding: SharedEncoding, read: Any, places: Tensor) -> RecurrentEncoding:
        return encoding.states.select(read.slots[places])

    patch.setattr(SharedWords, "_states_of", states)


def _gives_the_slot_away_first(patch: pytest.MonkeyPatch) -> None:
    """A sentence that a chain is at makes room for another one."""

    def room(self: SharedEncoding, key: tuple[int, ...]) -> int:
        slot = self.slot_of[key] = next(iter(self.slot_of.values()))
        return slot

    patch.setattr(SharedEncoding, "make_room", room)


MISTAKES = (
    _gives_up_too_soon,
    _asks_for_more_than_it_takes,
    _takes_the_backward_ratio,
    _takes_a_bound_for_a_gain,
    _keeps_the_states_before,
    _gives_the_slot_away_first,
)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_what_is_not_read_makes_other_chains(
    mistake: Any, small: RecurrentModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = chains_of(small)
    mistake(monkeypatch)
    with suppress(IndexError, KeyError):  # or it is seen at once
        assert chains_of(small) != right


def test_a_sentence_that_joins_is_read_by_its_own_words(small: RecurrentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is held of one sentence must not be taken for another."""
    words, built = SharedWords(small), shared_space("hard", small)
    first, both = built.start(3), built.start(6)
    right = words.log_prob(words.encode_after(words.encode(first), both))
    torch.testing.assert_close(right, words.log_prob(words.encode(both)), rtol=0, atol=1e-12)
    put = RecurrentEncoding.put

    def mistaken(self: RecurrentEncoding, rows: Tensor, other: RecurrentEncoding, of: Sequence[int]) -> None:
        put(self, rows, other, of[::-1])

    monkeypatch.setattr(RecurrentEncoding, "put", mistaken)
    wrong = words.log_prob(words.encode_after(words.encode(first), both))
    assert not torch.allclose(wrong, right)


def test_chains_are_the_same_however_much_is_remembered(small: RecurrentModel, monkeypatch: pytest.MonkeyPatch) -> None:
    right = chains_of(small)
    limits: Sequence[tuple[str, int]] = (("MAX_GAINS", 3), ("MAX_READ_BEFORE", 2), ("SPARE", 0))
    for name, value in limits:
        monkeypatch.setattr(shared, name, value)
        assert chains_of(small) == right
