"""A run is looked at before its end, soon, and not all the time."""

from typing import Any

import pytest

from cgmh.result import Sentence
from cgmh.serving import early
from cgmh.serving.early import FIRST, SHARE, Early


def test_the_next_look_waits_for_what_the_last_one_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 10.0
    monkeypatch.setattr(early, "monotonic", lambda: now)
    looks = Early(lambda _: None)
    assert not looks.is_due(FIRST - 1)
    assert looks.is_due(FIRST)
    with looks.looking():
        now += 0.5
    assert not looks.is_due(FIRST + 1)
    now += 0.5 * SHARE - 0.01
    assert not looks.is_due(10**6)
    now += 0.02
    assert looks.is_due(FIRST + 2)


def test_what_is_told_says_whether_it_is_good() -> None:
    heard: list[list[dict[str, Any]]] = []
    Early(heard.append).tell([(Sentence("Snow fell.", ("Snow", "fell", "."), 2.0, -6.0), False)])
    assert [(each["text"], each["good"]) for each in heard[0]] == [("Snow fell.", False)]
