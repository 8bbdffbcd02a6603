"""A noisy channel: how likely it is that a source was typed where a sentence was meant.

log chi(source | x) is minus the cost of the cheapest way to make x from the source by replacing, inserting, deleting,
splitting, joining and exchanging words, each at its own cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..text.edits import Edit, Ids
from ..text.sentences import Sentences, pad

ALIGNED = 256  # sentences that are aligned together: a table of each is held in lists
MAX_REMEMBERED = 100_000  # sentences whose costs are remembered
MAX_CELLS = 1_000_000  # words of the source times words of the sentences that are aligned together
ROUNDING = 1e-9  # nats by which equal costs may differ


@dataclass(frozen=True)
class Priced:
    """What an operation costs, in nats, and the kind of mistake that it mends."""

    cost: float
    kind: str


@dataclass(frozen=True)
class ChannelSource:
    """A source and what may be done to it; n words, so n-1 pairs of neighbours."""

    ids: Sequence[int]
    replace: Sequence[Mapping[int, Priced]]  # [n]: the words that may stand instead, itself left out
    delete: Sequence[Priced]  # [n]
    split: Sequence[Mapping[tuple[int, int], Priced]]  # [n]
    join: Sequence[Mapping[int, Priced]]  # [n-1]
    other: Sequence[Priced]  # [n]: replacing by any other word
    first: float = 1.0  # what the price of changing anything at all is multiplied by


class Channel:
    """The cost of the cheapest alignment with the source of the input, as a soft factor.

    `insert` [ids] prices each word that the source lacks, `present` [ids] each word of the sentence, however it came
    there; that may be a gain. `order` prices an exchange of neighbours, and `first` that anything is changed at all:
    most sentences are right. A source may multiply that.
    """

    name = "channel"
    hard = False
    screens = True  # it is cheap beside any model: asked in the first stage of delayed acceptance

    def __init__(
        self,
        sources: Sequence[ChannelSource],
        insert: Tensor,
        insert_kinds: Sequence[str],
        order: float,
        first: float = 0.0,
        present: Tensor | None = None,
    ) -> None:
        self._sources, self._order, self.first = sources, order, first
        self._kinds = insert_kinds  # of each id
        longest = max(len(source.ids) for source in sources)
        listed = [_listed(source) for source in sources]
        local = np.zeros((len(sources), len(insert)), dtype=np.int16)  # [I,ids]: 0 is a word that no table names
        shape = (len(sources), longest, max(map(len, listed)) + 1)
        replace = np.zeros(shape)  # [I,N,W]
        join = np.full(shape, np.inf)  # [I,N,W]: of the words before the place and at it
        delete = np.zeros((len(sources), longest))
        num_splits = max([len(pairs) for source in sources for pairs in source.split], default=0)
        split = np.full((len(sources), longest, num_splits, 2), -1)  # [I,N,K,2]
        split_cost = np.full((len(sources), longest, num_splits), np.inf)
        for number, (source, words) in enumerate(zip(sources, listed, strict=True)):
            places = {word: at for at, word in enumerate(words, 1)}
            local[number, words] = np.arange(1, len(words) + 1)
            for i, word in enumerate(source.ids):
                replace[number, i] = source.other[i].cost
                for new, priced in source.replace[i].items():
                    replace[number, i, places[new]] = priced.cost
                replace[number, i, places[word]] = 0.0
                delete[number, i] = source.delete[i].cost
                for new, priced in source.join[i - 1].items() if i else ():
                    join[number, i, places[new]] = priced.cost
                for k, (pair, priced) in enumerate(source.split[i].items()):
                    split[number, i, k] = pair
                    split_cost[number, i, k] = priced.cost
        # Arrays, not tensors: a cost is found in a loop over small ones, on the CPU.
        self._tables: dict[str, NDArray[Any]] = {
            "local": local, "replace": replace, "join": join, "has_join": np.isfinite(join).any(-1),  # [I,N]
            "delete": delete, "split": split,
            "split_cost": split_cost, "insert": insert.numpy(),
            "present": np.zeros(len(insert)) if present is None else present.numpy(),
            "ids": pad([list(source.ids) for source in sources], -1).numpy(),
            "first": np.array([source.first for source in sources]),
            "lengths": np.array([len(source.ids) for source in sources]),
        }  # fmt: skip
        self._known: dict[tuple[int, Ids], float] = {}  # by input and words

    def log_factor(self, sentences: Sentences) -> Tensor:
        """[B] float64: minus the cost. Each distinct sentence is aligned once."""
        if len(self._known) > MAX_REMEMBERED:
            self._known = {}  # not cleared: chains of another thread may be reading the old one
        known = self._known
        asked = list(zip(sentences.inputs.tolist(), map(tuple, sentences.to_lists()), strict=True))
        new = {key: at for at, key in enumerate(asked) if key not in known}
        if new:
            rows = torch.tensor(list(new.values()), device=sentences.device)
            cells = max(1, self._tables["ids"].shape[1] * sentences.capacity)
            together = max(1, MAX_CELLS // cells)
            parts = [self._log_factor(sentences.select(part)) for part in torch.split(rows, together)]
            known.update(zip(new, np.concatenate(parts).tolist(), strict=True))
        return torch.tensor([known[key] for key in asked], dtype=torch.float64, device=sentences.device)

    def log_price(self, input: int, edit: Edit[Ids]) -> float:
        """What an edit of at most one word to at most one word adds to the log factor of its source, the first change
        not counted. An alignment of the whole sentence may be cheaper."""
        source, present = self._sources[input], self._tables["present"]
        if not edit.replacement:
            cost = source.delete[edit.start].cost
        elif not edit.original:
            cost = float(self._tables["insert"][edit.replacement[0]])
        else:
            cost = source.replace[edit.start].get(edit.replacement[0], source.other[edit.start]).cost
        lost, brought = (sum(float(present[word]) for word in words) for words in (edit.original, edit.replacement))
        return lost - brought - cost

    def _log_factor(self, sentences: Sentences) -> NDArray[np.float64]:
        """[B]: minus the cost."""
        tables, ids, lengths, inputs = self._tables, *_arrays(sentences)
        # Prefix sums, because a sum over the whole row would round differently in a wider array.
        present = _sums(tables["present"][ids])  # [B,L+1]
        cost = np.take_along_axis(self._costs(sentences)[-1] + present, lengths[:, None], 1)[:, 0]
        return -(cost + self.first * tables["first"][inputs] * self._changed(sentences))  # type: ignore[no-any-return]

    def _changed(self, sentences: Sentences) -> NDArray[np.bool_]:
        """[B]: not the source."""
        tables, ids, lengths, inputs = self._tables, *_arrays(sentences)
        source = tables["ids"][inputs]  # [B,N]
        width = min(source.shape[1], sentences.capacity)
        same = (source[:, :width] == ids[:, :width]) | (np.arange(width) >= lengths[:, None])
        return (tables["lengths"][inputs] != lengths) | ~same.all(-1)  # type: ignore[no-any-return]

    def _costs(self, sentences: Sentences) -> list[NDArray[np.float64]]:
        """N+1 times [B,L+1]: the least cost of making the first j words from the first i words of the source.

        A source shorter than N keeps its last row. Insertions run along a row: with prefix sums they are a running
        minimum. On the CPU and without torch, because it is a loop over small arrays.
        """
        tables, ids, _, inputs = self._tables, *_arrays(sentences)
        local = tables["local"][inputs[:, None], ids]  # [B,L]
        source, lengths = tables["ids"][inputs], tables["lengths"][inputs]  # [B,N], [B]
        longest = int(lengths.max(initial=0))
        places = np.arange(longest)[:, None, None]
        replace = tables["replace"][inputs[:, None], places, local]  # [N,B,L]
        delete = tables["delete"][inputs].T[..., None]  # [N,B,1]
        apart, is_split = self._apart(ids, inputs, longest)  # [N,B,L-1], [N]
        typed = source.T[:longest, :, None]  # [N,B,1]
        exchanged = (ids[:, :-1] == typed[1:]) & (ids[:, 1:] == typed[:-1])  # [N-1,B,L-1]
        is_exchanged = exchanged.any((1, 2))  # [N-1]
        is_joined = tables["has_join"][inputs].any(0)  # [N]
        ended = (places[:, 0] >= lengths)[..., None]  # [N,B,1]
        inserted = _sums(tables["insert"][ids])  # [B,L+1]
        costs = [inserted]
        for i in range(longest):
            before = costs[-1]
            best = before + delete[i]  # [B,L+1]
            np.minimum(best[:, 1:], before[:, :-1] + replace[i], out=best[:, 1:])
            # What can be split, joined or exchanged at few places is looked at there only.
            if is_split[i]:
                np.minimum(best[:, 2:], before[:, :-2] + apart[i], out=best[:, 2:])
            if is_joined[i]:
                join = tables["join"][inputs[:, None], i, local]  # [B,L]
                np.minimum(best[:, 1:], costs[-2][:, :-1] + join, out=best[:, 1:])
            if i and is_exchanged[i - 1]:
                cost = np.where(exchanged[i - 1], self._order, np.inf)
                np.minimum(best[:, 2:], costs[-2][:, :-2] + cost, out=best[:, 2:])
            best = np.minimum.accumulate(best - inserted, -1) + inserted
            costs.append(np.where(ended[i], before, best))
        return costs

    def _apart(
        self, ids: NDArray[np.int64], inputs: NDArray[np.int64], longest: int
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """[N,B,L-1]: the cost of two neighbouring words for one word of the source; [N]: where any is so."""
        split, cost = (
            self._tables[name][inputs][:, :longest] for name in ("split", "split_cost")
        )  # [B,N,K,2], [B,N,K]
        apart, is_split = np.full((longest, len(ids), ids.shape[1] - 1), np.inf), np.zeros(longest, dtype=np.bool_)
        for row, i, k in zip(*(cost < np.inf).nonzero(), strict=True):
            first, second = split[row, i, k]
            found = (ids[row, :-1] == first) & (ids[row, 1:] == second)
            apart[i, row][found] = np.minimum(apart[i, row][found], cost[row, i, k])
            is_split[i] |= found.any()
        return apart, is_split

    def align(self, sentences: Sentences) -> list[list[Edit[Ids]]]:
        """The edits that lead from its source to each sentence, from left to right; insertions in one gap are one."""
        edits: list[list[Edit[Ids]]] = []
        for rows in torch.split(torch.arange(len(sentences), device=sentences.device), ALIGNED):
            part = sentences.select(rows)
            costs = np.stack(self._costs(part), 1).tolist()  # [R,N+1,L+1]
            edits += [
                self._path(self._sources[input], table, tuple(words))
                for input, table, words in zip(part.inputs.tolist(), costs, part.to_lists(), strict=True)
            ]
        return edits

    def _path(self, source: ChannelSource, costs: list[list[float]], words: Ids) -> list[Edit[Ids]]:
        i, j = len(source.ids), len(words)
        edits: list[Edit[Ids]] = []  # from right to left
        while i or j:
            ways = self._ways(source, costs, words, i, j)
            # The first of those that cost the same, whatever the rounding: one change has one name in every sentence.
            least = min(cost for cost, *_ in ways) + ROUNDING
            _, back, on, kind = next(way for way in ways if way[0] <= least)
            replacement = words[j - on : j]
            if kind and edits and not back and edits[-1].start == edits[-1].end == i:
                replacement += edits.pop().replacement
            if kind:
                edits.append(Edit(i - back, i, tuple(source.ids[i - back : i]), replacement, kind))
            i, j = i - back, j - on
        return edits[::-1]

    def _ways(
        self, source: ChannelSource, costs: list[list[float]], words: Ids, i: int, j: int
    ) -> list[tuple[float, int, int, str]]:
        """The ways to the first i and j words: cost, words of the source and of the sentence taken, kind."""
        ids = source.ids
        ways: list[tuple[float, int, int, str]] = []
        if i and j:
            if ids[i - 1] == words[j - 1]:
                ways.append((costs[i - 1][j - 1], 1, 1, ""))
            else:
                priced = source.replace[i - 1].get(words[j - 1], source.other[i - 1])
                ways.append((costs[i - 1][j - 1] + priced.cost, 1, 1, priced.kind))
        if i > 1 and j > 1 and ids[i - 1] == words[j - 2] and ids[i - 2] == words[j - 1]:
            ways.append((costs[i - 2][j - 2] + self._order, 2, 2, "order"))
        if i and j > 1 and (apart := source.split[i - 1].get((words[j - 2], words[j - 1]))):
            ways.append((costs[i - 1][j - 2] + apart.cost, 1, 2, apart.kind))
        if i > 1 and j and (joined := source.join[i - 2].get(words[j - 1])):
            ways.append((costs[i - 2][j - 1] + joined.cost, 2, 1, joined.kind))
        if i:
            ways.append((costs[i - 1][j] + source.delete[i - 1].cost, 1, 0, source.delete[i - 1].kind))
        if j:
            insert = self._tables["insert"]
            ways.append((costs[i][j - 1] + float(insert[words[j - 1]]), 0, 1, self._kinds[words[j - 1]]))
        return ways


def _arrays(sentences: Sentences) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The words [B,L], lengths [B] and inputs [B] of sentences."""
    return sentences.ids.cpu().numpy(), sentences.lengths.cpu().numpy(), sentences.inputs.cpu().numpy()


def _sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """[B,L+1]: the sums of the first 0, 1, ... values of each row."""
    sums = np.zeros((len(values), values.shape[1] + 1))
    np.cumsum(values, -1, out=sums[:, 1:])
    return sums


def _listed(source: ChannelSource) -> list[int]:
    """Every word that a table names: those of the source, replacements, joined words."""
    return list(dict.fromkeys([*source.ids, *chain(*source.replace, *source.join)]))
