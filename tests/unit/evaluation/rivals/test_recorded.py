"""Rows from files."""

from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.experiment import run
from cgmh.evaluation.rivals.recorded import Recorded, read_recorded, shipped
from experiments import ITEMS, Writer, experiment


def key(item: str) -> str:
    return f"key {item}"


def texts(recorded: Recorded[str]) -> list[str | None]:
    return [answer.text if answer else None for answer in recorded.answer(ITEMS)]


def test_a_line_of_text_for_each_item(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("one\r\ntwo\n three \n\n")
    recorded = read_recorded("mine", file, ITEMS, key)
    assert texts(recorded) == ["one", "two", "three", ""]
    assert recorded.about == "recorded in mine.txt"
    file.write_text("one\n")
    with pytest.raises(BadInput, match="1 lines for 4 items"):
        read_recorded("mine", file, ITEMS, key)
    assert read_recorded("mine", file, ITEMS[:1], key).signature != recorded.signature


def test_lines_may_refer_to_sentences_of_the_data(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("=1\nis =1:0-1 it\nwho\n==0\n")
    assert texts(read_recorded("mine", file, ITEMS, key, quotable=lambda: ["who", "why not"])) == [
        "why not",
        "is why it",
        "who",
        "=0",
    ]
    assert texts(read_recorded("mine", file, ITEMS, key)) == file.read_text().splitlines()
    with pytest.raises(BadInput, match=r"mine\.txt, line 1: =1 is none of the 1 questions of the data"):
        read_recorded("mine", file, ITEMS, key, quotable=lambda: ["who"])


def test_the_data_is_read_only_where_lines_refer_to_it(tmp_path: Path) -> None:
    def missing() -> list[str]:
        raise BadInput("train.tsv: no such file")

    file = tmp_path / "mine.txt"
    file.write_text("x = 2\ntwo\nthree\n\n")
    assert texts(read_recorded("mine", file, ITEMS, key, quotable=missing))[0] == "x = 2"
    file.write_text("one\n=7\nthree\n\n")
    with pytest.raises(BadInput, match=r"mine\.txt, line 2: train\.tsv: no such file"):
        read_recorded("mine", file, ITEMS, key, quotable=missing)


def test_json_lines_may_leave_items_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"key": "key sea", "text": "s", "seconds": 2}\n\n{"key": "key lake", "text": "l"}\n')
    recorded = read_recorded("mine", file, ITEMS, key)
    assert texts(recorded) == [None, "l", "s", None]
    assert recorded.answers["key sea"].seconds == 2


def test_the_journal_of_another_run_is_such_a_file(tmp_path: Path) -> None:
    run(experiment(Writer("ours", "!", silent=("lake",))), tmp_path)
    recorded = read_recorded("mine", tmp_path / "answers" / "ours.jsonl", ITEMS, key)
    assert texts(recorded) == ["river!", None, "sea!", "pond!"]
    assert dict(recorded.answers["key sea"].details) == {"of": "sea"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("no JSON\n", "line 1: no object with `key` and `text`"),
        ('{"key": "key sea"}\n', "line 1: no object with `key` and `text`"),
        ('{"key": "key sea", "text": 3}\n', "`key` and `text` are strings"),
        ('{"key": "key sea", "text": "a"}\n{"key": "key sea", "text": "b"}\n', "line 2: a second output for 'key sea'"),
        ('{"key": "sea", "text": "a"}\n', "no `key` of its lines is one of this data, as 'key river' is"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(text)
    with pytest.raises(BadInput, match=told):
        read_recorded("mine", file, ITEMS, key)


def test_a_name_is_the_name_of_a_file_too(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("1\n2\n3\n4\n")
    with pytest.raises(BadInput, match="a system is named by letters"):
        read_recorded("../mine", tmp_path / "mine.txt", ITEMS, key)
    assert shipped("keywords", "nobody") is None
