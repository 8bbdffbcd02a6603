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
from cgmh.tasks.correct.calibration import CALIBRATION, Calibration, load_calibration

OTHERS, SPELLING = ((0.0, 0.0), (0.2, 0.4), (0.5, 0.5), (1.0, 0.8)), ((0.0, 0.0), (0.5, 0.5), (1.0, 0.95))
MAP = Calibration("en-0123", 1.0, {"": OTHERS, "spelling": SPELLING})


def test_straight_between_the_knots() -> None:
    shares = [0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0]
    assert [MAP.probability(share, "comma") for share in shares] == pytest.approx([0, 0.2, 0.4, 0.45, 0.5, 0.65, 0.8])
    assert MAP.probability(1.0, "spelling") == 0.95
    assert MAP.probability(0.5, "spelling") == 0.5


def test_what_is_written_is_read(tmp_path: Path) -> None:
    both = replace(MAP, groups={"": OTHERS, "spelling": SPELLING, "joining": SPELLING})
    (tmp_path / CALIBRATION).write_text(json.dumps(both.to_dict()))
    assert load_calibration(tmp_path) == both
    assert load_calibration(tmp_path / "none") is None


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
    (tmp_path / CALIBRATION).write_text(json.dumps({**MAP.to_dict(), **change}))
    with pytest.raises(BadModel, match=message):
        load_calibration(tmp_path)


def embedded() -> Calibration:
    found = load_calibration()
    assert found is not None
    return found


def test_the_map_of_the_embedded_model_is_of_its_weights() -> None:
    """Otherwise it says nothing: run recipes/correction/calibrate.py again."""
    assert embedded().model == f"en-{read_config(EMBEDDED)['sha256'][:8]}"
    assert embedded().fits(load_models(), CorrectInput.defaults.temperature)


def test_the_map_is_for_what_it_was_fitted_to() -> None:
    models = load_models()
    assert not embedded().fits(models, 0.8)
    assert not embedded().fits(load_models(big=lambda texts: [0.0] * len(texts)), 1.0)
    assert not replace(embedded(), model="en-00000000").fits(models, 1.0)


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from(["spelling", "comma", "word", "unheard of"]))
def test_probabilities_rise_with_shares_and_a_half_stays_a_half(one: float, other: float, kind: str) -> None:
    low, high = sorted((one, other))
    first, last = (embedded().probability(share, kind) for share in (low, high))
    assert 0 <= first <= last <= 1
    assert (first >= 0.5) == (low >= 0.5)


def test_the_table_is_small() -> None:
    for knots in embedded().groups.values():
        assert len(knots) <= 30
        assert all(a < b for (a, _), (b, _) in pairwise(knots))
