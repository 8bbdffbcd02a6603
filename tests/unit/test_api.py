"""The package as a library."""

from dataclasses import replace
from typing import Any

import pytest
import torch

import cgmh
from cgmh import CorrectInput, KeywordInput, ParaphraseInput, session
from cgmh.api import solve_each
from cgmh.models.load import Models, load_embedded
from cgmh.result import Result
from cgmh.sampling import Constant, Kernel, sample
from cgmh.sampling.runs import run
from cgmh.tasks import Keywords
from cgmh.text.sentences import MAX_HELD

SMALL: dict[str, Any] = {"chains": 8, "steps": 20}
FEW = cgmh.Settings(n=2, chains=4, steps=5)
BAD = KeywordInput(("river",), forbid=("river",))


def test_keywords_returns_ranked_sentences() -> None:
    result = cgmh.keywords(["snow", "mountain"], n=3, **SMALL)
    assert len(result) == len(set(result.texts)) == 3
    assert result.best.text == result.texts[0] == str(next(iter(result)))
    assert result.to_dict()["results"][0]["words"] == list(result.best.words)
    assert set(result.acceptance) == {"replace", "insert", "delete", "swap"}


@pytest.mark.parametrize("name", ["words", "forbid", "context"])
def test_a_string_is_not_a_list_of_strings(name: str) -> None:
    with pytest.raises(cgmh.BadInput, match=rf"`{name}` takes a list of strings: \['snow'\]"):
        cgmh.keywords(**{"words": ["river"], name: "snow"})


def test_a_bad_input_among_many_stops_before_anything_is_sampled() -> None:
    with pytest.raises(cgmh.InfeasibleStart, match="input 2: 'river' is both required and forbidden"):
        cgmh.solve([KeywordInput(("snow",)), BAD], FEW)


def test_a_bad_input_among_many_takes_nothing_from_the_others() -> None:
    outcomes = list(solve_each([KeywordInput(("snow",)), BAD, KeywordInput(("rain",))], FEW))
    assert [type(outcome) for outcome in outcomes] == [cgmh.Result, cgmh.InfeasibleStart, cgmh.Result]
    assert str(outcomes[1]) == "'river' is both required and forbidden; drop one of them"  # the caller says where
    good = list(cgmh.solve([KeywordInput(("snow",)), KeywordInput(("rain",))], FEW))
    assert [outcomes[0], outcomes[2]] == good


def test_the_type_of_the_inputs_tells_the_task() -> None:
    inputs = [KeywordInput(("snow",)), ParaphraseInput("what is it ?"), CorrectInput("It is.")]
    quick = {"chains": 2, "steps": 3}
    for input, name in zip(inputs, ("keywords", "paraphrase", "correct"), strict=True):
        settings = replace(type(input).defaults, **quick)
        (result,) = cgmh.solve([input], settings)
        assert f" | task {name} | " in result.signature
        assert (result.input, str(input)) == (str(input), result.input)
    with pytest.raises(cgmh.BadInput, match=r"inputs of one type, not CorrectInput, KeywordInput, ParaphraseInput"):
        cgmh.solve(inputs)
    with pytest.raises(cgmh.BadInput, match="inputs of type str have no task; give inputs of type KeywordInput"):
        cgmh.solve(["snow"])
    assert list(cgmh.solve([])) == list(solve_each([])) == []


def test_without_settings_those_of_the_task_are_taken() -> None:
    (result,) = cgmh.solve([CorrectInput("It is good.")])
    assert "chains 12 | steps 50 | temperature 1 | threshold 0.5" in result.signature
    (result,) = cgmh.solve([KeywordInput(("snow",))])
    assert "chains 32 | steps 100 | temperature 0.75 | select best" in result.signature


def test_one_run_takes_keywords_in_one_order() -> None:
    with pytest.raises(cgmh.BadInput, match="keywords in any order or in theirs, not both"):
        cgmh.solve([KeywordInput(("snow",)), KeywordInput(("rain",), ordered=True)], FEW)


def test_shards_run_the_same_chains_as_one_batch() -> None:
    models = Models(load_embedded())
    sources = Keywords().read(KeywordInput(("snow", "mountain")), models.words.vocabulary)
    problem = Keywords().pose(sources, models, 64, 5)
    kernel = Kernel(problem.target, problem.moves(problem.target.model), window=1)
    record = run(kernel, problem.start, 6, 5, Constant(1.3), torch.arange(64))
    with torch.inference_mode():
        *_, (_, state, _) = sample(kernel, problem.start, 6, 5, Constant(1.3))
    # Scores in a batch of another size may differ in the last digits, and then, rarely, a decision.
    same = [one == other for one, other in zip(record.final.to_lists(), state.sentences.to_lists(), strict=True)]
    assert sum(same) >= 62
    assert len(record.proposed) == int(record.steps["changed"].sum())


def test_score_agrees_with_the_sentence_of_a_result() -> None:
    best = cgmh.keywords(["river"], n=1, **SMALL).best
    (score,) = cgmh.score([best.text])
    assert score.log_prob == pytest.approx(-best.nll_per_word * (len(best.words) + 1), abs=1e-3)


def test_answers_come_in_the_order_of_the_inputs_whatever_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = [CorrectInput(text) for text in ("He go home every days .", "hi ther", "", "She have two cats .")]
    settings = replace(CorrectInput.defaults, chains=2, steps=4)

    def outcomes() -> list[tuple[str, str]]:
        found = solve_each(inputs, settings)
        return [("", str(each)) if isinstance(each, cgmh.BadInput) else (each.input, each.best.text) for each in found]

    together = outcomes()
    assert [input for input, _ in together] == [input.text for input in inputs]
    monkeypatch.setitem(MAX_HELD, "cpu", 12 * 10)  # one at a time, the shortest first
    monkeypatch.setattr(session, "READ_AHEAD", 3)
    assert outcomes() == together


def test_a_start_that_cannot_be_is_named_by_the_number_of_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SETTLING", 2)
    monkeypatch.setitem(MAX_HELD, "cpu", 12 * 10)
    inputs = [CorrectInput(text) for text in ("Many cats are here now .", "", "The dog .")]
    settings = replace(CorrectInput.defaults, chains=2, steps=1)
    rule = [cgmh.constraints.contains("cats")]
    first, second, third = solve_each(inputs, settings, constraints=rule)
    assert isinstance(first, Result)
    assert isinstance(second, Result)  # a blank line is no mistake
    assert isinstance(third, cgmh.InfeasibleStart)
    with pytest.raises(cgmh.InfeasibleStart, match=r"^input 3: no sentence was found that satisfies"):
        list(cgmh.solve(inputs, settings, constraints=rule))


@pytest.mark.parametrize(
    ("input", "most"),
    [
        (CorrectInput("a " * 50_001), "100,000"),
        (ParaphraseInput("a " * 5_001), "10,000"),
        (KeywordInput(("a|" * 5_001 + "a",)), "10,000"),
    ],
    ids=["correct", "paraphrase", "keywords"],
)
def test_an_input_that_nobody_typed_is_refused(input: object, most: str) -> None:
    with pytest.raises(cgmh.BadInput, match=f"^input 1: has 1[0-9,]* characters; at most {most} are read"):
        cgmh.solve([input])
    with pytest.raises(cgmh.BadInput, match=r"^sentence 2 has 10,001 characters"):
        list(cgmh.score(["Hello.", "+" * 10_001]))
