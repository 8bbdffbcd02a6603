"""An engine process as the server sees it, and the parts of jobs that it works on."""

import asyncio
import os
from collections import OrderedDict
from dataclasses import dataclass, field
from time import monotonic

from ..inputs import CorrectInput
from .due import due_at
from .messages import Message
from .protocols import Event, Job, Outcome
from .worker import joins

BUSY = 192  # chains that keep a process busy
CHARACTERS_OF_SENTENCE = 120
STEP_OF_CORRECTION = 0.4  # of the time of another step: its chains mostly propose what one of them proposed before


@dataclass(eq=False)
class Part:
    """Inputs of a job that one process works on."""

    number: int
    job: Job
    answered: "asyncio.Future[list[Outcome]]"
    events: "asyncio.Queue[Event] | None" = None
    attempts: int = 0
    is_paused: bool = False
    asked_at: float = field(default_factory=monotonic)  # by a clock that the processes share

    @property
    def size(self) -> int:
        return len(self.job.inputs)

    @property
    def cost(self) -> int:
        """Chains that step, about; a text to correct has some for each sentence."""
        chains = 0 if self.is_paused or self.job.asks else self.job.settings.chains
        return sum(chains * (1 + len(str(input)) // CHARACTERS_OF_SENTENCE) for input in self.job.inputs)

    @property
    def steps(self) -> int:
        """That its chains make beside others, about; 0 if it runs alone, of which nobody knows how long that takes."""
        return self.cost * self.job.settings.num_steps if joins(self.job) else 0

    @property
    def work(self) -> float:
        """How long it keeps a process busy, in steps of keywords or paraphrases."""
        step = STEP_OF_CORRECTION if isinstance(self.job.inputs[0], CorrectInput) else 1.0
        return step * self.cost * self.job.settings.num_steps

    @property
    def due_at(self) -> float:
        return due_at(self.job.settings, self.asked_at)


@dataclass(eq=False)
class Process:
    """An engine process as the server sees it."""

    id: int
    writer: asyncio.StreamWriter
    reading: "asyncio.Task[None] | None" = None
    parts: dict[int, Part] = field(default_factory=dict)
    is_gone: bool = False
    is_closed: bool = False  # it has closed its connection, as it dies
    done: Message = field(default_factory=dict)  # what it has done so far, as it last said
    seen: "OrderedDict[int, None]" = field(default_factory=OrderedDict)  # the sentences that it has in mind, hashed

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts.values())

    @property
    def cost(self) -> int:
        return sum(part.cost for part in self.parts.values())

    @property
    def work(self) -> float:
        return sum(part.work for part in self.parts.values())

    def has_room(self, part: Part, most: int) -> bool:
        """Whether it may work on a part too, and on so many chains at most; on one part it may in any case."""
        return not self.parts or self.cost + part.cost <= most

    @property
    def is_busy(self) -> bool:
        """Whether so many chains step that more would hardly make more steps per second."""
        return sum(part.cost for part in self.parts.values() if joins(part.job)) >= BUSY

    @property
    def is_alive(self) -> bool:
        """Whether it takes jobs; `Pool` hears a little later that it does not."""
        return not self.is_closed and not self.has_died()

    def has_died(self) -> bool:
        """Whether it is gone."""
        if not self.is_gone:
            try:
                self.is_gone = os.waitpid(self.id, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self.is_gone = True
        return self.is_gone

    async def ended(self) -> None:
        """Wait until it is gone: on a busy machine that takes a while, in which others are answered."""
        while not self.has_died():
            await asyncio.sleep(0.01)
