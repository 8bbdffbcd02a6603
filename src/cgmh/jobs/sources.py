"""The input of a job: which files it has, in which order, and which rows of which file a range of rows means."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import BadInput
from .lines import LineFile
from .rows import Asked, Raw
from .tables import ParquetFile

FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".txt": "text",
}  # fmt: skip
File = LineFile | ParquetFile


@dataclass(frozen=True)
class Source:
    """The files of a job, one after the other."""

    files: tuple[File, ...]

    @property
    def num_rows(self) -> int:
        return sum(file.num_rows for file in self.files)

    def check(self, asked: Asked) -> None:
        """Refuse tables whose columns do not fit what is asked."""
        for file in self.files:
            file.check(asked)

    def read(self, first: int, end: int, asked: Asked) -> Iterator[Raw]:
        """The rows of a range, in their order."""
        before = 0
        for file in self.files:
            low, high = max(first - before, 0), min(end - before, file.num_rows)
            if low < high:
                for raw in file.read(low, high, asked):
                    yield replace(raw, number=raw.number + before)
            before += file.num_rows


def format_of(name: str) -> str:
    """The format that the name of a file tells; text if it tells none."""
    return FORMATS.get(Path(name).suffix.lower(), "text")


def file_of(path: str, format: str | None) -> File:
    """A file that has not been looked into yet."""
    format = format or format_of(path)
    return ParquetFile(path) if format == "parquet" else LineFile(path, format)


def found_files(names: Sequence[str]) -> list[str]:
    """The files that names stand for: files, directories with all they hold of a known kind, and patterns."""
    paths: list[str] = []
    for name in names:
        if Path(name).is_dir():
            inside = sorted(str(path) for path in Path(name).iterdir() if path.suffix.lower() in FORMATS)
            if not inside:
                raise BadInput(f"{name}: no file in it ends in {', '.join(FORMATS)}")
            paths += inside
        elif os.path.lexists(name):
            paths.append(name)
        else:
            matching = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute
            if not matching:
                raise BadInput(f"{name}: no such file")
            paths += [path for path in matching if Path(path).is_file()]
    doubled = {path for path in paths if paths.count(path) > 1} if len(paths) < 1000 else set()
    if doubled:
        raise BadInput(f"{min(doubled)}: is named twice")
    return paths
