"""`cgmh correct --preset paper`, the real command, and sentences that are long."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cgmh import CorrectInput, Result, Sentence, Settings
from cgmh.models.pull.convert import convert_gguf
from commands import run
from tiny_llama import write_gguf

TRAIN = "the train was late."
PAPER = ("correct", TRAIN, "--preset", "paper", "--quiet")


def _json(*arguments: str) -> dict[str, Any]:
    answer = run(*PAPER, "--json", *arguments)
    assert answer.code == 0, answer.errors
    record: dict[str, Any] = json.loads(answer.output)
    return record


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[CorrectInput], Settings]]:
    """What was asked; every text is fine as it is."""
    calls = []

    def answers(inputs: list[CorrectInput], settings: Settings, **_: object) -> Iterator[Result]:
        calls.append((inputs, settings))
        for input in inputs:
            yield Result(input.text, (Sentence(input.text, (), 1.0, -1.0),), {}, "", edits=())

    monkeypatch.setattr("cgmh.api.solve_each", answers)
    return calls


def test_the_paper_has_its_own_steps() -> None:
    record = _json("--steps", "3")
    assert "the paper's search | model" in record["signature"]
    assert "chains 1 | steps 3 | temperature 1 | select last" in record["signature"]
    assert record["acceptance"]["swap"] is None  # it has no such move


def test_the_trace_starts_at_the_source() -> None:
    head, start, *rows = run(*PAPER, "--steps", "5", "--trace-all").output.split("\n\n")[1].splitlines()
    assert head.split() == ["step", "sentence", "move"]
    assert start.split(maxsplit=1) == ["start", TRAIN]
    assert len(rows) == 5


def test_options_override_it(asked: list[tuple[list[CorrectInput], Settings]]) -> None:
    run(*PAPER)
    run(*PAPER, "--chains", "3", "--select", "threshold", "--threshold", "0.7", "--protect", "none")
    run("correct", TRAIN)
    assert asked[0] == ([CorrectInput(TRAIN, paper=True)], CorrectInput.paper_defaults)
    other = replace(CorrectInput.paper_defaults, chains=3, select="threshold", threshold=0.7)
    assert asked[1] == ([CorrectInput(TRAIN, (), paper=True)], other)
    assert not asked[2][0][0].paper


def test_it_is_called_a_search() -> None:
    shown = " ".join(run("correct", "--help").output.split())
    assert "--preset [paper]" in shown
    assert "That is a search, no sampling." in shown


def test_what_does_not_go_with_it_is_refused(tmp_path: Path) -> None:
    refused = run(*PAPER, "--threshold", "0.7")
    assert (refused.code, refused.output) == (2, "")
    for part in ("--threshold", "--select last", "--select threshold"):
        assert part in refused.errors
    refused = run("correct", TRAIN, "--preset", "authors")
    assert (refused.code, refused.output) == (2, "")
    assert "--preset" in refused.errors
    about = {"name": "tiny", "licence": "MIT", "source": "here"}
    convert_gguf(write_gguf(tmp_path / "tiny.gguf"), tmp_path / "tiny", about)
    for option in ("--big", "--model"):
        refused = run(*PAPER, option, str(tmp_path / "tiny"))
        assert (refused.code, refused.output) == (2, "")
        assert "the paper's search is of the word model; leave out the big one" in refused.errors


def test_a_sentence_may_be_long() -> None:
    text = ", ".join(["the train was late"] * 13) + "."  # 65 words and marks
    answer = run("correct", text, "--chains", "1", "--steps", "2", "--trace-all", "--quiet")
    assert (answer.code, answer.errors) == (0, "")
    assert answer.output.count("the train was late") > 13  # the trace begins with it
