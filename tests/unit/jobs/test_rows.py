"""What a row may say, and what is said about rows that cannot be worked on."""

from dataclasses import fields, replace
from inspect import signature
from typing import Any

import pytest

import cgmh
from cgmh import BadInput, CorrectInput, KeywordInput, ParaphraseInput, Settings
from cgmh.jobs.rows import Asked, Raw, read_row, row_seed, typed
from cgmh.serving.requests import CorrectRequest, KeywordsRequest, ParaphraseRequest, Request

OF_WORDS = Asked(KeywordInput((), inflect=True), replace(KeywordInput.defaults, seed=7, steps=9))
OF_TEXT = Asked(ParaphraseInput(""), ParaphraseInput.defaults, column="question", id_column="key", carried=("label",))
KINDS = {"keywords": KeywordInput, "paraphrase": ParaphraseInput, "correct": CorrectInput}
REQUESTS: dict[str, type[Request]] = {
    "keywords": KeywordsRequest,
    "paraphrase": ParaphraseRequest,
    "correct": CorrectRequest,
}


def raw(**found: Any) -> Raw:
    return Raw(3, "in.jsonl, line 4", found)


@pytest.mark.parametrize("task", KINDS)
def test_a_row_may_say_what_a_call_and_a_request_may(task: str) -> None:
    kind, request = KINDS[task], REQUESTS[task]
    named = {*kind.options, *kind.settings}
    assert named == set(request.model_fields) - {"big", request.one, request.many}
    call = set(signature(getattr(cgmh, task)).parameters)
    assert named == call - {"words", "text", "model", "big", "masked", "constraints"}
    assert set(kind.options) <= {field.name for field in fields(kind)}
    assert set(kind.settings) <= {field.name for field in fields(Settings)}


def test_what_a_row_does_not_say_the_job_does() -> None:
    row = read_row(raw(keywords=["snow", "the river"], forbid=["ice"], n=3, id="b"), OF_WORDS)
    assert row.input == KeywordInput(("snow", "the river"), inflect=True, forbid=("ice",))
    assert (row.settings.n, row.settings.steps, row.id) == (3, 9, "b")
    assert read_row(raw(words='snow "the river"'), OF_WORDS).input == KeywordInput(("snow", "the river"), inflect=True)


def test_the_seed_of_a_row_follows_from_the_job_and_the_id_alone() -> None:
    seeds = [read_row(raw(words=["snow"], **found), OF_WORDS).seed for found in ({"id": 5}, {"id": "5"}, {}, {"id": 6})]
    assert seeds == [row_seed(7, 5), row_seed(7, 5), row_seed(7, 3), row_seed(7, 6)]
    assert len({*seeds, row_seed(8, 5)}) == 4
    assert all(0 <= row_seed(job, id) < 2**62 for job in range(5) for id in range(50))
    assert read_row(raw(words=["snow"], seed=12), OF_WORDS).seed == 12


def test_columns_have_the_names_that_were_given() -> None:
    row = read_row(raw(question="Who are you?", key=9, label={"a": 1}, keep="you", steps=None), OF_TEXT)
    assert row.input == ParaphraseInput("Who are you?", keep=("you",))
    assert (row.id, row.carried) == (9, {"label": {"a": 1}})


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, "`keywords` or `words` is missing"),
        ({"keywords": ["a"], "words": ["b"]}, "give either"),
        ({"keywords": []}, "`keywords` is empty"),
        ({"keywords": 5}, "`keywords` takes a list"),
        ({"keywords": ["a"], "n": "three"}, "`n` 'three' is not a whole number"),
        ({"keywords": ["a"], "n": 0}, "`n` 0 is out of range"),
        ({"keywords": ["a"], "ordered": "yes"}, "`ordered` 'yes' is neither"),
        ({"keywords": ["a"], "forbidd": ["b"]}, "`forbidd`: no such field"),
        ({"keywords": ["a"], "threshold": 0.5}, "`threshold`: no such field"),
        ({"keywords": ["a"], "big": "gemma3-270m"}, "`big` is the same for all rows"),
        ({"keywords": ["a"], "id": [1]}, "`id` takes a string or a whole number"),
        ({"keywords": ["a"], "select": "none"}, "`select` none: choose one of"),
        ({"custom_id": "a", "body": {"keywords": ["a"]}, "url": "/v1/correct"}, "`url` '/v1/correct' is not of"),
        ({"custom_id": "a", "body": {"keywords": ["a"]}, "n": 1}, "put it into its body"),
    ],
)
def test_a_row_that_cannot_be_worked_on(found: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said.replace("[", r"\[")):
        read_row(raw(**found), OF_WORDS)


def test_a_line_of_a_batch_has_its_fields_in_the_body() -> None:
    line = {"custom_id": "r-1", "method": "POST", "url": "/v1/keywords", "body": {"words": ["snow"], "n": 2}}
    row = read_row(raw(**line), OF_WORDS)
    assert (row.id, row.is_batch, row.settings.n, row.seed) == ("r-1", True, 2, row_seed(7, "r-1"))


@pytest.mark.parametrize(
    ("name", "cell", "value"),
    [
        ("n", "3", 3), ("temperature", "0.5", 0.5), ("ordered", "true", True), ("n", " ", None),
        ("forbid", "ice, old snow", ["ice", "old snow"]), ("forbid", '["ice"]', ["ice"]), ("select", "last", "last"),
    ],
)  # fmt: skip
def test_cells_of_a_table(name: str, cell: str, value: Any) -> None:
    assert typed(name, cell) == value


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("text", "label"), "no column question among text, label; name it by `column`"),
        (("question",), "no column label among question"),
        (("question", "label", "key", "colour"), "`colour`: no such field"),
    ],
)
def test_columns_of_a_table_that_nobody_knows(names: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        OF_TEXT.check_columns(names)
    OF_TEXT.check_columns(("question", "label", "key", "n", "keep"))


def test_rows_that_run_together_depend_on_the_options_alone() -> None:
    together = {chains: replace(OF_WORDS, settings=Settings(chains=chains)).together for chains in (1, 64, 1000)}
    assert together == {1: 64, 64: 8, 1000: 1}
