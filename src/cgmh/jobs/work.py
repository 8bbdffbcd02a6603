"""What a process does with rows: those that are asked alike run together, and each gets what it would get alone."""

import json
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from ..api import solve_each
from ..errors import BadInput, CgmhError, is_out_of_memory
from ..inputs import KeywordInput
from ..models.load import open_model
from ..result import Result
from ..session import Session
from .outputs import Record
from .rows import Asked, Raw, Row, id_of, is_batch_line, read_row
from .sources import Source


@dataclass(frozen=True)
class Work:
    """All that a process has to know of a job."""

    asked: Asked
    source: Source
    models: dict[str, Any]  # what was given as model, big and masked: names, so that every process can open them

    def open(self) -> None:
        """Open the models, and refuse options that contradict each other."""
        Session([self.asked.input], self.asked.settings, constraints=(), **self._models)

    @property
    def _models(self) -> dict[str, Any]:
        given = {name: self.models.get(name) for name in ("model", "big", "masked")}
        if self.asked.device == "cpu":
            return given
        given["model"] = _on_device(given["model"], self.asked.device)
        return given if given["big"] is None else {**given, "big": _on_device(given["big"], self.asked.device)}

    def lines(
        self,
        first: int,
        end: int,
        only: Iterable[int] | None = None,
        begins: Callable[[int], object] | None = None,
    ) -> list[tuple[int, bytes]]:
        """What becomes of the rows of a range, or only of some of them: their numbers and lines for a shard.

        With `begins`, one row is done after the other, and it hears before each which one comes.
        """
        wanted = None if only is None else set(only)
        found = [raw for raw in self.source.read(first, end, self.asked) if wanted is None or raw.number in wanted]
        outcomes: list[Record] = []
        if begins is None:
            for _, block in groupby(found, key=lambda raw: raw.number // self.asked.together):
                outcomes += self.outcomes(list(block))
        else:
            for raw in found:
                begins(raw.number)
                outcomes += self.outcomes([raw])
        return [(raw.number, as_line(record)) for raw, record in zip(found, outcomes, strict=True)]

    def outcomes(self, found: Sequence[Raw]) -> list[Record]:
        """What becomes of each row."""
        records: dict[int, Record] = {}
        alike: dict[Any, list[Row]] = {}
        for raw in found:
            try:
                row = read_row(raw, self.asked)
            except BadInput as error:
                records[raw.number] = failed(raw, self.asked, str(error))
            else:
                alike.setdefault((row.settings, *_apart(row)), []).append(row)
        by_number = {raw.number: raw for raw in found}
        for rows in alike.values():
            for row, outcome in zip(rows, self._solved(rows), strict=True):
                if isinstance(outcome, Result):
                    records[row.number] = done(row, outcome)
                else:
                    records[row.number] = failed(by_number[row.number], self.asked, str(outcome))
        return [records[raw.number] for raw in found]

    def _solved(self, rows: Sequence[Row]) -> list[Result | BadInput]:
        """The results of rows that are asked alike; where something fails that should not, each by itself."""
        inputs, seeds = [row.input for row in rows], [row.seed for row in rows]
        try:
            return list(solve_each(inputs, rows[0].settings, seeds=seeds, **self._models))
        except Exception as error:  # noqa: BLE001 - whatever it was, the other rows must not suffer
            if len(rows) > 1:
                return [outcome for row in rows for outcome in self._solved([row])]
            if isinstance(error, CgmhError):
                return [BadInput(str(error))]
            if is_out_of_memory(error):
                return [BadInput("not enough memory; take fewer `chains` or a smaller model")]
            _log(error)
            return [BadInput(f"it could not be answered because of an internal error ({type(error).__name__})")]


@lru_cache(maxsize=2)
def _on_device(name: str | None, device: str) -> Any:
    """A model that computes elsewhere than on the CPU; it stays open."""
    if not torch.cuda.is_available():
        raise BadInput(f"`device` {device}: this machine has no GPU that torch can use")
    return open_model(name, device)


def _apart(row: Row) -> tuple[Any, ...]:
    """What rows of one run must have in common, beside the settings: all but the text."""
    return (row.input.ordered,) if isinstance(row.input, KeywordInput) else (replace(row.input, text=""),)


def done(row: Row, result: Result) -> Record:
    """What becomes of a row that has a result."""
    carried = {"carried": row.carried} if row.carried else {}
    batch = {"batch": True} if row.is_batch else {}
    return {"row": row.number, "id": row.id, **carried, **batch, "result": result.to_dict()}


def failed(raw: Raw, asked: Asked, reason: str) -> Record:
    """What becomes of a row that has none; its error comes first, so that a shard can count such lines."""
    text = raw.fields.get(asked.worked_on[0])
    kept = {"text": text} if isinstance(text, str) and not asked.is_of_words else {}
    batch = {"batch": True} if is_batch_line(raw.fields) else {}
    return {"error": reason, "row": raw.number, "id": id_of(raw, asked), "place": raw.place, **kept, **batch}


def as_line(record: Record) -> bytes:
    """A record as a line of a shard: ASCII, whatever halves of characters a row had."""
    return json.dumps(record, allow_nan=False).encode() + b"\n"


def _log(error: Exception) -> None:
    """Where an error was."""
    places = traceback.extract_tb(error.__traceback__)[-4:]
    where = " < ".join(f"{place.name} {Path(place.filename).name}:{place.lineno}" for place in reversed(places))
    sys.stderr.write(f"cgmh: internal error {type(error).__name__} in {where}\n")
