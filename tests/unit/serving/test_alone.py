"""A job in a process of its own."""

import os
import select

import pytest

from cgmh.errors import BadInput
from cgmh.inputs import KeywordInput
from cgmh.serving.alone import Alone, written
from cgmh.serving.protocols import Job
from cgmh.settings import Settings


def answer(job: Job) -> dict[str, object]:
    process = Alone(job, lambda: None)
    while True:
        assert select.select([process.reader], [], [], 60)[0]
        if (said := process.answer()) is not None:
            return said


def test_outcomes_come_through_the_pipe() -> None:
    job = Job((KeywordInput(("snow",)), KeywordInput(())), Settings(chains=4, steps=2, temper=2, n=1))
    first, second = answer(job)["outcomes"]  # type: ignore[misc]
    assert "snow" in first["results"][0]["words"]
    assert "no keywords" in second["error"]


def test_what_is_wrong_with_a_job_is_said() -> None:
    said = answer(Job((KeywordInput(("snow",)),), Settings(use="rerank")))
    assert said["error"]["type"] == "BadInput"  # type: ignore[index]


def test_it_can_be_stopped() -> None:
    process = Alone(Job((KeywordInput(("snow",)),), Settings(steps=10**6)), lambda: None)
    process.end()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_input_that_cannot_be_answered_has_an_error() -> None:
    assert written(BadInput("no")) == {"error": "no"}
