"""The heads of the recurrent model: from a state to probabilities of classes and of words in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import torch
from torch import Tensor

from ...draws import Draws
from .layers import Linear, Stack, WordTable, widen

ALL_WORDS = 64  # states whose probabilities of all words are computed in one go
LIKELY_CLASSES = 8  # of a gap: classes among whose words the likeliest ones are looked for


class Likely(NamedTuple):
    """What the fill head says about a gap: log p of some words, and the likeliest words."""

    log_prob: Mapping[int, float]  # the likeliest words included
    best: Sequence[int]


@dataclass(frozen=True)
class Predictor:
    """A class-factored head: p(word | state) = p(class | state) · p(word | class, state)."""

    query: Linear
    classes: Linear
    table: WordTable

    def split(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """log p(class) [N, C] and the word query [N, D]."""
        for_class, for_word = self.query(state).chunk(2, -1)
        return torch.log_softmax(widen(self.classes(for_class)), -1), for_word.contiguous()

    def log_prob(self, state: Tensor, word: Tensor) -> Tensor:
        """log p(word | state) [N]."""
        log_classes, query = self.split(state)
        number, within = word // self.table.class_size, word % self.table.class_size
        log_words = torch.log_softmax(self.table.logits(query, number), -1)
        return log_classes.gather(1, number[:, None])[:, 0] + log_words.gather(1, within[:, None])[:, 0]

    def all_log_probs(self, state: Tensor) -> Tensor:
        """log p of every word [N, V]."""
        log_probs = widen(state.new_empty(len(state), self.table.num_classes, self.table.class_size))
        for states, part in zip(torch.split(state, ALL_WORDS), torch.split(log_probs, ALL_WORDS), strict=True):
            log_classes, query = self.split(states)
            torch.log_softmax(widen(self.table.all_logits(query)), -1, out=part).add_(log_classes[..., None])
        return log_probs.flatten(1)

    def likely(self, state: Tensor, asked: Sequence[Sequence[int]], number: int, proposable: Tensor) -> list[Likely]:
        """For each state [N, H], log p of the words `asked` and of those `number` that are likeliest, of the
        `proposable` [C, S] ones in the likeliest classes: a tenth of the work for all words."""
        size = self.table.class_size
        log_classes, query = self.split(state)
        top = log_classes.topk(min(LIKELY_CLASSES, self.table.num_classes), -1).indices  # [N, K]
        rows = torch.repeat_interleave(torch.tensor([len(words) for words in asked])).to(top.device)  # [P]
        words = torch.tensor([word for some in asked for word in some], dtype=torch.int64, device=top.device)  # [P]
        place = torch.zeros_like(log_classes, dtype=torch.int64)  # [N, C]: of each class that is looked at, from 1 on
        place[rows, words // size] = 1
        place.scatter_(1, top, 1)
        of, number_of_class = place.nonzero(as_tuple=True)  # [M]
        place[of, number_of_class] = torch.arange(1, len(of) + 1, device=of.device)
        logits = self.table.logits(query.index_select(0, of), number_of_class)
        log_words = torch.log_softmax(logits, -1).add_(log_classes[of, number_of_class][:, None])  # [M, S]
        log_asked = iter(log_words[place[rows, words // size] - 1, words % size].tolist())
        log_top = log_words[place.gather(1, top) - 1].masked_fill_(~proposable[top], -torch.inf).flatten(1)  # [N, K·S]
        log_best, best = log_top.topk(number, -1)
        best = top.gather(1, best // size) * size + best % size  # [N, number]
        found = []
        for some, likeliest, logs in zip(asked, best.tolist(), log_best.tolist(), strict=True):
            log_prob = dict(zip(some, islice(log_asked, len(some)), strict=True))
            found.append(Likely(log_prob | dict(zip(likeliest, logs, strict=True)), likeliest))
        return found


class FactoredFill:
    """q(word | gap) of the fill head; what is never proposed is left out before normalising."""

    def __init__(self, log_classes: Tensor, query: Tensor, table: WordTable, proposable: Tensor) -> None:
        self._table, self._query, self._proposable = table, query, proposable  # proposable [C, S]
        open_classes = log_classes.masked_fill(~proposable.any(-1), -torch.inf)
        self._log_classes = torch.log_softmax(open_classes, -1)  # [R, C]
        self._chosen: tuple[Tensor, Tensor] | None = None  # class [R], log p(word | class) [R, S] of the last choice

    def _log_words(self, query: Tensor, classes: Tensor) -> Tensor:
        logits = self._table.logits(query, classes)
        return torch.log_softmax(logits.masked_fill_(~self._proposable.index_select(0, classes), -torch.inf), -1)

    def choose(self, draws: Draws) -> Tensor:
        classes = draws.choose(self._log_classes, "class")
        log_words = self._log_words(self._query, classes)
        self._chosen = classes, log_words
        return classes * self._table.class_size + draws.choose(log_words, "word")

    def log_prob(self, word: Tensor) -> Tensor:
        size = self._table.class_size
        known = word < self._proposable.numel()
        word = torch.where(known, word, 0)
        classes, within = word // size, word % size
        if self._chosen is None:
            log_words = self._log_words(self._query, classes)
        else:  # most rows ask about the word just chosen
            chosen, log_words = self._chosen
            other = (chosen != classes).nonzero()[:, 0]
            if len(other):
                asked = self._log_words(self._query.index_select(0, other), classes.index_select(0, other))
                log_words = log_words.index_copy(0, other, asked)
        log_prob = self._log_classes.gather(1, classes[:, None])[:, 0] + log_words.gather(1, within[:, None])[:, 0]
        proposable = known & self._proposable.flatten().index_select(0, word)
        return torch.where(proposable, log_prob, -torch.inf).double()


@dataclass(frozen=True)
class Direction:
    """The forward or the backward network: it reads words one by one and predicts the next one in its direction."""

    stack: Stack
    predictor: Predictor

    def all_log_probs(self, states: Tensor) -> Tensor:
        """log p of every word [N, V] for states [N, W]."""
        return self.predictor.all_log_probs(self.stack.top(states).contiguous())
