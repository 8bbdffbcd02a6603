"""The formats of an output, from the same records."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from cgmh import BadInput, CorrectInput, ParaphraseInput
from cgmh.jobs.outputs import check_carried, columns_of, output_format, publish, publish_errors
from cgmh.jobs.rows import Asked

OF_TEXT = Asked(ParaphraseInput(""), ParaphraseInput.defaults, carried=("label",))
TO_CORRECT = Asked(CorrectInput(""), CorrectInput.defaults)
ANSWERS = [{"text": "Ein, „Wort“\n", "nll_per_word": 1.5, "similarity": None}, {"text": "zwei", "overlap": 3.0}]
DONE: dict[str, Any] = {"row": 0, "id": "a", "carried": {"label": [1]}, "result": {"input": "in", "results": ANSWERS}}
FAILED: dict[str, Any] = {"error": "bad", "row": 1, "id": 1, "place": "in.txt, line 2", "text": "as it\nwas"}
BATCH: dict[str, Any] = {"row": 2, "id": "b", "batch": True, "result": {"input": "in", "results": []}}


def published(tmp_path: Path, format: str, asked: Asked, *records: dict[str, Any]) -> str:
    publish(records, tmp_path / "out", format, asked)
    return (tmp_path / "out").read_text(encoding="utf-8")


def test_json_has_an_object_for_each_row_that_is_done(tmp_path: Path) -> None:
    first, second = map(json.loads, published(tmp_path, "jsonl", OF_TEXT, DONE, FAILED, BATCH).splitlines())
    assert first == {"id": "a", "label": [1], "input": "in", "results": ANSWERS}
    body = {"input": "in", "results": []}
    response = {"status_code": 200, "body": body}
    assert second == {"id": "row-2", "custom_id": "b", "response": response, "error": None}


def test_tables_have_a_row_for_each_answer(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(published(tmp_path, "csv", OF_TEXT, DONE, FAILED), newline="")))
    assert [(row["id"], row["label"], row["rank"], row["text"]) for row in rows] == [
        ("a", "[1]", "1", "Ein, „Wort“\n"), ("a", "[1]", "2", "zwei"),
    ]  # fmt: skip
    assert (rows[0]["nll_per_word"], rows[0]["similarity"], rows[1]["overlap"]) == ("1.5", "", "3.0")
    assert tuple(rows[0]) == columns_of(OF_TEXT)


def test_parquet_has_the_rows_of_csv(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    publish([DONE, FAILED], tmp_path / "out", "parquet", OF_TEXT)
    rows = parquet.read_table(tmp_path / "out").to_pylist()
    assert [(row["id"], row["label"], row["rank"], row["nll_per_word"]) for row in rows] == [
        ("a", "[1]", 1, 1.5), ("a", "[1]", 2, None),
    ]  # fmt: skip


def test_a_text_that_could_not_be_corrected_keeps_its_line(tmp_path: Path) -> None:
    one = {**DONE, "result": {"results": ANSWERS[1:]}}
    assert published(tmp_path, "text", TO_CORRECT, one, FAILED, one) == "zwei\nas it was\nzwei\n"
    assert published(tmp_path, "text", OF_TEXT, one, FAILED) == "zwei\n"


def test_what_failed_is_listed_with_places_and_reasons(tmp_path: Path) -> None:
    path = tmp_path / "errors.jsonl"
    publish_errors([DONE, FAILED, {**FAILED, "row": 2, "id": "b", "batch": True}], path)
    first, second = map(json.loads, path.read_text().splitlines())
    assert first == {"row": 1, "id": 1, "place": "in.txt, line 2", "error": "bad"}
    assert (second["custom_id"], second["error"]["message"]) == ("b", "bad")
    publish_errors([DONE], path)
    assert not path.exists()


def test_names_that_cannot_be() -> None:
    assert [output_format(name) for name in ("a.jsonl", "b.CSV", "c.txt")] == ["jsonl", "csv", "text"]
    with pytest.raises(BadInput, match="`out` ends in one of"):
        output_format("a.xls")
    with pytest.raises(BadInput, match="`carry` text: the output has a text of its own"):
        check_carried(Asked(CorrectInput(""), CorrectInput.defaults, carried=("text",)))
