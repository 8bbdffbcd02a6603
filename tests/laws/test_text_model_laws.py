"""The shipped check of text models passes those that obey and names the law that the others break."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor

from cgmh.laws import check_text_model
from cgmh.models.text.functions import FunctionModel

TEXTS = ["The cat sat.", "Snow.", "", "A very long story about a cat.", "Snow."]


def letters(texts: Sequence[str]) -> list[float]:
    return [-float(len(text)) if "long" not in text else -torch.inf for text in texts]


class Model:
    """A text model from its function, without the checks of FunctionModel."""

    def __init__(self, function: Callable[[list[str]], Tensor], name: str = "model") -> None:
        self._function, self.name = function, name

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return self._function(list(texts))


def right(texts: Sequence[str]) -> Tensor:
    return torch.tensor(letters(texts), dtype=torch.float64)


def padded(texts: list[str]) -> Tensor:
    """Padding counts."""
    return torch.full((len(texts),), -float(max(map(len, texts), default=0)), dtype=torch.float64)


def by_place(texts: list[str]) -> Tensor:
    return right(texts) - 0.1 * torch.arange(len(texts))


class Tired:
    """Answers move with every question of more than one text."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, texts: list[str]) -> Tensor:
        self.calls += len(texts) > 1
        return right(texts) - 0.1 * max(self.calls - 1, 0) * (len(texts) > 1)


def crowded(texts: list[str]) -> Tensor:
    """A copy beside it changes the answer."""
    return right(texts) - 0.1 * (len(texts) > len(TEXTS))


def test_lawful_models() -> None:
    check_text_model(Model(right), TEXTS)
    check_text_model(FunctionModel(letters), TEXTS)


@pytest.mark.parametrize(
    ("function", "law"),
    [
        (lambda texts: right(texts).float(), "float64"),
        (lambda texts: right(texts or [""]), "0 texts give"),
        (lambda texts: right(texts)[:, None], "0 texts give"),
        (lambda texts: right(texts)[:3], "5 texts give"),
        (letters, "0 texts give"),
        (lambda texts: right(texts).masked_fill(right(texts) == -5, torch.nan), "a number, or -inf"),
        (lambda texts: -right(texts), "a number, or -inf"),
        (padded, "text 0 scores alone"),
        (by_place, "text 1 scores alone"),
        (Tired(), "order of the texts"),
        (crowded, "beside its copy"),
    ],
)
def test_unlawful_models_are_caught(function: Callable[[list[str]], Tensor], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_text_model(Model(function), TEXTS)


def test_a_model_needs_a_name() -> None:
    with pytest.raises(AssertionError, match="a name"):
        check_text_model(Model(right, name=""), TEXTS)


def test_the_tolerance_is_what_is_let_through() -> None:
    def rough(texts: list[str]) -> Tensor:
        return right(texts) - 1e-3 * len(texts)

    check_text_model(Model(rough), TEXTS, tolerance=0.02)
    with pytest.raises(AssertionError, match="alone as it does in a batch"):
        check_text_model(Model(rough), TEXTS, tolerance=1e-4)
