"""Rows in Parquet files, which pyarrow reads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from ..errors import BadInput, MissingExtra
from .remote import opened
from .rows import Asked, Raw

READ_AT_ONCE = 256  # rows


def parquet() -> Any:
    """The module that reads and writes Parquet."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "data") from error
    return pyarrow.parquet


@dataclass
class ParquetFile:
    """A Parquet file: how many rows it has, and what it holds in all."""

    path: str
    num_rows: int = 0
    num_bytes: int = 0
    digest: str = ""
    header: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()  # rows in each group
    format: str = "parquet"
    _cursor: "_Cursor | None" = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cursor": None}

    def scan(self, known: int = 0) -> str:
        """Look at what it has. Such a file does not grow: there is no digest of a part of it, unless that is all."""
        library = parquet()
        try:
            with opened(self.path) as raw, library.ParquetFile(raw) as file:
                found = file.metadata
                self.header, self.num_rows = tuple(file.schema_arrow.names), found.num_rows
                self.groups = tuple(found.row_group(number).num_rows for number in range(found.num_row_groups))
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno:
                raise
            raise BadInput(f"{self.path}: is no Parquet file ({str(error).splitlines()[0]})") from error
        digest, self.num_bytes = sha256(), 0
        with opened(self.path) as raw:
            while chunk := raw.read(1 << 20):
                digest.update(chunk)
                self.num_bytes += len(chunk)
        self.digest = digest.hexdigest()
        return self.digest if self.num_bytes == known else ""

    def check(self, asked: Asked) -> None:
        """Refuse a table whose columns do not fit what is asked."""
        try:
            asked.check_columns(self.header)
        except BadInput as error:
            raise BadInput(f"{self.path}: {error}") from error

    def read(self, first: int, end: int, asked: Asked) -> Iterator[Raw]:
        """Rows `first` to `end` of the file, numbered from 0."""
        # Groups are large and read from their beginnings: who asks for the next range goes on from the last one.
        if self._cursor is None or self._cursor.at > first:
            self._cursor = _Cursor(self)
        for number, fields in self._cursor.rows(first, end):
            yield Raw(number, f"{self.path}, row {number + 1}", fields)


class _Cursor:
    """A place in a Parquet file, from which rows are read on."""

    def __init__(self, file: ParquetFile) -> None:
        self.at = 0
        self._file, self._groups = file, list(file.groups)
        self._opened = parquet().ParquetFile(opened(file.path))
        self._left: list[dict[str, Any]] = []  # rows that were read and not asked for yet
        self._batches: Iterator[Any] = iter(())
        self._group = 0

    def rows(self, first: int, end: int) -> Iterator[tuple[int, dict[str, Any]]]:
        while self.at < end:
            if not self._left:
                self._left = self._next(first)
            skipped = min(max(first - self.at, 0), len(self._left))
            self.at += skipped
            taken = self._left[skipped : skipped + end - self.at] if self.at >= first else []
            self._left = self._left[skipped + len(taken) :]
            start, self.at = self.at, self.at + len(taken)
            yield from enumerate(taken, start=start)

    def _next(self, first: int) -> list[dict[str, Any]]:
        """The next rows; groups that end before `first` are passed over."""
        while True:
            batch = next(self._batches, None)
            if batch is not None:
                if self.at + len(batch) <= first:
                    self.at += len(batch)
                    continue
                found: list[dict[str, Any]] = batch.to_pylist()
                return found
            size = self._groups[self._group]
            if self.at + size <= first:
                self.at += size
            else:
                self._batches = self._opened.iter_batches(READ_AT_ONCE, row_groups=[self._group])
            self._group += 1
