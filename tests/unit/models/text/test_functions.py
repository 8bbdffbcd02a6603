"""Functions of texts as models: every form of answer, and what is wrong with the others."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from cgmh.errors import BadModel
from cgmh.models.text.functions import FunctionModel

TEXTS = ["Snow.", "The cat sat."]


@pytest.mark.parametrize(
    "answer",
    [
        [-1, -2.5],
        (-1.0, -2.5),
        np.array([-1, -2.5], dtype=np.float32),
        torch.tensor([-1, -2.5]),
        torch.tensor([-1, -2.5], requires_grad=True),
        [torch.tensor(-1.0), np.float64(-2.5)],
        iter([-1.0, -2.5]),
    ],
)
def test_any_form_of_numbers_will_do(answer: Any) -> None:
    log_probs = FunctionModel(lambda _: answer).log_prob(TEXTS)
    assert log_probs.dtype == torch.float64
    assert log_probs.tolist() == [-1, -2.5]


def test_the_impossible_is_minus_infinity() -> None:
    assert FunctionModel(lambda _: [-torch.inf, 0.0]).log_prob(TEXTS).tolist() == [-torch.inf, 0]


def test_no_texts_no_question() -> None:
    log_probs = FunctionModel(lambda _: pytest.fail("asked about nothing")).log_prob([])
    assert log_probs.shape == (0,)
    assert log_probs.dtype == torch.float64


def test_the_answer_is_kept_when_the_function_reuses_its_array() -> None:
    buffer = torch.zeros(2, dtype=torch.float64)

    def function(texts: list[str]) -> torch.Tensor:
        buffer[:] = torch.tensor([-float(len(text)) for text in texts])
        return buffer

    model = FunctionModel(function)
    first = model.log_prob(TEXTS)
    model.log_prob(["a", "b"])
    assert first.tolist() == [-5, -12]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda _: [-1.0], "gave 1 numbers for 2 texts"),
        (lambda _: torch.zeros(2, 3), r"gave shape \(2, 3\) for 2 texts"),
        (lambda _: np.zeros((2, 3)), "not one number for each"),
        (lambda _: -1.0, "gave float, not one number"),
        (lambda _: None, "gave NoneType"),
        (lambda _: ["a", "b"], "gave list"),
        (lambda _: [-1.0, float("nan")], "gave nan for 'The cat sat.'"),
        (lambda _: [float("inf"), -1.0], "gave inf for 'Snow.'"),
    ],
)
def test_answers_that_cannot_be_used(function: Callable[[list[str]], Any], message: str) -> None:
    with pytest.raises(BadModel, match=message):
        FunctionModel(function, "mine").log_prob(TEXTS)


def test_names() -> None:
    def mine(texts: list[str]) -> list[float]:
        return [0.0 for _ in texts]

    class Callable:
        def __call__(self, texts: list[str]) -> list[float]:
            return mine(texts)

    assert FunctionModel(mine).name == "mine"
    assert FunctionModel(Callable()).name == "Callable"
    assert FunctionModel(mine, "yours").name == "yours"
