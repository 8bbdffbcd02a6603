"""Annealing cools as it says, ends where only better sentences are accepted, and answers each text by itself."""

import pytest
import torch

from cgmh.evaluation.rivals.annealing import COLDEST, Cooling, search
from cgmh.models.load import load_models

TEXTS = ["how do i learn to play the guitar", "how can i stop thinking about the past"]


def test_the_temperature_falls_linearly() -> None:
    betas = Cooling(10, 2.0)(torch.tensor([0, 5, 9, 10, 50]))
    assert (1 / betas).tolist() == pytest.approx([2.0, 1.0, 0.2, COLDEST, COLDEST])


def test_answers_do_not_depend_on_each_other() -> None:
    models = load_models()
    together = list(search(TEXTS, models, steps=30))
    assert [next(search([text], models, steps=30)) for text in TEXTS] == together
    assert any(list(search(TEXTS, models, steps=30, seed=seed)) != together for seed in (1, 2, 3))
    for text, words in zip(TEXTS, together, strict=True):
        assert words
        assert " ".join(words) != text


def test_a_text_that_cannot_be_read_has_no_answer() -> None:
    first, second = search(["", TEXTS[0]], load_models(), steps=2)
    assert first is None
    assert second is not None
