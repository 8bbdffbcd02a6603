"""`cgmh rate` without its page: tables of what was clicked, and files that are none."""

import json
from pathlib import Path

import pytest

from cgmh.evaluation.ratings import Click, Ratings, read_items
from commands import run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    lines = [{"input": str(at), "outputs": {"old": f"a {at}", "new": f"b {at}"}} for at in range(6)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    ratings = Ratings(read_items([path]), ["score"], path.with_name("results.ratings.jsonl"))
    for item in ratings.items.values():
        ratings.add(Click("Ann", item.id, "score", 0.25 if item.text.startswith("a") else 1.0))
    return path


def test_the_tables(file: Path) -> None:
    answer = run("rate", str(file), "--report")
    assert answer.code == 0
    assert answer.output.splitlines()[1].split() == ["old", "0.25", "[0.25,", "0.25]"]
    assert "old – new: -0.750   p = 0.0312" in answer.output
    assert "needs two raters" in answer.output


def test_the_same_as_json(file: Path) -> None:
    record = json.loads(run("rate", str(file), "--report", "--json").output)
    assert record["means"]["new"]["score"]["mean"] == 1.0
    assert record["comparisons"][0]["p"] == 2 / 2**6


def test_other_questions_have_no_answers_yet(file: Path) -> None:
    assert "none yet" in run("rate", str(file), "--report", "--ask", "both").output


@pytest.mark.parametrize(
    ("text", "reason"), [("{}", "no object with a string"), ("", "no outputs"), ("\\xff", "no JSON")]
)
def test_what_is_no_file_of_outputs(tmp_path: Path, text: str, reason: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(text, encoding="utf-8")
    answer = run("rate", str(file), "--report")
    assert (answer.code, answer.output) == (2, "")
    assert reason in answer.errors


def test_a_file_that_is_not_there() -> None:
    answer = run("rate", "nowhere.jsonl")
    assert answer.code == 2
    assert "nowhere.jsonl" in answer.errors
