"""What is rated, in which order, and that no click is lost."""

import json
from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.ratings import Click, Item, Ratings, read_items


def written(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_lines_of_every_kind(tmp_path: Path) -> None:
    ours = written(
        tmp_path / "ours.jsonl",
        {"input": "a", "results": [{"text": "A."}, {"text": "not the first"}], "signature": "cgmh"},
        {"input": "b", "error": "cannot be answered"},
    )
    more = written(
        tmp_path / "more.jsonl",
        {"input": "a", "system": "theirs", "text": "A."},
        {"input": "b", "outputs": {"theirs": "B.", "third": "BB."}, "group": "letters"},
    )
    assert read_items([ours, more]) == [
        Item("a", "A.", ("ours", "theirs")),
        Item("b", "B.", ("theirs",), "letters"),
        Item("b", "BB.", ("third",), "letters"),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 1: no JSON"),
        ("[]", "no object with a string `input`"),
        ('{"input": 3}', "no object with a string `input`"),
        ('{"input": "a"}', "neither `text`"),
        ('{"input": "a", "outputs": {"x": 3}}', "neither `text`"),
        ('{"input": "a", "text": "b"}\n{"input": "a", "text": "c"}', "line 2: a second output of file"),
        ('{"input": "a", "text": "b", "group": 3}', "`group` is one string"),
        ("", "no outputs to rate"),
    ],
)
def test_files_that_cannot_be_rated(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "file.jsonl"
    file.write_text(line, encoding="utf-8")
    with pytest.raises(BadInput, match=reason):
        read_items([file])


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    items = [Item("a", f"text {number}", (f"system {number % 2}",)) for number in range(30)]
    return Ratings(items, ["relevance", "fluency"], tmp_path / "clicks.jsonl")


def test_the_last_click_counts(ratings: Ratings) -> None:
    id = next(iter(ratings.items))
    for score in (0.25, 1.0):
        ratings.add(Click("Ann", id, "fluency", score))
    ratings.add(Click("Bob", id, "fluency", 0.5))
    assert ratings.clicks() == {("Ann", id, "fluency"): 1.0, ("Bob", id, "fluency"): 0.5}
    first = json.loads(ratings.file.read_text().splitlines()[0])
    assert (first["input"], first["text"], first["score"]) == ("a", "text 0", 0.25)
    assert "system" not in ratings.file.read_text()


@pytest.mark.parametrize("cut", [1, 20, 10**6])
def test_a_crash_in_the_middle_of_a_line_costs_that_click_alone(ratings: Ratings, cut: int) -> None:
    one, other = list(ratings.items)[:2]
    ratings.add(Click("Ann", one, "fluency", 0.5))
    whole = ratings.file.read_bytes()
    ratings.file.write_bytes(whole + whole[: min(cut, len(whole) - 1)])
    assert ratings.clicks() == {("Ann", one, "fluency"): 0.5}
    ratings.add(Click("Ann", other, "fluency", 1.0))
    assert ratings.clicks() == {("Ann", one, "fluency"): 0.5, ("Ann", other, "fluency"): 1.0}


def test_what_is_no_click_is_named(ratings: Ratings) -> None:
    ratings.file.write_text('{"rater": "Ann"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 1: no click"):
        ratings.clicks()


def test_clicks_of_another_study_are_left_out(ratings: Ratings) -> None:
    ratings.file.write_text(
        '{"rater": "Ann", "item": "elsewhere", "question": "fluency", "score": 1}\n', encoding="utf-8"
    )
    assert ratings.clicks() == {}


def test_each_rater_has_an_order_of_their_own_that_stays(ratings: Ratings) -> None:
    ann, bob = ratings.order("Ann"), ratings.order("Bob")
    assert sorted(ann) == sorted(bob) == sorted(ratings.items)
    assert ann != bob
    assert ann == ratings.order("Ann")
    assert ann != list(ratings.items)
