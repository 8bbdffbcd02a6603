"""One word is replaced, inserted or deleted; two neighbouring blocks of words change places."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..draws import Draws
from ..text.sentences import OnDevice, Sentences
from .protocols import DELETE, INSERT, SWAP, Candidate, Filler, View


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
        word, old = fill.choose(draws), sentences.word_at(at)
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
