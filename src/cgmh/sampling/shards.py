"""Where parts of a piece of work run: one forked process per core, or one thread per core.

Threads of one process share the interpreter, and a step of a few dozen chains is made of many small operations, so two
of them hold each other up. A forked process has an interpreter of its own and finds the models loaded. What it changes
is lost except for what it returns, so forks are for work that consists of this package's own code alone.
"""

import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from mmap import mmap
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, TypeVar

import numpy as np
import torch
from tqdm import TMonitor

from ..text.lexicon import Lexicon
from ..text.vocabulary import Vocabulary
from ..threads import is_second, single_threaded

Part = TypeVar("Part")
Outcome = TypeVar("Outcome")
Tick = Callable[[int], object]  # told how much was done since the last call; it may raise to end the work

SETTLING = 50  # milliseconds that other threads have to fall asleep before a fork
POLL = 0.1  # seconds between looks at how far the other processes are
PIPE_SIZE = 1 << 20  # bytes, the most that everybody may have
_TASKS = Path("/proc/self/task")
_COUNTER = 8  # bytes
_NUMBER = 4  # bytes
_PACKAGE = __name__.partition(".")[0]
_LEAVES = (
    str, bytes, int, float, PurePath, Lexicon, Vocabulary,
    torch.Tensor, torch.device, torch.dtype, torch.ScriptObject, np.ndarray,
)  # fmt: skip


def share_out(
    work: Callable[[Part, Tick], Outcome],
    parts: Sequence[Part],
    workers: int,
    *,
    forks: bool = False,
    progress: Tick = lambda _: None,
) -> list[Outcome]:
    """What `work` makes of each part, `workers` of them at a time, with one thread inside each operation.

    With `forks`, and where this process can be forked safely, all but one worker are processes; otherwise threads.
    `work` tells the tick it is given how much it has done; `progress` hears of it in the calling thread or, from
    threads, in theirs. If anything is raised, here or in a worker, all workers end.
    """
    workers = min(workers, len(parts))
    with single_threaded():
        if workers <= 1:
            return [work(part, progress) for part in parts]
        if forks and can_fork():
            with suppress(_CannotFork):
                return list(_in_processes(work, parts, workers, progress))
        return _in_threads(work, parts, workers, progress)


def stream_out(
    work: Callable[[Part, Tick], Outcome],
    alone: Callable[[Part, Tick], Outcome],
    parts: Sequence[Part],
    workers: int,
    *,
    progress: Tick = lambda _: None,
) -> Generator[Outcome, None, None]:
    """What `work` makes of each part, in their order, as soon as it is there: as `share_out` with forks, but a worker
    takes the next part when it is done with one, and who closes the stream ends all workers. Where there is one worker,
    or no process can be forked, what `alone` makes of each part, when it is asked for."""
    workers = min(workers, len(parts))
    if workers > 1 and can_fork():
        with suppress(_CannotFork):
            yield from _in_processes(work, parts, workers, progress, queued=True)
            return
    for part in parts:
        yield alone(part, progress)


def fair_shares(costs: Sequence[float], number: int) -> list[list[int]]:
    """The places of the costs in so many shares that cost about the same; in each, in their order."""
    shares: list[list[int]] = [[] for _ in range(number)]
    totals = [0.0] * number
    for at in sorted(range(len(costs)), key=lambda at: -costs[at]):
        least = min(range(number), key=lambda share: (totals[share], len(shares[share])))
        shares[least].append(at)
        totals[least] += costs[at]
    return [sorted(share) for share in shares if share]


def _in_threads(
    work: Callable[[Part, Tick], Outcome], parts: Sequence[Part], workers: int, progress: Tick
) -> list[Outcome]:
    interrupted = threading.Event()

    def tick(number: int) -> None:
        if interrupted.is_set():  # the other workers end too, at their next step
            raise KeyboardInterrupt
        progress(number)

    with ThreadPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        try:
            return list(pool.map(lambda part: work(part, tick), parts))
        except BaseException:
            interrupted.set()
            raise


class _CannotFork(Exception):
    """The system has no room for another process, or for its pipe."""


def can_fork() -> bool:
    """Whether a copy of this process can go on by itself: on Linux, if it has no other thread that matters.

    What another thread holds at the moment of the fork stays locked in the copy for good. The monitor of progress bars
    is harmless, for the copy shows none; so are idle threads of matrix products, of which it uses one, and the second
    thread of a text model, which works only while the main one waits.
    """
    others = [thread for thread in threading.enumerate() if not isinstance(thread, TMonitor) and not is_second(thread)]
    alone = others == [threading.main_thread()] and threading.current_thread() is threading.main_thread()
    cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
    return sys.platform == "linux" and alone and not cuda and others_sleep()


def others_sleep() -> bool:
    """Whether the system sees every other thread asleep, now or in a moment.

    A thread that Python has joined may still be giving back what it took: the memory of matrix products, for one, whose
    lock it holds meanwhile.
    """
    for _ in range(SETTLING):
        with suppress(OSError):  # one has ended meanwhile, or no more files can be opened
            others = (task for task in _TASKS.iterdir() if int(task.name) != threading.get_native_id())
            if all((task / "stat").read_text().rpartition(")")[2].split()[0] == "S" for task in others):
                return True
        time.sleep(0.001)
    return False


class _Queue:
    """The numbers of parts that nobody has taken yet; the processes that share it take one after the other."""

    def __init__(self, number: int) -> None:
        try:
            self._reader, writer = os.pipe()
        except OSError as error:
            raise _CannotFork from error
        os.write(writer, b"".join(at.to_bytes(_NUMBER, "little") for at in range(number)))
        os.close(writer)

    def __iter__(self) -> Iterator[int]:
        while taken := os.read(self._reader, _NUMBER):
            yield int.from_bytes(taken, "little")

    def close(self) -> None:
        os.close(self._reader)


class _Worker:
    """A forked process that works on some of the parts and writes what it made of each into a pipe."""

    def __init__(
        self,
        work: Callable[[Any, Tick], Any],
        parts: Sequence[Any],
        numbers: Iterable[int],
        counters: mmap,
        place: int,
    ) -> None:
        """It takes the parts of the `numbers`, and counts what it has done at its place among the counters."""
        parent = os.getpid()
        try:
            self.reader, writer = os.pipe()
        except OSError as error:
            raise _CannotFork from error
        _widen(writer)
        try:
            with warnings.catch_warnings():  # Python counts idle threads of matrix products, too
                warnings.simplefilter("ignore", DeprecationWarning)
                self._id = os.fork()
        except OSError as error:
            os.close(self.reader)
            os.close(writer)
            raise _CannotFork from error
        self._received = bytearray()
        if self._id:
            os.close(writer)
            return
        status = 1
        try:  # nothing of the parent's is cleaned up, printed or handled here
            os.close(self.reader)
            torch.set_num_threads(1)  # threads inside an operation did not follow: it would wait for them for ever
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends this process
            done = 0

            def tick(amount: int) -> None:
                nonlocal done
                done += amount
                counters[place * _COUNTER : (place + 1) * _COUNTER] = done.to_bytes(_COUNTER, "little")
                if os.getppid() != parent:
                    os._exit(1)

            with os.fdopen(writer, "wb") as pipe:
                for number in numbers:
                    outcome = pickle.dumps((number, work(parts[number], tick)), pickle.HIGHEST_PROTOCOL)
                    pipe.write(len(outcome).to_bytes(_COUNTER, "little") + outcome)
                    pipe.flush()
            status = 0
        finally:
            os._exit(status)

    @property
    def is_there(self) -> bool:
        """Whether there may be more to receive."""
        return bool(self._id)

    def receive(self) -> Iterator[tuple[int, Any]]:
        """What it made of some parts, each with its number, after waiting for more of what it writes."""
        if chunk := os.read(self.reader, 1 << 20):
            self._received += chunk
        else:
            self.end()
        while len(self._received) >= (begin := _COUNTER):
            end = begin + int.from_bytes(self._received[:begin], "little")
            if len(self._received) < end:
                return
            # Of this process's own code, from a pipe that nobody else can write to.
            yield pickle.loads(self._received[begin:end])  # noqa: S301
            del self._received[:end]

    def end(self, how: int = 0) -> None:
        """Wait for its end, after a signal `how` to it if that is not 0."""
        if not self._id:
            return
        process, self._id = self._id, 0
        os.close(self.reader)
        with suppress(ProcessLookupError, ChildProcessError):
            if how:
                os.kill(process, how)
            os.waitpid(process, 0)


def _widen(pipe: int) -> None:
    """Make room in a pipe for what a worker makes of a part, so that it need not wait until that is read."""
    import fcntl  # not on Windows

    with suppress(OSError):
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_SIZE)


def _in_processes(
    work: Callable[[Part, Tick], Outcome],
    parts: Sequence[Part],
    workers: int,
    progress: Tick,
    *,
    queued: bool = False,
) -> Iterator[Outcome]:
    """What `work` makes of the parts, in their order. A worker has every so manieth part or, where they are `queued`,
    takes the next one whenever it is done with one."""
    counters, told = mmap(-1, workers * _COUNTER), 0

    def tell(number: int = 0) -> None:
        nonlocal told
        counts = (counters[at : at + _COUNTER] for at in range(0, workers * _COUNTER, _COUNTER))
        total = sum(int.from_bytes(count, "little") for count in counts)
        told, elsewhere = total, total - told
        if number + elsewhere:
            progress(number + elsewhere)

    queue = _Queue(len(parts)) if queued else None
    shares = [range(first, len(parts), workers) if queue is None else queue for first in range(workers)]
    started: list[_Worker] = []
    outcomes: dict[int, Outcome] = {}
    try:
        # One by one, so that those that run are known if the next one fails to start.
        started.extend(_Worker(work, parts, shares[at], counters, at) for at in range(1, workers))
        own = iter(shares[0])
        for at in range(len(parts)):
            while at not in outcomes:
                number = next(own, None)
                if number is not None:
                    with single_threaded():
                        outcomes[number] = work(parts[number], tell)
                elif not any(worker.is_there for worker in started):
                    # A worker that failed tells nothing of it: its parts are done here, where the same is raised.
                    with single_threaded():
                        outcomes[at] = work(parts[at], lambda _: None)
                for worker in _ready(started, 0 if number is not None else POLL):
                    outcomes |= worker.receive()
                tell()
            yield outcomes.pop(at)
    finally:
        for worker in started:
            worker.end(signal.SIGKILL)
        if queue is not None:
            queue.close()


def _ready(workers: Iterable[_Worker], seconds: float) -> list[_Worker]:
    """The workers that have written something or ended, after waiting so long for one at most."""
    by_reader = {worker.reader: worker for worker in workers if worker.is_there}
    readable = select.poll()  # any number of files may be open
    for reader in by_reader:
        readable.register(reader, select.POLLIN)
    return [by_reader[reader] for reader, _ in readable.poll(1000 * seconds)] if by_reader else []


def is_own(thing: Any) -> bool:
    """Whether a thing and all it holds are of this package, torch and Python: none of it is a user's or keeps a session
    of another library, so that it works the same in a copy of the process. Models of texts count what they read, and
    remember it: they are not."""
    seen: set[int] = set()
    todo = [thing]
    while todo:
        it = todo.pop()
        if id(it) in seen or it is None or isinstance(it, _LEAVES):
            continue
        seen.add(id(it))
        if isinstance(it, Mapping):
            if not all(isinstance(value, float) for value in it.values()):  # what is remembered of many sentences
                todo += [*it.keys(), *it.values()]
        elif isinstance(it, list | tuple | set | frozenset):
            todo += it
        elif isinstance(it, partial):
            todo += [it.func, it.args, it.keywords]
        elif isinstance(it, MethodType):
            todo += [it.__self__, it.__func__]
        else:
            code = it if isinstance(it, FunctionType | BuiltinFunctionType | type) else type(it)
            module = code.__module__ or ""
            if module.startswith(f"{_PACKAGE}.models.text.") or module.partition(".")[0] not in (_PACKAGE, "torch"):
                return False
            if isinstance(it, FunctionType):
                todo += [cell.cell_contents for cell in it.__closure__ or ()]
            elif module.partition(".")[0] == _PACKAGE and not isinstance(it, type):
                slots = [name for kind in type(it).__mro__ for name in getattr(kind, "__slots__", ())]
                todo += [*getattr(it, "__dict__", {}).values(), *(getattr(it, name, None) for name in slots)]
    return True
