"""The package as a library."""

import pytest
import torch

import cgmh
from cgmh.api import as_model
from cgmh.sampling import Constant, Kernel, sample
from cgmh.sampling.runs import run
from cgmh.tasks import KeywordInput, Keywords

SMALL = {"chains": 8, "steps": 20}


def test_keywords_returns_ranked_sentences() -> None:
    result = cgmh.keywords(["snow", "mountain"], n=3, **SMALL)
    assert len(result) == len(set(result.texts)) == 3
    assert result.best.text == result.texts[0] == str(next(iter(result)))
    assert result.to_dict()["results"][0]["words"] == list(result.best.words)
    assert set(result.acceptance) == {"replace", "insert", "delete", "swap"}


def test_a_string_is_not_a_list_of_keywords() -> None:
    with pytest.raises(cgmh.BadInput, match="list of words"):
        cgmh.keywords("snow")


@pytest.mark.parametrize(
    "wrong", [{"steps": 0}, {"chains": -1}, {"temperature": float("nan")}, {"n": 0}, {"select": "x"}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(cgmh.BadInput, match=next(iter(wrong))):
        cgmh.Settings(**wrong)  # type: ignore[arg-type]


def test_a_bad_input_among_many_stops_before_anything_is_sampled() -> None:
    inputs = [KeywordInput(("snow",)), KeywordInput(("river",), forbid=("river",))]
    results = cgmh.solve(Keywords(), inputs, cgmh.Settings(**SMALL))  # type: ignore[arg-type]
    with pytest.raises(cgmh.InfeasibleStart, match="input 2"):
        next(results)


def test_shards_run_the_same_chains_as_one_batch() -> None:
    model = as_model(None)
    problem = Keywords().pose([KeywordInput(("snow", "mountain"))], model, 64, 5)
    kernel = Kernel(problem.target, problem.proposal, window=1)
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
