"""Rows of lines and of CSV: all are found, also from the middle, and a bad one spoils no other."""

import csv
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh import BadInput, CorrectInput, KeywordInput
from cgmh.jobs import lines
from cgmh.jobs.lines import LineFile
from cgmh.jobs.rows import Asked, Raw

WORDS = Asked(KeywordInput(()), KeywordInput.defaults)
TEXT = Asked(CorrectInput(""), CorrectInput.defaults, carried=("label",))


def scanned(path: Path, format: str, data: bytes) -> LineFile:
    path.write_bytes(data)
    file = LineFile(str(path), format)
    file.scan()
    return file


def read(file: LineFile, asked: Asked = WORDS, first: int = 0, end: int = 10**9) -> list[Raw]:
    return list(file.read(first, end, asked))


def test_any_range_of_rows_is_found(tmp_path: Path) -> None:
    rows = [{"words": [f"w{number}"]} for number in range(300)]
    file = scanned(tmp_path / "in.jsonl", "jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    assert file.num_rows == 300
    for first, end in ((0, 300), (0, 1), (63, 65), (64, 64), (130, 200), (299, 300), (299, 400)):
        found = read(file, first=first, end=end)
        assert [raw.fields for raw in found] == rows[first:end]
        assert [raw.number for raw in found] == list(range(first, min(end, 300)))
        assert all(raw.place == f"{tmp_path}/in.jsonl, line {raw.number + 1}" for raw in found)


def test_bad_lines_are_told_and_the_others_read(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"words": ["a"]}\r\n{"words"\n["b"]\n\n\xff{"words": ["c"]}\n{"words": ["d"]}'
    found = read(scanned(tmp_path / "in.jsonl", "jsonl", data))
    assert [raw.fields for raw in found if not raw.error] == [{"words": ["a"]}, {"words": ["d"]}]
    assert [(raw.number, raw.error.partition(" (")[0]) for raw in found if raw.error] == [
        (1, "not JSON"), (2, 'not a JSON object; write {"keywords": ...}'), (4, "not UTF-8"),
    ]  # fmt: skip
    assert found[-1].place.endswith("line 6")


def test_a_line_without_an_end_is_no_matter_of_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_BYTES", 100)
    file = scanned(tmp_path / "in.txt", "text", b"a\n" + b"x" * 350 + b"\nb\n")
    assert [(raw.fields["keywords"][:1], raw.error[:11]) for raw in read(file)] == [
        ("a", ""), ("x", "longer than"), ("b", ""),
    ]  # fmt: skip


def test_blank_lines_are_kept_where_a_text_is_corrected(tmp_path: Path) -> None:
    file = scanned(tmp_path / "in.txt", "text", b"One.\n\n  \nTwo.\n")
    assert [raw.fields["text"] for raw in read(file, TEXT)] == ["One.", "", "  ", "Two."]
    assert [(raw.number, raw.fields["keywords"]) for raw in read(file)] == [(0, "One."), (3, "Two.")]


cells = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=6) | st.sampled_from(
    ['"', '5" a', "\n", ","]
)


@given(st.lists(st.tuples(cells, cells), max_size=150))
def test_csv_is_read_as_python_reads_it(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    path = tmp_path_factory.mktemp("csv") / "in.csv"
    with path.open("w", newline="", encoding="utf-8") as opened:
        csv.writer(opened, lineterminator="\n").writerows([("text", "label"), *rows])
    file = LineFile(str(path), "csv")
    file.scan()
    expected = [row for row in rows if row != ("", "")] if ("", "") in rows else rows
    for first in (0, 70):
        found = read(file, TEXT, first)
        assert not [raw for raw in found if raw.error]
        if first == 0:
            assert [(raw.fields["text"], raw.fields["label"]) for raw in found if any(raw.fields.values())] == expected


def test_csv_that_is_not_well_formed(tmp_path: Path) -> None:
    data = b'text,label\na 5" pipe,x\n"never closed,y\nlast,z\none cell\n'
    found = read(scanned(tmp_path / "in.csv", "csv", data), TEXT)
    assert [(raw.fields.get("text"), raw.error.partition(",")[0]) for raw in found] == [
        ('a 5" pipe', ""), (None, "longer than 4 MB"), ("last", ""), (None, "1 cells"),
    ]  # fmt: skip
    assert [raw.place[-1] for raw in found] == ["2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "has no header"), (b"text,text\n", "two columns have the same name"), (b"\xff\xfea\0", "is in UTF-16")],
)
def test_files_that_are_no_tables(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        scanned(tmp_path / "in.csv", "csv", data)


@pytest.mark.parametrize(
    ("before", "after", "is_known"),
    [(b"a\n", b"a\nb\n", True), (b"a\n", b"b\nb\n", False), (b"a", b"a\nb", True), (b"a", b"ab\n", False)],
)
def test_what_was_there_before_is_told_apart(tmp_path: Path, before: bytes, after: bytes, is_known: Any) -> None:
    (tmp_path / "in.txt").write_bytes(after)
    known = LineFile(str(tmp_path / "in.txt"), "text").scan(len(before))
    assert (known == sha256(before).hexdigest()) == is_known
