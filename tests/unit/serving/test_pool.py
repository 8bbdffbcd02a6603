"""Engine processes behind the interface of the server: real processes, killed for real."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from time import monotonic
from typing import Any, TypeVar

import pytest

import cgmh
from cgmh.inputs import CorrectInput, KeywordInput
from cgmh.serving import due, pace
from cgmh.serving import pool as module
from cgmh.serving.pace import Steering
from cgmh.serving.pool import Pool
from cgmh.serving.protocols import EngineLost, Job, Overloaded
from cgmh.settings import Settings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are forked on Linux alone")

FEW = Settings(chains=3, steps=6, n=1)
LONG = replace(FEW, steps=8_000)  # minutes; more would not be answered in time by those after it
T = TypeVar("T")


class Running:
    """A pool and the event loop that it lives in."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.pool = Pool(2, capacity=6)
        self.run(self.pool.start())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(work, 120))

    def processes(self) -> list[int]:
        return [process.id for process in self.pool._processes]

    def close(self) -> None:
        self.run(self.pool.stop(0.1))
        self.loop.close()


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    running = Running()
    yield running
    running.close()


def keywords(*words: str, settings: Settings = FEW) -> Job:
    return Job((KeywordInput(words),), settings)


def test_answers_under_load_are_those_alone(running: Running) -> None:
    jobs = [
        keywords("snow"),
        keywords("river", "Zorblat"),
        Job((CorrectInput("I has two apple."),), replace(FEW, select="threshold")),
    ]

    async def load() -> list[Any]:
        return await asyncio.gather(*(running.pool.solve(job, 60) for job in (*jobs, *jobs)))

    alone = [next(cgmh.solve(job.inputs, job.settings)).to_dict() for job in jobs]
    assert json.dumps([answer for (answer,) in running.run(load())]) == json.dumps([*alone, *alone])
    stats = running.pool.stats()
    assert (stats.waiting, stats.running, stats.processes) == (0, 0, 2)
    assert stats.steps >= 6 * 3 * 6
    assert sum(stats.proposed.values()) > sum(stats.accepted.values()) > 0


def test_a_large_job_is_shared_out_and_comes_back_in_order(running: Running) -> None:
    words = ["snow", "river", "train", "book", "dog"]
    outcomes = running.run(running.pool.solve(Job(tuple(KeywordInput((word,)) for word in words), FEW), 60))
    assert [outcome["input"] for outcome in outcomes] == words


def test_what_does_not_fit_is_refused_at_once(running: Running) -> None:
    async def load() -> tuple[list[Any], int]:
        tasks = [asyncio.create_task(running.pool.solve(keywords("snow", settings=LONG), 60)) for _ in range(6)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded) as refused:
            await running.pool.solve(keywords("river"), 60)
        assert running.pool.stats().waiting + running.pool.stats().running == 6
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        left = running.pool.stats()
        return await running.pool.solve(keywords("river"), 60), refused.value.retry_after + left.waiting + left.running

    answer, retry_after = running.run(load())
    assert answer[0]["input"] == "river"
    assert retry_after >= 1


@pytest.mark.parametrize("settings", [FEW, LONG], ids=["answered", "cancelled"])
def test_nothing_is_learnt_about_the_speed_while_there_is_nothing_to_do(
    running: Running, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr("cgmh.serving.process.BUSY", 1)
    speed = due.Speed(2)
    monkeypatch.setattr(running.pool, "_speed", speed)

    async def load() -> float:
        jobs = [
            asyncio.create_task(running.pool.solve(keywords("snow", settings=each), 60)) for each in (FEW, settings)
        ]
        jobs += [asyncio.create_task(running.pool.solve(keywords("river", settings=settings), 60)) for _ in range(2)]
        await jobs[0]
        if settings is LONG:
            for job in jobs:
                job.cancel()
        await asyncio.gather(*jobs, return_exceptions=True)
        before = speed.steps_per_second
        speed.see(monotonic() + 3600, 0, busy=False)  # an hour later
        return speed.steps_per_second / before

    assert running.run(load()) == 1


def test_what_would_not_be_answered_in_time_is_refused_at_once(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(due, "STEPS_PER_SECOND", 100.0)
    monkeypatch.setattr(running.pool, "_speed", due.Speed(2))

    async def load() -> list[Any]:
        long = [asyncio.create_task(running.pool.solve(keywords("snow", settings=LONG), 60)) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="came before"):
            await running.pool.solve(keywords("river", settings=LONG), 60)
        answer = await running.pool.solve(keywords("river"), 60)  # which is due before them
        for task in long:
            task.cancel()
        await asyncio.gather(*long, return_exceptions=True)
        return answer

    assert running.run(load())[0]["input"] == "river"


def test_time_is_bounded(running: Running) -> None:
    with pytest.raises(TimeoutError):
        running.run(running.pool.solve(keywords("snow", settings=LONG), 0.2))
    assert running.pool.stats().running == 0


def test_a_killed_process_is_replaced_and_its_jobs_are_answered(running: Running) -> None:
    before = running.processes()

    async def load() -> list[Any]:
        tasks = [
            asyncio.create_task(running.pool.solve(keywords(word, settings=replace(FEW, steps=40)), 60))
            for word in ("snow", "river")
        ]
        await asyncio.sleep(0.1)
        for process in before:
            os.kill(process, signal.SIGKILL)
        answers = await asyncio.gather(*tasks)
        while len(running.processes()) < 2 or set(before) & set(running.processes()):
            await asyncio.sleep(0.05)
        return answers

    answers = running.run(load())
    assert [answer[0]["input"] for answer in answers] == ["snow", "river"]
    assert len(running.processes()) == 2
    assert not set(before) & set(running.processes())


def test_a_job_whose_processes_all_die_is_given_up(running: Running) -> None:
    async def load() -> None:
        task = asyncio.create_task(running.pool.solve(keywords("snow", settings=LONG), 60))
        for _ in range(module.ATTEMPTS):
            while not any(process.parts for process in running.pool._processes):
                await asyncio.sleep(0.05)
            working = next(process.id for process in running.pool._processes if process.parts)
            os.kill(working, signal.SIGKILL)
            while working in running.processes():
                await asyncio.sleep(0.05)
        await task

    with pytest.raises(EngineLost, match="died"):
        running.run(load())


def test_events_come_as_they_happen_and_end(running: Running) -> None:
    async def watch() -> list[str]:
        return [event["event"] async for event in running.pool.events(keywords("snow"), 60)]

    assert running.run(watch()) == ["start", *["moves"] * 6, "result", "end"]


def test_events_that_nobody_reads_any_more_end_the_run(running: Running) -> None:
    async def leave() -> None:
        events = running.pool.events(keywords("snow", settings=LONG), 60)
        async for event in events:
            if event["event"] == "moves":
                break
        await events.aclose()  # type: ignore[attr-defined]

    running.run(leave())
    assert running.pool.stats().running == 0


def test_events_that_pile_up_end_the_run(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_EVENTS", 20)

    async def doze() -> None:
        async for _ in running.pool.events(keywords("snow", settings=LONG), 60):
            await asyncio.sleep(5)

    with pytest.raises(EngineLost, match="not read"):
        running.run(doze())
    assert running.pool.stats().running == 0


def test_jobs_that_run_alone_are_answered_too(running: Running) -> None:
    (outcome,) = running.run(running.pool.solve(keywords("snow", settings=replace(FEW, temper=2)), 60))
    assert "temper 2" in outcome["signature"]


def test_errors_of_a_job_are_raised(running: Running) -> None:
    with pytest.raises(cgmh.BadInput, match="select"):
        running.run(running.pool.solve(keywords("snow", settings=replace(FEW, select="threshold")), 60))


def test_a_stopped_pool_leaves_no_process_behind() -> None:
    loop = asyncio.new_event_loop()
    pool = Pool(1)
    loop.run_until_complete(pool.start())
    process = pool._processes[0].id

    async def stop() -> None:
        task = asyncio.create_task(pool.solve(keywords("snow", settings=LONG), 60))
        await asyncio.sleep(0.1)
        await pool.stop(0.1)
        with pytest.raises(EngineLost, match="shutting down"):
            await task
        with pytest.raises(EngineLost, match="shutting down"):
            await pool.solve(keywords("snow"), 60)

    loop.run_until_complete(stop())
    loop.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_a_run_waits_for_its_watcher_longer_than_it_may_take(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]  # of this process; the engine's have a clock of their own
    monkeypatch.setattr(pace, "monotonic", lambda: now[0])
    job = replace(keywords("snow"), steering=Steering(steps=1))

    async def watch() -> list[str]:
        events = running.pool.events(job, 60)
        told = []
        async for event in events:
            told.append(event["event"])
            if event["event"] == "steered" and event["paused"]:
                assert all(process.cost == 0 for process in running.pool._processes)
                now[0] += 500
                events.steer(Steering(paused=False))  # type: ignore[attr-defined]
        return told

    assert running.run(watch()) == ["start", "moves", "steered", "steered", *["moves"] * 5, "result", "end"]


def test_waiting_for_a_watcher_has_an_end(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HELD_SECONDS", 0.3)

    async def watch() -> None:
        async for _ in running.pool.events(replace(keywords("snow"), steering=Steering(steps=1)), 60):
            pass

    with pytest.raises(TimeoutError):
        running.run(watch())
    assert running.pool.stats().running == 0


def test_only_runs_whose_moves_are_told_can_be_steered(running: Running) -> None:
    async def steerable(job: Job) -> bool:
        events = running.pool.events(job, 60)
        can_be = hasattr(events, "steer")
        await events.aclose()  # type: ignore[attr-defined]
        return can_be

    assert running.run(steerable(keywords("snow")))
    assert not running.run(steerable(replace(keywords("snow"), watch="sentences")))
    assert not running.run(steerable(keywords("snow", settings=replace(FEW, temper=2))))


def test_a_run_that_waits_for_a_process_is_steered_too(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHAINS_OF_PROCESS", 0)

    async def watch() -> list[str]:
        busy = [running.pool.events(keywords("snow", settings=LONG), 60) for _ in range(2)]
        events = running.pool.events(keywords("river"), 60)
        events.steer(Steering(steps=1))  # type: ignore[attr-defined]
        for other in busy:
            await anext(other)
            await other.aclose()  # type: ignore[attr-defined]
        told = []
        async for event in events:
            told.append(event["event"])
            if event["event"] == "steered":
                break
        await events.aclose()  # type: ignore[attr-defined]
        return told

    assert running.run(watch()) == ["start", "moves", "steered"]
