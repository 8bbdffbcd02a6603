"""A journal of a long run, written as it goes, so that an interrupted run is picked up where it stopped."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..files import parse_json


class Journal:
    """A file of JSON lines: what kind of run it is, then a record of each thing that was done, under its key."""

    def __init__(
        self,
        path: Path,
        run: Mapping[str, Any],
        *,
        resume: bool = False,
        advice: str = "leave out `resume`, or give the same",
    ) -> None:
        """Begin the file anew; or, to `resume`, read what is there, which must be a run of the same kind.

        `advice` says what to do where it is not.
        """
        self.path, self.advice = path, advice
        self.records: dict[str, dict[str, Any]] = {}
        head = json.loads(json.dumps({"run": run}))  # as it will be read back: lists for tuples
        if resume and path.exists() and self._read(head):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        self._write("w", head)

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        """Write down what came of one thing; it is on the disk when this returns."""
        line = {"key": key, **record}
        self._write("a", line)
        self.records[key] = json.loads(json.dumps(line))

    def _write(self, mode: str, line: Mapping[str, Any]) -> None:
        with self.path.open(mode, encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def _read(self, head: dict[str, Any]) -> bool:
        """Whether there is a run to go on with. A last line without an end was cut off, and is done again."""
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            return False
        try:
            first, *records = (parse_json(line) for line in whole.decode().split("\n")[:-1])
            self.records = {record["key"]: record for record in records}
            kind = dict(first["run"])
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{self.path}: not the record of a run ({error}); {self.advice}") from error
        if first != head:
            other = sorted(name for name in kind.keys() | head["run"].keys() if kind.get(name) != head["run"].get(name))
            raise BadInput(f"{self.path}: made with another {', '.join(other)}; {self.advice}")
        if len(whole) < len(text):
            self.path.write_bytes(whole)
        return True
