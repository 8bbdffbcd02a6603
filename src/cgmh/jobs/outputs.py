"""What a job writes when its rows are done: one file in the format asked for, and one with the rows that failed."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from ..errors import BadInput
from .disk import saying_when_full, whole_file
from .lines import written
from .rows import Asked
from .sources import FORMATS
from .tables import parquet

Record = dict[str, Any]  # what became of a row: {"row", "id", "result", ...} or {"error", "row", "id", "place", ...}
FIGURES = ("nll_per_word", "log_target", "log_big")
FIGURES_OF = {"keywords": FIGURES, "paraphrase": (*FIGURES, "similarity", "overlap"), "correct": FIGURES}
RESERVED = frozenset(
    "id row custom_id response error input results edits doubtful acceptance effective_samples exchange_rates "
    "signature keywords protected rank text".split()
) | set(FIGURES_OF["paraphrase"])
ROWS_OF_GROUP = 10_000  # of a Parquet file


class Writer(Protocol):
    """Writes records in one format."""

    def write(self, record: Record) -> None: ...

    def close(self) -> None: ...


def output_format(path: str) -> str:
    """The format of an output; a name that tells none is refused."""
    format = FORMATS.get(Path(path).suffix.lower())
    if format is None:
        raise BadInput(f"{path}: `out` ends in one of {', '.join(FORMATS)}, which tells its format")
    return format


def check_carried(asked: Asked) -> None:
    """Refuse columns that an output has already."""
    for name in asked.carried:
        if name in RESERVED:
            raise BadInput(f"`carry` {name}: the output has a {name} of its own; rename the column first")


def publish(records: Iterable[Record], path: Path, format: str, asked: Asked) -> None:
    """Write the output as a whole; an output that is there is replaced in one step."""
    with saying_when_full(path.parent), whole_file(path) as file:
        writer = writer_of(format, file, asked)
        for record in records:
            writer.write(record)
        writer.close()


def publish_errors(records: Iterable[Record], path: Path) -> None:
    """Write the rows that failed, with their places and reasons; where there is none, no file."""
    failed = (record for record in records if "error" in record)
    first = next(failed, None)
    if first is None:
        path.unlink(missing_ok=True)
        return
    with saying_when_full(path.parent), whole_file(path) as file:
        file.write(_line(failure(first)))
        for record in failed:
            file.write(_line(failure(record)))


def failure(record: Record) -> Record:
    """A row that failed, for the file of errors; of OpenAI's batches as their error files have it."""
    if record.get("batch"):
        error = {"code": "invalid_row", "message": record["error"]}
        return {
            "custom_id": record["id"],
            "response": None,
            "error": error,
            "row": record["row"],
            "place": record["place"],
        }
    return {name: record[name] for name in ("row", "id", "place", "error")}


def writer_of(format: str, file: BinaryIO, asked: Asked) -> Writer:
    """What writes a format to a file."""
    if format == "parquet":
        return _ParquetWriter(file, asked)
    if format in ("csv", "tsv"):
        return _TableWriter(file, asked, "\t" if format == "tsv" else ",")
    return _TextWriter(file, asked) if format == "text" else _JsonWriter(file)


class _JsonWriter:
    """An object for each row."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write(self, record: Record) -> None:
        if "result" not in record:
            return
        if record.get("batch"):
            response = {"status_code": 200, "body": record["result"]}
            answer = {"id": f"row-{record['row']}", "custom_id": record["id"], "response": response, "error": None}
        else:
            answer = {"id": record["id"], **record.get("carried", {}), **record["result"]}
        self._file.write(_line(answer))

    def close(self) -> None:
        pass


class _TextWriter:
    """A line for each answer. A text to correct that failed stays as it was, so that no line is lost."""

    def __init__(self, file: BinaryIO, asked: Asked) -> None:
        self._file, self._keeps = file, asked.task == "correct"

    def write(self, record: Record) -> None:
        texts = [answer["text"] for answer in record["result"]["results"]] if "result" in record else []
        if "result" not in record and self._keeps:
            texts = [record.get("text", "")]
        self._file.write("".join(f"{' '.join(text.splitlines())}\n" for text in texts).encode("utf-8", "replace"))

    def close(self) -> None:
        pass


def answers_of(record: Record, asked: Asked) -> Iterator[Record]:
    """A row of a table for each answer, the best first."""
    if "result" not in record:
        return
    result = record["result"]
    for rank, answer in enumerate(result["results"], start=1):
        edits = {"edits": json.dumps(result["edits"], ensure_ascii=False)} if "edits" in result and rank == 1 else {}
        row = {"id": str(record["id"]), **record.get("carried", {}), "input": result["input"], "rank": rank}
        yield {**row, "text": answer["text"], **{name: answer.get(name) for name in FIGURES_OF[asked.task]}, **edits}


def columns_of(asked: Asked) -> tuple[str, ...]:
    edits = ("edits",) if asked.task == "correct" else ()
    return ("id", *asked.carried, "input", "rank", "text", *FIGURES_OF[asked.task], *edits)


class _TableWriter:
    """CSV: a row for each answer."""

    def __init__(self, file: BinaryIO, asked: Asked, delimiter: str) -> None:
        self._text, self._asked = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True), asked
        self._csv = csv.DictWriter(self._text, columns_of(asked), delimiter=delimiter, lineterminator="\n")
        self._csv.writeheader()

    def write(self, record: Record) -> None:
        for answer in answers_of(record, self._asked):
            self._csv.writerow({name: written(value) for name, value in answer.items()})

    def close(self) -> None:
        self._text.flush()
        self._text.detach()


class _ParquetWriter:
    """A row for each answer, as in CSV; what is taken along is text, if it was not numbers."""

    def __init__(self, file: BinaryIO, asked: Asked) -> None:
        import pyarrow as pa

        text, number = pa.string(), pa.float64()
        kinds = dict.fromkeys(FIGURES_OF[asked.task], number) | {"rank": pa.int32()}
        self._schema = pa.schema([(name, kinds.get(name, text)) for name in columns_of(asked)])
        self._table, self._asked, self._rows = pa.Table, asked, list[Record]()
        self._writer = parquet().ParquetWriter(file, self._schema)

    def write(self, record: Record) -> None:
        for answer in answers_of(record, self._asked):
            carried = {name: written(answer[name]) for name in self._asked.carried}
            self._rows.append({**answer, **carried})
        if len(self._rows) >= ROWS_OF_GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(self._table.from_pylist(self._rows, schema=self._schema))
            self._rows = []

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _line(record: Record) -> bytes:
    return json.dumps(record, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace") + b"\n"
