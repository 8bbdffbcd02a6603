"""An engine where processes cannot be forked: one thread that samples one job after the other, beside the server."""

import asyncio
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from ..errors import BadInput
from ..result import Result
from .protocols import EngineLost, Event, Job, Outcome, Overloaded, Stats


class InlineEngine:
    """Jobs wait in line for the one thread. A job that is given up while it runs ends with its current input."""

    def __init__(self, capacity: int = 64) -> None:
        self._capacity = capacity
        self._held = 0  # inputs, waiting and running
        self._running = 0
        self._steps = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="cgmh-engine")
        self._stopped = asyncio.Event()
        self.is_ready = False

    async def start(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, _open_models)
        self.is_ready = True

    async def stop(self, grace: float) -> None:
        self.is_ready = False
        waited = 0.0
        while self._held and waited < grace:
            await asyncio.sleep(0.05)
            waited += 0.05
        self._stopped.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def solve(self, job: Job, seconds: float) -> list[Outcome]:
        self._reserve(job)
        return [outcome for outcome, _ in await self.answers(job, seconds)]

    def events(self, job: Job, seconds: float) -> AsyncIterator[Event]:
        self._reserve(job)
        return _Events(self, job, seconds)

    def stats(self) -> Stats:
        running = self._running
        return Stats(max(0, self._held - running), running, self._capacity, self._steps, 1, models=["en"])

    def _reserve(self, job: Job) -> None:
        if not self.is_ready:
            raise EngineLost("the engine is not running; try again later")
        if self._held + len(job.inputs) > self._capacity:
            raise Overloaded(f"{self._held} inputs wait or run, of {self._capacity} at most", retry_after=2)
        self._held += len(job.inputs)

    def release(self, job: Job) -> None:
        """Give back what was reserved."""
        self._held -= len(job.inputs)

    async def answers(self, job: Job, seconds: float) -> list[tuple[Outcome, Result | None]]:
        """The outcomes of a job for which there is room, which is given back in the end."""
        is_cancelled = threading.Event()
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._thread, self._solve, job, is_cancelled)
        stopped = loop.create_task(self._stopped.wait())
        try:
            both: list[asyncio.Future[Any]] = [future, stopped]
            await asyncio.wait(both, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if future.done() and not future.cancelled():
                return future.result()
            if stopped.done():
                raise EngineLost("the server is shutting down; try again later")
            raise TimeoutError
        finally:
            is_cancelled.set()
            future.cancel()
            stopped.cancel()
            self.release(job)

    def _solve(self, job: Job, is_cancelled: threading.Event) -> list[tuple[Outcome, Result | None]]:
        from ..api import solve_each
        from .questions import answers as answers_to

        self._running = len(job.inputs)
        try:
            if job.asks:
                return [(outcome, None) for outcome in answers_to(job)]
            answers: list[tuple[Outcome, Result | None]] = []
            outcomes = solve_each(job.inputs, job.settings, big=job.big)
            while len(answers) < len(job.inputs) and not is_cancelled.is_set():
                outcome = next(outcomes)
                if isinstance(outcome, BadInput):
                    answers.append(({"error": str(outcome)}, None))
                else:
                    answers.append((outcome.to_dict(), outcome))
                    self._steps += job.settings.chains * job.settings.num_steps
            return answers
        finally:
            self._running = 0


class _Events:
    """What one chain of a run did, told once it has ended: this engine cannot look into a run that goes on."""

    def __init__(self, engine: InlineEngine, job: Job, seconds: float) -> None:
        self._engine, self._job, self._seconds = engine, job, seconds
        self._told = self._tell()
        self._is_begun = False

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        self._is_begun = True
        return await self._told.__anext__()

    async def aclose(self) -> None:
        if not self._is_begun:
            self._is_begun = True
            self._engine.release(self._job)
        await self._told.aclose()  # type: ignore[attr-defined]

    async def _tell(self) -> AsyncIterator[Event]:
        settings = self._job.settings
        traced = replace(self._job, settings=replace(settings, trace="all"))
        ((outcome, result),) = await self._engine.answers(traced, self._seconds)
        start = [str(self._job.inputs[0])] if result is None or result.traced_from is None else [result.traced_from]
        steps = settings.num_steps
        yield {"event": "start", "chains": 1, "steps": steps, "texts": start}
        is_told = result is not None and self._job.watch == "moves"
        for step in result.trace if result is not None and is_told else ():
            temperature = settings.temperature
            yield {"event": "moves", "step": step.step, "temperature": temperature, "moves": [_move(step.to_dict())]}
        if self._job.watch == "sentences":
            yield {"event": "sentence", "sentence": 0, "of": 1, "result": outcome}
        yield {"event": "result", "result": outcome}
        yield {"event": "end"}


def _move(step: dict[str, Any]) -> dict[str, Any]:
    known = {name: step[name] for name in ("move", "text", "accepted", "log_ratio")}
    unknown = dict.fromkeys(
        ("log_forward", "log_reverse", "log_target", "log_gain", "log_first", "log_first_gain", "trust")
    )
    return {"chain": 0, "at": None, "passed": True, "broken": [], **known, **unknown}


def _open_models() -> None:
    """Everything that the first request would otherwise wait for."""
    from ..api import correct

    correct("i has two apple .", chains=2, steps=2)
