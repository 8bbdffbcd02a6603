"""An engine process: it takes jobs from the server, lets their chains step together, and sends what they come to."""

import select
import signal
import socket
import sys
import traceback
from collections import deque
from contextlib import suppress
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path
from time import monotonic
from typing import Any, cast

import torch

from ..errors import BadInput, CgmhError
from ..inputs import CorrectInput, ParaphraseInput
from ..proposals.protocols import MOVES
from ..ranking import signature
from ..remembered import ANSWERS
from ..result import Result
from ..session import Session
from ..tasks.problem import JoiningTask
from ..threads import set_num_cores
from .alone import Alone, written
from .early import Early
from .entry import Entry
from .group import Group
from .memory import Holes
from .messages import Lines, Message, encode, read_job
from .pace import Pace, Steering
from .protocols import Job
from .questions import answers

MAX_CHAINS = 768  # that step together; more wait


class Request:
    """A job on its way: the sources of its inputs, and what came of them."""

    def __init__(self, worker: "Worker", number: int, job: Job, *, watched: bool, asked_at: float) -> None:
        self._worker, self.number, self._job, self._asked_at = worker, number, job, asked_at
        self._tells_moves = watched and job.watch == "moves"
        self._tells_sentences = watched and job.watch == "sentences"
        self.session = Session(job.inputs, job.settings, None, None, None, ())
        self.entries: list[Entry] = []
        self.waiting: deque[Entry] = deque()  # those for which there is no room yet
        self.num_running = 0  # entries
        self._sources = [self.session.read(number) for number in range(len(job.inputs))]
        self._parts: list[list[Result | BadInput | None]] = []  # [input][source]
        for at, read in enumerate(self._sources):
            sources = read if isinstance(read, list) else []
            session = self.session
            # Who wants to see the moves wants them made.
            known = [
                None if self._tells_moves else ANSWERS.get(session.task, source, session.settings, session.models)
                for source in sources
            ]
            self._parts.append([*known])
            for place, result in enumerate(known):
                if result is not None:
                    self._tell_sentence(at, place, result)
            self.entries += [
                self._entry(at, place, source) for place, source in enumerate(sources) if known[place] is None
            ]
        self.waiting.extend(self.entries)

    def _entry(self, at: int, place: int, source: Any) -> Entry:
        def done(result: Result | BadInput) -> None:
            if entry.pace is not None and entry.pace.is_changed and isinstance(result, Result):
                result = replace(result, notes={**result.notes, "temperatures": entry.pace.temperatures})
            elif isinstance(result, Result):
                ANSWERS.put(self.session.task, source, self.session.settings, self.session.models, result)
            self._parts[at][place] = result
            self._tell_sentence(at, place, result)
            self.num_running -= 1
            self.finish()

        entry = Entry(self.session, source, done, asked_at=self._asked_at)
        if self._tells_moves:
            pace = Pace(entry.temperature, self._job.steering)
            entry.is_alone, entry.pace = True, pace
            entry.started = lambda texts: self._tell(
                {
                    "event": "start",
                    "sentence": place,
                    "chains": entry.chains,
                    "steps": entry.steps,
                    **pace.to_dict(),
                    "signature": signature(self.session.task.name, self.session.models, self.session.settings),
                    "texts": texts,
                }
            )
            entry.moved = lambda moves: self._tell(
                {
                    "event": "moves",
                    "sentence": place,
                    "step": entry.clocks[0],
                    "temperature": entry.temperature,
                    "moves": moves,
                }
            )
            if self._job.early:
                entry.early = Early(
                    lambda results: self._tell(
                        {"event": "best", "sentence": place, "step": min(entry.clocks, default=0), "results": results}
                    )
                )
        return entry

    def _tell_sentence(self, at: int, place: int, result: Result | BadInput) -> None:
        """What came of one sentence of a text, where that is what is watched."""
        if not self._tells_sentences:
            return
        source = self._sources[at][place]  # type: ignore[index]
        sentence = getattr(source, "sentence", None)
        places = {} if sentence is None else {"start": sentence.start, "end": sentence.end}
        event = {"event": "sentence", "sentence": place, "of": len(self._parts[at]), **places}
        self._tell({**event, "result": written(result)})

    def steer(self, asked: Steering) -> None:
        """Go on as the watcher asks."""
        for entry in self.entries:
            if entry.pace is not None:
                entry.pace.steer(asked, min(entry.clocks, default=0))
        self.tell_pace()

    def tell_pace(self) -> None:
        going = [entry for entry in self.entries if not entry.clocks or not entry.is_done] or self.entries
        if paces := [entry.pace for entry in going if entry.pace is not None]:
            self._tell({"event": "steered", **paces[0].to_dict()})

    def _tell(self, event: dict[str, Any]) -> None:
        self._worker.send({"id": self.number, "event": event})

    def finish(self) -> None:
        """Send the outcomes, if all are there."""
        outcomes = []
        for read, parts in zip(self._sources, self._parts, strict=True):
            results = [part for part in parts if part is not None]
            if len(results) < len(parts):
                return
            outcomes.append(written(self.session.joined(read, results) if isinstance(read, list) else read))
        self._worker.finish(self.number, {"outcomes": outcomes})


class Worker:
    """The loop of an engine process."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._lines = connection, Lines()
        self._requests: dict[int, Request] = {}
        self._groups: list[Group] = []
        self._jobs_alone: deque[tuple[int, Job]] = deque()
        self._alone: tuple[int, Alone] | None = None
        self._steps = 0
        self._holes = Holes()
        self._counts = torch.zeros(2, len(MOVES), dtype=torch.int64)

    def run(self) -> None:
        """Until the server has gone."""
        while True:
            self._holes.give_back(soon=self._idle_seconds() is None)
            watched = [self._connection.fileno(), *([self._alone[1].reader] if self._alone else [])]
            readable, _, _ = select.select(watched, [], [], self._idle_seconds())
            if self._connection.fileno() in readable:
                received = self._connection.recv(1 << 20)
                if not received:
                    break
                for message in self._lines.feed(received):
                    self._handle(message)
            self._go_on_alone()
            self._admit()
            for group in self._next():
                self._step(group)
        if self._alone:
            self._alone[1].end()

    def _next(self) -> list[Group]:
        """The groups that step now: all by turns, until somebody is overdue; then the one of whoever is due first.

        By turns, short requests are answered soon. But under load they come and go beside the long ones, which would
        take ever longer. Groups that are watched step at their pace.
        """
        watched = [group for group in self._groups if group.is_watched]
        others = sorted((group for group in self._groups if group not in watched), key=lambda group: group.due_at)
        is_late = bool(others) and others[0].due_at <= monotonic()
        return [*(group for group in watched if _wait(group) <= 0), *(others[:1] if is_late else others)]

    def _idle_seconds(self) -> float | None:
        """How long there is nothing to do, unless the server says something; None: until it does."""
        if any(request.waiting for request in self._requests.values()):
            return 0
        seconds = min(map(_wait, self._groups), default=inf)
        return seconds if isfinite(seconds) else None

    def send(self, message: Message) -> None:
        self._connection.sendall(encode(message))

    def finish(self, number: int, answer: Message) -> None:
        """Answer a request, with how much was done so far."""
        self._requests.pop(number, None)
        counts = sum((group.counts for group in self._groups), self._counts)
        steps = sum((group.num_steps for group in self._groups), self._steps)
        proposed, accepted = (dict(zip(MOVES, row, strict=True)) for row in counts.tolist())
        done = {"steps": steps, "proposed": proposed, "accepted": accepted}
        self.send({"id": number, **answer, "done": {**done, "cached": ANSWERS.hits, "missed": ANSWERS.misses}})

    def _fail(self, number: int, error: CgmhError) -> None:
        self.finish(number, {"error": {"type": type(error).__name__, "message": str(error)}})

    def _handle(self, message: Message) -> None:
        number = message["id"]
        if message.get("cancel"):
            self._cancel(number)
            return
        if "steering" in message and "kind" not in message:
            self._steer(number, Steering(**message["steering"]))
            return
        try:
            job = read_job(message)
            if job.asks:
                self.finish(number, {"outcomes": answers(job)})
                return
            if not joins(job):
                self._jobs_alone.append((number, job))
                return
            request = Request(self, number, job, watched=message["watched"], asked_at=message["asked_at"])
        except CgmhError as error:
            self._fail(number, error)
            return
        self._requests[number] = request
        if not request.entries:
            request.finish()

    def _cancel(self, number: int) -> None:
        self._jobs_alone = deque((other, job) for other, job in self._jobs_alone if other != number)
        if self._alone and self._alone[0] == number:
            self._alone[1].end()
            self._alone = None
        request = self._requests.pop(number, None)
        if request is not None:
            for group in self._groups:
                for entry in request.entries:
                    group.remove(entry)

    def _steer(self, number: int, asked: Steering) -> None:
        request = self._requests.get(number)
        if request is not None:
            request.steer(asked)
            for group in self._groups:
                group.set_temperatures()

    def _admit(self) -> None:
        """Let waiting entries into a group, as long as there is room: first those of whom fewest are in one."""
        num_chains = sum(group.num_chains for group in self._groups if isfinite(_wait(group)))  # but those that pause
        while waiting := [request for request in self._requests.values() if request.waiting]:
            request = min(waiting, key=lambda request: request.num_running)
            entry = request.waiting[0]
            if num_chains and num_chains + entry.chains > MAX_CHAINS:
                return
            request.waiting.popleft()
            request.num_running += 1
            num_chains += entry.chains
            self._group_of(entry).join(entry)

    def _group_of(self, entry: Entry) -> Group:
        """A group that an entry may join."""
        if not entry.is_alone:
            for group in self._groups:
                if group.accepts(entry):
                    return group
        task = cast("JoiningTask[Any, Any]", entry.session.task)
        self._groups.append(Group(task, entry.session.models, is_open=not entry.is_alone))
        return self._groups[-1]

    def _step(self, group: Group) -> None:
        paces = [entry.pace for entry in group.everyone if entry.pace is not None]
        try:
            group.step()
            pauses = [pace.made() for pace in paces]
            if any(pauses):
                self._tell_paces(group)
        except Exception as error:  # noqa: BLE001
            # Whatever it was, the others must not suffer: each goes on alone, from its start; what fails alone, fails.
            _log(error)
            self._drop(group)
            for entry in group.everyone:
                if entry.is_alone:
                    entry.done(BadInput("it could not be answered because of an internal error; please report it"))
                else:
                    entry.begin_again()
                    self._group_of(entry).join(entry)
        else:
            if not group.everyone:
                self._drop(group)

    def _tell_paces(self, group: Group) -> None:
        for request in self._requests.values():
            if any(entry in group.entries for entry in request.entries):
                request.tell_pace()

    def _drop(self, group: Group) -> None:
        self._counts, self._steps = self._counts + group.counts, self._steps + group.num_steps
        self._groups.remove(group)

    def _go_on_alone(self) -> None:
        """Look after the job that runs in a process of its own, and begin the next one."""
        if self._alone:
            number, process = self._alone
            answer = process.answer()
            if answer is not None:
                self._alone = None
                self.finish(number, answer)
        if self._alone is None and self._jobs_alone:
            number, job = self._jobs_alone.popleft()
            self._alone = number, Alone(job, self._leave)

    def _leave(self) -> None:
        """In a process of its own: nothing more is said to the server, and any core may be used."""
        self._connection.close()
        set_num_cores(None)


def _wait(group: Group) -> float:
    """Seconds until the next step of a group is due; 0 but where somebody watches it who sets the pace."""
    return max((entry.pace.wait() for entry in group.everyone if entry.pace is not None), default=0.0)


def joins(job: Job) -> bool:
    """Whether the chains of a job can step beside those of others."""
    settings = job.settings
    special = any(
        (isinstance(input, CorrectInput) and input.paper) or (isinstance(input, ParaphraseInput) and input.gibbs)
        for input in job.inputs
    )
    plain = settings.temper == 1 and not settings.anneal and settings.trace == "none" and settings.use is None
    return job.big is None and plain and not special


def serve(connection: socket.socket) -> None:
    """Be an engine process until the server has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server hears it and decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    set_num_cores(1)
    torch.set_num_threads(1)
    with suppress(BrokenPipeError, ConnectionResetError):
        Worker(connection).run()


def _log(error: Exception) -> None:
    """Where an error was, without its message, which may quote what a user wrote."""
    places = traceback.extract_tb(error.__traceback__)[-4:]
    where = " < ".join(f"{place.name} {Path(place.filename).name}:{place.lineno}" for place in reversed(places))
    sys.stderr.write(f"cgmh: internal error {type(error).__name__} in {where}\n")
    sys.stderr.flush()
