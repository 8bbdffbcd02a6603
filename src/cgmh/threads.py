"""The cores of the machine, and how many of them one operation takes."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache

import torch


def num_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def single_threaded() -> Iterator[None]:
    """One thread inside each operation: most are too small to share, and waiting for a busy core costs more."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def second_thread() -> ThreadPoolExecutor | None:
    """A thread beside the one that asks, one thread inside each of its operations; None where there is one core.

    Halves that are large and few wait for each other once; the threads inside an operation wait at each of thousands.
    """
    if num_cores() == 1:
        return None
    return ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,))
