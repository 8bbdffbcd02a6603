"""In which order sources are worked on, and how fast an engine is."""

import pytest

from cgmh.inputs import CorrectInput, KeywordInput
from cgmh.serving import due
from cgmh.serving.due import Speed, due_at
from cgmh.settings import Settings


def test_usual_requests_are_due_in_the_order_in_which_they_come() -> None:
    first = due_at(KeywordInput.defaults, 100.0)
    assert first < due_at(CorrectInput.defaults, 101.0) < due_at(KeywordInput.defaults, 102.0)


def test_what_asks_for_very_many_steps_gives_way_but_not_for_ever() -> None:
    assert due_at(Settings(chains=256, steps=2_000), 100.0) == 130.0
    assert due_at(CorrectInput.defaults, 120.0) < due_at(Settings(chains=64, steps=400), 100.0) < 130.0


def test_the_speed_of_busy_processes_is_learnt() -> None:
    speed = Speed(2)
    assert speed.steps_per_second == 2 * due.STEPS_PER_SECOND
    speed.see(0.0, 5_000, busy=True)
    for second in range(1, 600):
        speed.see(float(second), 5_000 + 700 * second, busy=True)
    assert speed.steps_per_second == pytest.approx(700, rel=0.01)


def test_nothing_is_learnt_from_processes_that_have_little_to_do() -> None:
    speed = Speed(1)
    speed.see(0.0, 0, busy=False)
    speed.see(100.0, 10, busy=True)
    assert speed.steps_per_second == due.STEPS_PER_SECOND
    speed.see(100.0, 10, busy=False)
    speed.see(900.0, 10, busy=False)
    assert speed.steps_per_second == due.STEPS_PER_SECOND


def test_answers_in_a_burst_are_averaged() -> None:
    speed = Speed(1)
    speed.see(0.0, 0, busy=True)
    for second in range(10, 610, 10):
        speed.see(float(second), second // 40 * 40_000, busy=True)  # all of 40 seconds at once
    assert 600 < speed.steps_per_second < 1_700
