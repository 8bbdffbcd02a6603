"""One word is replaced, inserted or deleted, or several at once; two neighbouring blocks of words change places."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..draws import Draws
from ..models.protocols import WordModel
from ..text.sentences import OnDevice, Sentences, indices
from .protocols import DELETE, INSERT, REPLACE, SWAP, Candidate, Filler, View


class WordEdits:
    """One word is replaced, inserted or deleted, at a uniform place, with a word from the filler.

    x -> y                log q(y|x)                          log q(x|y), the paired step back
    replace at m          log p_r - log e(x) + log q(w'|x-m)  log p_r - log e(y) + log q(w|x-m)
    insert in slot s      log p_i - log(n+1) + log q(w'|x)    log p_d - log e(y)
    delete m              log p_d - log e(x)                  log p_i - log n + log q(w|x-m)

    The filler reads the sentence without the word at the place, so one fill answers for both directions. e counts the
    words that may be edited: all of them (then n+1 slots lead to a sentence with n+1 words to delete), or those that
    are not `pinned`. It is counted in both sentences, because an edit may pin or free another word.
    """

    def __init__(
        self,
        filler: Filler,
        weights: Sequence[float] = (1.0, 1.0, 1.0),
        pinned: Callable[[Sentences], Tensor] | None = None,
    ) -> None:
        self._filler = filler
        self._pinned = pinned
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
        editable, num_editable = self._editable(sentences)
        places = torch.where(inserts, sentences.lengths + 1, num_editable.clamp(min=1))  # [R]
        chosen = draws.integer(places, "at")
        at = torch.where(inserts, chosen, nth_true(editable, chosen))
        right = at + ~inserts
        fill = self._filler.fill(view, at, right)
        word = fill.choose(draws)
        old = torch.where(inserts, word, sentences.word_at(at))
        log_word = fill.log_prob(word).double().masked_fill(deletes, 0.0)  # a deletion brings no word
        log_old = fill.log_prob(old).double().masked_fill(inserts, 0.0)  # an insertion takes none away
        edited = sentences.edit(at, word, inserts.long() - deletes.long())
        editable_back, num_back = self._editable(edited)
        back = torch.where(deletes, sentences.lengths, num_back)  # a deletion is undone in one of n slots
        undone = deletes | editable_back.gather(1, at[:, None].clamp(max=sentences.capacity - 1))[:, 0]
        impossible = ~undone | (~inserts & (num_editable == 0))
        log_reverse = logs["reverse"].index_select(0, move) - back.clamp(min=1).double().log() + log_old
        return Candidate(
            edited,
            move,
            at,
            same_left=at,
            same_right=sentences.lengths - right,
            log_forward=logs["forward"].index_select(0, move) - places.double().log() + log_word,
            log_reverse=log_reverse.masked_fill(impossible, -torch.inf),
        )

    def _editable(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """[R,L] bool, [R]: the words that may be replaced or deleted, and how many there are."""
        if self._pinned is None:
            return sentences.present, sentences.lengths
        editable = sentences.present & ~self._pinned(sentences)
        return editable, editable.sum(-1)


def nth_true(mask: Tensor, number: Tensor) -> Tensor:
    """[R]: the place of the true entry of mask [R,L] that has `number` true entries before it; 0 if there is none."""
    at = (mask.cumsum(-1) <= number[:, None]).sum(-1)
    return at.masked_fill(at == mask.shape[1], 0)


class SwapBlocks:
    """Neighbouring blocks of `first` and `second` words change places; both lengths are uniform on 1..longest.

    The step back draws the lengths the other way round, at the same place, with the same probability.
    """

    def __init__(self, longest: int | Sequence[int] = 3) -> None:
        """`longest` is one number for all inputs, or one for each."""
        lengths = [longest] if isinstance(longest, int) else list(longest)
        if min(lengths) < 1:
            raise ValueError(f"blocks need at least one word, not {min(lengths)}")
        self._same = isinstance(longest, int)
        self._tables = OnDevice(longest=torch.tensor(lengths, dtype=torch.int64))

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences = view.sentences
        lengths = sentences.lengths
        table = self._tables.at(sentences.device)["longest"]
        longest = table.expand(len(lengths)) if self._same else table[sentences.inputs]  # [R]
        pair = draws.integer(longest * longest, "swap blocks")  # [R]: both lengths at once
        first, second = pair // longest + 1, pair % longest + 1
        rest = lengths - first - second  # words outside the blocks; below 0 the blocks do not fit
        places = (rest + 1).clamp(min=1)
        at = draws.integer(places, "swap at")
        impossible = rest < 0
        first, second = first.masked_fill(impossible, 0), second.masked_fill(impossible, 0)
        log_forward = -places.double().log() - 2 * longest.double().log()
        return Candidate(
            sentences.swap_blocks(at, first, second),
            torch.full_like(at, SWAP),
            at,
            same_left=at,
            same_right=rest - at,
            log_forward=log_forward,
            log_reverse=log_forward.masked_fill(impossible, -torch.inf),
        )


class Leap:
    """Two word edits at once, of which the constraints see only the second sentence.

    That leads out of corners: a sentence may obey a constraint while none of its neighbours does. The step back undoes
    the second edit and then the first, so that log q is a sum over both in either direction. What lies between may
    break every constraint, but it is neither empty nor longer than both ends.
    """

    def __init__(self, edits: WordEdits, model: WordModel) -> None:
        self._edits, self._model = edits, model

    def propose(self, draws: Draws, view: View) -> Candidate:
        start = view.sentences
        first = self._edits.propose(draws, view)
        between = first.sentences
        goes_on = (first.log_reverse > -torch.inf) & (between.lengths > 0) & (between.lengths < start.capacity)
        rows = goes_on.nonzero()[:, 0]
        middle = between.select(rows)
        there = View(middle, self._model.encode(middle), indices(len(rows), rows.device), view.beta[rows])
        second = self._edits.propose(draws.select(rows).again(1), there)
        longer = torch.maximum(start.lengths[rows], second.sentences.lengths)
        ends = (second.log_reverse > -torch.inf) & (middle.lengths <= longer)
        end = Sentences(
            start.ids.index_copy(0, rows[ends], second.sentences.ids[ends]),
            start.lengths.index_copy(0, rows[ends], second.sentences.lengths[ends]),
            start.inputs,
        )
        left, right = _shared(start, end)
        growth = end.lengths - start.lengths
        impossible = torch.full_like(first.log_reverse, -torch.inf)
        log_reverse = first.log_reverse[rows] + second.log_reverse.masked_fill(~ends, -torch.inf)
        return Candidate(
            end,
            torch.where(growth > 0, INSERT, torch.where(growth < 0, DELETE, REPLACE)),
            left,
            same_left=left,
            same_right=right,
            log_forward=first.log_forward.index_add(0, rows, second.log_forward),
            log_reverse=impossible.index_copy(0, rows, log_reverse),
        )


def _shared(one: Sentences, other: Sentences) -> tuple[Tensor, Tensor]:
    """[R], [R]: how many words both sentences begin with, and how many of the rest they end with."""
    shorter = torch.minimum(one.lengths, other.lengths)[:, None]
    left = ((one.ids == other.ids) & (one.columns < shorter)).long().cumprod(-1).sum(-1)
    ends = [each.ids.gather(1, (each.lengths[:, None] - 1 - each.columns).clamp(min=0)) for each in (one, other)]
    right = ((ends[0] == ends[1]) & (one.columns < shorter - left[:, None])).long().cumprod(-1).sum(-1)
    return left, right
