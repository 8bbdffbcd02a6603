"""What the web application asks of an engine; free of torch, so that the process that answers stays small."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..errors import CgmhError
from ..inputs import PROTECTED, CorrectInput, KeywordInput, ParaphraseInput
from ..settings import Settings
from .pace import Steering


@dataclass(frozen=True)
class FillQuestion:
    """Which words the model would propose for a place: the word of a text in which the character `start` stands."""

    text: str
    start: int
    n: int = 12

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class FactQuestion:
    """What of a sentence a paraphrase would protect."""

    text: str
    protect: tuple[str, ...] = PROTECTED
    keep: tuple[str, ...] = ()
    free: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class WordQuestion:
    """Which words of some keywords the model does not know."""

    keywords: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(self.keywords)


Question = FillQuestion | FactQuestion | WordQuestion


@dataclass(frozen=True)
class Job:
    """Inputs of one task with how to sample them, or questions; they count as `len(inputs)`."""

    inputs: tuple[KeywordInput | ParaphraseInput | CorrectInput | Question, ...]  # of one type
    settings: Settings
    big: str | None = None  # a pulled model's name, where one is asked for
    watch: str = "moves"  # what the events of a run tell: every move, or the result of each sentence
    early: bool = False  # whether they also tell, now and then, what the answers would be by then
    steering: Steering = field(default_factory=Steering)  # how a run that is watched begins

    @property
    def asks(self) -> bool:
        """Whether there is nothing to sample."""
        return isinstance(self.inputs[0], Question)


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

        In order: ``{"event": "start", "chains": n, "steps": n, "texts": [...]}``, with how fast it goes and a
        `signature` (version, model, settings) where it can be steered; for each round of steps
        ``{"event": "moves", "step": k, "temperature": t, "moves": [{"chain", "move", "at", "text", "accepted",
        "log_ratio", "log_forward", "log_reverse", "log_target", "log_gain", "log_first", "log_first_gain", "passed",
        "broken", "trust"}, ...]}``;
        where the job's `early` is true, now and then ``{"event": "best", "sentence": k, "step": k, "results": [...]}``;
        ``{"event": "result", "result": Outcome}``; ``{"event": "end"}``. Where the job's `watch` is "sentences", in
        place of moves ``{"event": "sentence", "sentence": k, "of": n, "start": at, "end": at, "result": Outcome}``.

        The iterator may have a method ``steer(Steering)``; what comes of it is told by ``{"event": "steered",
        "paused", "steps_per_second", "temperature"}``.
        """

    @property
    def is_ready(self) -> bool:
        """Whether jobs are taken."""

    def stats(self) -> Stats:
        """What it does now."""
