"""Results as objects and as JSON."""

import json
import math
from dataclasses import replace

import pytest

from cgmh.result import Result, Score, Sentence, Step
from cgmh.text.edits import Edit

SENTENCE = Sentence("It is.", ("it", "is", "."), 1.23456, -9.87654)
RESULT = Result("is", (SENTENCE, replace(SENTENCE, text="It was.")), {"replace": 0.123456, "swap": None}, "line")


def test_a_result_is_its_sentences_the_best_one_first() -> None:
    assert RESULT.best is SENTENCE
    assert (len(RESULT), RESULT.texts) == (2, ["It is.", "It was."])
    assert [str(sentence) for sentence in RESULT] == RESULT.texts


def test_a_result_as_json_has_what_there_is_to_say() -> None:
    assert RESULT.to_dict() == {
        "input": "is",
        "results": [
            {"text": text, "words": ["it", "is", "."], "nll_per_word": 1.2346, "log_target": -9.8765}
            for text in ("It is.", "It was.")
        ],
        "acceptance": {"replace": 0.1235, "swap": None},
        "signature": "line",
    }
    edit = Edit(0, 2, "It", "He", "word", 0.5)
    more = replace(
        RESULT, effective_samples=3.14159, exchange_rates=(0.55555, None), notes={"protected": ["3"]}, edits=(edit,)
    ).to_dict()
    assert (more["effective_samples"], more["exchange_rates"]) == (3.14, [0.5555, None])
    assert more["protected"] == ["3"]
    assert (more["edits"], more["doubtful"]) == ([edit.to_dict()], [])
    assert replace(RESULT, edits=()).to_dict()["edits"] == []  # a correction that changed nothing says so


def test_figures_of_a_sentence_are_given_where_there_are_any() -> None:
    figures = {"log_big": -1.00004, "similarity": 0.5, "overlap": 0.0}
    record = replace(SENTENCE, **figures).to_dict()
    assert {name: record[name] for name in figures} == {"log_big": -1.0, "similarity": 0.5, "overlap": 0.0}
    assert not figures.keys() & SENTENCE.to_dict().keys()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_what_is_impossible_is_null(value: float) -> None:
    records = [
        replace(SENTENCE, nll_per_word=value, log_target=value).to_dict(),
        Step(0, "It is.", "replace", value, False).to_dict(),
        Score("It is.", (), value, value, ("is",)).to_dict(),
    ]
    names = [("nll_per_word", "log_target"), ("log_ratio",), ("log_prob", "perplexity")]
    for record, impossible in zip(records, names, strict=True):
        assert all(json.loads(json.dumps(record, allow_nan=False))[name] is None for name in impossible)


def test_weighted_samples_are_poor_if_they_are_worth_too_few() -> None:
    assert not RESULT.is_poor  # not weighted
    assert replace(RESULT, effective_samples=9.9).is_poor
    assert not replace(RESULT, effective_samples=10.0).is_poor
    many = replace(RESULT, sentences=(SENTENCE,) * 30, effective_samples=20.0)
    assert many.is_poor  # fewer than are shown


def test_the_way_back_from_json() -> None:
    edits = (Edit(0, 2, "It", "He", "word", 0.51),)
    figures = {"log_big": -1.0, "similarity": 0.5, "overlap": 0.0}
    results = [
        RESULT,
        replace(RESULT, edits=edits, doubtful=edits, notes={"protected": ["3"]}),
        replace(RESULT, edits=()),
        replace(
            RESULT, effective_samples=3.14, exchange_rates=(0.5, None), notes={"keywords": [], "max_overlap": 55.0}
        ),
        replace(RESULT, sentences=(replace(SENTENCE, **figures), replace(SENTENCE, nll_per_word=math.nan))),
    ]
    for result in results:
        record = result.to_dict()
        again = Result.from_dict(json.loads(json.dumps(record)))
        assert again.to_dict() == record
        assert (again.edits, again.doubtful, again.notes) == (result.edits, result.doubtful, result.notes)
        assert [edit.probability for edit in again.edits or ()] == [edit.probability for edit in result.edits or ()]
    assert math.isnan(again.sentences[1].nll_per_word)


def test_what_a_newer_version_says_beside_an_edit_does_not_matter() -> None:
    edit = Edit(0, 2, "It", "He", "word", 0.5)
    assert Edit[str].from_dict({**edit.to_dict(), "newer": 1}) == edit
