"""A monotone map from the shares of edits to the probability that they are right, fitted to edits that were judged."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ..errors import BadInput

MIN_EDITS = 60  # of which a share of right ones is worked out, before neighbours are pooled
HALF, BELOW_HALF = 0.5, 0.49  # a half stays a half, and what is below it stays below
NUM_FOLDS = 10
Knots = list[tuple[float, float]]


class Judged(NamedTuple):
    """An edit: the number of its sentence, its kind, the share of the samples that make it, and whether it is right."""

    sentence: int
    kind: str
    share: float
    is_right: bool


def isotonic(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The rising sequence with the least weighted squared distance: neighbours that fall are pooled (PAVA)."""
    pools: list[tuple[float, float, int]] = []  # mean, weight, how many values
    for value, weight in zip(values, weights, strict=True):
        pool = (value, weight, 1)
        while pools and pools[-1][0] >= pool[0]:
            mean, own, number = pools.pop()
            total = own + pool[1]
            pool = ((mean * own + pool[0] * pool[1]) / total, total, number + pool[2])
        pools.append(pool)
    return [mean for mean, _, number in pools for _ in range(number)]


def fit_knots(edits: Iterable[Judged]) -> Knots:
    """The knots of a map that is straight between them, from (0, 0) to a share of 1.

    Edits are taken together, at least `MIN_EDITS` of about the same share; their shares of right ones are made to rise.
    Both sides of a half are fitted by themselves and kept on their side, so that what half of the samples make is what
    has a probability of a half: a threshold of 0.5 says the same with the map and without it.
    """
    ordered = sorted(edits, key=lambda edit: edit.share)
    below = [edit for edit in ordered if 0 < edit.share < HALF]
    above = [edit for edit in ordered if edit.share > HALF]
    left = [(share, min(value, BELOW_HALF)) for share, value in _pooled(below)]
    right = [(share, max(value, HALF)) for share, value in _pooled(above)]
    last = right[-1][1] if right else 1.0
    knots = {
        round(share, 4): round(value, 4) for share, value in [(0.0, 0.0), *left, (HALF, HALF), *right, (1.0, last)]
    }
    return sorted(knots.items())


def _pooled(ordered: Sequence[Judged]) -> Knots:
    """The mean share and the share of right ones of edits that belong together."""
    bins: list[list[Judged]] = []
    for _, same in groupby(ordered, key=lambda edit: edit.share):  # what has the same share is never torn apart
        if not bins or len(bins[-1]) >= MIN_EDITS:
            bins.append([])
        bins[-1] += same
    if len(bins) > 1 and len(bins[-1]) < MIN_EDITS:
        rest = bins.pop()
        bins[-1] += rest
    sizes = [len(some) for some in bins]
    rates = isotonic([sum(edit.is_right for edit in some) / len(some) for some in bins], sizes)
    knots: Knots = []
    for value, members in groupby(zip(rates, bins, strict=True), key=lambda pair: pair[0]):
        shares = [edit.share for _, some in members for edit in some]
        knots.append((sum(shares) / len(shares), value))
    return knots


def fit_groups(edits: Sequence[Judged], groups: Sequence[Sequence[str]]) -> dict[str, Knots]:
    """The knots for the kinds of each group, and under "" those for all other kinds."""
    if not edits:
        raise BadInput("no edits were judged, so nothing says how often they are right")
    grouped = {kind: number for number, kinds in enumerate(groups) for kind in kinds}
    found: dict[str, Knots] = {}
    for number, kinds in enumerate([*groups, [""]]):
        own = [edit for edit in edits if grouped.get(edit.kind, len(groups)) == number]
        found |= dict.fromkeys(kinds, fit_knots(own))
    return found


Map = Callable[[float, str], float]  # share and kind -> probability


def cross_fitted(
    edits: Sequence[Judged], fit: Callable[[Sequence[Judged]], Map], num_folds: int = NUM_FOLDS, seed: int = 0
) -> list[float]:
    """The probability of each edit by a map that was fitted without its sentence."""
    sentences = sorted({edit.sentence for edit in edits})
    order = np.random.default_rng(seed).permutation(len(sentences)).tolist()
    folds: Mapping[int, int] = {sentences[at]: place % num_folds for place, at in enumerate(order)}
    maps = [fit([edit for edit in edits if folds[edit.sentence] != fold]) for fold in range(num_folds)]
    return [maps[folds[edit.sentence]](edit.share, edit.kind) for edit in edits]
