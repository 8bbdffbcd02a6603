"""Noisy channels over toy words, and what they cost by the definition alone."""

from collections.abc import Sequence
from functools import cache

import torch

from cgmh.constraints.channel import Channel, ChannelSource, Priced
from meanings import NUM_IDS, OUT, A, B, C

# Every operation is priced, each by a number of its own, so that none can stand for another.
INSERT = 0.6 + 0.07 * torch.arange(NUM_IDS, dtype=torch.float64)
STRANGE = torch.where(torch.arange(NUM_IDS) == OUT, 0.9, 0.05 * (torch.arange(NUM_IDS) == C)).double()
INSERT_KINDS = [f"insert {id}" for id in range(NUM_IDS)]
OTHER, ORDER, FIRST_COST = Priced(1.7, "other"), 0.45, 0.35
SOURCES = [
    ChannelSource(
        ids=[B, A, C],
        replace=[{A: Priced(0.5, "form")}, {B: Priced(0.9, "form"), C: Priced(1.3, "sound")}, {}],
        delete=[Priced(0.7, "delete"), Priced(1.1, "delete"), Priced(0.4, "delete")],
        split=[{(A, C): Priced(0.55, "split")}, {}, {(B, B): Priced(0.3, "split"), (A, B): Priced(0.8, "split")}],
        join=[{C: Priced(0.65, "join")}, {B: Priced(0.25, "join")}],
        other=[OTHER] * 3,
    ),
    ChannelSource(
        ids=[C, B],
        replace=[{A: Priced(1.15, "sound")}, {A: Priced(0.75, "form")}],
        delete=[Priced(1.2, "delete"), Priced(0.85, "delete")],
        split=[{}, {}],
        join=[{}],
        other=[OTHER] * 2,
    ),
]
MISSPELT = ChannelSource(
    ids=[OUT, A],
    replace=[{A: Priced(0.2, "spelling")}, {B: Priced(0.75, "form")}],
    delete=[Priced(1.2, "delete"), Priced(0.85, "delete")],
    split=[{(B, C): Priced(0.5, "split")}, {}],
    join=[{}],
    other=[Priced(1.05, "spelling"), Priced(2.1, "other")],
)


def toy_channel(sources: Sequence[ChannelSource]) -> Channel:
    return Channel(sources, INSERT, INSERT_KINDS, ORDER, FIRST_COST, STRANGE)


def cheapest(source: ChannelSource, words: Sequence[int], insert: Sequence[float], order: float) -> float:
    """The least cost of making the words from the source, by trying every way."""

    @cache
    def cost(i: int, j: int) -> float:
        """Of the words from j on out of those of the source from i on."""
        found = [] if i < len(source.ids) or j < len(words) else [0.0]
        for back, on in ((1, 1), (1, 0), (0, 1), (2, 2), (1, 2), (2, 1)):
            if i + back <= len(source.ids) and j + on <= len(words):
                priced = price(source, i, i + back, words[j : j + on], insert, order)
                if priced is not None:
                    found.append(priced.cost + cost(i + back, j + on))
        return min(found)

    return cost(0, 0)


def price(
    source: ChannelSource, at: int, end: int, words: Sequence[int], insert: Sequence[float], order: float
) -> Priced | None:
    """What it costs to have `words` in place of those of the source from `at` to `end`, and what that is called.

    Nothing where that is no single operation.
    """
    old, new = tuple(source.ids[at:end]), tuple(words)
    match len(old), len(new):
        case 1, 1:
            return Priced(0.0, "") if old == new else source.replace[at].get(new[0], source.other[at])
        case 1, 0:
            return source.delete[at]
        case 0, 1:
            return Priced(insert[new[0]], INSERT_KINDS[new[0]])
        case 2, 2:
            return Priced(order, "order") if old == new[::-1] else None
        case 1, 2:
            return source.split[at].get((new[0], new[1]))
        case 2, 1:
            return source.join[at].get(new[0])
    return None
