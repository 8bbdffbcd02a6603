"""The terms of the acceptance ratio that a watcher is told add up, and are what was sampled by."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
import torch

from cgmh.inputs import KeywordInput
from cgmh.serving.entry import Entry
from cgmh.serving.group import Group
from cgmh.session import Session

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def watched() -> list[list[dict[str, Any]]]:
    """The moves of a run, round by round, and first its start."""
    input = KeywordInput(("snow", "river"))
    settings = replace(KeywordInput.defaults, chains=6, steps=30, temperature=1.5)
    session = Session([input], settings, None, None, None, ())
    sources = session.read(0)
    assert isinstance(sources, list)
    rounds: list[list[dict[str, Any]]] = []
    entry = Entry(session, sources[0], lambda _: None, moved=rounds.append, is_alone=True)
    group = Group(session.task, session.models, is_open=False)  # type: ignore[arg-type]
    group.join(entry)
    while group.everyone:
        group.step()
    assert len(rounds) == 30
    return rounds


def test_the_ratio_is_the_sum_of_its_terms(watched: list[list[dict[str, Any]]]) -> None:
    exact = [move for moves in watched for move in moves if move["log_gain"] is not None]
    assert len(exact) > 20
    for move in exact:
        assert move["passed"]
        total = move["log_gain"] + move["log_reverse"] - move["log_forward"]
        assert total == pytest.approx(move["log_ratio"], abs=3e-4)


def test_the_gain_is_that_of_the_target_at_the_temperature(watched: list[list[dict[str, Any]]]) -> None:
    compared = 0
    for before, after in pairwise(watched):
        for one, other in zip(before, after, strict=True):
            if other["accepted"]:
                gain = (other["log_target"] - one["log_target"]) / 1.5
                assert other["log_gain"] == pytest.approx(gain, abs=3e-4)
                compared += gain != 0
            else:
                assert other["log_target"] == one["log_target"]
    assert compared > 5


def test_what_the_first_stage_refused_has_no_exact_gain(watched: list[list[dict[str, Any]]]) -> None:
    refused = [move for moves in watched for move in moves if not move["passed"]]
    assert refused
    for move in refused:
        assert not move["accepted"]
        assert move["log_gain"] is None
        assert move["log_ratio"] == move["log_first"]


def test_the_first_ratio_is_the_sum_of_its_terms(watched: list[list[dict[str, Any]]]) -> None:
    seen = [move for moves in watched for move in moves if move["log_first"] is not None]
    assert any(not move["passed"] for move in seen)
    for move in seen:
        total = move["log_first_gain"] + move["log_reverse"] - move["log_forward"]
        assert move["trust"] * total == pytest.approx(move["log_first"], abs=3e-4)


def test_a_broken_rule_is_named(watched: list[list[dict[str, Any]]]) -> None:
    moves = [move for moves in watched for move in moves]
    unended = [move for move in moves if move["text"][-1].isalpha()]
    assert unended
    assert all("ending" in move["broken"] for move in unended)
    for move in moves:
        assert move["log_ratio"] is None or not move["broken"]
        assert not (move["broken"] and move["accepted"])


def test_numbers_are_those_that_json_knows(watched: list[list[dict[str, Any]]]) -> None:
    numbers = [value for moves in watched for move in moves for value in move.values() if isinstance(value, float)]
    assert all(map(math.isfinite, numbers))
    assert any(move["log_ratio"] is None for moves in watched for move in moves)  # some candidate lost a keyword
