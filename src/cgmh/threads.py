"""The cores of the machine, and how many of them one operation takes."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch

_SECOND = "cgmh-second"


_share: int | None = None


def num_cores() -> int:
    """The cores that this process may use."""
    if _share is not None:
        return _share
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def set_num_cores(number: int | None) -> None:
    """Use so many cores, because other processes of the program use the others; None: all that there are."""
    global _share  # noqa: PLW0603
    _share = number


@contextmanager
def one_core() -> Iterator[None]:
    """One core, because other processes use the others."""
    before = _share
    set_num_cores(1)
    try:
        yield
    finally:
        set_num_cores(before)


@contextmanager
def single_threaded() -> Iterator[None]:
    """One thread inside each operation: most are too small to share, and waiting for a busy core costs more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def second_thread() -> ThreadPoolExecutor | None:
    """A thread beside the main one, with one thread inside each of its operations.

    None where there is one core, and to other threads, which share the cores already. Halves that are large and few
    wait for each other once; the threads inside an operation wait at each of thousands.
    """
    if num_cores() == 1 or threading.current_thread() is not threading.main_thread():
        return None
    return _second()


@cache
def _second() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix=_SECOND, initializer=torch.set_num_threads, initargs=(1,))


if hasattr(os, "register_at_fork"):  # threads do not follow into a copy of the process: it starts its own
    os.register_at_fork(after_in_child=_second.cache_clear)


def is_second(thread: threading.Thread) -> bool:
    """Whether it is the thread that `second_thread` gives: it is idle whenever the main one does something else."""
    return thread.name.startswith(_SECOND)
