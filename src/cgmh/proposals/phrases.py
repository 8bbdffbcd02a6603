"""Words of the sentence give way to others of their group: a word to another form of it, a phrase to an alternative."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..draws import Draws
from ..text.sentences import OnDevice, Sentences, indices
from .edits import nth_true
from .protocols import DELETE, INSERT, REPLACE, SWAP, Candidate, View


@dataclass(frozen=True)
class Group:
    """Phrases that may stand for one another; `shares` says how often each is tried, `weight` how often the group."""

    phrases: tuple[tuple[int, ...], ...]
    shares: tuple[float, ...]
    weight: float

    @classmethod
    def even(cls, phrases: Iterable[tuple[int, ...]]) -> "Group":
        """Phrases that are tried equally often; repeats count once."""
        phrases = tuple(dict.fromkeys(phrases))
        return cls(phrases, (1.0,) * len(phrases), 1.0)


def variants(groups: Iterable[Collection[int]]) -> list[Group]:
    """Groups of single words, in the order given, such as the casings of one; a word alone has no variants."""
    return [Group.even((word,) for word in group) for group in groups if len(set(group)) > 1]


class Alternatives:
    """A phrase of a group becomes another one of the group.

    The group is drawn by weight, the place uniformly from where any of its phrases stands, the new phrase by share.
    With r the weight of the group, n the number of places where a phrase of it stands, and s the shares as parts of
    their sum, a step from phrase a to phrase b has
        log q(y|x) = log r - log n(x) + log s_b - log(1 - s_a)
        log q(x|y) = log r - log n(y) + log s_a - log(1 - s_b)
    since the step back takes the same group at the same place; log r, being in both, is left out of a candidate. Where
    none of the phrases stands, nothing happens.
    """

    def __init__(self, groups: Sequence[Sequence[Group]]) -> None:
        """`groups[i]` belong to input i."""
        num_phrases = max([len(group.phrases) for own in groups for group in own], default=2)
        shape = (max(len(groups), 1), max(map(len, groups), default=0) or 1, num_phrases)
        width = max((len(phrase) for own in groups for group in own for phrase in group.phrases), default=1)
        # Arrays first: a tensor takes many times as long to be written to number by number.
        phrases = np.full((*shape, width), -1)  # [I,G,A,P]
        sizes = np.zeros(shape, dtype=np.int64)  # [I,G,A]: 0 where there is no phrase
        shares = np.zeros(shape)  # [I,G,A]
        rest = np.zeros(shape)  # [I,G,A]: those of the others; 1 - s would round where one has nearly all
        weights = np.zeros(shape[:2])  # [I,G]
        weights[:, 0] = [not own for own in groups] or [True]  # a group that stands nowhere
        for i, own in enumerate(groups):
            for g, group in enumerate(own):
                _check(group)
                number = len(group.phrases)
                for a, phrase in enumerate(group.phrases):
                    phrases[i, g, a, : len(phrase)] = phrase
                sizes[i, g, :number] = [len(phrase) for phrase in group.phrases]
                shares[i, g, :number] = group.shares
                rest[i, g, :number] = [sum(group.shares[:a]) + sum(group.shares[a + 1 :]) for a in range(number)]
                weights[i, g] = group.weight
        logs = torch.from_numpy(shares).log(), torch.from_numpy(rest).log(), torch.from_numpy(weights).log()
        log_share, log_rest, log_weight = logs
        self._tables = OnDevice(
            phrases=torch.from_numpy(phrases),
            sizes=torch.from_numpy(sizes),
            log_share=log_share,
            log_rest=log_rest,
            log_weight=log_weight - log_weight.logsumexp(-1, keepdim=True),
        )

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences, tables = view.sentences, self._tables.at(view.sentences.device)
        inputs = sentences.inputs
        group = draws.choose(tables["log_weight"].index_select(0, inputs), "group")  # [R]
        phrases, sizes = tables["phrases"][inputs, group], tables["sizes"][inputs, group]  # [R,A,P], [R,A]
        log_share, log_rest = tables["log_share"][inputs, group], tables["log_rest"][inputs, group]  # [R,A]
        stands = _stands(sentences, phrases, sizes)  # [R,A*L]
        num = stands.sum(-1)  # [R]
        where = nth_true(stands, draws.integer(num.clamp(min=1), "group at"))  # [R]
        nowhere = num == 0
        old, at = where // sentences.capacity, where % sentences.capacity
        others = log_share.scatter(1, old[:, None], -torch.inf)
        # a row without a phrase has to choose as well: anything, to no effect
        new = draws.choose(others.masked_fill(nowhere[:, None], 0.0), "alternative")
        size, size_new = _at(sizes, old), _at(sizes, new)
        words, words_new = _at(phrases, old), _at(phrases, new)  # [R,P]
        edited = _splice(sentences, at, size, words_new, size_new)
        impossible = nowhere | (edited.lengths > sentences.capacity)
        edited = sentences.where(impossible, edited)
        num_back = _stands(edited, phrases, sizes).sum(-1).clamp(min=1)
        left, right = _same(words, size, words_new, size_new)
        log_forward = _at(log_share, new) - _at(log_rest, old) - num.clamp(min=1).double().log()
        log_reverse = _at(log_share, old) - _at(log_rest, new) - num_back.double().log()
        moves = torch.where(size_new > size, INSERT, torch.where(size_new < size, DELETE, REPLACE))
        swapped = (words.sort(-1).values == words_new.sort(-1).values).all(-1)
        return Candidate(
            edited,
            torch.where(swapped, SWAP, moves),
            at,
            same_left=(at + left).masked_fill(impossible, 0),
            same_right=(sentences.lengths - at - size + right).masked_fill(impossible, 0),
            log_forward=log_forward.masked_fill(impossible, 0.0),
            log_reverse=log_reverse.masked_fill(impossible, -torch.inf),
        )


def _check(group: Group) -> None:
    if len(set(group.phrases)) < max(len(group.phrases), 2) or len(group.phrases) != len(group.shares):
        raise ValueError(f"a group has two or more distinct phrases, each with a share, not {group}")
    if not all(group.phrases):
        raise ValueError(f"a phrase has at least one word, not {group.phrases}")
    if not all(0 < value < float("inf") for value in (*group.shares, group.weight)):
        raise ValueError(f"shares and weights are positive, not {group.shares} and {group.weight}")


def _at(table: Tensor, at: Tensor) -> Tensor:
    """[R] or [R,P]: the entry of each row of a table [R,A] or [R,A,P]."""
    return table[indices(len(at), at.device), at]


def _stands(sentences: Sentences, phrases: Tensor, sizes: Tensor) -> Tensor:
    """[R,A*L] bool: where each phrase [R,A,P] of a row's group begins, phrase by phrase."""
    ends = sentences.columns + sizes[:, :, None]  # [R,A,L]
    stands = (sizes > 0)[:, :, None] & (ends <= sentences.lengths[:, None, None])
    for k in range(phrases.shape[-1]):
        words = torch.nn.functional.pad(sentences.ids[:, k:], (0, min(k, sentences.capacity)), value=-2)  # [R,L]
        stands = stands & ((words[:, None] == phrases[:, :, k, None]) | (sizes <= k)[:, :, None])
    return stands.flatten(1)


def _splice(sentences: Sentences, at: Tensor, size: Tensor, words: Tensor, size_new: Tensor) -> Sentences:
    """The `size` words from `at` on give way to `size_new` ones; what does not fit is cut, and the length says so."""
    columns = sentences.columns
    at, growth, end = at[:, None], (size_new - size)[:, None], (at + size_new)[:, None]
    moved = sentences.ids.gather(1, (columns - growth * (columns >= end)).clamp(0, sentences.capacity - 1))
    inside = (columns >= at) & (columns < end)
    new = words.gather(1, (columns - at).clamp(0, words.shape[1] - 1))
    lengths = sentences.lengths + growth[:, 0]
    return Sentences(torch.where(inside, new, moved) * (columns < lengths[:, None]), lengths, sentences.inputs)


def _same(one: Tensor, size: Tensor, other: Tensor, size_other: Tensor) -> tuple[Tensor, Tensor]:
    """[R], [R]: how many words both phrases [R,P] begin with, and how many of the rest they end with."""
    shorter = torch.minimum(size, size_other)[:, None]
    columns = indices(one.shape[1], one.device)
    left = ((one == other) & (columns < shorter)).long().cumprod(-1).sum(-1)
    ends = [
        words.gather(1, (length[:, None] - 1 - columns).clamp(min=0))
        for words, length in ((one, size), (other, size_other))
    ]
    right = ((ends[0] == ends[1]) & (columns < shorter - left[:, None])).long().cumprod(-1).sum(-1)
    return left, right
