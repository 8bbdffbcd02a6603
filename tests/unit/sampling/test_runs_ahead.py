"""Chains on a model that several steps can be tried on: fewer rounds, the same chains."""

from pathlib import Path
from typing import Any

import pytest
import torch

from cgmh.models.word.experts import ProductOfExperts
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.shared import SharedWords
from cgmh.sampling import Constant
from cgmh.sampling.ahead import MOST_AHEAD, num_ahead
from cgmh.sampling.runs import Record, run
from recurrent_toys import tiny_model
from two_stage_toys import ScreenedSpace, experts_space, shared_space

torch.set_num_threads(1)
CHAINS, STEPS = 6, 40
ROUNDING = 1e-12  # of the toy model, in float64: some processors sum up a row in another order beside other rows


@pytest.fixture(params=[experts_space, shared_space], ids=["experts", "shared"])
def built(request: pytest.FixtureRequest, tmp_path: Path) -> ScreenedSpace:
    space: ScreenedSpace = request.param("hard and soft", tiny_model(tmp_path))
    return space


def rows_of(record: Record) -> dict[tuple[int, int], tuple[object, ...]]:
    """What each step did, by chain and number."""
    columns = zip(*(record.steps[name].tolist() for name in ("move", "accepted", "changed")), strict=True)
    rows = zip(_keys(record), columns, record.proposed.to_lists(), strict=True)
    return {key: (*row, tuple(ids)) for key, row, ids in rows}


def _keys(record: Record) -> list[tuple[int, int]]:
    return list(zip(record.steps["chain"].tolist(), record.steps["step"].tolist(), strict=True))


def assert_same_steps(found: Record, wanted: Record) -> None:
    """What each step did, and what it was told about its candidate."""
    assert rows_of(found) == rows_of(wanted)
    for name in ("log_target", "log_model"):
        logs, expected = (dict(zip(_keys(each), each.steps[name].tolist(), strict=True)) for each in (found, wanted))
        assert logs == pytest.approx(expected, rel=ROUNDING, abs=0), name


@pytest.mark.parametrize("refused", [False, True])
def test_steps_made_ahead_are_those_of_step_by_step(
    built: ScreenedSpace, refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, start, records, ticks = built.kernel(2, 0.5), built.start(CHAINS), [], []
    for goes_ahead in (False, True):
        monkeypatch.setattr(type(kernel.target.model), "goes_ahead", goes_ahead)
        told: list[int] = []
        names = torch.arange(CHAINS)
        records.append(run(kernel, start, STEPS, 3, Constant(), names, refused=refused, progress=told.append))
        ticks.append(told)
    plain, ahead = records
    assert_same_steps(ahead, plain)
    assert len(rows_of(ahead)) == (CHAINS * STEPS if refused else int(plain.steps["changed"].sum())) > 10
    assert torch.equal(ahead.final.ids, plain.final.ids)
    assert ahead.acceptance() == plain.acceptance()
    for name, column in plain.finals.items():
        torch.testing.assert_close(ahead.finals[name], column, rtol=ROUNDING, atol=0)
    assert sum(ticks[0]) == sum(ticks[1]) == CHAINS * STEPS
    assert len(ticks[1]) < len(ticks[0])


def run_ahead_of(built: ScreenedSpace, *, refused: bool = False) -> Record:
    return run(built.kernel(2, 0.5), built.start(CHAINS), STEPS, 3, Constant(), torch.arange(CHAINS), refused=refused)


def test_nothing_is_read_for_steps_whose_fate_is_known(built: ScreenedSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who wants the log ratios of refused steps has every gain asked for; others fewer, and the same chains."""
    asked: list[int] = []
    plain = SharedWords.complete

    def counting(self: SharedWords, encoding: Any, pending: Any, wanted: torch.Tensor, *rest: Any) -> None:
        asked[-1] += int(wanted.sum())
        plain(self, encoding, pending, wanted, *rest)

    monkeypatch.setattr(SharedWords, "complete", counting)
    finals = []
    for refused in (True, False):
        asked.append(0)
        finals.append(run_ahead_of(built, refused=refused).final.ids)
    assert torch.equal(*finals)
    assert 0 < asked[1] < asked[0]


def test_a_bound_that_is_none_makes_other_chains(built: ScreenedSpace, monkeypatch: pytest.MonkeyPatch) -> None:
    right = rows_of(run_ahead_of(built))
    bound = RecurrentModel.most_gain
    monkeypatch.setattr(RecurrentModel, "most_gain", lambda *args: bound(*args) - 100)
    assert rows_of(run_ahead_of(built)) != right


@pytest.mark.parametrize("guess", [-100.0, 0.0, 100.0])
def test_a_wrong_guess_costs_time_only(built: ScreenedSpace, guess: float, monkeypatch: pytest.MonkeyPatch) -> None:
    right = run_ahead_of(built)
    for kind in (ProductOfExperts, SharedWords):
        monkeypatch.setattr(kind, "weight", guess)
    assert_same_steps(run_ahead_of(built), right)


def test_fewer_steps_are_tried_where_most_are_tried_in_vain() -> None:
    assert num_ahead(8, 2048) == num_ahead(8, 2048, made=12.0) == MOST_AHEAD
    assert num_ahead(8, 2048, made=4.0) == 6
    assert num_ahead(8, 2048, made=1.0) == 2  # so that there may be more again
    assert num_ahead(512, 2048, made=12.0) == 4
    assert num_ahead(5000, 2048) == 1
