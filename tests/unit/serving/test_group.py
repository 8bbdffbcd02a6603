"""Chains of different requests step together, and each is what it would be alone."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

import cgmh
from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.result import Result
from cgmh.serving import group
from cgmh.serving.entry import Entry
from cgmh.serving.group import Group
from cgmh.session import Session
from cgmh.settings import Settings
from cgmh.tasks import start

torch.set_num_threads(1)

INPUTS: dict[str, list[Any]] = {
    "keywords": [
        KeywordInput(("snow", "mountain")),
        KeywordInput(("Zorblat", "river|brook")),
        KeywordInput(("quxby", "zorblat", "Zorblat"), max_words=9),
    ],
    "paraphrase": [
        ParaphraseInput("How do I get to Zorblat from Quxby in two days?"),
        ParaphraseInput("What is the best way to learn English?"),
        ParaphraseInput("Is Quxby near Zorblat?"),
    ],
    "correct": [
        CorrectInput("He go to school with Zorblat evry day. They was happy."),
        CorrectInput("I has two apple."),
        CorrectInput("Quxby and Zorblat likes tea."),
    ],
}
SETTINGS = [(5, 0, 14), (3, 7, 9), (4, 0, 11)]  # chains, seed, steps


def session(input: Any, chains: int, seed: int, steps: int) -> Session:
    settings = replace(type(input).defaults, chains=chains, seed=seed, steps=steps, n=2)
    return Session([input], settings, None, None, None, ())


def entries(session: Session, answers: list[Any]) -> list[Entry]:
    """An entry for each source, whose answer takes the place of the source, whichever is done first."""
    sources = session.read(0)
    assert isinstance(sources, list)
    answers += [None] * len(sources)
    return [Entry(session, source, partial(answers.__setitem__, place)) for place, source in enumerate(sources)]


def together(inputs: Sequence[Any], *, apart: int) -> list[str]:
    """The answers to inputs, of which the next one joins after `apart` steps."""
    sessions = [session(input, *asked) for input, asked in zip(inputs, SETTINGS, strict=True)]
    batch, answers, todo = Group(sessions[0].task, sessions[0].models), [[] for _ in inputs], list(range(len(inputs)))  # type: ignore[arg-type, var-annotated]
    step = 0
    while todo or batch.everyone:
        if todo and step % apart == 0:
            for entry in entries(sessions[todo[0]], answers[todo[0]]):
                assert batch.accepts(entry)
                batch.join(entry)
            del todo[0]
        batch.step()
        step += 1
    joined = [each.joined(each.read(0), parts) for each, parts in zip(sessions, answers, strict=True)]  # type: ignore[arg-type]
    return [written(result) for result in joined]


def written(result: Any) -> str:
    assert isinstance(result, Result)
    return json.dumps(result.to_dict())


def alone(inputs: Sequence[Any]) -> list[str]:
    made = []
    for input, (chains, seed, steps) in zip(inputs, SETTINGS, strict=True):
        settings = replace(type(input).defaults, chains=chains, seed=seed, steps=steps, n=2)
        made.append(written(next(cgmh.solve([input], settings))))
    return made


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources join as soon as they ask to, so that they do at known steps."""
    monkeypatch.setattr(group, "PATIENCE", 0)


@pytest.mark.parametrize("task", INPUTS)
def test_an_answer_beside_others_is_the_answer_alone(task: str) -> None:
    expected = alone(INPUTS[task])
    assert together(INPUTS[task], apart=4) == expected
    assert together(INPUTS[task], apart=1) == expected


@pytest.mark.parametrize("task", INPUTS)
def test_starts_of_different_seeds_are_found_together(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SETTINGS", [(4, 0, 6), (4, 7, 9), (4, 3, 6)])
    sessions = [session(input, *asked) for input, asked in zip(INPUTS[task], SETTINGS, strict=True)]
    batch, answers = Group(sessions[0].task, sessions[0].models), [[] for _ in sessions]  # type: ignore[arg-type, var-annotated]
    for each, own in zip(sessions, answers, strict=True):
        for entry in entries(each, own):
            batch.join(entry)
    batch.step()
    assert not batch.waiting
    batch.step()  # before it, others could still come
    assert batch._walk is not None  # and nobody waits: all were posed in one go
    assert len(batch.entries) == len(batch.everyone)
    while batch.everyone:
        batch.step()
    joined = [each.joined(each.read(0), parts) for each, parts in zip(sessions, answers, strict=True)]  # type: ignore[arg-type]
    assert [written(result) for result in joined] == alone(INPUTS[task])


@pytest.mark.parametrize("task", ["keywords", "correct"])
@pytest.mark.parametrize("rows", [1, 24])
def test_chains_may_go_ahead_alone_and_beside_others(task: str, rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps of all chains are tried at a time."""
    expected = alone(INPUTS[task])
    monkeypatch.setattr(group, "TRIED_TOGETHER", rows)
    assert together(INPUTS[task], apart=3) == expected


def test_a_chain_that_drew_by_its_row_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the test above rests on: a chain's numbers are its own, not those of its place in the batch."""
    expected = alone(INPUTS["keywords"])
    draws = group.Draws

    def by_row(seed: Any, chains: torch.Tensor, steps: torch.Tensor) -> Any:
        return draws(seed, torch.arange(len(chains)), steps)

    monkeypatch.setattr(group, "Draws", by_row)
    assert together(INPUTS["keywords"], apart=4) != expected


def test_corrections_that_come_at_once_begin_together_whatever_their_seeds() -> None:
    inputs, answers = INPUTS["correct"], list[list[Any]]([[], [], []])
    sessions = [session(input, *asked) for input, asked in zip(inputs, SETTINGS, strict=True)]
    batch = Group(sessions[0].task, sessions[0].models)  # type: ignore[arg-type]
    for each, told in zip(sessions, answers, strict=True):
        for entry in entries(each, told):
            batch.join(entry)
    while batch.everyone:
        batch.step()
    joined = [each.joined(each.read(0), told) for each, told in zip(sessions, answers, strict=True)]  # type: ignore[arg-type]
    assert [written(result) for result in joined] == alone(inputs)


def test_a_longer_one_makes_room_beside_those_that_step() -> None:
    inputs = [INPUTS["keywords"][at] for at in (2, 0, 1)]  # the shortest first
    assert together(inputs, apart=2) == alone(inputs)


def test_there_is_room_for_so_many_words_and_the_others_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, answers = INPUTS["paraphrase"], list[list[Any]]([[], [], []])
    monkeypatch.setattr(group, "MAX_WORDS_HELD", 120)
    sessions = [session(input, *asked) for input, asked in zip(inputs, SETTINGS, strict=True)]
    batch = Group(sessions[0].task, sessions[0].models)  # type: ignore[arg-type]
    for each, told in zip(sessions, answers, strict=True):
        for entry in entries(each, told):
            batch.join(entry)
    most = waited = 0
    while batch.everyone:
        batch.step()
        held = sum(entry.chains for entry in batch.entries) * max(
            [entry.capacity for entry in batch.entries], default=0
        )
        most, waited = max(most, held), waited + len(batch.everyone) - len(batch.entries)
    joined = [each.joined(each.read(0), told) for each, told in zip(sessions, answers, strict=True)]  # type: ignore[arg-type]
    assert [written(result) for result in joined] == alone(inputs)
    assert 0 < most <= 120
    assert waited > 0


def test_those_that_stay_do_not_notice_who_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "TRIED_TOGETHER", 1)
    first, second = INPUTS["keywords"][:2]
    answers: list[Any] = []
    staying, leaving = session(first, *SETTINGS[0]), session(second, *SETTINGS[1])
    batch = Group(staying.task, staying.models)  # type: ignore[arg-type]
    (gone,) = entries(leaving, [])
    batch.join(gone)
    batch.step()
    batch.step()
    for entry in entries(staying, answers):
        batch.join(entry)
    batch.step()
    batch.step()
    assert len(batch.entries) == 2
    batch.remove(gone)
    while batch.entries:
        batch.step()
    assert written(answers[0]) == alone([first, *INPUTS["keywords"][1:]])[0]


def test_a_source_that_cannot_start_is_told_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "PATIENCE", 0)
    monkeypatch.setattr("cgmh.tasks.keywords.starts.MAX_SEARCHES", 0)
    settings = Settings(chains=2, steps=2)
    inputs = [KeywordInput(("snow",), min_words=15), KeywordInput(("river",))]
    sessions = [Session([input], settings, None, None, None, ()) for input in inputs]
    answers: list[list[Any]] = [[], []]
    batch = Group(sessions[0].task, sessions[0].models)  # type: ignore[arg-type]
    for each, own in zip(sessions, answers, strict=True):
        for entry in entries(each, own):
            batch.join(entry)
    while batch.everyone:
        batch.step()
    assert "no sentence was found" in str(answers[0][0])
    assert "river" in answers[1][0].best.words


def test_only_what_is_asked_alike_steps_together() -> None:
    one = session(KeywordInput(("snow",)), 2, 0, 3)
    batch = Group(one.task, one.models)  # type: ignore[arg-type]
    batch.join(*entries(one, []))
    assert batch.accepts(*entries(session(KeywordInput(("river",), max_words=7), 3, 1, 5), []))
    assert not batch.accepts(*entries(session(KeywordInput(("river",), ordered=True), 3, 1, 5), []))
    assert not batch.accepts(*entries(session(CorrectInput("I has two apple."), 3, 1, 5), []))


def test_moves_are_told_as_they_are_made() -> None:
    own = session(KeywordInput(("snow", "mountain")), 3, 0, 6)
    answers: list[Any] = []
    (entry,) = entries(own, answers)
    starts: list[list[str]] = []
    rounds: list[list[dict[str, Any]]] = []
    entry.started, entry.moved = starts.append, rounds.append
    batch = Group(own.task, own.models)  # type: ignore[arg-type]
    batch.join(entry)
    while batch.everyone:
        batch.step()
    assert len(starts) == 1
    assert len(starts[0]) == 3
    assert [len(moves) for moves in rounds] == [3] * 6
    assert {move["chain"] for move in rounds[0]} == {0, 1, 2}
    accepted = sum(move["accepted"] for moves in rounds for move in moves)
    assert accepted == int(batch.counts[1].sum())
    assert all("snow" in starts[0][chain].lower() for chain in range(3))
    json.dumps(rounds, allow_nan=False)


def test_words_of_past_requests_are_forgotten() -> None:
    own = session(KeywordInput(("zorblat",)), 2, 0, 40)
    batch = Group(own.task, own.models)  # type: ignore[arg-type]
    batch.join(*entries(own, []))
    batch.step()
    while batch.everyone:
        assert "zorblat" in batch.lexicon
        batch.step()
    assert "zorblat" not in batch.lexicon


def test_who_came_first_begins_first_and_others_wait_for_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many chains step together as make the most of a processor; more would only let all of them end late."""
    monkeypatch.setattr(group, "CHAINS_TOGETHER", 8)
    monkeypatch.setattr(group, "ROOM_FOR_THE_LAST", 3)
    asked = [session(input, 4, 0, 6) for input in INPUTS["keywords"]]
    batch, order = Group(asked[0].task, asked[0].models), list[int]()  # type: ignore[arg-type]
    most = 0
    for number, each in enumerate(asked):
        (source,) = each.read(0)  # type: ignore[misc]
        batch.join(Entry(each, source, lambda _, number=number: order.append(number)))  # type: ignore[misc]
    while batch.everyone:
        batch.step()
        most = max(most, sum(entry.chains for entry in batch.entries))
    assert set(order[:2]) == {0, 1}  # of those that step together, any may be done first
    assert order[2:] == [2]
    assert most == 8


@pytest.mark.parametrize("room", [4, 8])
def test_the_last_who_wait_are_let_in(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a little more room is enough for all; if others would still wait, nobody is."""
    monkeypatch.setattr(group, "CHAINS_TOGETHER", 4)
    monkeypatch.setattr(group, "ROOM_FOR_THE_LAST", room)
    monkeypatch.setattr(group, "TRIED_TOGETHER", 1)  # so that nobody is done soon
    asked = [session(INPUTS["correct"][1], 4, seed, 30) for seed in range(3)]
    batch = Group(asked[0].task, asked[0].models)  # type: ignore[arg-type]
    for each in asked:
        batch.join(*entries(each, []))
    batch.step()
    batch.step()
    assert sum(entry.chains for entry in batch.entries) == (12 if room == 8 else 4)


def burst(number: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many have joined after each call, while so many are begun one by one."""
    monkeypatch.setattr(group, "BEGUN_AT_ONCE", 1)
    monkeypatch.setattr(group, "TRIED_TOGETHER", 1)  # so that nobody is done soon
    asked = [session(INPUTS["correct"][1], 2, seed, 30) for seed in range(number)]
    batch = Group(asked[0].task, asked[0].models)  # type: ignore[arg-type]
    for each in asked:
        batch.join(*entries(each, []))
    joined: list[int] = []
    for _ in range(6):
        batch.step()
        joined.append(len(batch.entries))
    return joined


def test_those_of_a_burst_join_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All are posed again for each join."""
    monkeypatch.setattr(group, "BEGUN_IN_A_ROW", 9)
    joined = burst(4, monkeypatch)
    assert joined == [0, 0, 0, 0, 4, 4]


def test_who_was_begun_does_not_wait_for_all_who_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "BEGUN_IN_A_ROW", 2)
    joined = burst(5, monkeypatch)
    assert joined == [0, 2, 2, 4, 4, 5]


def test_more_chains_than_step_together_step_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group, "CHAINS_TOGETHER", 3)
    assert together(INPUTS["keywords"], apart=1) == alone(INPUTS["keywords"])
