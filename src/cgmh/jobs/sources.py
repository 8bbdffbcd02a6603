"""The input of a job: which files it has, in which order, and which rows of which file a range of rows means."""

import codecs
import glob
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import BadInput
from .disk import saying_when_full, whole_file
from .lines import LineFile
from .remote import is_remote, listed
from .rows import Asked, Raw
from .tables import ParquetFile

FORMATS = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
    ".txt": "text",
}  # fmt: skip
STDIN = "stdin"  # the file that keeps it
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


def kept_stdin(directory: Path, format: str | None) -> File:
    """What stdin has, kept in a file, so that processes can read it, and a job that was stopped can be compared."""
    if sys.stdin is None:
        raise BadInput("stdin is closed; name a file as the input")
    with saying_when_full(directory), whole_file(directory / STDIN) as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with (directory / STDIN).open("rb") as opened:
        is_json = opened.read(1 << 16).lstrip(codecs.BOM_UTF8 + b" \r\n\t").startswith(b"{")
    return file_of(str(directory / STDIN), format or ("jsonl" if is_json else "text"))


def found_files(names: Sequence[str]) -> list[str]:
    """The files that names stand for: files, directories with all they hold of a known kind, and patterns."""
    paths: list[str] = []
    for name in names:
        if is_remote(name):
            inside = listed(name, lambda path: Path(path).suffix.lower() in FORMATS)
            if not inside:
                raise BadInput(f"{name}: no such file")
            paths += inside
        elif Path(name).is_dir():
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
