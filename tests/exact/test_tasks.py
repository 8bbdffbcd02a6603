"""The kernels that the tasks build, on the model class that ships: exact, and every allowed sentence can be reached."""

import pytest
import torch

from enumeration import violations
from posed import CASES, keywords
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
