"""A noisy channel: how likely it is that a source was typed where a sentence was meant.

log chi(source | x) is minus the cost of the cheapest way to make x from the source by replacing, inserting, deleting,
splitting, joining and exchanging words, each at its own cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import torch
from torch import Tensor

from ..text.edits import Edit, Ids
from ..text.sentences import OnDevice, Sentences, pad

ALIGNED = 256  # sentences that are aligned together: a table of each is held in lists
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

    `insert` [ids] prices each word that the source lacks, `strange` [ids] each word of the sentence that no dictionary
    has; `order` prices an exchange of neighbours, and `first` that anything is changed at all: most sentences are
    right. A source may multiply that.
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
        strange: Tensor | None = None,
    ) -> None:
        self._sources, self._order, self.first = sources, order, first
        self._kinds = insert_kinds  # of each id
        longest = max(len(source.ids) for source in sources)
        listed = [_listed(source) for source in sources]
        local = torch.zeros(len(sources), len(insert), dtype=torch.int16)  # [I,ids]: 0 is a word that no table names
        shape = (len(sources), longest, max(map(len, listed)) + 1)
        replace = torch.zeros(shape, dtype=torch.float64)  # [I,N,W]
        join = torch.full(shape, torch.inf, dtype=torch.float64)  # [I,N,W]: of the words before the place and at it
        delete = torch.zeros(len(sources), longest, dtype=torch.float64)
        num_splits = max([len(pairs) for source in sources for pairs in source.split], default=0)
        split = torch.full((len(sources), longest, num_splits, 2), -1)  # [I,N,K,2]
        split_cost = torch.full((len(sources), longest, num_splits), torch.inf, dtype=torch.float64)
        for number, (source, words) in enumerate(zip(sources, listed, strict=True)):
            places = {word: at for at, word in enumerate(words, 1)}
            local[number, words] = torch.arange(1, len(words) + 1, dtype=torch.int16)
            for i, word in enumerate(source.ids):
                replace[number, i] = source.other[i].cost
                for new, priced in source.replace[i].items():
                    replace[number, i, places[new]] = priced.cost
                replace[number, i, places[word]] = 0.0
                delete[number, i] = source.delete[i].cost
                for new, priced in source.join[i - 1].items() if i else ():
                    join[number, i, places[new]] = priced.cost
                for k, (pair, priced) in enumerate(source.split[i].items()):
                    split[number, i, k] = torch.tensor(pair)
                    split_cost[number, i, k] = priced.cost
        self._tables = OnDevice(
            local=local, replace=replace, join=join, delete=delete, split=split, split_cost=split_cost, insert=insert,
            strange=torch.zeros_like(insert) if strange is None else strange,
            ids=pad([list(source.ids) for source in sources], -1),
            first=torch.tensor([source.first for source in sources], dtype=torch.float64),
            lengths=torch.tensor([len(source.ids) for source in sources]),
        )  # fmt: skip

    def log_factor(self, sentences: Sentences) -> Tensor:
        """[B] float64: minus the cost."""
        tables = self._tables.at(sentences.device)
        # Prefix sums, because a sum over the whole row would round differently in a wider array.
        strange = torch.nn.functional.pad(tables["strange"][sentences.ids].cumsum(-1), (1, 0))  # [B,L+1]
        cost = (self._costs(sentences)[-1] + strange).gather(1, sentences.lengths[:, None])[:, 0]
        return -(cost + self.first * tables["first"][sentences.inputs] * self._changed(sentences))

    def _changed(self, sentences: Sentences) -> Tensor:
        """[B] bool: not the source."""
        tables = self._tables.at(sentences.device)
        source = tables["ids"].index_select(0, sentences.inputs)  # [B,N]
        width = min(source.shape[1], sentences.capacity)
        same = (source[:, :width] == sentences.ids[:, :width]) | ~sentences.present[:, :width]
        return (tables["lengths"][sentences.inputs] != sentences.lengths) | ~same.all(-1)

    def _costs(self, sentences: Sentences) -> list[Tensor]:
        """N+1 times [B,L+1]: the least cost of making the first j words from the first i words of the source.

        A source shorter than N keeps its last row. Insertions run along a row: with prefix sums they are a running
        minimum.
        """
        tables, inputs = self._tables.at(sentences.device), sentences.inputs
        ids, rows = sentences.ids, inputs[:, None]
        local = tables["local"][rows, ids].long()  # [B,L]
        source, lengths = tables["ids"].index_select(0, inputs), tables["lengths"][inputs]  # [B,N], [B]
        inserted = torch.nn.functional.pad(tables["insert"][ids].cumsum(-1), (1, 0))  # [B,L+1]
        longest, num_splits = tables["replace"].shape[1], tables["split"].shape[2]
        costs = [inserted]
        for i in range(longest):
            before = costs[-1]
            best = before + tables["delete"][inputs, i][:, None]  # [B,L+1]
            kept = before[:, :-1] + tables["replace"][:, i][rows, local]
            best[:, 1:] = torch.minimum(best[:, 1:], kept)
            if i:
                joined = costs[-2][:, :-1] + tables["join"][:, i][rows, local]
                best[:, 1:] = torch.minimum(best[:, 1:], joined)
                exchanged = (ids[:, :-1] == source[:, i, None]) & (ids[:, 1:] == source[:, i - 1, None])  # [B,L-1]
                swapped = (costs[-2][:, :-2] + self._order).masked_fill(~exchanged, torch.inf)
                best[:, 2:] = torch.minimum(best[:, 2:], swapped)
            for k in range(num_splits):
                pair = tables["split"][inputs, i, k]  # [B,2]
                apart = (ids[:, :-1] == pair[:, :1]) & (ids[:, 1:] == pair[:, 1:])
                cost = before[:, :-2] + tables["split_cost"][inputs, i, k][:, None]
                best[:, 2:] = torch.minimum(best[:, 2:], cost.masked_fill(~apart, torch.inf))
            best = (best - inserted).cummin(-1).values + inserted
            costs.append(torch.where((i < lengths)[:, None], best, before))
        return costs

    def align(self, sentences: Sentences) -> list[list[Edit[Ids]]]:
        """The edits that lead from its source to each sentence, from left to right; insertions in one gap are one."""
        edits: list[list[Edit[Ids]]] = []
        for rows in torch.split(torch.arange(len(sentences), device=sentences.device), ALIGNED):
            part = sentences.select(rows)
            costs = torch.stack(self._costs(part), 1).tolist()  # [R,N+1,L+1]
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
            insert = self._tables.at(torch.device("cpu"))["insert"]
            ways.append((costs[i][j - 1] + float(insert[words[j - 1]]), 0, 1, self._kinds[words[j - 1]]))
        return ways


def _listed(source: ChannelSource) -> list[int]:
    """Every word that a table names: those of the source, replacements, joined words."""
    return list(dict.fromkeys([*source.ids, *chain(*source.replace, *source.join)]))
