"""Replace a word by another form of it."""

from collections.abc import Collection, Sequence

import torch

from ..constraints.tables import OnDevice
from ..draws import Draws
from ..text.sentences import count
from .edits import unreachable
from .protocols import REPLACE, Candidate, View


class Variants:
    """A word that has variants becomes another one of them: its casings, its inflections, its alternatives.

    `groups[i]` are the disjoint groups of input i. The place is uniform over the words that have variants and the new
    word over the rest of the group; both numbers are the same after the step, so it is symmetric.
    """

    def __init__(self, groups: Sequence[Sequence[Collection[int]]]) -> None:
        kept = [[sorted(set(group)) for group in some if len(set(group)) > 1] for some in groups]
        for number, some in enumerate(kept):
            listed = [word for group in some for word in group]
            if len(set(listed)) < len(listed):
                raise ValueError(f"input {number}: the groups of variants must not share a word")
        inputs = max(len(kept), 1)
        num_words = max((sum(map(len, some)) for some in kept), default=0)
        most = max((len(group) for some in kept for group in some), default=1)
        words = torch.full((inputs, max(num_words, 1)), -1, dtype=torch.int64)  # [I,W]
        others = torch.zeros((inputs, max(num_words, 1), max(most - 1, 1)), dtype=torch.int64)  # [I,W,M-1]
        sizes = torch.ones((inputs, max(num_words, 1)), dtype=torch.int64)  # [I,W]: how many others there are
        for i, some in enumerate(kept):
            at = 0
            for group in some:
                for word in group:
                    words[i, at] = word
                    sizes[i, at] = len(group) - 1
                    others[i, at, : len(group) - 1] = torch.tensor([other for other in group if other != word])
                    at += 1
        self._tables = OnDevice(words=words, others=others, sizes=sizes)

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences = view.sentences
        tables = self._tables.at(sentences.device)
        inputs = sentences.inputs
        same = sentences.ids[:, :, None] == tables["words"].index_select(0, inputs)[:, None, :]  # [R,L,W]
        varies = same.any(-1) & sentences.present  # [R,L]
        num = varies.sum(-1)  # [R]
        chosen = draws.integer(num.clamp(min=1), "variant at")
        # the place whose running count first exceeds the number chosen; the end of the array if there is none
        at = (varies.cumsum(-1) <= chosen[:, None]).sum(-1).clamp_(max=sentences.capacity - 1)
        which = same[count(len(at), at.device), at].long().argmax(-1)  # [R], into W
        size = tables["sizes"][inputs, which]
        word = tables["others"][inputs, which, draws.integer(size, "variant word")]
        impossible = num == 0
        log_forward = -(num.clamp(min=1) * size).double().log()
        at = at.masked_fill(impossible, 0)
        return Candidate(
            sentences.replace(at, torch.where(impossible, sentences.word_at(at), word)),
            torch.full_like(at, REPLACE),
            at,
            same_left=at,
            same_right=sentences.lengths - at - 1,
            log_forward=log_forward,
            log_reverse=unreachable(log_forward, impossible),
        )
