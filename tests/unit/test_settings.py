"""Settings are checked when they are made, and say how many steps there are."""

from typing import Any

import numpy as np
import pytest

from cgmh import BadInput, Settings
from cgmh.settings import READINGS, RULES, STEPS, USES


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"steps": 0}, "`steps` 0 is out of range: it must lie between 1 and 10000000"),
        ({"chains": -1}, "`chains` -1"),
        ({"chains": 8193}, "`chains` 8193"),
        ({"temperature": float("nan")}, "`temperature` nan"),
        ({"temperature": 0.0}, "`temperature` 0.0"),
        ({"n": 0}, "`n` 0"),
        ({"seed": -1}, "`seed` -1"),
        ({"seed": 10**400}, "`seed` 1000.*\\.\\.\\. is out of range"),
        ({"chains": -(10**5000)}, "`chains` <int> is out of range"),
        ({"temperature": float("inf")}, "`temperature` inf"),
        ({"temper": 65}, "`temper` 65"),
        ({"threshold": 1.5}, "`threshold` 1.5"),
        ({"readings": 0}, "`readings` 0 is out of range: it must lie between 1 and 10000000"),
        ({"select": "x"}, "`select` x: choose one of best, likeliest, first, last, consensus, threshold"),
        ({"use": "judge"}, "`use` judge: choose one of rerank, target, resample"),
        ({"use": []}, r"`use` \[\]: choose one of rerank"),
        ({"trace": "some"}, "`trace` some: choose one of none, accepted, all"),
        ({"n": "5"}, "`n` '5' is not a whole number"),
        ({"n": True}, "`n` True is not a whole number"),
        ({"steps": 8.0}, "`steps` 8.0 is not a whole number"),
        ({"seed": 10**400}, r"`seed` 10*\.\.\. is out of range"),
        ({"seed": 10**5000}, "`seed` <int> is out of range"),
        ({"temperature": 10**400}, r"`temperature` 10*\.\.\. is out of range"),
        ({"temperature": b"1"}, "`temperature` b'1' is not a number"),
        ({"context": "Plain."}, r"`context` takes a list of strings: \['Plain.'\]"),
        ({"context": 3}, "`context` takes a list of strings, not 3"),
        ({"context": (3,)}, "`context` takes a list of strings; 3 is none"),
        ({"anneal": "no"}, "`anneal` 'no' is neither True nor False"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        Settings(**wrong)
    assert "\n" not in str(caught.value)


def test_the_ends_of_a_range_are_in_it() -> None:
    for name, ends in {"n": (1, 1000), "chains": (1, 8192), "temper": (1, 64), "threshold": (0.0, 1.0)}.items():
        for value in ends:
            assert getattr(Settings(**{name: value}), name) == value  # type: ignore[arg-type]
    for rule in RULES:
        assert Settings(select=rule).select == rule  # type: ignore[arg-type]
    for use in USES:
        assert Settings(use=use).use == use


def test_numbers_of_numpy_become_those_of_python() -> None:
    settings = Settings(n=np.int64(3), seed=np.int64(8), temperature=np.float32(0.5), anneal=np.bool_(True))
    assert settings == Settings(n=3, seed=8, temperature=0.5, anneal=True)
    kinds = [type(getattr(settings, name)) for name in ("n", "seed", "temperature", "anneal")]
    assert kinds == [int, int, float, bool]
    assert Settings(context=["It is."]).context == ("It is.",)  # type: ignore[arg-type]


def test_the_budget_is_readings_unless_steps_are_given_or_needed() -> None:
    assert Settings().budget == READINGS
    assert Settings(readings=7).budget == Settings(readings=7, steps=9).budget == 7
    for given in ({"steps": 9}, {"select": "last"}, {"temper": 2}, {"anneal": True}):
        assert Settings(**given).budget is None  # type: ignore[arg-type]
    assert [Settings(select=rule).budget for rule in ("first", "consensus")] == [READINGS] * 2  # type: ignore[arg-type]


def test_a_chain_makes_the_usual_number_of_steps_unless_one_is_given() -> None:
    assert Settings().num_steps == STEPS
    assert Settings(steps=7).num_steps == 7
