"""The cores of the machine, and how many of them one operation takes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

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
