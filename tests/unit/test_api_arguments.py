"""Wrong arguments of the verbs, and failures in what a user brought along: one clear line that says what or whose."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import cgmh
from cgmh import CorrectInput, KeywordInput, Settings, session
from cgmh.api import solve_each
from cgmh.constraints import Claim, Constraint
from cgmh.errors import BadInput, BadModel, CgmhError
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences

QUICK: dict[str, Any] = {"chains": 2, "steps": 2}


@pytest.fixture(autouse=True)
def short_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the chains walk before they begin is short here."""
    monkeypatch.setattr(session, "SETTLING", 3)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (lambda: cgmh.keywords(["a", 3], **QUICK), "`words` takes a list of strings; 3 is none"),  # type: ignore[list-item]
        (lambda: cgmh.keywords(None, **QUICK), "`words` takes a list of strings, not None"),  # type: ignore[arg-type]
        (lambda: cgmh.keywords(["snow"], forbid=3), "`forbid` takes a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.keywords(["snow"], context=3), "`context` takes a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.keywords(["snow"], max_words="8"), "`max_words` '8' is not a whole number"),  # type: ignore[arg-type]
        (lambda: cgmh.keywords(["snow"], masked=7), "`masked` takes a name, a path or a masked language model, not 7"),  # type: ignore[arg-type]
        (lambda: cgmh.keywords(["snow"], constraints=3), "`constraints` takes a list of claims .* not 3"),  # type: ignore[arg-type]
        (
            lambda: cgmh.keywords(["snow"], constraints=[len]),
            "takes a list of claims .*; <built-in function len> is none",
        ),  # type: ignore[list-item]
        (lambda: cgmh.paraphrase("what is it ?", match=3), "`match` takes a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.correct("it is", protect=3), "`protect` takes a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.correct_all(Path("x")), "`inputs` takes a list of texts, not PosixPath"),  # type: ignore[arg-type]
        (lambda: list(cgmh.score([3])), "`texts` takes a list of strings; 3 is none"),  # type: ignore[list-item]
        (lambda: list(cgmh.score(3)), "`texts` takes a list of strings, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.solve(3), "`inputs` takes a list of inputs, not 3"),  # type: ignore[arg-type]
        (lambda: cgmh.solve([KeywordInput(("snow",))], "fast"), "`settings` takes Settings, not 'fast'"),  # type: ignore[arg-type]
        (lambda: cgmh.solve([KeywordInput(("snow",))], []), r"`settings` takes Settings, not \[\]"),  # type: ignore[arg-type]
    ],
)
def test_wrong_types_are_named(asked: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        asked()


def test_any_iterable_and_numpy_numbers_do() -> None:
    wanted = cgmh.keywords(["snow"], n=1, seed=8, **QUICK)
    words = (word for word in ["snow"])
    assert cgmh.keywords(words, n=1, seed=np.int64(8), **QUICK) == wanted  # type: ignore[arg-type]
    texts = ["It is.", "It was."]
    assert list(cgmh.score(iter(texts))) == list(cgmh.score(texts))  # type: ignore[arg-type]


class Failing:
    """A model of texts that fails in one way or another."""

    name = "mine"

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.log_prob = answer


def fails(_: object) -> float:
    raise KeyError("odd")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (fails, r"^mine of class Failing: fails on \d texts?, .+ first \(KeyError\('odd'\)\)$"),
        (
            lambda texts: [1.0] * len(texts),
            r"^mine of class Failing: gave \[1.0.*\] for \d texts; `log_prob` gives a tensor",
        ),
        (lambda _: torch.zeros(7), r"^mine of class Failing: gave a tensor \[7\] for \d texts"),
        (
            lambda texts: torch.full([len(texts)], torch.nan),
            r"^mine of class Failing: gave nan for .+; it must be a number",
        ),
    ],
)
@pytest.mark.parametrize("use", ["target", "rerank", "score"])
def test_a_model_that_fails_is_named(use: str, answer: Callable[[Sequence[str]], Any], message: str) -> None:
    def asked() -> object:
        if use == "score":
            return list(cgmh.score(["It is."], model=Failing(answer)))
        return cgmh.keywords(["snow"], n=1, big=Failing(answer), use=use, **QUICK)  # type: ignore[arg-type]

    with pytest.raises(BadModel, match=message) as caught:
        asked()
    assert isinstance(caught.value.__cause__, KeyError) == (answer is fails)


class Factor:
    """A constraint of a user's own."""

    name, hard = "taste", False

    def __init__(self, answer: Callable[[Sentences], Any]) -> None:
        self.log_factor = answer


class Own(Claim):
    """A claim of a user's own."""

    name = "own"

    def __init__(self, bind: Callable[[Lexicon], Any]) -> None:
        self._bind = bind

    def bound(self, lexicon: Lexicon) -> Constraint:
        return self._bind(lexicon)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("bind", "message"),
    [
        (fails, r"^constraint own of class Own: fails \(KeyError\('odd'\)\)$"),
        (lambda _: None, "takes a list of claims .*; None is none"),
        (lambda _: Factor(fails), r"^constraint taste of class Factor: fails \(KeyError\('odd'\)\)$"),
        (
            lambda _: Factor(lambda _: 3.0),
            r"^constraint taste of class Factor: gave 3.0 for 2 sentences; `log_factor` gives",
        ),
        (lambda _: Factor(lambda _: torch.zeros(1, 1)), r"gave a tensor \[1, 1\] for"),
    ],
)
def test_a_constraint_that_fails_is_named(bind: Callable[[Lexicon], Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        cgmh.keywords(["snow"], n=1, constraints=[Own(bind)], **QUICK)
    assert isinstance(caught.value.__cause__, KeyError) == ("odd" in message)


def test_memory_that_ran_out_in_a_constraint_is_not_its_fault() -> None:
    def exhausted(_: Sentences) -> Tensor:
        raise MemoryError

    with pytest.raises(MemoryError):
        cgmh.keywords(["snow"], n=1, constraints=[Own(lambda _: Factor(exhausted))], **QUICK)


@cgmh.constraint(hard=True)
def no_rain(words: list[str]) -> bool:
    return "rain" not in words


def test_an_input_without_a_start_takes_nothing_from_the_others() -> None:
    """What a user's own constraint makes impossible is found out only when the chains need a start."""
    sets = [KeywordInput((word,)) for word in ("snow", "rain", "sun")]
    settings = Settings(n=2, chains=4, steps=5)
    outcomes = list(solve_each(sets, settings, constraints=[no_rain]))
    assert [type(outcome) for outcome in outcomes] == [cgmh.Result, cgmh.InfeasibleStart, cgmh.Result]
    assert str(outcomes[1]) == "no sentence was found that satisfies no_rain; loosen it, or make it soft"
    good = list(cgmh.solve([sets[0], sets[2]], settings, constraints=[no_rain]))
    assert [outcomes[0], outcomes[2]] == good
    results = cgmh.solve(sets, settings, constraints=[no_rain])
    assert next(results) == good[0]
    with pytest.raises(cgmh.InfeasibleStart, match=r"^input 2: no sentence was found that satisfies no_rain"):
        next(results)


@cgmh.constraint(hard=True)
def brief(words: list[str]) -> bool:
    return len(words) < 10


def test_a_text_is_counted_once_however_many_sentences_it_has() -> None:
    long = "It is late. We like snow and we like rain and we like the sun and we like the wind. We go home."
    texts = [CorrectInput(text) for text in ("It is late. We go home.", long, "We like snow.")]
    settings = Settings(n=1, chains=2, steps=2, select="threshold")
    kinds = [type(outcome) for outcome in solve_each(texts, settings, constraints=[brief])]
    assert kinds == [cgmh.Result, cgmh.InfeasibleStart, cgmh.Result]
    with pytest.raises(CgmhError, match=r"^input 2: no sentence was found"):
        list(cgmh.solve(texts, settings, constraints=[brief]))
