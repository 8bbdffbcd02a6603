"""Chains on their way: curves put together from what was recorded, and the paper's kernel on a problem."""

import numpy as np
import pytest
import torch

from cgmh.evaluation import walks
from cgmh.evaluation.walks import Start, Walker, curve, distance, is_read
from cgmh.inputs import KeywordInput, ParaphraseInput
from cgmh.models.load import Models, load_models
from cgmh.sampling.runs import Record
from cgmh.text.sentences import Sentences


@pytest.fixture(scope="module")
def models() -> Models:
    return load_models()


def test_a_curve_keeps_its_value_between_changes() -> None:
    proposed = Sentences.from_lists([[5], [6], [7]], 3, torch.tensor([0, 0, 1]))
    steps = {"chain": torch.tensor([0, 1, 0]), "step": torch.tensor([1, 0, 3])}
    record = Record(proposed, steps, proposed, {}, torch.zeros(2, 2, 4))
    values = curve(record, 4, 2, np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30]))
    assert values.tolist() == [[1, 1, 10, 10, 10], [2, 20, 20, 20, 20], [3, 3, 3, 3, 30], [4, 4, 4, 4, 4]]


def test_distance_in_words() -> None:
    assert distance([1, 2, 3], [1, 2, 3]) == 0
    assert distance([1, 2, 3], [2, 3, 4]) == 2
    assert distance([], [1, 2]) == distance([1, 2], []) == 2


@pytest.mark.parametrize("name", ["ours", "paper"])
def test_what_chains_did(models: Models, name: str) -> None:
    start = Start("keywords", "1", KeywordInput(("river",), start="river ."), 6)
    (answer,) = Walker(name, models, chains=2).answer([start])
    proposed, accepted = answer.details["proposed"], answer.details["accepted"]
    assert sum(proposed) <= 12  # ours has moves of other kinds, too
    assert all(a <= p for a, p in zip(accepted, proposed, strict=True))
    assert len(answer.details["log_prob"]) == len(answer.details["changed"]) == 7
    assert answer.details["changed"][0] == 0
    assert "river" in answer.text.lower()
    if name == "paper":
        assert sum(proposed) == 12
        assert proposed[3] == 0  # no swaps


def test_a_start_that_is_refused(models: Models) -> None:
    assert is_read(Start("a", "1", ParaphraseInput("how do i learn it ?"), 1), models)
    assert not is_read(Start("a", "2", ParaphraseInput(" "), 1), models)


def test_starts_that_run_in_parts_walk_as_alone(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = [
        Start("keywords", word, KeywordInput((word,), start=f"{word} ."), 4) for word in ("river", "bank", "snow")
    ]
    walker = Walker("paper", models)
    alone = [answer for start in starts for answer in walker.answer([start])]
    monkeypatch.setitem(walks.TOGETHER, "paper", 2)
    together = list(walker.answer(starts))
    assert [(each.text, each.details) for each in together] == [(each.text, each.details) for each in alone]
