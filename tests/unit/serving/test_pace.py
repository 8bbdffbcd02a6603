"""When a watched run makes its next step, at which temperature, and how long it may take."""

from math import inf

import pytest

from cgmh.serving import pace as module
from cgmh.serving.pace import Allowance, Pace, Steering


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which passes when a test says so."""
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    return now


def test_full_speed_unless_asked() -> None:
    pace = Pace(0.75, Steering())
    assert (pace.wait(), pace.made(), pace.wait()) == (0.0, False, 0.0)
    assert pace.to_dict() == {"paused": False, "steps_per_second": 0.0, "temperature": 0.75}


def test_some_steps_and_then_a_pause() -> None:
    pace = Pace(1.0, Steering(steps=2))
    assert [pace.made(), pace.made()] == [False, True]
    assert pace.wait() == inf
    pace.steer(Steering(steps=1), 2)
    assert (pace.wait(), pace.made(), pace.wait()) == (0.0, True, inf)
    pace.steer(Steering(paused=False), 3)
    assert (pace.wait(), pace.made()) == (0.0, False)
    pace.steer(Steering(paused=True), 4)
    assert pace.is_paused


def test_so_many_steps_a_second(clock: list[float]) -> None:
    pace = Pace(1.0, Steering(steps_per_second=4.0))
    assert pace.wait() == 0
    pace.made()
    assert pace.wait() == pytest.approx(0.25)
    clock[0] += 0.2
    assert pace.wait() == pytest.approx(0.05)
    pace.steer(Steering(steps_per_second=0), 1)
    assert pace.wait() == 0


@pytest.mark.usefixtures("clock")
def test_going_faster_does_not_wait_for_the_slow_step() -> None:
    pace = Pace(1.0, Steering(steps_per_second=0.01))
    pace.made()
    assert pace.wait() == pytest.approx(100)
    pace.steer(Steering(steps_per_second=10), 1)
    assert pace.wait() == pytest.approx(0.1)


def test_temperatures_are_written_down_with_their_steps() -> None:
    pace = Pace(0.75, Steering())
    pace.steer(Steering(temperature=0.75), 3)
    assert not pace.is_changed
    pace.steer(Steering(temperature=2.0), 3)
    pace.steer(Steering(temperature=1.5), 3)
    pace.steer(Steering(temperature=1.0), 9)
    assert pace.temperatures == [(0, 0.75), (3, 1.5), (9, 1.0)]
    assert pace.is_changed
    other = Pace(0.75, Steering())
    other.steer(Steering(temperature=1.0), 0)
    assert other.temperatures == [(0, 1.0)]
    assert other.is_changed


def test_time_that_a_run_waits_for_its_watcher_counts_apart(clock: list[float]) -> None:
    time = Allowance(60, 900)
    clock[0] += 20
    assert time.left() == 40
    time.hold(is_held=True)
    clock[0] += 500
    assert time.left() == 400
    time.hold(is_held=False)
    assert time.left() == 40
    clock[0] += 41
    assert time.left() < 0


def test_what_is_left_out_is_not_sent() -> None:
    assert Steering(steps=3).to_dict() == {"steps": 3}
    assert Steering(paused=False).to_dict() == {"paused": False}
