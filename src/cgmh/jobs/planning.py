"""Which rows are worked on next: shards that take some seconds each, and smaller ones towards the end."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SECONDS = 10.0  # that a shard should take: what is lost when a job is stopped, at most
MOST = 4096  # rows of a shard


@dataclass(frozen=True)
class Part:
    """Rows `first` to `end` that one process works on; of a shard that is there already, `only` some of them."""

    first: int
    end: int
    only: tuple[int, ...] | None = None

    @property
    def num_rows(self) -> int:
        return self.end - self.first if self.only is None else len(self.only)


class Plan:
    """The rows that are left, handed out in parts."""

    def __init__(
        self,
        gaps: Sequence[tuple[int, int]],
        workers: int,
        together: int,
        again: Sequence[Part] = (),
        most: int | None = None,
    ) -> None:
        """`together` are the rows that run together, `again` parts of shards that are worked on once more, `most` the
        rows of a part."""
        self._gaps, self._again, self._workers = deque(gaps), deque(again), workers
        self._together, self._rows_given, self._most = together, most, most or MOST
        self._seconds_per_row: float | None = None
        self.num_rows = sum(end - first for first, end in gaps) + sum(part.num_rows for part in again)

    def heard(self, num_rows: int, seconds: float) -> None:
        """So many rows took a process so long."""
        each = seconds / max(1, num_rows)
        self._seconds_per_row = each if self._seconds_per_row is None else 0.7 * self._seconds_per_row + 0.3 * each

    def next(self) -> Part | None:
        """The next part; None if nothing is left."""
        if self._again:
            return self._again.popleft()
        if not self._gaps:
            return None
        size = self._size()
        first, end = self._gaps.popleft()
        stop = min(end, first - first % self._together + size)
        if stop < end:
            self._gaps.appendleft((stop, end))
        return Part(first, stop)

    def all(self, most_parts: int) -> Iterator[Part]:
        """All parts at once, about so many at most, where nobody tells how long a row takes."""
        size = -(-self.num_rows // most_parts) if self._rows_given is None else self._rows_given
        size = max(1, -(-size // self._together)) * self._together
        yield from self._again
        for first, end in self._gaps:
            for at in range(first - first % self._together, end, size):
                yield Part(max(at, first), min(at + size, end))

    def _size(self) -> int:
        """As many rows as take some seconds, but no more than let the others have their share of what is left; and
        whole blocks of those that run together."""
        left = sum(end - first for first, end in self._gaps)
        wanted = self._together if self._seconds_per_row is None else int(SECONDS / max(self._seconds_per_row, 1e-9))
        size = min(wanted, left // (2 * self._workers), self._most)
        return max(1, size // self._together) * self._together
