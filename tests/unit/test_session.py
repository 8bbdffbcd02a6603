"""A big target within a budget of readings: what is asked, where chains go on from, what an interruption leaves."""

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

import cgmh
from cgmh import KeywordInput, ParaphraseInput, Settings, session
from cgmh.api import solve_each
from cgmh.models.text.functions import FunctionModel
from cgmh.tasks import start
from posed import tiny
from two_stage_toys import likings

WORDS = ("the", "cat", "sat", "dog", "saw", "a", ".", "!")
SETS = [KeywordInput(("cat",), max_words=4), KeywordInput(("dog", "saw"), max_words=6), KeywordInput(("a|the",))]


@pytest.fixture(scope="module", autouse=True)
def _starts_settle_soon() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session, "SETTLING", 12)
        yield


class Counting:
    """A function of texts that remembers what it was asked about."""

    __name__ = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts: list[str]) -> list[float]:
        self.asked += texts
        return likings(texts)


def solved(inputs: list[Any], *constraints: Any, **settings: Any) -> tuple[list[cgmh.Result], list[str]]:
    """The results, and the texts that the big model was asked about."""
    big, settings = Counting(), {"n": 4, "chains": 9, "temperature": 1.0, **settings}
    results = list(
        cgmh.solve(inputs, Settings(**settings), model=tiny(*WORDS), big=FunctionModel(big), constraints=constraints)
    )
    return results, big.asked


@pytest.mark.parametrize("readings", [1, 2, 3, 10, 60, 200])
def test_a_budget_is_kept_and_spent(readings: int) -> None:
    """A sentence that two chains ask about in one call is asked about once, and counts for both."""
    (result,), asked = solved(SETS[:1], readings=readings)
    assert readings / 3 <= len(asked) <= readings
    assert result.signature.count(f" | chains 9 | readings {readings} | ") == 1
    if readings == 1:
        assert result.texts == asked


def test_what_is_shown_was_read_and_has_the_numbers_of_the_big_model() -> None:
    results, asked = solved(SETS, readings=50)
    for result in results:
        assert len(result) == 4
        for sentence, log_big in zip(result, likings(result.texts), strict=True):
            assert sentence.text in asked
            assert sentence.nll_per_word == pytest.approx(-log_big / (len(sentence.words) + 1))


def test_an_answer_within_a_budget_does_not_depend_on_its_neighbours() -> None:
    alone = [solved([input], readings=40)[0][0].to_dict() for input in SETS]
    for order in ([0, 1, 2], [2, 0, 1]):
        together, _ = solved([SETS[number] for number in order], readings=40)
        assert [result.to_dict() for result in together] == [alone[number] for number in order]


def test_of_steps_and_readings_what_ends_first_counts() -> None:
    few_steps, asked = solved(SETS[:1], steps=2, readings=200)
    assert 2 <= len(asked) <= 9 * 3  # nine chains at most, each with its start and two steps
    assert " | steps 2 | readings 200 | " in few_steps[0].signature
    few_readings, asked = solved(SETS[:1], steps=1000, readings=8)
    assert len(asked) <= 8
    assert few_readings[0].texts == solved(SETS[:1], readings=8)[0][0].texts


def test_steps_alone_are_counted_where_they_are_given_or_samples_are_wanted() -> None:
    for given in ({"steps": 5}, {"steps": 5, "select": "last"}, {"steps": 5, "temper": 2}):
        (result,), asked = solved(SETS[:1], **given)
        assert " | chains 9 | steps 5 | " in result.signature
        assert len(asked) > 4
    (result,), _ = solved(SETS[:1], select="last")
    assert " | steps 100 | " in result.signature


def test_a_chain_that_finds_nothing_to_read_ends() -> None:
    """One sentence is all that there is."""

    @cgmh.constraint(hard=True)
    def cat_alone(words: list[str]) -> bool:
        return words == ["cat", "."]

    (result,), asked = solved(SETS[:1], cat_alone, readings=20)
    assert (result.texts, set(asked)) == (["Cat."], {"Cat."})


def test_as_many_chains_go_on_as_have_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = []

    def noted(*arguments: Any) -> Any:
        numbers.append(arguments[-1])
        return start.promising_starts(*arguments)

    monkeypatch.setattr(session, "promising_starts", noted)
    for readings in (1, 3, 10, 50, 500):
        solved(SETS[:1], readings=readings)
    assert numbers == [1, 1, 1, 7, 9]


@pytest.mark.parametrize(("readings", "chains"), [(1, 1), (10, 3), (250, 15), (250, 8)])
def test_shares_add_up(readings: int, chains: int) -> None:
    shares = session._shares(readings, chains).tolist()
    assert sum(shares) == readings
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize(
    ("inputs", "settings", "message"),
    [
        ([ParaphraseInput("the cat sat.")], {"use": "target"}, "`readings` are counted for keywords only"),
        ([cgmh.CorrectInput("the cat sat.")], {"select": "best"}, "`readings` are counted for keywords only"),
        (SETS, {"use": "rerank"}, "`readings` are those of a big model as the target"),
        (SETS, {"select": "last"}, "`readings` cannot be counted beside `select` last"),
        (SETS, {"temper": 2}, "`readings` cannot be counted beside `temper`"),
        (SETS, {"anneal": True}, "`readings` cannot be counted beside `anneal`"),
    ],
)
def test_where_readings_cannot_be_counted(inputs: list[Any], settings: dict[str, Any], message: str) -> None:
    with pytest.raises(cgmh.BadInput, match=message):
        solved(inputs, readings=9, **settings)


def interrupting(after: int) -> FunctionModel:
    """A big model during whose later work a real SIGINT comes, once."""
    calls = iter(range(10**9))

    def likings_until(texts: list[str]) -> list[float]:
        if next(calls) == after:
            os.kill(os.getpid(), signal.SIGINT)
        return likings(texts)

    return FunctionModel(likings_until)


def test_an_interruption_raises_unless_what_was_found_is_wanted() -> None:
    settings, model = Settings(n=2, chains=9, readings=10**6), tiny(*WORDS)
    with pytest.raises(KeyboardInterrupt):
        list(cgmh.solve(SETS[:2], settings, model=model, big=interrupting(8)))
    outcomes = solve_each(SETS[:2], settings, model=model, big=interrupting(8), salvage=True)
    for found in (next(outcomes), next(outcomes)):
        assert isinstance(found, cgmh.Result)
        assert len(found) == 2
        assert " | interrupted | " in found.signature
    with pytest.raises(KeyboardInterrupt):
        next(outcomes)
