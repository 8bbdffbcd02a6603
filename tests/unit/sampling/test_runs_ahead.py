"""Chains on a model that several steps can be tried on: fewer rounds, the same chains."""

from pathlib import Path

import pytest
import torch

from cgmh.sampling import Constant
from cgmh.sampling.runs import Record, run
from recurrent_toys import tiny_model
from two_stage_toys import ScreenedSpace, experts_space

torch.set_num_threads(1)
CHAINS, STEPS = 6, 40


@pytest.fixture
def built(tmp_path: Path) -> ScreenedSpace:
    return experts_space("hard and soft", tiny_model(tmp_path))


def rows_of(record: Record) -> dict[tuple[int, int], tuple[object, ...]]:
    """What is recorded of each step, by chain and number."""
    names = ("move", "accepted", "changed", "log_target", "log_model")
    columns = zip(*(record.steps[name].tolist() for name in names), strict=True)
    keys = zip(record.steps["chain"].tolist(), record.steps["step"].tolist(), strict=True)
    return {key: (*row, tuple(ids)) for key, row, ids in zip(keys, columns, record.proposed.to_lists(), strict=True)}


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
    assert rows_of(ahead) == rows_of(plain)
    assert len(rows_of(ahead)) == (CHAINS * STEPS if refused else int(plain.steps["changed"].sum())) > 10
    assert torch.equal(ahead.final.ids, plain.final.ids)
    assert ahead.acceptance() == plain.acceptance()
    for name, column in plain.finals.items():
        assert torch.equal(ahead.finals[name], column), name
    assert sum(ticks[0]) == sum(ticks[1]) == CHAINS * STEPS
    assert len(ticks[1]) < len(ticks[0])
