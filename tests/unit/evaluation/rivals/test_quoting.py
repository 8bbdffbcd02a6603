"""Outputs without the questions of the data, and with them again; that those which ship hold none."""

import lzma
import os
from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.paraphrases import quotable, read_pairs
from cgmh.evaluation.rivals.quoting import Sought, quote, unquote, words_of
from cgmh.evaluation.rivals.recorded import SHIPPED

DATA = [
    "who",
    "why is the sky so blue",
    "who",
    "what is the `` best '' way to go =3",
    "what is the best way",
    "is it so ?",
    "how do i start ?",
]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("who", "=0"),  # the first of equal ones
        ("what", "what"),
        ("who is it", "who is it"),  # too short to be told from what anybody writes
        ("why is the sky so blue", "=1"),
        ("so why is the sky so blue and red", "so =1 and red"),
        ("why is the sky , so blue", "=1:0-4 , so blue"),  # the same words
        ("why is the sky so green", "why is the sky so green"),
        ("what is the best way to go =3", "what is the best =3:6-10"),  # of two, the longer
        ("what is the best way out", "=4 out"),
        ("and how do i start", "and how do i start"),  # four words count by themselves
        ("well , how do i start", "well , =6:0-4"),
        ("what is =2 here", "what is ==2 here"),
        ("what is ==2:1-3", "what is ===2:1-3"),
        ("x = 2", "x = 2"),
        ("", ""),
        ("two  blanks", "two  blanks"),
    ],
)
def test_what_a_line_says_of_the_data_is_told_by_numbers(line: str, written: str) -> None:
    assert quote([line], DATA) == [written]
    assert unquote(written, lambda: DATA) == line


@pytest.mark.parametrize("written", ["=7", "and =123:0-1", "=1:2-7", "=1:3-3", "=1:4-2"])
def test_a_number_that_the_data_does_not_have(written: str) -> None:
    with pytest.raises(BadInput, match=r"=.*; it was written for other data"):
        unquote(written, lambda: DATA)


def test_sentences_are_found_by_their_words() -> None:
    sought = Sought(["He go to schol .", "three words only", "Don't go to that old school!", "he GO to schol"])
    assert len(sought) == 2
    assert list(sought.found_in("Yes: HE GO -- to schol.\nhe go to schol")) == [0, 0]
    assert list(sought.found_in("today he go to schol")) == []
    assert list(sought.found_in("today dont go to that old school again")) == [2]
    assert words_of("It's `so`_so") == ("its", "so", "so")


needs_data = pytest.mark.skipif(
    "CGMH_DATA" not in os.environ, reason="no data here: CGMH_DATA names the folder of `cgmh evaluate`"
)


@needs_data
def test_shipped_outputs_hold_no_question_of_the_data() -> None:
    folder = DataFolder(Path(os.environ["CGMH_DATA"]))
    files = (folder.file("quora-train"), folder.file("quora", "dev"), folder.file("quora", "test"))
    parts = {file.stem: read_pairs(file) for file in files}
    questions = {part: quotable(part, parts) for part in ("val", "test")}
    verbatim, sought = set(questions["test"]), Sought(questions["test"])
    outputs = sorted((SHIPPED / "paraphrase").glob("*.xz"))
    assert len(outputs) == 12
    for file in outputs:
        own = file.name.split(".")[-3]
        lines = lzma.decompress(file.read_bytes()).decode("utf-8").splitlines()
        assert len(lines) == len(parts[own])
        for number, line in enumerate(lines, start=1):
            assert line not in verbatim, f"{file.name}, line {number}"
            assert not list(sought.found_in(line)), f"{file.name}, line {number}"
            unquote(line, lambda own=own: questions[own])
