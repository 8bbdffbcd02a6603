"""The paper's kernel: Gibbs over the K best words, all rescored by the target (paper, Section 3.2), made exact."""

import math

import torch
from torch import Tensor

from ..draws import Draws
from ..models.protocols import Fill, WordModel
from ..target import Target
from .floor import Floored, Uniform
from .protocols import View


class GibbsOver:
    """The K words with the best min(forward, backward) probability, in proportion to the target, with a floor.

    q = (1 - floor) softmax of beta log pi over the K words + floor uniform; where no one of the K is possible under
    the hard constraints, q is uniform. It depends on the sentence without the word only. Insertions and deletions pay
    for it in the ratio; a replacement among the K is always accepted but for the floor.
    """

    def __init__(self, model: WordModel, target: Target, num_candidates: int = 100, floor: float = 0.01) -> None:
        if not 0 < floor < 1:
            raise ValueError(f"the floor must lie between 0 and 1, not {floor}")
        self._model, self._target = model, target
        self._uniform = Uniform(model)
        self._num = min(num_candidates, self._uniform.num_words)
        self._log_rest, self._log_floor = math.log1p(-floor), math.log(floor)

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        model, sentences, num = self._model, view.sentences, self._num
        log_best = model.candidates(view.encoding, view.rows, left, right)  # [R,V]
        log_best = log_best.index_fill(1, model.special_ids.to(log_best.device), -torch.inf)
        words = log_best.topk(num, dim=-1).indices  # [R,K]
        each = torch.arange(len(left), device=left.device).repeat_interleave(num)  # [R*K]
        filled = sentences.select(each).edit(left[each], words.flatten(), 1 - (right - left)[each])
        log_target = torch.full((len(each),), -torch.inf, dtype=torch.float64, device=left.device)
        possible = self._target.possible(filled)  # [R*K]
        asked = possible.nonzero()[:, 0]
        if asked.numel():
            chosen, rows = filled.select(asked), each[asked]
            same_right = (sentences.lengths - right)[rows]
            pending = model.score(view.encoding, view.rows[rows], chosen, left[rows], same_right, None)
            # log p(x) is the same for all K words and leaves the softmax
            soft = self._target.soft_factors(pending.log_gain, chosen).sum(-1)
            log_target = log_target.index_copy(0, asked, view.beta[rows].double() * soft)
        log_target = log_target.view(-1, num)  # [R,K]
        none = ~possible.view(-1, num).any(-1)  # [R]
        log_word = log_target.masked_fill(none[:, None], 0.0).log_softmax(-1)
        log_floor = torch.zeros_like(log_word[:, 0]).masked_fill(~none, self._log_floor)
        log_rest = torch.full_like(log_floor, -torch.inf).masked_fill(~none, self._log_rest)
        return Floored(Among(words, log_word), self._uniform, log_rest, log_floor)


class Among:
    """A distribution over K listed words a row."""

    def __init__(self, words: Tensor, log_word: Tensor) -> None:
        self._words, self._log_word = words, log_word  # [R,K]

    def choose(self, draws: Draws) -> Tensor:
        return self._words.gather(1, draws.choose(self._log_word, "gibbs")[:, None])[:, 0]

    def log_prob(self, word: Tensor) -> Tensor:
        listed = self._words == word[:, None]  # [R,K]
        return self._log_word.masked_fill(~listed, -torch.inf).amax(-1)
