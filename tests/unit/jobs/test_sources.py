"""Which files an input is, and which rows a range of rows means."""

import io
import sys
from pathlib import Path

import pytest

from cgmh import BadInput, KeywordInput
from cgmh.jobs.rows import Asked
from cgmh.jobs.sources import Source, file_of, found_files, kept_stdin

ASKED = Asked(KeywordInput(()), KeywordInput.defaults)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a.txt", "c.jsonl", "notes.md"):
        (tmp_path / name).write_text(f"{name} one\n{name} two\n")
    return tmp_path


def test_names_directories_and_patterns(folder: Path) -> None:
    def names(*given: str) -> list[str]:
        return [Path(path).name for path in found_files([str(folder / name) for name in given])]

    assert names("b.txt", "a.txt") == ["b.txt", "a.txt"]
    assert names("") == ["a.txt", "b.txt", "c.jsonl"]
    assert names("*.txt") == ["a.txt", "b.txt"]
    for given, said in ((["x.txt"], "no such file"), (["a.txt", "*.txt"], "is named twice")):
        with pytest.raises(BadInput, match=said):
            names(*given)


def test_a_directory_without_rows(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no file in it ends in"):
        found_files([str(tmp_path)])


def test_a_range_may_lie_in_several_files(folder: Path) -> None:
    files = [file_of(str(folder / name), "text") for name in ("a.txt", "notes.md", "b.txt")]
    for file in files:
        file.scan()
    source = Source(tuple(files))
    assert source.num_rows == 6
    rows = [(raw.number, raw.fields["keywords"], raw.place.rpartition("/")[2]) for raw in source.read(1, 5, ASKED)]
    assert rows == [
        (1, "a.txt two", "a.txt, line 2"), (2, "notes.md one", "notes.md, line 1"),
        (3, "notes.md two", "notes.md, line 2"), (4, "b.txt one", "b.txt, line 1"),
    ]  # fmt: skip


@pytest.mark.parametrize(("data", "format"), [(b' \n{"words": 1}\n', "jsonl"), (b"a b\n", "text"), (b"", "text")])
def test_stdin_is_kept_and_its_format_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, format: str
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    file = kept_stdin(tmp_path, None)
    assert (file.format, Path(file.path).read_bytes()) == (format, data)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert kept_stdin(tmp_path, "csv").format == "csv"
