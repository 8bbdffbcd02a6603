"""The page that hands out texts to rate: blind, one at a time, and nothing is lost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cgmh.evaluation.ratings import Item, Ratings
from cgmh.serving.configuration import ServerSettings
from cgmh.serving.rating import build_rating_app

ITEMS = [
    Item("snow", "Snow fell.", ("secret-one",)),
    Item("snow", "It is snow.", ("secret-two",)),
    Item("river", "A river.", ("secret-one", "secret-two")),
]


class Rater:
    def __init__(self, client: Any, name: str) -> None:
        self._client, self.name = client, name

    def post(self, path: str, **fields: Any) -> Any:
        return self._client.post(path, content=json.dumps({"rater": self.name, **fields}))

    def next(self) -> Any:
        return self.post("/v1/ratings/next").json()

    def rate(self, score: float, question: str) -> Any:
        return self.post("/v1/ratings", item=self.next()["item"]["id"], question=question, score=score).json()


@pytest.fixture
def ratings(tmp_path: Path) -> Ratings:
    return Ratings(ITEMS, ["relevance", "fluency"], tmp_path / "clicks.jsonl")


@pytest.fixture
def client(ratings: Ratings) -> Iterator[Any]:
    with TestClient(build_rating_app(ratings, ServerSettings()), base_url="http://127.0.0.1") as found:
        yield found


def test_one_text_after_the_other_and_then_the_report(client: Any, ratings: Ratings) -> None:
    ann = Rater(client, "Ann")
    seen = []
    for number in range(3):
        standing = ann.next()
        assert (standing["done"], standing["total"]) == (number, 3)
        assert "secret" not in json.dumps(standing)
        seen.append(standing["item"]["text"])
        half = ann.rate(0.5, "relevance")
        assert half["item"]["id"] == standing["item"]["id"]  # until all is asked
        assert half["item"]["scores"] == {"relevance": 0.5, "fluency": None}
        ann.rate(1.0, "fluency")
        assert len(ratings.file.read_text().splitlines()) == 2 * (number + 1)
    assert sorted(seen) == sorted(item.text for item in ITEMS)
    end = ann.next()
    assert end["item"] is None
    assert end["report"]["means"]["secret-one"]["fluency"]["mean"] == 1.0
    bob = Rater(client, "Bob")
    assert bob.next()["done"] == 0


def test_a_text_is_rated_again(client: Any, ratings: Ratings) -> None:
    ann = Rater(client, " Ann ")
    first = ann.next()["item"]["id"]
    ann.rate(0.0, "relevance")
    ann.rate(0.0, "fluency")
    again = ann.post("/v1/ratings/again", item=ann.next()["before"]).json()
    assert again["item"]["id"] == first
    ann.post("/v1/ratings", item=first, question="fluency", score=1.0)
    assert ratings.clicks() == {("Ann", first, "relevance"): 0.0, ("Ann", first, "fluency"): 1.0}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"item": "none", "question": "fluency", "score": 1.0}, "item"),
        ({"item": ITEMS[0].id, "question": "beauty", "score": 1.0}, "question"),
        ({"item": ITEMS[0].id, "question": "fluency", "score": 0.3}, "score"),
        ({"item": ITEMS[0].id, "question": "fluency"}, "score"),
        ({"item": ITEMS[0].id, "question": "fluency", "score": 1.0, "rater": " "}, "rater"),
        ({"item": ITEMS[0].id, "question": "fluency", "score": 1.0, "rater": "x" * 61}, "rater"),
    ],
)
def test_what_is_no_click_is_refused_and_not_kept(
    client: Any, ratings: Ratings, fields: dict[str, Any], field: str
) -> None:
    refused = client.post("/v1/ratings", content=json.dumps({"rater": "Ann", **fields}))
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == field
    assert not ratings.file.exists()


def test_other_pages_may_not_click(client: Any, ratings: Ratings) -> None:
    body = json.dumps({"rater": "Ann", "item": ITEMS[0].id, "question": "fluency", "score": 1.0})
    for headers in ({"Origin": "https://example.org"}, {"Host": "example.org"}):
        assert client.post("/v1/ratings", content=body, headers=headers).status_code in (403, 421)
    assert not ratings.file.exists()
    assert client.get("/").status_code == 200
    assert client.get("/studio/rate.js").status_code == 200
    assert client.get("/elsewhere").status_code == 404
