"""Any function of texts as a language model."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, blaming


class FunctionModel:
    """A function from texts to their log probabilities: a list, an array or a tensor with one number for each text.

    The function should answer alike whatever stands beside a text: `cgmh.laws.check_text_model` tells.
    """

    def __init__(self, function: Callable[[list[str]], Any], name: str | None = None) -> None:
        """`name` goes into the signature of a run; without it, that of the function."""
        self._function = function
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64: what the function says, checked: a number or -inf for each text."""
        if not texts:
            return torch.empty(0, dtype=torch.float64)
        with blaming(self.name, BadModel, f"{len(texts)} texts, {texts[0]!r} first"):
            answer = self._function(list(texts))
        numbers = self._numbers(answer)  # [N]
        if numbers.shape != (len(texts),):
            given = f"shape {tuple(numbers.shape)}" if numbers.ndim != 1 else f"{len(numbers)} numbers"
            raise BadModel(f"{self.name}: gave {given} for {len(texts)} texts; each text needs one log probability")
        for text, number in zip(texts, numbers.tolist(), strict=True):
            if math.isnan(number) or number == math.inf:
                mend = "it must be a number, or -inf for the impossible"
                raise BadModel(f"{self.name}: gave {number:g} for {text!r}; {mend}")
        return numbers

    def _numbers(self, answer: Any) -> Tensor:
        """The answer as a tensor of its own: a function may reuse the array it gave."""
        try:
            if isinstance(answer, Tensor):
                return answer.detach().to("cpu", torch.float64, copy=True)
            if hasattr(answer, "__array__"):
                answer = answer.tolist()
            return torch.tensor([float(number) for number in answer], dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise BadModel(
                f"{self.name}: gave {type(answer).__name__}, not one number for each of the texts ({error})"
            ) from error
