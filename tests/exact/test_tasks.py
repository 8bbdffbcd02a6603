"""The kernels that the tasks build, on the model class that ships: exact, and every allowed sentence can be reached."""

import random

import pytest
import torch

from cgmh.errors import BadInput
from cgmh.inputs import KeywordInput
from enumeration import violations
from posed import CASES, Case, keywords
from spaces import meets

torch.set_num_threads(1)


@pytest.mark.parametrize("name", CASES)
def test_exact(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    problem, target, states = case.posed(monkeypatch)
    assert len(states) > 1
    assert case.num_states in (None, len(states))
    assert set(states.inputs.tolist()) == set(range(len(case.inputs)))
    assert violations(problem.kernel(target), states, 1.0) == []


@pytest.mark.parametrize("beta", [0.5, 1.6])
@pytest.mark.parametrize(
    "name", ["keywords: alternatives of unequal length", "paraphrase: the casing of a name", "correct: an unknown name"]
)
def test_exact_at_any_temperature(name: str, beta: float, monkeypatch: pytest.MonkeyPatch) -> None:
    problem, target, states = CASES[name].posed(monkeypatch)
    assert violations(problem.kernel(target), states, beta) == []


@pytest.mark.parametrize("seed", range(8))
def test_random_keywords(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first space of a fair size that a seed leads to."""
    chance = random.Random(seed)

    def keyword() -> str:
        words = ["cat", "cat", "dog", "Cat", "zzz", "yyy"]
        return "|".join(
            " ".join(chance.choices(words, k=chance.choice([1, 1, 1, 2, 2, 3])))
            for _ in range(chance.choice([1, 2, 3]))
        )

    while True:
        most = chance.choice([1, 2, 3])
        asked = KeywordInput(
            tuple(keyword() for _ in range(chance.choice([1, 1, 2, 3]))),
            ordered=chance.random() < 0.3,
            min_words=chance.choice([0, most, most - 1]),
            max_words=most,
        )
        case = Case([asked], ("cat", "Cat", "dog", "."), room=1)
        try:
            problem, target, states = case.posed(monkeypatch)
        except BadInput:
            continue
        if problem.start.capacity < 8 and 20 < len(states) < 120:
            break
    assert violations(problem.kernel(target), states, 1.0) == [], asked


def test_the_space_is_what_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the words of the sentences alone: a keyword's alternatives, at most three words, a full stop at the end."""
    problem, _, states = keywords("cat|the sat", "zzz", max_words=3, room=0).posed(monkeypatch)
    asked = [[[{"cat"}], [{"the"}, {"sat"}]], [[{"zzz"}]]]
    listed = {tuple(problem.lexicon.words(ids)) for ids in states.to_lists()}
    by_hand = {
        words
        for words in _all(["the", "cat", "sat", "zzz", "."], 4)
        if words[-1] == "." and sum(word != "." for word in words) <= 3 and meets(words, asked)  # type: ignore[arg-type]
    }
    assert listed == by_hand


def _all(words: list[str], longest: int) -> list[tuple[str, ...]]:
    listed: list[tuple[str, ...]] = [()]
    for _ in range(longest):
        listed += {(*some, word) for some in listed for word in words} - set(listed)
    return [some for some in listed if some]
