"""Jobs and messages arrive as they were sent, in whatever pieces."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.serving.messages import Lines, encode, read_job, write_job
from cgmh.serving.protocols import Job
from cgmh.settings import Settings

JOBS = [
    Job((KeywordInput(("snow", "new york"), ordered=True, forbid=("the",)), KeywordInput(("a\nb",))), Settings(n=3)),
    Job((ParaphraseInput("Is \U0001f600 it \ud83d?", keep=("it",), match=("kw", "st=0.5")),), ParaphraseInput.defaults),
    Job((CorrectInput("i has \u2028 two", protect=()),), replace(CorrectInput.defaults, seed=2**62), "gemma3-270m"),
    Job((KeywordInput(("snow",)),), Settings(), early=True),
]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_arrives_as_it_was_sent(job: Job) -> None:
    (message,) = Lines().feed(encode(write_job(job)))
    assert read_job(message) == job


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none())), st.integers(1, 7))
def test_messages_come_out_of_any_pieces(messages: list[dict[str, Any]], size: int) -> None:
    lines, sent = Lines(), b"".join(map(encode, messages))
    assert [message for at in range(0, len(sent), size) for message in lines.feed(sent[at : at + size])] == messages
