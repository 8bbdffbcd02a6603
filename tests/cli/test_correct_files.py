"""`cgmh correct` on files: what is no sentence stays without a complaint, and what is not edited stays to the byte."""

import io
import json
import sys
from pathlib import Path

import pytest

from cgmh.cli import main
from commands import Answer, run

QUICK = ("--chains", "2", "--steps", "12", "--quiet")
ESSAY = "Introduction\r\n\r\n1.\r\n* * *\nWe recieve it.\r\nThe ﬁrst oﬃce is here.\n\u00ad\n2.1 Results\rWe recieve it."


def _file(tmp_path: Path, data: bytes) -> str:
    (tmp_path / "essay.txt").write_bytes(data)
    return str(tmp_path / "essay.txt")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_an_essay_comes_back_as_it_was(start: str, end: str, tmp_path: Path) -> None:
    data = f"{start}{ESSAY}{end}".encode()
    wanted = Answer(0, f"{start}{ESSAY}{end}".replace("recieve", "receive"), "")
    assert run("correct", "--file", _file(tmp_path, data), *QUICK) == wanted
    assert run("correct", *QUICK, stdin=data) == wanted
    marked = run("correct", "--diff", *QUICK, stdin=data)
    assert marked.output == f"{start}{ESSAY}{end}".replace("recieve", "[-recieve-]{+receive+}")


def test_ends_of_lines_are_not_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream as Windows has it would write \\r\\r\\n."""
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="utf-8", newline="\r\n"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1.\r\n2.\n\nEnd"), encoding="utf-8"))
    with pytest.raises(SystemExit) as stop:
        main(["correct", *QUICK])
    sys.stdout.flush()
    assert (stop.value.code or 0, written.getvalue()) == (0, b"1.\r\n2.\n\nEnd")


def test_objects_of_lines_without_a_sentence() -> None:
    answer = run("correct", "--json", *QUICK, stdin=ESSAY.encode())
    assert (answer.code, answer.errors) == (0, "")
    records = [json.loads(line) for line in answer.output.splitlines()]
    texts = ESSAY.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [record["input"] for record in records] == texts
    assert [record["results"][0]["text"] for record in records] == [t.replace("recieve", "receive") for t in texts]
    assert [len(record["edits"]) for record in records] == [0, 0, 0, 0, 1, 0, 0, 0, 1]


def test_other_samples_of_such_lines_are_not_missed() -> None:
    answer = run("correct", *QUICK, "--n", "2", stdin=b"1.\n\nIntroduction")
    assert answer == Answer(0, "# 1.\n1.\n\n# \n\n\n# Introduction\nIntroduction\n", "")


def test_an_empty_argument_is_a_mistake() -> None:
    answer = run("correct", "", "1.", *QUICK)
    assert answer == Answer(2, "\n1.\n", "cgmh: text 1: is empty; give a sentence\n")


@pytest.mark.parametrize("command", ["correct", "paraphrase"])
def test_messages_name_the_file_and_the_line(command: str, tmp_path: Path) -> None:
    file = _file(tmp_path, b"no\x01 text here\nno \xff text\n")
    answer = run(command, "--file", file, *QUICK)
    assert answer.code == 2
    first, second = answer.errors.splitlines()
    assert first.startswith(f"cgmh: {file}, line 1: has control characters")
    assert second.startswith(f"cgmh: {file}, line 2: not UTF-8 (byte 4)")


def test_objects_name_the_line_alone(tmp_path: Path) -> None:
    file = _file(tmp_path, b"no\x01 text here\n")
    answer = run("correct", "--file", file, "--json", *QUICK)
    assert json.loads(answer.output)["error"] == "line 1: has control characters; remove them"


def test_marks_and_objects_exclude_each_other() -> None:
    answer = run("correct", "It is fine.", "--diff", "--json")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors == "cgmh: --diff marks the edits in the text, --json lists them; leave out one of the two\n"


M2 = """S the train was late .
A 0 1|||R:ORTH|||The|||REQUIRED|||-NONE-|||0

S hello\x01 there
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S 2.1 Results
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S It is fine .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S It was late .
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""


def test_m2_loses_no_line_but_blank_ones(tmp_path: Path) -> None:
    data = b"the train was late.\n\nhello\x01 there\n2.1 Results\nIt is fine. It was late.\n"
    answer = run("correct", "--file", _file(tmp_path, data), "--m2", "--threshold", "1", *QUICK)
    assert (answer.code, len(answer.errors.splitlines())) == (2, 1)
    assert answer.output == M2


@pytest.mark.parametrize(
    "option", [["--diff"], ["--json"], ["--n", "2"], ["--trace"], ["--trace-all"]], ids=lambda option: option[0]
)
def test_m2_stands_alone(option: list[str]) -> None:
    answer = run("correct", "It is fine.", "--m2", *option)
    assert (answer.code, answer.output) == (2, "")
    said = f"cgmh: --m2 prints tokens and edits alone; leave out {option[0]}, or --m2\n"
    assert answer.errors == said
