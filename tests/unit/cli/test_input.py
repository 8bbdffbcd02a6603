"""Lines from arguments, files and stdin, each with its place; and arguments that were probably meant otherwise."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cgmh.cli.input import Line, check_quoted, read_each, read_lines, wanted_lines
from cgmh.errors import BadInput


def given_stdin(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))


def lines_of(*arguments: str, file: str | None = None) -> list[Line]:
    return wanted_lines(arguments, file, what="sentences", example="cgmh score it")


def refused(*arguments: str, file: str | None = None) -> str:
    with pytest.raises(BadInput) as caught:
        lines_of(*arguments, file=file)
    return str(caught.value)


def test_arguments_are_lines_with_their_numbers() -> None:
    assert lines_of("it is", "") == [Line("sentence 1", "it is"), Line("sentence 2", "")]
    assert [line.is_blank for line in lines_of("it is", "", " \t")] == [False, True, True]


def test_a_file_and_stdin_are_read_alike(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = "\ufeffit is\r\n\nß".encode()  # a mark of the byte order is no part of the first line
    (tmp_path / "lines.txt").write_bytes(data)
    wanted = [
        Line("line 1", "it is", before="\ufeff", ending="\r\n"),
        Line("line 2", "", ending="\n"),
        Line("line 3", "ß", ending=""),
    ]
    file = str(tmp_path / "lines.txt")
    assert lines_of(file=file) == [replace(line, file=file) for line in wanted]
    assert [line.where for line in lines_of(file=file)] == [f"{file}, line {number}" for number in (1, 2, 3)]
    assert [line.where for line in wanted] == ["line 1", "line 2", "line 3"]
    for stdin in (None, "-"):
        given_stdin(monkeypatch, data)
        assert lines_of(file=stdin) == wanted


def test_a_line_that_is_not_utf8_spoils_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"it is\nno \xff text\nand so\n"
    given_stdin(monkeypatch, data)
    first, second, third = read_each(None)
    assert (first, third) == (Line("line 1", "it is"), Line("line 3", "and so"))
    assert (second.text, second.error) == ("no \ufffd text", "not UTF-8 (byte 4); convert the file first")
    file = tmp_path / "lines.txt"
    file.write_bytes(data)
    with pytest.raises(BadInput, match=rf"^{file}, line 2: not UTF-8 \(byte 4\)"):
        read_lines(str(file))
    given_stdin(monkeypatch, data)
    with pytest.raises(BadInput, match=r"^stdin, line 2: not UTF-8"):
        read_lines("-")


def test_what_cannot_be_read_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert refused("it", file="x") == "give sentences or --file, not both"
    assert f"{tmp_path / 'none'}: cannot be read (No such file or directory)" in refused(file=str(tmp_path / "none"))
    given_stdin(monkeypatch, b"\n \n")
    assert refused() == "no sentences: the input is empty"
    monkeypatch.setattr(sys, "stdin", None)
    assert refused() == "no sentences; try: cgmh score it"
    assert refused(file="-") == "stdin is closed; give the input as arguments or with --file"


def test_the_name_of_a_file_is_no_sentence(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.touch()
    with pytest.raises(BadInput, match=rf"is a file; to read texts from it: cgmh correct --file {file}$"):
        check_quoted([str(file)], command="correct", what="texts")
    for text in (str(tmp_path / "none.txt"), "x" * 5000, "a\0b"):  # no files
        check_quoted([text], command="correct", what="texts")


def test_a_sentence_without_quotes_is_noticed() -> None:
    with pytest.raises(BadInput, match='put quotes around a text: "he go home"'):
        check_quoted(["he", "go", "home"], command="correct", what="texts")
    check_quoted(["home"], command="correct", what="texts")
    check_quoted(["he", "go home"], command="correct", what="texts")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (bytes(range(256)) * 20, "is no text, but binary data"),
        (b"PK\x03\x04 \0\0 \xff\xfe", "is no text, but binary data"),
        ("snow\nrain\n".encode("utf-16"), "is in UTF-16; convert it to UTF-8 first"),
        ("Zürich\nKöln\n\nBonn\nMünchen\n".encode("latin-1"), "3 of its 4 lines are not UTF-8; convert the file first"),
    ],
)
def test_what_is_no_text_costs_one_message(data: bytes, message: str, tmp_path: Path) -> None:
    file = tmp_path / "lines"
    file.write_bytes(data)
    assert refused(file=str(file)) == f"{file}: {message}"


def test_a_stray_byte_spoils_its_line_only(monkeypatch: pytest.MonkeyPatch) -> None:
    given_stdin(monkeypatch, "Zürich\nKöln\nBonn\nUlm\n".encode("latin-1"))  # two of four
    assert [bool(line.error) for line in read_each(None)] == [True, True, False, False]
    given_stdin(monkeypatch, b"snow \0 rain\nsun\n")
    assert [line.text for line in read_each(None)] == ["snow \0 rain", "sun"]


def test_a_file_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cgmh.cli.input.MAX_BYTES", 1 << 20)
    with pytest.raises(BadInput, match="/dev/zero: has more than 1 MB; split it"):
        read_each("/dev/zero")
