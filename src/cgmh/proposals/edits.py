"""Replace, insert or delete one word."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..constraints.tables import OnDevice
from ..draws import Draws
from .protocols import DELETE, INSERT, Candidate, Filler, View


class WordEdits:
    """One word is replaced, inserted or deleted, at a uniform place, with a word from the filler.

    x -> y                log q(y|x)                          log q(x|y), the paired step back
    replace at m          log p_r - log n + log q(w'|x-m)     log p_r - log n + log q(w|x-m)
    insert in slot s      log p_i - log(n+1) + log q(w'|x)    log p_d - log(n+1)
    delete m              log p_d - log n                     log p_i - log n + log q(w|x-m)

    The filler reads the sentence without the word at the place, so one fill answers for both directions. The number
    of places is the same both ways: n+1 slots lead to a sentence with n+1 words to delete.
    """

    def __init__(self, filler: Filler, weights: Sequence[float] = (1.0, 1.0, 1.0)) -> None:
        self._filler = filler
        weight = torch.tensor(weights, dtype=torch.float64)
        if len(weights) != 3 or bool((weight < 0).any()) or not 0 < float(weight.sum()) < float("inf"):
            raise ValueError("weights are three numbers, for replace, insert and delete; none below 0, not all 0")
        log_weight = (weight / weight.sum()).log()
        self._logs = OnDevice(forward=log_weight, reverse=log_weight[[0, 2, 1]])

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences = view.sentences
        logs = self._logs.at(sentences.device)
        move = draws.choose(logs["forward"].expand(len(sentences), 3), "move")  # [R]
        inserts, deletes = move == INSERT, move == DELETE
        places = sentences.lengths + inserts  # [R]
        at = draws.integer(places, "at")
        right = at + ~inserts
        fill = self._filler.fill(view, at, right)
        word, old = fill.choose(draws), sentences.word_at(at)
        log_places = places.double().log()
        log_word = fill.log_prob(word).double().masked_fill(deletes, 0.0)  # a deletion brings no word
        log_old = fill.log_prob(old).double().masked_fill(inserts, 0.0)  # an insertion takes none away
        return Candidate(
            sentences.edit(at, word, inserts.long() - deletes.long()),
            move,
            at,
            same_left=at,
            same_right=sentences.lengths - right,
            log_forward=logs["forward"].index_select(0, move) - log_places + log_word,
            log_reverse=logs["reverse"].index_select(0, move) - log_places + log_old,
        )


def unreachable(log_forward: Tensor, impossible: Tensor) -> Tensor:
    """The log reverse of a symmetric step: the forward one, or -inf where the step is impossible."""
    return log_forward.masked_fill(impossible, -torch.inf)
