"""The development engine with the embedded model."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from cgmh.api import correct
from cgmh.inputs import CorrectInput
from cgmh.serving.inline import InlineEngine
from cgmh.serving.protocols import EngineLost, Job, Overloaded
from cgmh.settings import Settings

FEW = Settings(n=1, chains=2, steps=3, temperature=1.0, select="threshold", context=())


def job(*texts: str, settings: Settings = FEW) -> Job:
    return Job(tuple(map(CorrectInput, texts)), settings)


def engaged(work: Callable[[InlineEngine], Awaitable[None]], capacity: int = 4) -> InlineEngine:
    """Do something with an engine that runs."""
    engine = InlineEngine(capacity)

    async def run() -> None:
        await engine.start()
        try:
            await work(engine)
        finally:
            await engine.stop(5)

    asyncio.run(run())
    return engine


def test_outcomes_are_those_of_the_package() -> None:
    async def work(engine: InlineEngine) -> None:
        good, bad = await engine.solve(job("She have a cat.", "bad \x00 text"), 60)
        assert good == correct("She have a cat.", chains=2, steps=3).to_dict()
        assert bad == {"error": "has control characters; remove them"}
        assert engine.stats().steps == 6

    engaged(work)


def test_room_is_reserved_and_given_back() -> None:
    async def work(engine: InlineEngine) -> None:
        first, second = (asyncio.create_task(engine.solve(job("a b", "c d"), 60)) for _ in range(2))
        await asyncio.sleep(0)
        with pytest.raises(Overloaded, match="4 inputs wait or run, of 4 at most") as full:
            await engine.solve(job("e f"), 60)
        assert full.value.retry_after > 0
        second.cancel()  # still waiting
        await asyncio.gather(second, return_exceptions=True)
        assert engine.stats().waiting + engine.stats().running == 2
        assert len(await first) == 2
        events = engine.events(job("a b"), 60)
        await events.aclose()  # type: ignore[attr-defined]
        assert engine.stats().waiting + engine.stats().running == 0

    engaged(work)


def test_time_and_stopping() -> None:
    async def work(engine: InlineEngine) -> None:
        long = Settings(n=1, chains=32, steps=300, temperature=1.0, select="threshold", context=())
        with pytest.raises(TimeoutError):
            await engine.solve(job("She have a cat.", settings=long), 0.01)
        waiting = asyncio.create_task(engine.solve(job("She have a cat.", settings=long), 60))
        await asyncio.sleep(0)
        await engine.stop(0)
        with pytest.raises(EngineLost, match="shutting down"):
            await waiting
        with pytest.raises(EngineLost, match="not running"):
            await engine.solve(job("a"), 1)

    engine = engaged(work)
    assert not engine.is_ready


def test_events_of_an_input_that_cannot_be_answered() -> None:
    async def work(engine: InlineEngine) -> None:
        told = [event["event"] async for event in engine.events(job("bad \x00 text"), 60)]
        assert told == ["start", "result", "end"]

    engaged(work)
