"""Processes of this machine that work on rows, one for each core; where the system can fork, they share the weights.

A process that dies is replaced, and its rows are tried again; then one after the other, so that a row on which
processes die is known: it has failed, and the others are done.
"""

import ctypes
import gc
import os
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from ..api import solve_each
from ..errors import BadInput, BadModel, CgmhError
from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from ..sampling.shards import can_fork
from ..threads import set_num_cores, single_threaded
from .planning import Part, Plan
from .rows import Raw
from .work import Work, as_line, failed

DEATHS = 2  # of processes on some rows, after which these are done one after the other
STILLBORN = 3  # processes that may die before they are ready
_FIRST = {
    KeywordInput: KeywordInput(("snow", "river")),
    ParaphraseInput: ParaphraseInput("How are you today?"),
    CorrectInput: CorrectInput("I has two apple."),
}
_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG

Done = tuple[Part, list[tuple[int, bytes]]]


@dataclass(eq=False)
class _Process:
    """A process as its parent sees it."""

    process: Any
    connection: Connection
    part: Part | None = None
    at: int | None = None  # the row that it works on, where that is known
    began: float = 0.0
    is_ready: bool = False


@dataclass
class LocalWorkers:
    """The engine of a job on this machine."""

    work: Work
    num_workers: int
    _processes: list[_Process] = field(default_factory=list)
    _deaths: dict[Part, int] = field(default_factory=dict)  # of processes that worked on a part
    _doomed: set[int] = field(default_factory=set)  # rows on which a process died while it did one after the other
    _again: list[Part] = field(default_factory=list)  # parts whose process has died
    _num_stillborn: int = 0

    def run(self, plan: Plan) -> Iterator[Done]:
        """What becomes of the rows of a plan, part by part, as they are done."""
        self._forks = self._open()
        try:
            for _ in range(min(self.num_workers, plan.num_rows)):
                self._start()
            while self._give_out(plan) or any(process.part for process in self._processes):
                yield from self._hear(plan)
        finally:
            for process in self._processes:
                process.process.kill()
                process.process.join()
                process.connection.close()

    def _open(self) -> bool:
        """Open the models here, if the processes are copies of this one; whatever is loaded when it is first needed is
        loaded once, for all of them."""
        with single_threaded():
            self.work.open()
            if not self.work.models.get("big"):
                asked = self.work.asked
                small = replace(asked.settings, chains=1, steps=1, n=1, readings=None, temper=1)
                model = self.work.models.get("model")
                list(solve_each([_FIRST[type(asked.input)]], small, model=model))
        gc.collect()
        gc.freeze()  # the collector would touch, and so copy, what the processes share
        return can_fork()

    def _start(self) -> None:
        forks = self._forks and can_fork()
        context: Any = get_context("fork" if forks else "spawn")
        ours, theirs = context.Pipe()
        kept = theirs.fileno() if forks else -1
        process = context.Process(target=serve, args=(theirs, self.work, os.getpid(), kept), daemon=True)
        with warnings.catch_warnings():  # Python counts idle threads of matrix products, too
            warnings.simplefilter("ignore", DeprecationWarning)
            process.start()
        theirs.close()
        self._processes.append(_Process(process, ours))

    def _give_out(self, plan: Plan) -> bool:
        """Give rows to those that have none; whether any were given out."""
        gave = False
        for process in self._processes:
            if process.part is None and process.is_ready:
                part = self._again.pop() if self._again else plan.next()
                if part is None:
                    break
                carefully = self._deaths.get(part, 0) >= DEATHS
                doomed = [row for row in self._doomed if part.first <= row < part.end]
                process.part, process.at, process.began, gave = part, None, time.monotonic(), True
                with suppress(BrokenPipeError):  # it is dead, which is heard soon
                    process.connection.send((part, carefully, doomed))
        return gave or not all(process.is_ready for process in self._processes)

    def _hear(self, plan: Plan) -> Iterator[Done]:
        ready = wait([process.connection for process in self._processes], timeout=1.0)
        for process in [process for process in self._processes if process.connection in ready]:
            try:
                kind, said = process.connection.recv()
            except (EOFError, OSError):
                self._replace(process)
                continue
            if kind == "ready":
                process.is_ready, self._num_stillborn = True, 0
            elif kind == "at":
                process.at = said
            elif kind == "error":
                raise said
            elif process.part is not None:
                part, process.part = process.part, None
                plan.heard(part.num_rows, time.monotonic() - process.began)
                yield part, said

    def _replace(self, process: _Process) -> None:
        """A process has died: its rows are tried again by another one."""
        process.process.join()
        process.connection.close()
        self._processes.remove(process)
        if not process.is_ready:
            self._num_stillborn += 1
            if self._num_stillborn >= STILLBORN:
                raise CgmhError("processes die before they can begin; is there enough memory? Try fewer `workers`")
        if process.part is not None:
            self._deaths[process.part] = self._deaths.get(process.part, 0) + 1
            self._again.append(process.part)
            if process.at is not None:
                self._doomed.add(process.at)
        self._start()


def serve(connection: Connection, work: Work, parent: int, kept: int) -> None:
    """Be a process that works on rows, until its parent has gone."""
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if kept >= 0:  # a copy of the parent: its files are none of our business
        os.closerange(3, kept)
        os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    set_num_cores(1)
    torch.set_num_threads(1)
    with suppress(BrokenPipeError, ConnectionResetError, EOFError):
        try:
            work.open()
            connection.send(("ready", None))
            while True:
                part, carefully, doomed = connection.recv()
                connection.send(("done", _lines(connection, work, part, carefully=carefully, doomed=doomed)))
        except (BadModel, BadInput) as error:
            connection.send(("error", error))


def _lines(
    connection: Connection, work: Work, part: Part, *, carefully: bool, doomed: list[int]
) -> list[tuple[int, bytes]]:
    if not carefully:
        return work.lines(part.first, part.end, part.only)
    wanted = set(range(part.first, part.end) if part.only is None else part.only)
    lines = work.lines(part.first, part.end, wanted - set(doomed), lambda row: connection.send(("at", row)))
    reason = "the process that worked on it died, again and again; is there enough memory for it?"
    found = {raw.number: raw for raw in work.source.read(part.first, part.end, work.asked)} if doomed else {}
    for row in set(doomed) & wanted & set(found):
        raw: Raw = found[row]
        lines.append((row, as_line(failed(raw, work.asked, reason))))
    return sorted(lines)


def _end_with(parent: int) -> None:
    """When the parent dies, so does this process, however it was killed."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
