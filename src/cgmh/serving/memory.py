"""Memory that a long-lived process does not need any more, given back to the system.

Chains come and go, and what they held leaves holes between what stays: after a few minutes of load, a process would
have half as much again as it uses. The C library gives such holes back when it is told to.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from time import monotonic

SECONDS = 10.0  # between two times; it takes some hundredths of a second, and what is needed again is fetched again


class Holes:
    """Free memory between what is in use."""

    def __init__(self) -> None:
        self._given_back_at = monotonic()

    def give_back(self, *, soon: bool) -> None:
        """Give them back; unless it is wanted `soon`, not sooner than some seconds after the last time."""
        if soon or monotonic() - self._given_back_at >= SECONDS:
            trim = _trim()
            if trim is not None:
                trim(0)
            self._given_back_at = monotonic()


@cache
def _trim() -> Callable[[int], int] | None:
    """What gives free memory back, where the C library has it: glibc does."""
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
