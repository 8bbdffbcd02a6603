"""A toy engine for what concerns the web application alone: it holds jobs until it is told to let them go."""

import asyncio
import math
from collections.abc import AsyncIterator

from cgmh.serving.protocols import Event, FillQuestion, Job, Outcome, Overloaded, Stats


class ToyEngine:
    """Answers each input with its own text; with `holds`, once `let_go` is set. `cancelled` counts jobs given up."""

    def __init__(self, capacity: int = 4, *, holds: bool = False, events: int = 3, padding: int = 0) -> None:
        self.capacity, self.held, self.cancelled = capacity, 0, 0
        self.jobs: list[Job] = []
        self.is_ready = False
        self._holds, self._num_events, self._padding = holds, events, padding

    async def start(self) -> None:
        self.let_go = asyncio.Event()
        self.is_ready = True

    async def stop(self, grace: float) -> None:
        self.is_ready = False
        self.let_go.set()

    async def solve(self, job: Job, seconds: float) -> list[Outcome]:
        self._reserve(job)
        try:
            await asyncio.wait_for(self._held(), seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.held -= len(job.inputs)
        if job.asks:
            fills = {"start": 0, "end": 1, "word": "a", "probability": 0.5, "fills": []}
            return [fills if isinstance(input, FillQuestion) else {"words": [], "keywords": []} for input in job.inputs]
        return [answer(str(input)) for input in job.inputs]

    async def _held(self) -> None:
        if self._holds:
            await self.let_go.wait()

    def events(self, job: Job, seconds: float) -> AsyncIterator[Event]:
        self._reserve(job)
        return self._events(job, seconds)

    async def _events(self, job: Job, seconds: float) -> AsyncIterator[Event]:
        is_over = False
        try:
            yield {"event": "start", "chains": 1, "steps": self._num_events, "texts": [str(job.inputs[0])]}
            for step in range(self._num_events):
                await asyncio.sleep(0)
                yield {"event": "moves", "step": step, "moves": [{"text": "x" * self._padding, "log_ratio": -math.inf}]}
            await asyncio.wait_for(self._held(), seconds)
            yield {"event": "result", "result": answer(str(job.inputs[0]))}
            is_over = True
            yield {"event": "end"}
        finally:
            self.held -= 1
            self.cancelled += not is_over

    def _reserve(self, job: Job) -> None:
        if self.held + len(job.inputs) > self.capacity:
            raise Overloaded(f"{self.held} of {self.capacity}", retry_after=3)
        self.held += len(job.inputs)
        self.jobs.append(job)

    def stats(self) -> Stats:
        return Stats(running=self.held, capacity=self.capacity, processes=1)


def answer(text: str) -> Outcome:
    if "refuse" in text:
        return {"error": "has `words` that are refused; leave them out"}
    sentence = {"text": text, "words": text.split(), "nll_per_word": 1.0, "log_target": -1.0}
    return {"input": text, "edits": [], "doubtful": [], "results": [sentence], "acceptance": {}, "signature": "toy"}
