"""What is done of a job: shards, which are ranges of rows, each in a file, and marks that say which are whole.

    rows-000000000000-000000000064.jsonl.gz    what became of rows 0 to 63, a line for each
    done.jsonl                                 a line for each shard that is whole, written after it

A shard is written under another name, flushed to the disk and renamed; only then is it marked. What was torn when the
power went is either a file that never got its name, or the last line of the marks, which is cut off.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput
from .disk import TEMPORARY, saying_when_full, sync_directory, whole_file

MARKS = "done.jsonl"


@dataclass(frozen=True)
class Shard:
    """Rows `first` to `end` that are done."""

    first: int
    end: int
    num_bytes: int  # of the file
    num_rows: int  # that the range has: a blank line is none
    num_failed: int

    @property
    def name(self) -> str:
        return f"rows-{self.first:012}-{self.end:012}.jsonl.gz"


class Shards:
    """The shards of a job, in a directory that this process alone writes to."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._done: dict[int, Shard] = {}
        self._load()

    def __iter__(self) -> Iterator[Shard]:
        """In the order of their rows."""
        return iter(sorted(self._done.values(), key=lambda shard: shard.first))

    @property
    def num_rows(self) -> int:
        return sum(shard.num_rows for shard in self._done.values())

    @property
    def num_failed(self) -> int:
        return sum(shard.num_failed for shard in self._done.values())

    def missing(self, num_rows: int) -> list[tuple[int, int]]:
        """The ranges of rows that are not done yet."""
        at, gaps = 0, []
        for shard in self:
            if shard.first > at:
                gaps.append((at, shard.first))
            at = shard.end
        return [*gaps, (at, num_rows)] if at < num_rows else gaps

    def add(self, first: int, end: int, lines: Sequence[bytes]) -> None:
        """Keep what became of some rows: first the shard, then its mark."""
        data = gzip.compress(b"".join(lines), compresslevel=1, mtime=0)
        shard = Shard(first, end, len(data), len(lines), sum(map(is_failed, lines)))
        with saying_when_full(self._directory):
            with whole_file(self._directory / shard.name) as file:
                file.write(data)
            self._mark(shard)
        self._done[first] = shard

    def read(self, shard: Shard) -> list[bytes]:
        """The lines of a shard."""
        try:
            return gzip.decompress((self._directory / shard.name).read_bytes()).splitlines(keepends=True)
        except (OSError, EOFError, zlib.error) as error:
            raise BadInput(
                f"{self._directory / shard.name}: is damaged ({error}); delete it, and run the same command again"
            ) from error

    def _mark(self, shard: Shard) -> None:
        record = {"first": shard.first, "end": shard.end, "bytes": shard.num_bytes}
        record |= {"rows": shard.num_rows, "failed": shard.num_failed}
        path = self._directory / MARKS
        size = path.stat().st_size if path.exists() else 0
        try:
            with path.open("ab") as file:
                file.write(json.dumps(record).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            with suppress(OSError):
                os.truncate(path, size)
            raise

    def _load(self) -> None:
        """Find what is whole; what is torn is cut off, what was never marked is deleted."""
        path = self._directory / MARKS
        data = path.read_bytes() if path.exists() else b""
        kept = 0
        for line in data.splitlines(keepends=True):
            shard = _read_mark(line)
            if shard is None:
                break
            kept += len(line)
            self._done[shard.first] = shard
        if kept < len(data):
            os.truncate(path, kept)
        for shard in list(self._done.values()):
            file = self._directory / shard.name
            if not file.exists() or file.stat().st_size != shard.num_bytes:
                del self._done[shard.first]
        names = {shard.name for shard in self._done.values()}
        for file in self._directory.glob("rows-*"):
            if file.name not in names or file.name.endswith(TEMPORARY):
                file.unlink()
        sync_directory(self._directory)


def _read_mark(line: bytes) -> Shard | None:
    """What a line of the marks says, if it is whole."""
    try:
        found: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
        return Shard(*(int(found[name]) for name in ("first", "end", "bytes", "rows", "failed")))
    except (ValueError, KeyError, TypeError):
        return None


def is_failed(line: bytes) -> bool:
    """Whether a row has failed, which its line says first of all."""
    return line.startswith(b'{"error"')
