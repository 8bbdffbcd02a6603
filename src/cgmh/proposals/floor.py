"""A fill with a floor: every word of the vocabulary keeps some probability, so that no part of the space is cut off."""

import math

import torch
from torch import Tensor

from ..constraints.tables import OnDevice
from ..draws import Draws
from ..models.protocols import Fill, WordModel
from .protocols import View


class Uniform:
    """The uniform distribution over the words that may be proposed."""

    def __init__(self, model: WordModel) -> None:
        allowed = torch.ones(model.num_words, dtype=torch.bool)
        allowed[model.special_ids.cpu()] = False
        words = allowed.nonzero()[:, 0]  # [P]
        self.num_words = len(words)
        log_prob = torch.full((model.num_words + 1,), -torch.inf, dtype=torch.float64)
        log_prob[words] = -math.log(self.num_words)  # [V+1]; the last entry stands for every run-local id
        self._tables = OnDevice(words=words, log_prob=log_prob)

    def choose(self, draws: Draws, wanted: Tensor) -> Tensor:
        """[R]: a word where `wanted`; elsewhere any, without a decision."""
        words = self._tables.at(wanted.device)["words"]
        return words.index_select(0, draws.integer(1 + wanted * (self.num_words - 1), "floor word"))

    def log_prob(self, word: Tensor) -> Tensor:
        """[R]: the log probability; -inf for specials and run-local ids."""
        log_prob = self._tables.at(word.device)["log_prob"]
        return log_prob.index_select(0, word.clamp(max=log_prob.shape[0] - 1))


class Floored:
    """q = (1 - floor) fill + floor uniform; `floor` is a number or one a row."""

    def __init__(self, fill: Fill, uniform: Uniform, log_rest: Tensor, log_floor: Tensor) -> None:
        self._fill, self._uniform = fill, uniform
        self._log_rest, self._log_floor = log_rest, log_floor  # [R]

    def choose(self, draws: Draws) -> Tensor:
        floored = draws.accept(self._log_floor, "floor")  # [R]
        return torch.where(floored, self._uniform.choose(draws, floored), self._fill.choose(draws))

    def log_prob(self, word: Tensor) -> Tensor:
        log_fill = self._fill.log_prob(word).double() + self._log_rest
        return torch.logaddexp(log_fill, self._uniform.log_prob(word) + self._log_floor)


class FillHead:
    """The model's own fill, with a floor."""

    def __init__(self, model: WordModel, floor: float = 0.01) -> None:
        if not 0 < floor < 1:
            raise ValueError(f"the floor must lie between 0 and 1, not {floor}")
        self._model = model
        self._uniform = Uniform(model)
        self._logs = OnDevice(
            rest=torch.tensor(math.log1p(-floor), dtype=torch.float64),
            floor=torch.tensor(math.log(floor), dtype=torch.float64),
        )

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        logs = self._logs.at(left.device)
        fill = self._model.fill(view.encoding, view.rows, left, right)
        return Floored(fill, self._uniform, logs["rest"].expand(len(left)), logs["floor"].expand(len(left)))
