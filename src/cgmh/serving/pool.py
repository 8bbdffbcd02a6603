"""The engine of the server: a process for each core, which share the models' weights; one that dies is replaced.

The server opens the models and then forks, so that the weights are in memory once. Jobs wait here until a process has
room for them; in it, their chains step beside those of others (worker.py).
"""

import asyncio
import gc
import math
import os
import re
import signal
import socket
from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from time import monotonic

from ..api import solve_each
from ..errors import BadInput, BadModel
from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from ..models.load import load_embedded
from ..sampling.shards import others_sleep
from ..threads import num_cores, single_threaded
from .bodies import within
from .configuration import CAPACITY
from .due import Speed, due_at
from .messages import Lines, Message, encode, write_job
from .pace import Allowance, Steering
from .process import Part, Process
from .protocols import EngineLost, Event, Job, Outcome, Overloaded, Stats
from .worker import joins, serve

CHAINS_OF_PROCESS = 768  # that it works on at a time; what waits goes to whichever has room first
SHARE_OF_WAITING = 0.75  # of the time of a request: its own work takes some, and more than estimated may come before
MAX_EVENTS = 10_000  # of a run that nobody has read yet
LITTLE = 800  # steps by which a process may be busier than another one that knows less: two short corrections
MOST_SEEN = 4_000  # sentences of which it is known which process has seen them
ATTEMPTS = 3  # at a job whose process died; the next one may be dying already
SECONDS_OF_INPUT = 1.0  # that an input takes while the machine is busy, about: for Retry-After, until one is measured
HELD_SECONDS = 900.0  # that a run may wait for its watcher, beside the time that it takes itself
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FIRST = (KeywordInput(("snow", "river")), ParaphraseInput("How are you today?"), CorrectInput("I has two apple."))


class Pool:
    """Engine processes and the jobs that wait for them."""

    def __init__(self, processes: int | None = None, capacity: int = CAPACITY) -> None:
        self._number, self._capacity = processes or num_cores(), capacity
        self._processes: list[Process] = []
        self._waiting: deque[Part] = deque()
        self._numbers = count()
        self._is_ready = self._is_stopping = False
        self._seconds = SECONDS_OF_INPUT
        self._speed = Speed(self._number)
        self._past: list[Message] = []  # what processes that are gone had done

    @property
    def is_ready(self) -> bool:
        return self._is_ready and not self._is_stopping

    async def start(self) -> None:
        """Open the models and start the processes. Takes seconds, in which nothing else is done."""
        with single_threaded():
            load_embedded()
            for input in _FIRST:  # whatever is loaded when it is first needed is loaded once, for all processes
                list(solve_each([input], replace(input.defaults, chains=1, steps=1, n=1)))
        gc.collect()
        gc.freeze()  # the collector would touch, and so copy, what the processes share
        for _ in range(self._number):
            await self._spawn()
        self._is_ready = True

    async def stop(self, grace: float) -> None:
        """Take no more jobs; what is in flight has `grace` seconds to end."""
        self._is_stopping = True
        waiting, self._waiting = self._waiting, deque()
        for part in waiting:
            _fail(part, EngineLost("the server is shutting down"))
        running = [part.answered for process in self._processes for part in process.parts.values()]
        if running:
            await asyncio.wait(running, timeout=grace)
        processes, self._processes = self._processes, []  # nothing more is said to them
        for process in processes:
            for part in process.parts.values():
                _fail(part, EngineLost("the server is shutting down"))
            if process.reading is not None:
                process.reading.cancel()
            process.writer.close()
            with suppress(ProcessLookupError):
                os.kill(process.id, signal.SIGKILL)
        for process in processes:
            await process.ended()

    async def solve(self, job: Job, seconds: float) -> list[Outcome]:
        """The outcome of each input; the inputs of a large job are shared out to the processes."""
        self._check_room(job, seconds)
        size = -(-len(job.inputs) // self._number)
        jobs = [replace(job, inputs=job.inputs[at : at + size]) for at in range(0, len(job.inputs), size)]
        parts = [self._queue(each, None) for each in jobs]
        began = monotonic()
        try:
            answers = [part.answered for part in parts]
            _, late = await asyncio.wait(answers, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
            if late and not any(answer.done() and answer.exception() for answer in answers):
                raise TimeoutError
            outcomes = [outcome for answer in answers if answer.done() for outcome in answer.result()]
        finally:
            for part in parts:
                self._cancel(part)
        self._seconds += 0.1 * (monotonic() - began - self._seconds)
        return outcomes

    def events(self, job: Job, seconds: float) -> AsyncIterator[Event]:
        """The run of a job of one input as it goes on."""
        self._check_room(job, seconds)
        events: asyncio.Queue[Event] = asyncio.Queue()
        part = self._queue(job, events)
        part.answered.add_done_callback(lambda _: events.put_nowait({"event": "end"}))
        told = self._events(part, events, Allowance(seconds, HELD_SECONDS))
        return _Watched(self, part, told) if job.watch == "moves" and joins(job) else told

    def steer(self, part: Part, asked: Steering) -> None:
        """Let the chains of a run go on as asked; if it waits for a process yet, once it has one."""
        if part in self._waiting:
            part.job = replace(part.job, steering=Steering(**{**part.job.steering.to_dict(), **asked.to_dict()}))
        for process in self._processes:
            if part.number in process.parts:
                self._send(process, {"id": part.number, "steering": asked.to_dict()})

    async def _events(self, part: Part, events: "asyncio.Queue[Event]", time: Allowance) -> AsyncIterator[Event]:
        try:
            while (event := await within(time.left(), events.get()))["event"] != "end":
                if "paused" in event:
                    time.hold(is_held=event["paused"] or event["steps_per_second"] > 0)
                    part.is_paused = event["paused"]
                    self._dispatch()
                yield event
            yield {"event": "result", "result": part.answered.result()[0]}
            yield {"event": "end"}
        finally:
            self._cancel(part)

    def stats(self) -> Stats:
        said = self._done

        def total(name: str) -> dict[str, int]:
            moves: dict[str, int] = next((each[name] for each in said if each), {})
            return {move: sum(each[name][move] for each in said if each) for move in moves}

        return Stats(
            waiting=sum(part.size for part in self._waiting),
            running=sum(process.size for process in self._processes),
            capacity=self._capacity,
            steps=sum(each.get("steps", 0) for each in said),
            processes=len(self._processes),
            proposed=total("proposed"),
            accepted=total("accepted"),
            models=[load_embedded().name],
            looked_up=sum(each.get("cached", 0) + each.get("missed", 0) for each in said),
            cached=sum(each.get("cached", 0) for each in said),
        )

    @property
    def _done(self) -> list[Message]:
        """What each process has done so far, also those that are gone."""
        return [*self._past, *(process.done for process in self._processes)]

    def _check_room(self, job: Job, seconds: float) -> None:
        """Refuse a job that does not fit, or that would not be answered in time."""
        if self._is_stopping:
            raise EngineLost("the server is shutting down")
        taken = sum(part.size for part in self._parts)
        wait = max(1, round(self._seconds * taken / max(1, self._capacity)))
        if taken + len(job.inputs) > self._capacity:
            raise Overloaded(f"{taken} inputs are being worked on; {self._capacity} at most, try again later", wait)
        if not job.asks and (needed := self._seconds_before(job, seconds)) > SHARE_OF_WAITING * seconds:
            about = f"what came before takes about {needed:.0f} seconds, and a request has {seconds:.0f}"
            raise Overloaded(about, max(wait, math.ceil(needed - SHARE_OF_WAITING * seconds)))

    def _seconds_before(self, job: Job, seconds: float) -> float:
        """How long what is due before a job takes, about, if no request takes more than so many seconds."""
        now = monotonic()
        due = due_at(job.settings, now)
        return sum(
            min(part.steps / self._speed.steps_per_second, max(0.0, seconds - (now - part.asked_at)) / self._number)
            for part in self._parts
            if part.due_at < due
        )

    @property
    def _are_busy(self) -> bool:
        """Whether all processes have enough to do from now on."""
        return all(process.is_busy for process in self._processes)

    @property
    def _parts(self) -> list[Part]:
        """All that wait or are worked on."""
        return [*self._waiting, *(part for process in self._processes for part in process.parts.values())]

    def _queue(self, job: Job, events: "asyncio.Queue[Event] | None") -> Part:
        part = Part(next(self._numbers), job, asyncio.get_running_loop().create_future(), events)
        self._waiting.append(part)
        self._dispatch()
        return part

    def _dispatch(self) -> None:
        """Send what waits to the processes that have room, the least busy first."""
        while self._waiting:
            part = self._waiting[0]
            roomy = [each for each in self._processes if each.is_alive and each.has_room(part, CHAINS_OF_PROCESS)]
            if not roomy:
                return
            process = self._process_for(part, roomy)
            self._waiting.popleft()
            process.parts[part.number] = part
            part.attempts += 1
            about = {"id": part.number, "watched": part.events is not None, "asked_at": part.asked_at}
            self._send(process, {**about, **write_job(part.job)})

    def _process_for(self, part: Part, roomy: list[Process]) -> Process:
        """The least busy process; where it makes little difference, one that has answered about the same sentences."""
        least = min(process.work for process in roomy)
        idle = [process for process in roomy if process.work <= least + LITTLE]
        sentences = [hash(text) for input in part.job.inputs for text in _SENTENCE.split(str(input))]
        chosen = max(idle, key=lambda process: (sum(each in process.seen for each in sentences), -process.work))
        for each in sentences:
            chosen.seen[each] = None
            chosen.seen.move_to_end(each)
        while len(chosen.seen) > MOST_SEEN:
            chosen.seen.popitem(last=False)
        return chosen

    def _cancel(self, part: Part) -> None:
        """Nobody waits for it any more, if it is not done."""
        if part in self._waiting:
            self._waiting.remove(part)
        for process in self._processes:
            if process.parts.pop(part.number, None):
                self._send(process, {"id": part.number, "cancel": True})
        if not self._are_busy:
            self._speed.pause()
        if not part.answered.cancel() and not part.answered.cancelled():
            part.answered.exception()  # nobody else may ask for it
        self._dispatch()

    def _send(self, process: Process, message: Message) -> None:
        process.writer.write(encode(message))

    async def _spawn(self) -> None:
        """Start a process."""
        while not others_sleep():
            await asyncio.sleep(0.01)
        ours, theirs = socket.socketpair()
        number = os.fork()
        if not number:
            try:
                _let_go_of_all_but(theirs)
                serve(theirs)
            finally:
                os._exit(0)
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        process = Process(number, writer)
        process.reading = asyncio.create_task(self._read(process, reader))
        self._processes.append(process)
        self._dispatch()

    async def _read(self, process: Process, reader: asyncio.StreamReader) -> None:
        """Pass on what a process says, until it dies; then replace it."""
        lines = Lines()
        with suppress(ConnectionError):
            while received := await reader.read(1 << 20):
                for message in lines.feed(received):
                    self._hear(process, message)
        process.is_closed = True
        if not self._is_stopping:
            await self._replace(process)

    def _hear(self, process: Process, message: Message) -> None:
        if "event" in message:
            part = process.parts.get(message["id"])
            if part is not None and part.events is not None:
                part.events.put_nowait(message["event"])
                if part.events.qsize() > MAX_EVENTS:
                    while not part.events.empty():
                        part.events.get_nowait()
                    _fail(part, EngineLost("the events of the run were not read; read them faster, or ask for less"))
                    self._cancel(part)
            return
        process.done = message["done"]
        part = process.parts.pop(message["id"], None)
        if part is not None and not part.answered.done():
            if "error" in message:
                part.answered.set_exception(_error(message["error"]))
            else:
                part.answered.set_result(message["outcomes"])
        self._dispatch()
        self._speed.see(monotonic(), sum(each.get("steps", 0) for each in self._done), busy=self._are_busy)

    async def _replace(self, process: Process) -> None:
        """What a process that died was working on goes to another one; what was tried often enough is given up."""
        await process.ended()
        self._processes.remove(process)
        self._past.append(process.done)
        process.writer.close()
        for part in reversed(process.parts.values()):
            if part.attempts < ATTEMPTS and part.events is None:
                self._waiting.appendleft(part)
            else:
                _fail(part, EngineLost("the process that worked on it died; try again, or ask for less at a time"))
        await self._spawn()


class _Watched:
    """The events of a run, which can be steered."""

    def __init__(self, pool: Pool, part: Part, events: AsyncIterator[Event]) -> None:
        self._pool, self._part, self._events = pool, part, events

    def __aiter__(self) -> AsyncIterator[Event]:
        return self._events

    async def __anext__(self) -> Event:
        return await self._events.__anext__()

    async def aclose(self) -> None:
        await self._events.aclose()  # type: ignore[attr-defined]

    def steer(self, asked: Steering) -> None:
        self._pool.steer(self._part, asked)


def _fail(part: Part, error: Exception) -> None:
    if not part.answered.done():
        part.answered.set_exception(error)


def _error(said: dict[str, str]) -> Exception:
    """The error that a process speaks of."""
    kind = {"EngineLost": EngineLost, "BadModel": BadModel}.get(said["type"], BadInput)
    return kind(said["message"])


def _let_go_of_all_but(connection: socket.socket) -> None:
    """In a new process: the server's own sockets and files are none of its business."""
    signal.set_wakeup_fd(-1)
    os.closerange(3, connection.fileno())
    os.closerange(connection.fileno() + 1, os.sysconf("SC_OPEN_MAX") if hasattr(os, "sysconf") else 65536)
