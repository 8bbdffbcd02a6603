"""A big model beside the embedded one: it ranks, it weights, or it is the target. Here a function that likes a word."""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

import cgmh
from cgmh import KeywordInput, Result, session
from cgmh.models.load import load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.settings import CONTEXT

KEYWORDS = ["river"]
SMALL = {"chains": 12, "steps": 30, "temperature": 1.0, "seed": 1}
TINY = {"chains": 4, "steps": 20}
USES = ["rerank", "resample", "target"]

Function = Callable[[list[str]], list[float]]


@pytest.fixture(scope="module", autouse=True)
def _starts_settle_soon() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "SETTLING", 10)
        patch.setattr("cgmh.tasks.keywords.starts.MAX_SEARCHES", 0)  # short sentences, of which half have "the"
        yield


def likes(bonus: float, word: str = "the") -> Function:
    """The embedded model's log probability, and something for a word that about half of its sentences have."""

    def likes_it(texts: list[str]) -> list[float]:
        return [score.log_prob + bonus * (word in map(str.lower, score.words)) for score in cgmh.score(texts)]

    return likes_it


@cache
def run(bonus: float | None, use: Any = "rerank", select: Any = "best") -> Result:
    settings = {**SMALL, "steps": 60 if use == "target" else 30}
    big = likes(bonus) if bonus else None
    return cgmh.keywords(KEYWORDS, 16, big=big, use=use if big else None, select=select, **settings)


def share(result: Result, first: int = 1000, word: str = "the") -> float:
    sentences = result.sentences[:first]
    return sum(word in map(str.lower, sentence.words) for sentence in sentences) / len(sentences)


@pytest.mark.parametrize("use", USES)
def test_keywords_are_there_whatever_the_big_model_likes(use: str) -> None:
    result = cgmh.keywords(["snow", "Zürich"], big=lambda texts: [-float(len(text)) for text in texts], use=use, **TINY)
    assert len(result) == len(set(result.texts)) == 5
    assert all("Zürich" in sentence.words and share(result, word="snow") == 1 for sentence in result)


def test_rerank_puts_what_it_likes_first() -> None:
    assert share(run(40.0), 5) == 1
    assert share(run(-40.0), 5) == 0


def test_target_makes_what_it_likes_frequent() -> None:
    """Final states are samples: nothing was chosen."""
    often, rarely = (share(run(bonus, "target", "last")) for bonus in (10.0, -10.0))
    assert rarely + 0.3 < often
    assert 0.2 < share(run(None, select="last")) < 0.9


def test_resample_draws_by_weight_and_says_what_that_is_worth() -> None:
    """Where the weights are 1 and almost 0, the samples are worth as many as have the 1: together, all that there are.

    Those are 12 chains at 16 times; a chain that has not moved yet is nowhere.
    """
    results = run(10.0, "resample"), run(-10.0, "resample")
    assert [share(result, 5) for result in results] == [1, 0]
    sizes = [result.effective_samples or 0 for result in results]
    assert sum(sizes) == pytest.approx(round(sum(sizes)), abs=0.1)
    assert 150 < sum(sizes) < 192.1
    assert min(sizes) > 20
    for result, size in zip(results, sizes, strict=True):
        assert result.to_dict()["effective_samples"] == round(size, 2)
        assert not result.is_poor


def test_weights_are_at_the_temperature_of_the_run() -> None:
    """Of samples with the word and others, w and 1 are the weights: what they are worth tells w."""
    cool = {**SMALL, "temperature": 0.5}
    having, others, all_of_them = (
        cgmh.keywords(KEYWORDS, big=likes(bonus), use="resample", **cool).effective_samples or 0
        for bonus in (12.0, -12.0, 1.0)
    )

    def worth(weight: float) -> float:
        return (weight * having + others) ** 2 / (weight**2 * having + others)

    assert all_of_them == pytest.approx(worth(math.exp(1.0 / 0.5)), rel=0.01)
    assert all_of_them != pytest.approx(worth(math.exp(1.0)), rel=0.05)


def test_models_that_agree_lose_no_sample_and_one_that_insists_loses_most() -> None:
    alike = cgmh.keywords(KEYWORDS, big=likes(0.0), use="resample", **SMALL)
    assert alike.effective_samples is not None
    assert 150 < alike.effective_samples < 192.1

    def longest(texts: list[str]) -> list[float]:
        return [30.0 * len(text) for text in texts]

    stubborn = cgmh.keywords(KEYWORDS, big=longest, use="resample", **SMALL)
    assert stubborn.effective_samples is not None
    assert 1 <= stubborn.effective_samples < 50
    assert stubborn.is_poor == (stubborn.effective_samples < 10)


@pytest.mark.parametrize("use", USES)
def test_the_signature_names_the_big_model_and_what_it_did(use: str) -> None:
    signature = cgmh.keywords(KEYWORDS, big=likes(1.0), use=use, **TINY).signature
    assert f" | {use} likes_it" in signature
    assert f" | model {load_embedded().name} | " in signature
    assert " | steps 20 | " in signature
    assert "\n" not in signature
    assert "likes" not in run(None, select="last").signature


def test_the_big_log_probability_is_given_where_it_ranked_or_weighted() -> None:
    for result, bonus in ((run(40.0), 40.0), (run(10.0, "resample"), 10.0)):
        wanted = likes(bonus)(result.texts)
        for sentence, log_big, own in zip(result, wanted, cgmh.score(result.texts), strict=True):
            assert sentence.log_big == pytest.approx(log_big, abs=1e-3)
            assert sentence.nll_per_word == pytest.approx(-own.log_prob / (len(sentence.words) + 1), abs=1e-3)
            assert sentence.to_dict()["log_big"] == round(sentence.log_big or 0, 4)
    for result in (run(None, select="last"), run(10.0, "target", "last")):
        assert all(sentence.log_big is None and "log_big" not in sentence.to_dict() for sentence in result)
        assert result.effective_samples is None
        assert "effective_samples" not in result.to_dict()


def test_as_target_the_numbers_are_those_of_the_big_model() -> None:
    result = run(10.0, "target", "last")
    for sentence, log_big in zip(result, likes(10.0)(result.texts), strict=True):
        assert sentence.nll_per_word == pytest.approx(-log_big / (len(sentence.words) + 1), abs=1e-3)
        assert sentence.log_target == pytest.approx(log_big, abs=1e-3)


def test_a_model_of_texts_is_a_big_one_as_target() -> None:
    one = cgmh.keywords(KEYWORDS, model=likes(10.0), **TINY)
    other = cgmh.keywords(KEYWORDS, big=likes(10.0), use="target", **TINY)
    assert one == other
    assert [sentence.log_big for sentence in one] == [None] * len(one)
    assert one.texts != cgmh.keywords(KEYWORDS, big=likes(-10.0), use="target", **TINY).texts


def test_an_answer_repeats_and_does_not_depend_on_its_neighbours() -> None:
    inputs = [KeywordInput(("snow",)), KeywordInput(tuple(KEYWORDS))]
    settings = cgmh.Settings(n=16, use="rerank", **SMALL)  # type: ignore[arg-type]
    first, second = cgmh.solve(inputs, settings, big=likes(40.0))
    assert share(first, word="snow") == share(second, 5) == 1
    # Scores in a larger batch may differ in the last digits, and then, rarely, a decision.
    assert len(set(second.texts) & set(run(40.0).texts)) >= 10
    assert cgmh.keywords(KEYWORDS, big=likes(40.0), **TINY) == cgmh.keywords(KEYWORDS, big=likes(40.0), **TINY)


def test_the_big_model_reads_natural_texts() -> None:
    seen: list[str] = []

    def reader(texts: list[str]) -> list[float]:
        seen.extend(texts)
        return [-float(len(text)) for text in texts]

    for use in USES:
        cgmh.keywords(["Anna's", "dog"], big=reader, use=use, **TINY)
    assert len(seen) > 10
    assert all(text[0].upper() == text[0] and text[-1] in ".!?" and " ." not in text for text in seen)
    assert all("Anna's" in text for text in seen)


class Reader:
    """A model that can read lines before a text."""

    name = "reader"

    def __init__(self, told: list[tuple[str, ...]], lines: Sequence[str] = ()) -> None:
        self.told, self.lines = told, tuple(lines)

    def after(self, context: Sequence[str]) -> "Reader":
        self.told.append(tuple(context))
        return Reader(self.told, context)

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor(likes(40.0 if self.lines else -40.0)(list(texts)), dtype=torch.float64)


def test_the_context_goes_to_a_model_that_reads_one() -> None:
    told: list[tuple[str, ...]] = []
    result = cgmh.keywords(KEYWORDS, big=Reader(told), context=["Some", "lines"], **TINY)
    assert told == [("Some", "lines")]
    assert share(result, 1) == 1
    assert share(cgmh.keywords(KEYWORDS, big=Reader(told), context=(), **TINY), 1) == 0
    assert len(told) == 1


@pytest.mark.parametrize("use", USES)
def test_the_usual_context(use: Any) -> None:
    told: list[tuple[str, ...]] = []
    cgmh.keywords(KEYWORDS, big=Reader(told), use=use, **TINY)
    assert told == [CONTEXT]


def test_replicas_and_annealing_with_a_big_target() -> None:
    tempered = cgmh.keywords(KEYWORDS, big=likes(1.0), use="target", temper=2, **TINY)
    assert len(tempered.exchange_rates) == 1
    annealed = cgmh.keywords(KEYWORDS, big=likes(1.0), use="target", anneal=True, **TINY)
    assert "anneal" in annealed.signature


def test_results_are_json() -> None:
    for result in (run(40.0), run(10.0, "resample"), run(10.0, "target", "last")):
        json.dumps(result.to_dict(), allow_nan=False)


def test_score_with_a_function() -> None:
    (score,) = cgmh.score(["The car is green."], model=lambda texts: [-float(len(text)) for text in texts])
    assert score.log_prob == -17
    assert score.perplexity == pytest.approx(math.exp(17 / 6))


def test_texts_that_the_big_model_thinks_impossible() -> None:
    def picky(texts: list[str]) -> list[float]:
        return [-math.inf if len(text) % 2 else -float(len(text)) for text in texts]

    for use in USES:
        result = cgmh.keywords(KEYWORDS, 16, big=picky, use=use, **TINY)
        json.dumps(result.to_dict(), allow_nan=False)
        assert all(len(text) % 2 == 0 for text in result.texts[: 16 if use == "resample" else 1])
    (score,) = cgmh.score(["odd"], model=picky)
    assert json.dumps(score.to_dict(), allow_nan=False)
    (score,) = cgmh.score(["odd"], model=wrong(-5000.0))
    assert score.perplexity == math.inf


def wrong(numbers: float) -> Function:
    return lambda texts: [numbers for _ in texts]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"big": "en", "use": "target"}, cgmh.BadInput, "is a word model and cannot be `big`; give it as `model`"),
        ({"select": "last", "use": "rerank"}, cgmh.BadInput, "`use` rerank chooses by itself; leave out `select` last"),
        ({"select": "consensus", "use": "resample"}, cgmh.BadInput, "`use` resample chooses by itself"),
        ({"anneal": True, "use": "resample"}, cgmh.BadInput, "`anneal` searches and gives no samples"),
        ({"anneal": True, "use": "target", "select": "last"}, cgmh.BadInput, "`anneal` searches"),
        ({"use": "judge"}, cgmh.BadInput, "`use` judge: choose one of rerank, target, resample"),
        ({"model": wrong(0.0)}, cgmh.BadInput, "is a big model already; leave out `big`"),
        *(({"big": wrong(math.nan), "use": use}, cgmh.BadModel, "gave nan for") for use in USES),
        ({"big": lambda _: [0.0, 1.0]}, cgmh.BadModel, "gave 2 numbers for"),
        ({"big": wrong(-math.inf), "use": "resample"}, cgmh.BadModel, "thinks every sample impossible"),
        ({"context": "Plain English."}, cgmh.BadInput, "`context` takes a list of strings"),
        ({"big": "nothing-of-that-name"}, cgmh.BadModel, "no such model"),
    ],
)  # fmt: skip
def test_what_cannot_be(settings: dict[str, Any], error: type[Exception], message: str) -> None:
    settings = {"big": wrong(-1.0), **TINY, **settings}
    with pytest.raises(error, match=message) as caught:
        cgmh.keywords(KEYWORDS, **settings)
    assert "\n" not in str(caught.value)


def test_the_embedded_model_is_no_big_one() -> None:
    with pytest.raises(cgmh.BadInput, match="is a word model and cannot be `big`; give it as `model`"):
        cgmh.keywords(KEYWORDS, big=load_embedded())


def test_a_named_function() -> None:
    result = cgmh.keywords(["snow"], big=FunctionModel(wrong(-1.0), "mine-2"), **TINY)
    assert "target mine-2" in result.signature
