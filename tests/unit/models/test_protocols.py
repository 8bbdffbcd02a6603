"""What counts as a model of texts is decided by its methods."""

from collections.abc import Sequence

import torch
from torch import Tensor

from cgmh.models.protocols import ContextModel, PrefixModel, TextModel
from cgmh.models.text.functions import FunctionModel
from llama_toys import toy_llama


class Plain:
    """A class of a user's own."""

    name = "plain"

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return torch.zeros(len(texts), dtype=torch.float64)


class Nameless:
    """It lacks the name that goes into signatures."""

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return torch.zeros(len(texts), dtype=torch.float64)


def test_models_of_texts() -> None:
    models = (Plain(), FunctionModel(len), toy_llama(), Nameless(), len)
    assert [isinstance(model, TextModel) for model in models] == [True, True, True, False, False]
    assert [isinstance(model, PrefixModel) for model in models] == [False, False, True, False, False]
    assert [isinstance(model, ContextModel) for model in models] == [False, False, True, False, False]
