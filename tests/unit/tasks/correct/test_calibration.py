"""The map from shares to probabilities: what it says, where it holds, and what lies beside the embedded model."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadModel
from cgmh.inputs import CorrectInput
from cgmh.models.load import load_models
from cgmh.models.pull.store import EMBEDDED, read_config
from cgmh.models.text.functions import FunctionModel
from cgmh.tasks.correct.calibration import (
    CALIBRATION,
    Calibration,
    load_calibrations,
    models_named,
    write_calibration,
)

OTHERS, SPELLING = ((0.0, 0.0), (0.2, 0.4), (0.5, 0.5), (1.0, 0.8)), ((0.0, 0.0), (0.5, 0.5), (1.0, 0.95))
MAP = Calibration("en-0123", 1.0, {"": OTHERS, "spelling": SPELLING})


def test_straight_between_the_knots() -> None:
    shares = [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0]
    assert [MAP.probability(share, "comma") for share in shares] == pytest.approx([0, 0.2, 0.4, 0.45, 0.5, 0.65, 0.8])
    assert MAP.probability(1.0, "spelling") == 0.95
    assert MAP.probability(0.5, "spelling") == 0.5


def test_what_is_written_is_read(tmp_path: Path) -> None:
    both = replace(MAP, groups={"": OTHERS, "spelling": SPELLING, "joining": SPELLING})
    write_calibration(both, tmp_path / CALIBRATION)
    assert load_calibrations(tmp_path) == (both,)
    assert load_calibrations(tmp_path / "none") == ()


def test_each_model_has_a_map_of_its_own(tmp_path: Path) -> None:
    big = replace(MAP, model="en-0123 + big-4567")
    for written in (MAP, big, replace(MAP, groups={"": SPELLING})):
        write_calibration(written, tmp_path / CALIBRATION)
    assert load_calibrations(tmp_path) == (replace(MAP, groups={"": SPELLING}), big)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": []}, "no table for all other kinds"),
        ({"groups": [{"kinds": [""], "knots": [[0, 0], [0.9, 1]]}]}, "must rise from 0 to 1"),
        ({"groups": [{"kinds": [""], "knots": [[0, 0.3], [0.5, 0.2], [1, 1]]}]}, "must not fall"),
        ({"groups": [{"kinds": [""], "knots": [[0, 0], [1, 1.2]]}]}, "between 0 and 1"),
        ({"temperature": None}, "no table of probabilities"),
    ],
)
def test_a_damaged_table_is_told(change: dict[str, object], message: str, tmp_path: Path) -> None:
    (tmp_path / CALIBRATION).write_text(json.dumps({"maps": [{**MAP.to_dict(), **change}]}))
    with pytest.raises(BadModel, match=message):
        load_calibrations(tmp_path)


def embedded() -> Calibration:
    (found,) = (each for each in load_calibrations() if " + " not in each.model)
    return found


def test_the_maps_are_of_the_weights_that_ship() -> None:
    """Otherwise they say nothing: run recipes/correction/calibrate.py again."""
    own = f"en-{read_config(EMBEDDED)['sha256'][:8]}"
    assert embedded().model == own
    assert all(each.model.startswith(f"{own} + ") for each in load_calibrations() if each is not embedded())
    assert embedded().fits(load_models(), CorrectInput.defaults.temperature)


def test_the_map_is_for_what_it_was_fitted_to() -> None:
    models = load_models()
    assert not embedded().fits(models, 0.8)
    assert not embedded().fits(load_models(big=lambda texts: [0.0] * len(texts)), 1.0)
    assert not replace(embedded(), model="en-00000000").fits(models, 1.0)


def test_a_map_beside_a_big_model_is_for_it_alone() -> None:
    class Named(FunctionModel):
        def __init__(self, name: str) -> None:
            super().__init__(lambda texts: [0.0] * len(texts), name)

    models = load_models(big=Named("big-4567-int8"))
    beside = replace(MAP, model=models_named(models))
    assert beside.model == f"{embedded().model} + big-4567"
    assert beside.fits(models, 1.0)
    assert beside.fits(load_models(big=Named("big-4567-float32")), 1.0)
    for other in (
        load_models(),
        load_models(big=Named("big-4568-int8")),
        load_models(big=Named("big-4567-int8 after")),
    ):
        assert not beside.fits(other, 1.0)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["spelling", "comma", "word", "unheard of"]))
def test_probabilities_rise_with_shares_and_a_half_stays_a_half(one: float, other: float, kind: str) -> None:
    low, high = sorted((one, other))
    first, last = (embedded().probability(share, kind) for share in (low, high))
    assert 0 <= first <= last <= 1
    assert (first >= 0.5) == (low >= 0.5)


def test_the_tables_are_small() -> None:
    for knots in (knots for each in load_calibrations() for knots in each.groups.values()):
        assert len(knots) <= 30
        assert all(a < b for (a, _), (b, _) in pairwise(knots))
