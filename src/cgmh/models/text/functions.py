"""Any function of texts as a language model."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel


class FunctionModel:
    """A function from a list of texts to their log probabilities: a list, an array or a tensor, one number a text.

    The function should answer alike whatever stands beside a text: `cgmh.models.laws.check_text_model` tells.
    """

    def __init__(self, function: Callable[[list[str]], Any], name: str | None = None) -> None:
        """`name` goes into the signature of a run; without it, that of the function."""
        self._function = function
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64: what the function says, checked: a number or -inf for each text."""
        if not texts:
            return torch.empty(0, dtype=torch.float64)
        answer = self._function(list(texts))
        found = self._numbers(answer)  # [N]
        if found.shape != (len(texts),):
            given = f"shape {tuple(found.shape)}" if found.ndim != 1 else f"{len(found)} numbers"
            raise BadModel(f"{self.name}: gave {given} for {len(texts)} texts; one log probability a text is needed")
        wrong = (found.isnan() | (found == torch.inf)).nonzero()[:, 0]
        if len(wrong):
            at = int(wrong[0])
            raise BadModel(
                f"{self.name}: gave {found[at]:g} for {texts[at]!r}; it must be a number, or -inf for the impossible"
            )
        return found

    def _numbers(self, answer: Any) -> Tensor:
        """The answer as a tensor of its own: a function may reuse the array it gave."""
        try:
            if isinstance(answer, Tensor):
                return answer.detach().to("cpu", torch.float64, copy=True)
            if hasattr(answer, "__array__"):
                answer = answer.tolist()
            return torch.tensor([float(one) for one in answer], dtype=torch.float64)
        except (TypeError, ValueError, RuntimeError) as error:
            raise BadModel(
                f"{self.name}: gave {type(answer).__name__}, not one number for each of the texts ({error})"
            ) from error
