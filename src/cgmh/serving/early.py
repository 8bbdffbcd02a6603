"""When the answers to a watched run are told before its end: soon, and at a cost that has a limit."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

from ..result import Sentence

FIRST = 1  # step before the first look: a start is mostly a sentence already
SHARE = 3  # looking may take one part in so many of the time that the steps take


class Early:
    """The looks at a run on its way; `tell` hears of each what the answers would be by then."""

    def __init__(self, tell: Callable[[list[dict[str, Any]]], object]) -> None:
        self._tell, self._due_at = tell, 0.0
        self.known: dict[tuple[int, ...], float] = {}  # how good sentences are, for the next look and the end

    def is_due(self, step: int) -> bool:
        return step >= FIRST and monotonic() >= self._due_at

    @contextmanager
    def looking(self) -> Iterator[None]:
        """What is done inside is paid for by as many times of stepping before the next look."""
        began = monotonic()
        yield
        now = monotonic()
        self._due_at = now + SHARE * (now - began)

    def tell(self, answers: Sequence[tuple[Sentence, bool]]) -> None:
        self._tell([{**sentence.to_dict(), "good": is_good} for sentence, is_good in answers])
