"""A file of outputs as a row of a table: what another program wrote, or what one of ours wrote elsewhere."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from ...errors import BadInput
from ...files import parse_json
from ...training.corpus import read_lines
from ..experiment import Answer
from ..folder import file_hash
from .quoting import unquote

Item = TypeVar("Item")

SHIPPED = Path(__file__).parent / "outputs"  # TABLE/SYSTEM.jsonl: of systems whose weights do not come with us
_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Recorded(Generic[Item]):
    """A system whose answers are known by the keys of the items; it has none to any other item."""

    name: str
    about: str
    signature: str
    answers: dict[str, Answer] = field(repr=False)
    key: Callable[[Item], str] = field(repr=False)

    def answer(self, items: Sequence[Item]) -> Iterator[Answer | None]:
        return (self.answers.get(self.key(item)) for item in items)


def read_recorded(
    name: str,
    file: Path,
    items: Sequence[Item],
    key: Callable[[Item], str],
    about: str = "",
    quotable: Callable[[], Sequence[str]] | None = None,
) -> Recorded[Item]:
    """The outputs in a file: text, a line for each of `items`, or JSON lines with `key` and `text` (.jsonl).

    `items` are all of the data set that the table may ask for, in the order of the data. JSON lines may leave items
    out; a journal of another run (answers/SYSTEM.jsonl in its folder) is such a file. Lines of text may refer to the
    `quotable` sentences, if there are any, as `quote` writes them.
    """
    if not _NAME.fullmatch(name):
        raise BadInput(f"{name}: a system is named by letters, digits and . + - _")
    lines = [line.rstrip("\r\n") for line in read_lines(file)]
    keys = [key(item) for item in items]
    if ".jsonl" in file.suffixes:
        answers = dict(_parsed(file, lines))
        if not answers.keys() & set(keys):
            shown = keys[0] if keys else "none"
            raise BadInput(f"{file}: no `key` of its lines is one of this data, as {shown!r} is")
    else:
        if len(lines) != len(keys):
            raise BadInput(f"{file}: {len(lines)} lines for {len(keys)} items; give one line for each item of the data")
        texts = list(_texts(file, lines, quotable))
        answers = {each: Answer(text) for each, text in zip(keys, texts, strict=True)}
    return Recorded(name, about or f"recorded in {file.name}", f"sha256:{file_hash(file)}", answers, key)


def _texts(file: Path, lines: Sequence[str], quotable: Callable[[], Sequence[str]] | None) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield unquote(line.strip(), quotable) if quotable else line.strip()
        except BadInput as error:
            raise BadInput(f"{file}, line {number}: {error}") from error


def shipped(table: str, name: str) -> Path | None:
    """The outputs of a system that come with the package, if there are any."""
    return next((file for file in sorted((SHIPPED / table).glob(f"{name}.jsonl*"))), None)


def _parsed(file: Path, lines: Sequence[str]) -> Iterator[tuple[str, Answer]]:
    seen = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
            if number == 1 and "run" in record:  # the head of a journal
                continue
            key, text, seconds = record["key"], record["text"], record.get("seconds")
            details = dict(record.get("details") or {})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise BadInput(f"{file}, line {number}: no object with `key` and `text` ({error!r})") from error
        if not isinstance(key, str) or not isinstance(text, str | None) or not isinstance(seconds, float | int | None):
            raise BadInput(f"{file}, line {number}: `key` and `text` are strings, `seconds` is a number")
        if key in seen:
            raise BadInput(f"{file}, line {number}: a second output for {key!r}; give one for each")
        seen.add(key)
        if text is not None:
            yield key, Answer(text, seconds, details)
