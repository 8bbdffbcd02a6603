"""What the web application asks of an engine; free of torch, so that the process that answers stays small."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import CgmhError
from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from ..settings import Settings


@dataclass(frozen=True)
class Job:
    """Inputs of one task with how to sample them; they count as `len(inputs)`."""

    inputs: tuple[KeywordInput | ParaphraseInput | CorrectInput, ...]  # of one type
    settings: Settings
    big: str | None = None  # a pulled model's name, where one is asked for


Outcome = dict[str, Any]  # what Result.to_dict() gives; or {"error": ...}: what was wrong and what to do
Event = dict[str, Any]  # of a run: see `Engine.events`


class Overloaded(CgmhError):
    """More inputs than the engine takes; `retry_after` says in how many seconds it is worth another try."""

    def __init__(self, message: str, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class EngineLost(CgmhError):
    """The process that worked on a job died, again and again; or the server is shutting down."""


@dataclass(frozen=True)
class Stats:
    """What an engine is doing, and what it has done since it started."""

    waiting: int = 0  # inputs
    running: int = 0  # inputs
    capacity: int = 0  # inputs, waiting and running
    steps: int = 0  # of all chains, in total
    processes: int = 0
    proposed: dict[str, int] = field(default_factory=dict)  # by move
    accepted: dict[str, int] = field(default_factory=dict)  # by move
    models: list[str] = field(default_factory=list)  # that are open
    looked_up: int = 0  # sentences that were looked for in the cache
    cached: int = 0  # and those that were found there


class Engine(Protocol):
    """What samples. All methods are called from one event loop, which none of them blocks."""

    async def start(self) -> None:
        """Open the models; `is_ready` once that is done."""

    async def stop(self, grace: float) -> None:
        """In-flight jobs end or fail within `grace` seconds; may be called again."""

    async def solve(self, job: Job, seconds: float) -> list[Outcome]:
        """The outcome of each input, in their order.

        Raises `Overloaded` at once where the inputs do not fit, `TimeoutError` when they take longer than `seconds`,
        `EngineLost`, or another `CgmhError` for what is wrong with the job as a whole. Cancelling the task that awaits
        it cancels the job.
        """

    def events(self, job: Job, seconds: float) -> AsyncIterator[Event]:
        """The run of a job of one input as it goes on; closing the iterator cancels it. Raises as `solve` does.

        In order: ``{"event": "start", "chains": n, "steps": n, "texts": [...]}``; for each round of steps
        ``{"event": "moves", "step": k, "moves": [{"chain", "move", "at", "text", "accepted", "log_ratio",
        "log_forward", "log_reverse", "log_target"}, ...]}``; ``{"event": "result", "result": Outcome}``;
        ``{"event": "end"}``.
        """

    @property
    def is_ready(self) -> bool:
        """Whether jobs are taken."""

    def stats(self) -> Stats:
        """What it does now."""
