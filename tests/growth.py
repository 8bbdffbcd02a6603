"""How the time of some work grows with its input, whatever the machine and whatever runs beside it."""

import time
from collections.abc import Callable


def growth(work: Callable[[int], object], size: int, *, times: int = 4, tries: int = 3) -> float:
    """How many times longer `work` takes for a size `times` as large: near `times` if linear, its square if not.

    Only this thread's own time counts, and the quickest of a few tries, so that a busy machine changes little.
    """

    def seconds(size: int) -> float:
        began = time.thread_time()
        work(size)
        return time.thread_time() - began

    small, large = (min(seconds(each) for _ in range(tries)) for each in (size, size * times))
    return large / small
