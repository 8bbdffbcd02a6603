"""Constraints of one's own: what a function of the words may give, and what is said where it does not."""

import math
from typing import Any

import pytest
import torch

import cgmh
from cgmh.constraints import PythonConstraint, UserConstraint, constraint
from cgmh.errors import BadInput
from cgmh.laws import check_constraint
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary

LEXICON = Lexicon(Vocabulary([*SPECIALS, "a", "b", "."]))
IDS = {word: LEXICON.add(word) for word in ("a", "b", ".", "Zürich")}
LISTS = [["a", "b", "."], ["Zürich", "."], [], ["b", "b", "b", "b"]]
SENTENCES = Sentences.from_lists([[IDS[word] for word in words] for words in LISTS], 5, [0, 1, 0, 1])


@constraint(hard=True)
def short(words: list[str]) -> bool:
    return len(words) < 4


@cgmh.constraint(weight=-0.5)
def letters(words: list[str]) -> float:
    return float(len("".join(words)))


def test_a_function_becomes_a_constraint_of_its_name() -> None:
    assert isinstance(short, UserConstraint)
    assert (short.name, short.hard, letters.name, letters.hard, letters.weight) == (
        "short",
        True,
        "letters",
        False,
        -0.5,
    )
    assert short.bound(LEXICON).log_factor(SENTENCES).tolist() == [0.0, 0.0, 0.0, -math.inf]
    assert letters.bound(LEXICON).log_factor(SENTENCES).tolist() == [-1.5, -3.5, 0.0, -2.0]


def test_functions_see_words_and_each_sentence_once() -> None:
    ids = [IDS[word] for word in ("a", "Zürich", "b")]
    sentences = Sentences.from_lists([ids, ids[:1], ids[:1]], 5)
    asked = []

    def function(words: list[str]) -> float:
        asked.append(words)
        return float(len(words))

    soft = PythonConstraint("length", function, LEXICON, hard=False, weight=-0.5)
    assert soft.log_factor(sentences).tolist() == [-1.5, -0.5, -0.5]
    assert asked == [["a", "Zürich", "b"], ["a"]]  # a sentence that comes twice is asked about once
    hard = PythonConstraint("city", lambda words: "Zürich" in words, LEXICON, hard=True)
    assert hard.log_factor(sentences).tolist() == [0.0, -torch.inf, -torch.inf]


def test_the_function_can_still_be_called() -> None:
    assert short(["a"]) is True
    assert letters(["a", "bc"]) == 3.0


@pytest.mark.parametrize("own", [short, letters], ids=lambda own: own.name)
def test_laws(own: UserConstraint) -> None:
    check_constraint(own.bound(LEXICON), SENTENCES)


def test_laws_catch_a_function_that_is_not_pure() -> None:
    calls = iter(range(1000))
    with pytest.raises(AssertionError, match="same factor twice"):
        check_constraint(PythonConstraint("moody", lambda _: next(calls), LEXICON, hard=False), SENTENCES)


def test_what_a_classifier_gives_is_a_number_too() -> None:
    own = PythonConstraint("score", lambda words: torch.tensor(0.25 * len(words)), LEXICON, hard=False)
    assert own.log_factor(SENTENCES).tolist() == [0.75, 0.5, 0.0, 1.0]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_soft_factor_must_be_finite(value: float) -> None:
    own = PythonConstraint("endless", lambda _: value, LEXICON, hard=False)
    with pytest.raises(BadInput, match=r"constraint endless: gives \S+ for 'a b \.'; a soft one must be finite"):
        own.log_factor(SENTENCES)


def test_a_weight_may_not_make_it_infinite() -> None:
    with pytest.raises(BadInput, match="must be finite"):
        PythonConstraint("huge", lambda _: 1e300, LEXICON, hard=False, weight=1e300).log_factor(SENTENCES)


def _index(words: list[str]) -> float:
    return float(words[3] == "b")


@pytest.mark.parametrize("hard", [True, False])
def test_a_function_that_fails_is_named_with_the_sentence(hard: bool) -> None:
    with pytest.raises(BadInput, match=r"constraint index: fails on 'a b \.' \(IndexError") as caught:
        PythonConstraint("index", _index, LEXICON, hard=hard).log_factor(SENTENCES)
    assert isinstance(caught.value.__cause__, IndexError)


def test_a_soft_function_that_gives_no_number_is_refused() -> None:
    nothing: Any = lambda _: None  # noqa: E731
    with pytest.raises(BadInput, match="constraint silent: fails on"):
        PythonConstraint("silent", nothing, LEXICON, hard=False).log_factor(SENTENCES)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constraint(3), "constraint takes a function of the words, not 3"),  # type: ignore[call-overload]
        (lambda: constraint(weight="x"), "`weight` 'x' is not a number"),  # type: ignore[call-overload]
        (lambda: constraint(weight=math.nan), "`weight` nan is out of range"),
        (lambda: constraint(hard="yes"), "`hard` 'yes' is neither True nor False"),  # type: ignore[call-overload]
    ],
)
def test_what_makes_no_constraint_is_said(make: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        make()
