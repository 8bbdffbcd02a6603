"""A constraint written as a Python function of the words."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..text.lexicon import Lexicon
from ..text.sentences import Sentences


class PythonConstraint:
    """A function of one sentence's words: true or false if hard, a log factor if soft.

    The function must be pure: the same words give the same answer. It runs once a distinct sentence of the batch.
    """

    def __init__(
        self, name: str, function: Callable[[list[str]], float], lexicon: Lexicon, *, hard: bool, weight: float = 1.0
    ) -> None:
        self.name = name
        self.hard = hard
        self._function = function
        self._lexicon = lexicon
        self._weight = weight

    def log_factor(self, sentences: Sentences) -> Tensor:
        known: dict[tuple[int, ...], float] = {}
        values = []
        for ids in sentences.to_lists():
            key = tuple(ids)
            if key not in known:
                known[key] = self._ask(ids)
            values.append(known[key])
        return torch.tensor(values, dtype=torch.float64, device=sentences.device)

    def _ask(self, ids: list[int]) -> float:
        value = self._function(self._lexicon.words(ids))
        if self.hard:
            return 0.0 if value else -torch.inf
        return self._weight * float(value)
