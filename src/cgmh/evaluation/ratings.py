"""Outputs of several systems that people rate blindly, and their clicks, which no crash loses."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..files import parse_json

QUESTIONS = {"score": ("score",), "both": ("relevance", "fluency")}  # by what is asked
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)
MAX_BYTES = 64 << 20  # of a file of outputs or of clicks


@dataclass(frozen=True)
class Item:
    """A text that is rated once for all systems that wrote it, beside the input that it answers."""

    input: str
    text: str
    systems: tuple[str, ...]
    group: str = ""  # of inputs that have a table of their own: "2 keywords"

    @cached_property
    def id(self) -> str:
        """A name that says nothing about the systems."""
        return hashlib.sha256(f"{self.input}\0{self.text}".encode()).hexdigest()[:16]


def read_items(files: Sequence[Path]) -> list[Item]:
    """The items of files of JSON lines.

    A line is what `cgmh … --json` prints (the first of its results counts, and the system is the file's name), or
    ``{"input": ..., "system": ..., "text": ...}``, or ``{"input": ..., "outputs": {system: text, ...}}``. It may name
    the `group` of its input.
    """
    found: dict[tuple[str, str], dict[str, None]] = {}
    groups: dict[str, str] = {}  # by input
    stated: set[tuple[str, str]] = set()
    for file in files:
        for number, record in _records(file):
            where = f"{file}, line {number}"
            group = record.get("group")
            if group is not None and (not isinstance(group, str) or groups.setdefault(record["input"], group) != group):
                raise BadInput(f"{where}: `group` is one string, the same wherever this input stands")
            for system, text in _outputs(record, file.stem, where):
                if (record["input"], system) in stated:
                    raise BadInput(f"{where}: a second output of {system} for this input; give one for each")
                stated.add((record["input"], system))
                found.setdefault((record["input"], text), {})[system] = None
    if not found:
        raise BadInput(f"{', '.join(map(str, files))}: no outputs to rate; give JSON lines with `input` and `text`")
    return [Item(input, text, tuple(systems), groups.get(input, "")) for (input, text), systems in found.items()]


def _records(file: Path) -> Iterable[tuple[int, dict[str, Any]]]:
    data = file.read_bytes()
    if len(data) > MAX_BYTES:
        raise BadInput(f"{file}: more than {MAX_BYTES >> 20} MB; rate fewer outputs at a time")
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: is not UTF-8; convert it") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
        except ValueError as error:
            raise BadInput(f"{file}, line {number}: no JSON ({error}); one object per line is read") from error
        if not isinstance(record, dict) or not isinstance(record.get("input"), str):
            raise BadInput(f"{file}, line {number}: no object with a string `input`")
        yield number, record


def _outputs(record: Mapping[str, Any], stem: str, where: str) -> list[tuple[str, str]]:
    """The systems of a line, each with its text; none where an input could not be answered."""
    if "error" in record:
        return []
    pairs: list[tuple[Any, Any]]
    if isinstance(record.get("outputs"), dict):
        pairs = list(record["outputs"].items())
    elif "text" in record:
        pairs = [(record.get("system", stem), record["text"])]
    else:
        results = record.get("results")
        first = results[0] if isinstance(results, list) and results else {}
        pairs = [(record.get("system", stem), first.get("text") if isinstance(first, dict) else None)]
    if not all(isinstance(part, str) for pair in pairs for part in pair):
        raise BadInput(f"{where}: neither `text`, `outputs` nor `results` with texts; see cgmh rate --help")
    return pairs


@dataclass(frozen=True)
class Click:
    """One score of one rater."""

    rater: str
    item: str  # its id
    question: str
    score: float
    at: str = ""  # when, in UTC
    input: str = ""
    text: str = ""


class Ratings:
    """The items of a study, and a file to which every click is appended; of two on the same thing the last counts."""

    def __init__(self, items: Sequence[Item], questions: Sequence[str], file: Path) -> None:
        self.items = {item.id: item for item in items}
        self.questions, self.file = tuple(questions), file

    @property
    def systems(self) -> list[str]:
        """In the order in which they come up."""
        return list(dict.fromkeys(system for item in self.items.values() for system in item.systems))

    @property
    def groups(self) -> list[str]:
        """In the order in which they come up."""
        return list(dict.fromkeys(item.group for item in self.items.values() if item.group))

    def clicks(self) -> dict[tuple[str, str, str], float]:
        """The scores by rater, item and question; without a last line that a crash cut off."""
        if not self.file.exists():
            return {}
        data = self.file.read_bytes()
        scores: dict[tuple[str, str, str], float] = {}
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].decode(errors="replace").split("\n"), start=1):
            if not line:
                continue
            try:
                record = parse_json(line)
                key = str(record["rater"]), str(record["item"]), str(record["question"])
                score = float(record["score"])
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(f"{self.file}, line {number}: no click ({error}); mend or remove the line") from error
            if key[1] in self.items and key[2] in self.questions:
                scores[key] = score
        return scores

    def add(self, click: Click) -> None:
        """Write a click down; it is on the disk when this returns."""
        item = self.items[click.item]
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        record = {**asdict(click), "at": now, "input": item.input, "text": item.text}
        line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
        self._drop_cut_off()
        with self.file.open("ab") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def _drop_cut_off(self) -> None:
        """Remove what a crash left of a line: its click was never confirmed."""
        if self.file.exists():
            data = self.file.read_bytes()
            if data and not data.endswith(b"\n"):
                os.truncate(self.file, data.rfind(b"\n") + 1)

    def order(self, rater: str) -> list[str]:
        """The ids of the items in an order of the rater's own, which stays the same."""

        def place(id: str) -> str:
            return hashlib.sha256(f"{rater}\0{id}".encode()).hexdigest()

        return sorted(self.items, key=place)
