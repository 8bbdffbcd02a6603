"""Rows in files of lines: JSON, plain text, or CSV, whose rows may have several lines; found again by their places."""

import codecs
import csv
import io
import json
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, BinaryIO

from ..errors import BadInput
from ..files import parse_json
from .remote import opened
from .rows import Asked, Raw, typed

MAX_BYTES = 4 << 20  # of a row
MAX_SHOWN = 100_000  # bytes of a row that is not text
SPACING = 64  # rows from one known place in a file to the next
_UTF16 = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)


@dataclass(frozen=True)
class Record:
    """The bytes of a row, and where they begin."""

    offset: int
    line: int  # from 1
    data: bytes
    is_too_long: bool = False


def records(file: BinaryIO, offset: int = 0, line: int = 1, delimiter: str = "") -> Iterator[Record]:
    """The rows from a place on; with a `delimiter`, they are those of a table, whose cells may have several lines."""
    file.seek(offset)
    while data := file.readline(MAX_BYTES):
        start, first = offset, line
        is_too_long = len(data) == MAX_BYTES and not data.endswith(b"\n")
        offset, line = offset + len(data), line + 1
        if is_too_long:
            while rest := file.readline(MAX_BYTES):
                offset += len(rest)
                if rest.endswith(b"\n"):
                    break
        elif delimiter and b'"' in data:
            whole, num_lines = _to_end_of_quotes(file, data, delimiter)
            is_too_long = not num_lines  # the quotes are never closed, so only this line is lost
            data, offset, line = whole, start + len(whole), first + max(1, num_lines)
            file.seek(offset)
        yield Record(start, first, data, is_too_long)


def _to_end_of_quotes(file: BinaryIO, data: bytes, delimiter: str) -> tuple[bytes, int]:
    """The row that a line begins, and how many lines it has; 0 if it never ends."""
    parts, ended = [data], False

    def lines() -> Iterator[str]:
        nonlocal ended
        yield data.decode("latin-1")
        while sum(map(len, parts)) < MAX_BYTES and (more := file.readline(MAX_BYTES)):
            parts.append(more)
            yield more.decode("latin-1")
        ended = True

    try:
        next(csv.reader(lines(), delimiter=delimiter), None)
    except csv.Error:
        ended = True
    return (data, 0) if ended else (b"".join(parts), len(parts))


@dataclass
class LineFile:
    """A file of lines: how many rows it has, where they are, and what it holds in all."""

    path: str
    format: str  # jsonl, text, csv or tsv
    num_rows: int = 0
    num_bytes: int = 0
    digest: str = ""
    header: tuple[str, ...] = ()
    places: "array[int]" = field(default_factory=lambda: array("q"))  # offset and line of every so many-th row

    @property
    def delimiter(self) -> str:
        """Of a table; empty for other files."""
        return {"csv": ",", "tsv": "\t"}.get(self.format, "")

    def scan(self, known: int = 0) -> str:
        """Read all of it once. Returns the digest of the first `known` bytes, empty if no row ends there."""
        digest, of_known = sha256(), ""
        with opened(self.path) as file:
            if file.read(2) in _UTF16:
                raise BadInput(f"{self.path}: is in UTF-16; convert it to UTF-8 first")
            for number, record in enumerate(records(file, delimiter=self.delimiter), start=-1 if self.delimiter else 0):
                if number < 0:
                    self.header = self._header(record)
                elif number % SPACING == 0:
                    self.places.extend((record.offset, record.line))
                self.num_rows = number + 1
            file.seek(0)
            while chunk := file.read(min(1 << 20, known - self.num_bytes) if known > self.num_bytes else 1 << 20):
                digest.update(chunk)
                self.num_bytes += len(chunk)
                if self.num_bytes == known:
                    of_known = digest.hexdigest()
            file.seek(max(known - 1, 0))
            if b"\n" not in (around := file.read(2)) and b"\r" not in around and known < self.num_bytes:
                of_known = ""  # a row goes on there
        self.num_rows, self.digest = max(0, self.num_rows), digest.hexdigest()
        if self.delimiter and not self.header:
            raise BadInput(f"{self.path}: has no header; its first row has to name the columns")
        return of_known

    def check(self, asked: Asked) -> None:
        """Refuse a table whose columns do not fit what is asked."""
        if self.delimiter:
            try:
                asked.check_columns(self.header)
            except BadInput as error:
                raise BadInput(f"{self.path}: {error}") from error

    def read(self, first: int, end: int, asked: Asked) -> Iterator[Raw]:
        """Rows `first` to `end` of the file, numbered from 0; blank lines are rows of a text to correct only."""
        at = 2 * (first // SPACING)
        if at >= len(self.places):
            return
        keeps_blank = self.format == "text" and asked.task == "correct"
        with opened(self.path) as file:
            found = records(file, self.places[at], self.places[at + 1], self.delimiter)
            for number, record in enumerate(found, start=first - first % SPACING):
                if number >= end:
                    return
                if number >= first and (keeps_blank or record.data.strip()):
                    yield self._raw(number, record, asked)

    def _raw(self, number: int, record: Record, asked: Asked) -> Raw:
        place = f"{self.path}, line {record.line}"
        try:
            return Raw(number, place, self._fields(record, asked))
        except BadInput as error:
            readable = record.data[:MAX_SHOWN].rstrip(b"\r\n").decode("utf-8", "replace")
            return Raw(number, place, {asked.worked_on[0]: readable} if self.format == "text" else {}, str(error))

    def _fields(self, record: Record, asked: Asked) -> dict[str, Any]:
        text = decoded(record)
        if self.format == "text":
            return {asked.worked_on[0]: text}
        if self.format == "jsonl":
            try:
                found = parse_json(text)
            except ValueError as error:
                raise BadInput(f"not JSON ({error})") from error
            if not isinstance(found, dict):
                raise BadInput('not a JSON object; write {"' + asked.worked_on[0] + '": ...}')
            return found
        cells = _cells(text, self.delimiter)
        if len(cells) != len(self.header):
            raise BadInput(f"{len(cells)} cells, but {len(self.header)} columns; put quotes around cells with commas")
        as_text = (*asked.worked_on, *asked.ids, *asked.carried)
        row = dict(zip(self.header, cells, strict=True))
        return {name: cell if name in as_text else typed(name, cell) for name, cell in row.items()}

    def _header(self, record: Record) -> tuple[str, ...]:
        try:
            names = tuple(_cells(decoded(record), self.delimiter))
        except BadInput as error:
            raise BadInput(f"{self.path}: its header is {error}") from error
        if len(set(names)) < len(names):
            raise BadInput(f"{self.path}: two columns have the same name")
        return names


def decoded(record: Record) -> str:
    """The text of a row, without the end of its line; `BadInput` if it is none."""
    if record.is_too_long:
        raise BadInput(f"longer than {MAX_BYTES >> 20} MB, or quotes that are never closed")
    data = record.data.removeprefix(codecs.BOM_UTF8) if record.offset == 0 else record.data
    try:
        return data.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"not UTF-8 (byte {error.start + 1}); convert the file first") from error


def _cells(text: str, delimiter: str) -> list[str]:
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise BadInput(f"not CSV ({error})") from error
    return rows[0] if rows else []


def written(value: Any) -> str:
    """A value as a cell of a table: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
