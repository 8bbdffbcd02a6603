"""The loop of an engine process, on the other end of a pair of sockets."""

import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from typing import Any

import pytest

import cgmh
from cgmh.inputs import CorrectInput, KeywordInput, ParaphraseInput
from cgmh.proposals.protocols import MOVES
from cgmh.remembered import ANSWERS
from cgmh.serving import worker
from cgmh.serving.early import FIRST
from cgmh.serving.group import LOOKED_AT_FIRST, Group
from cgmh.serving.messages import Lines, Message, encode, write_job
from cgmh.serving.pace import Steering
from cgmh.serving.protocols import FillQuestion, Job
from cgmh.serving.worker import Worker, joins
from cgmh.settings import Settings
from cgmh.tasks import Keywords

FEW = Settings(chains=3, steps=4, n=1)
OTHER = {"temper": 2, "anneal": True, "trace": "all", "use": "target"}  # what takes chains that do not join


class Caller:
    """What the server does: it sends jobs, and hears what comes of them."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._ours.settimeout(60)
        self._lines, self._heard = Lines(), list[Message]()
        self._theirs = theirs
        self._thread = threading.Thread(target=Worker(theirs).run)
        self._thread.start()

    def send(self, number: int, job: Job, *, watched: bool = False, asked_at: float = 0.0) -> None:
        self._ours.sendall(encode({"id": number, **write_job(job), "watched": watched, "asked_at": asked_at}))

    def cancel(self, number: int) -> None:
        self._ours.sendall(encode({"id": number, "cancel": True}))

    def steer(self, number: int, asked: Steering) -> None:
        self._ours.sendall(encode({"id": number, "steering": asked.to_dict()}))

    def hear(self) -> Message:
        while not self._heard:
            self._heard += self._lines.feed(self._ours.recv(1 << 16))
        return self._heard.pop(0)

    def close(self) -> None:
        self._ours.shutdown(socket.SHUT_WR)
        self._thread.join(60)
        assert not self._thread.is_alive()
        self._ours.close()
        self._theirs.close()


@pytest.fixture
def caller() -> Iterator[Caller]:
    caller = Caller()
    yield caller
    caller.close()


def test_jobs_of_all_tasks_are_answered(caller: Caller) -> None:
    jobs = [
        Job((KeywordInput(("snow",)), KeywordInput(())), FEW),
        Job((CorrectInput("I has two apple. She like it."), CorrectInput("")), replace(FEW, select="threshold")),
        Job((ParaphraseInput("How are you today?"),), replace(FEW, steps=6)),
    ]
    for number, job in enumerate(jobs):
        caller.send(number, job)
    heard = {message["id"]: message for message in (caller.hear() for _ in jobs)}
    assert "snow" in heard[0]["outcomes"][0]["results"][0]["text"].lower()
    assert "no keywords" in heard[0]["outcomes"][1]["error"]
    assert [outcome["input"] for outcome in heard[1]["outcomes"]] == [input.text for input in jobs[1].inputs]  # type: ignore[union-attr]
    assert heard[2]["outcomes"][0]["input"] == "How are you today?"
    most = max(heard.values(), key=lambda message: int(message["done"]["steps"]))
    assert set(most["done"]["proposed"]) == set(MOVES)
    assert sum(most["done"]["proposed"].values()) >= sum(most["done"]["accepted"].values()) > 0


def test_events_are_told_step_by_step(caller: Caller) -> None:
    caller.send(5, Job((KeywordInput(("snow",)),), FEW), watched=True)
    heard = [caller.hear()]
    while "event" in heard[-1]:
        heard.append(caller.hear())
    events = [message["event"] for message in heard[:-1]]
    assert [event["event"] for event in events] == ["start", *["moves"] * FEW.steps]  # type: ignore[operator]
    assert (events[0]["chains"], len(events[0]["texts"])) == (3, 3)
    assert [event["step"] for event in events[1:]] == [1, 2, 3, 4]
    assert heard[-1]["outcomes"]


def test_answers_are_told_before_the_end_and_change_nothing(caller: Caller) -> None:
    settings = Settings(chains=4, steps=30, n=3)
    for input in (KeywordInput(("snow", "river")), ParaphraseInput("Where can I learn to swim?")):
        ANSWERS.clear()
        job = Job((input,), settings, early=True)
        caller.send(1, job, watched=True)
        heard = [caller.hear()]
        while "event" in heard[-1]:
            heard.append(caller.hear())
        told = [message["event"] for message in heard[:-1] if message["event"]["event"] == "best"]
        assert [event["step"] >= FIRST for event in told[1:]] == [True] * (len(told) - 1)
        assert told[0]["step"] < 30
        for event in told:
            assert 0 < len(event["results"]) <= 3
            assert all(isinstance(each["good"], bool) for each in event["results"])
        ANSWERS.clear()
        caller.send(2, replace(job, early=False))
        assert heard[-1]["outcomes"] == caller.hear()["outcomes"]


def test_what_the_first_chains_start_at_is_told_before_all_have_started(caller: Caller) -> None:
    settings = Settings(chains=2 * LOOKED_AT_FIRST, steps=2, n=LOOKED_AT_FIRST)
    caller.send(1, Job((KeywordInput(("snow", "river")),), settings, early=True), watched=True)
    first, start = caller.hear()["event"], caller.hear()["event"]
    assert (first["event"], first["step"], start["event"]) == ("best", 0, "start")
    assert first["results"]
    assert {each["text"] for each in first["results"]} <= set(start["texts"][:LOOKED_AT_FIRST])


def test_a_cancelled_job_says_nothing_more(caller: Caller) -> None:
    caller.send(1, Job((KeywordInput(("snow",)),), replace(FEW, steps=10**6)))
    caller.send(2, Job((KeywordInput(("river",)),), replace(FEW, temper=2, steps=10**6)))
    caller.cancel(1)
    caller.cancel(2)
    caller.send(3, Job((KeywordInput(("river",)),), FEW))
    assert caller.hear()["id"] == 3


def test_a_sentence_that_was_corrected_before_is_not_sampled_again(caller: Caller) -> None:
    settings = replace(FEW, select="threshold", seed=77)
    caller.send(1, Job((CorrectInput("He go home. I has two apple."),), settings))
    first = caller.hear()
    caller.send(2, Job((CorrectInput("I has two apple. Then he go home."),), settings))
    second = caller.hear()
    assert second["done"]["cached"] == first["done"]["cached"] + 1
    assert second["done"]["steps"] == first["done"]["steps"] + 3 * 4
    ANSWERS.clear()
    (alone,) = cgmh.solve([CorrectInput("I has two apple. Then he go home.")], settings)
    assert json.dumps(second["outcomes"][0]) == json.dumps(alone.to_dict())


def test_a_job_that_contradicts_itself_is_refused(caller: Caller) -> None:
    caller.send(1, Job((KeywordInput(("snow",)),), replace(FEW, select="threshold")))
    assert caller.hear()["error"] == {
        "type": "BadInput",
        "message": "`select` threshold: this task takes one of best, likeliest, first, last, consensus",
    }


def test_an_internal_error_hits_only_whoever_causes_it(
    caller: Caller, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    step = Group.step

    def fails_beside_snow(self: Group) -> None:
        if self.entries and any("snow" in str(entry.source) for entry in self.entries):
            raise RuntimeError("secret snow")
        step(self)

    monkeypatch.setattr(Group, "step", fails_beside_snow)
    several = replace(FEW, steps=200)  # more than are tried in one go
    caller.send(1, Job((KeywordInput(("snow",)),), several))
    caller.send(2, Job((KeywordInput(("river",)),), several))
    heard = {message["id"]: message["outcomes"][0] for message in (caller.hear(), caller.hear())}
    assert "internal error" in heard[1]["error"]
    assert "river" in heard[2]["results"][0]["words"]
    said = capfd.readouterr().err
    assert "RuntimeError in fails_beside_snow" in said
    assert "secret" not in said


def test_an_error_before_the_first_step_is_answered_too(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was about to begin or to join is not forgotten."""
    pose = Keywords.pose

    def fails_beside_snow(self: Keywords, sources: Any, *rest: Any) -> Any:
        if any("snow" in str(source) for source in sources):
            raise RuntimeError("secret snow")
        return pose(self, sources, *rest)

    monkeypatch.setattr(Keywords, "pose", fails_beside_snow)
    for number, word in enumerate(("snow", "river", "train")):
        caller.send(number, Job((KeywordInput((word,)),), FEW))
    heard = {message["id"]: message["outcomes"][0] for message in (caller.hear(), caller.hear(), caller.hear())}
    assert "internal error" in heard[0]["error"]
    assert "river" in heard[1]["results"][0]["words"]
    assert "train" in heard[2]["results"][0]["words"]


def test_more_chains_than_there_is_room_for_wait(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "MAX_CHAINS", 5)
    most = [0]
    step = Group.step

    def counting(self: Group) -> None:
        most[0] = max(most[0], self.num_chains)
        step(self)

    monkeypatch.setattr(Group, "step", counting)
    text = "I has two apple. She like it. They was here. He go home."
    caller.send(1, Job((CorrectInput(text),), replace(FEW, chains=2, select="threshold")))
    assert caller.hear()["outcomes"][0]["input"] == text
    assert 0 < most[0] <= 4


@pytest.mark.parametrize(
    ("waited", "expected"),
    [((100, 50), [1, 2]), ((50, 100), [2, 1]), ((0, 0), [2, 1])],
    ids=["the long one is overdue", "the short one is", "by turns"],
)
def test_whoever_is_overdue_is_answered_first(caller: Caller, waited: tuple[int, int], expected: list[int]) -> None:
    long = Job((KeywordInput(("snow",)),), replace(FEW, steps=60))
    short = Job((CorrectInput("I has two apple."),), replace(FEW, select="threshold"))
    ANSWERS.clear()
    for number, (job, seconds) in enumerate(zip((long, short), waited, strict=True), 1):
        caller.send(number, job, asked_at=monotonic() - seconds)
    assert [caller.hear()["id"] for _ in expected] == expected


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, True),
        ({"temper": 2}, False),
        ({"anneal": True}, False),
        ({"trace": "all"}, False),
        ({"use": "target"}, False),
    ],
)
def test_plain_chains_of_the_word_model_join(settings: dict[str, Any], *, expected: bool) -> None:
    assert joins(Job((KeywordInput(("snow",)),), replace(FEW, **settings))) is expected


def test_plain_inputs_of_every_task_join() -> None:
    assert joins(Job((KeywordInput(("snow",)),), KeywordInput.defaults))
    assert joins(Job((ParaphraseInput("How are you?"),), ParaphraseInput.defaults))
    assert joins(Job((CorrectInput("I has."),), CorrectInput.defaults))


def test_a_big_model_and_the_papers_kernels_do_not_join() -> None:
    assert not joins(Job((KeywordInput(("snow",)),), FEW, "gemma3-270m"))
    assert not joins(Job((CorrectInput("I has.", paper=True),), FEW))
    assert not joins(Job((ParaphraseInput("How are you?", gibbs=True),), FEW))


def test_a_watched_run_is_steered(caller: Caller) -> None:
    watched = replace(Job((KeywordInput(("snow",)),), replace(FEW, steps=6)), steering=Steering(steps=2))
    caller.send(1, watched, watched=True)
    heard = [caller.hear()["event"] for _ in range(4)]
    assert [event["event"] for event in heard] == ["start", "moves", "moves", "steered"]
    assert heard[-1] == {"event": "steered", "paused": True, "steps_per_second": 0.0, "temperature": 0.75}
    # While it pauses, others are answered.
    caller.send(2, Job((KeywordInput(("river",)),), FEW))
    assert caller.hear()["id"] == 2
    caller.steer(1, Steering(temperature=2.0))
    assert caller.hear()["event"]["temperature"] == 2.0
    caller.steer(1, Steering(steps=1))
    heard = [caller.hear()["event"] for _ in range(3)]
    assert [event["event"] for event in heard] == ["steered", "moves", "steered"]
    assert (heard[1]["step"], heard[1]["temperature"]) == (3, 2.0)
    caller.steer(1, Steering(paused=False))
    heard = [caller.hear() for _ in range(5)]
    assert [message["event"]["event"] for message in heard[:-1]] == ["steered", *["moves"] * 3]
    assert heard[-1]["outcomes"][0]["temperatures"] == [[0, 0.75], [2, 2.0]]


def test_a_run_that_is_paced_or_paused_on_its_way_is_the_same_run(caller: Caller) -> None:
    job = Job((KeywordInput(("snow",)),), FEW)
    caller.send(1, job)
    alone = caller.hear()["outcomes"]
    caller.send(2, replace(job, steering=Steering(steps=1, steps_per_second=1000)), watched=True)
    while caller.hear()["event"]["event"] != "steered":
        pass
    caller.steer(2, Steering(paused=False))
    heard = caller.hear()
    while "event" in heard:
        heard = caller.hear()
    assert json.dumps(heard["outcomes"]) == json.dumps(alone)


def test_another_temperature_holds_from_the_next_step_on(caller: Caller) -> None:
    job = Job((KeywordInput(("snow",)),), replace(FEW, chains=8, steps=30, seed=5))
    caller.send(1, replace(job, steering=Steering(steps=1)), watched=True)
    rounds: list[Message] = []
    while "event" in (heard := caller.hear()):
        if heard["event"]["event"] == "moves":
            rounds.append(heard["event"])
        elif heard["event"]["paused"] and rounds:
            caller.steer(1, Steering(paused=False, temperature=5.0))
    assert [event["temperature"] for event in rounds] == [0.75, *[5.0] * 29]
    gains = [
        (after["log_target"] - before["log_target"], after["log_gain"])
        for one, other in pairwise(rounds)
        for before, after in zip(one["moves"], other["moves"], strict=True)
        if after["accepted"]
    ]
    assert sum(gain != 0 for gain, _ in gains) > 10
    for gain, told in gains:
        assert told == pytest.approx(gain / 5.0, abs=3e-4)


def test_sentences_of_a_text_are_told_as_they_are_done(caller: Caller) -> None:
    settings = replace(FEW, select="threshold", seed=99)
    job = replace(Job((CorrectInput("He go home. I has two apple."),), settings), watch="sentences")
    for number, is_known in ((1, False), (2, True)):
        caller.send(number, job, watched=True)
        first, second, whole = (caller.hear() for _ in range(3))
        told = sorted((first["event"], second["event"]), key=lambda event: int(event["sentence"]))
        assert [(event["event"], event["of"], event["start"], event["end"]) for event in told] == [
            ("sentence", 2, 0, 11),
            ("sentence", 2, 12, 28),
        ]
        edits = [edit for event in told for edit in event["result"]["edits"]]
        assert edits == whole["outcomes"][0]["edits"]
        assert whole["done"]["cached"] - first.get("done", {}).get("cached", 0) >= 2 * is_known


def test_questions_are_answered_at_once(caller: Caller) -> None:
    caller.send(1, Job((KeywordInput(("snow",)),), replace(FEW, steps=10**6)))
    caller.send(2, Job((FillQuestion("She wrote a letter.", 12), FillQuestion("x", 99)), Settings()))
    heard = caller.hear()
    assert heard["id"] == 2
    assert heard["outcomes"][0]["word"] == "letter"
    assert "`start`" in heard["outcomes"][1]["error"]
    caller.cancel(1)
