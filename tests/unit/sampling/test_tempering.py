"""Ladders, what they refuse, and the count of exchanges and round trips."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from cgmh.sampling import Exchanges, Ladder, tempered
from histories import start_of
from replicas import LADDERS
from spaces import KERNELS, SPACES


def _rounds(levels: list[list[int]], tried: list[list[int]], accepted: list[list[int]]) -> Exchanges:
    """The count over the rounds of one chain: the levels of its replicas, and the pairs tried and accepted."""
    exchanges = Exchanges()
    for row in zip(levels, tried, accepted, strict=True):
        level, try_, take = (torch.tensor([some]) for some in row)
        info: Any = SimpleNamespace(levels=level, exchange=SimpleNamespace(tried=try_ > 0, accepted=take > 0))
        exchanges.add(info)
    return exchanges


def test_rates_and_round_trips_by_hand() -> None:
    levels = [[0, 1, 2], [1, 0, 2], [2, 0, 1], [2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2]]
    tried = [[0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]
    accepted = [[0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 0]]
    exchanges = _rounds(levels, tried, accepted)
    assert exchanges.rates() == (1.0, 2 / 3)
    # The first replica went 0 1 2 2 1 0: there and back. The third came down from the heat: half a trip.
    assert exchanges.trips.tolist() == [1]
    assert exchanges.round_trips() == 1
    assert _rounds(levels[:5], tried[:5], accepted[:5]).round_trips() == 0
    assert _rounds([[0, 1]] * 3, [[0]] * 3, [[0]] * 3).rates() == (None,)
    assert Exchanges().rates() == ()
    assert Exchanges().round_trips() == 0


def test_one_level_makes_no_trip() -> None:
    exchanges = _rounds([[0]] * 4, [[]] * 4, [[]] * 4)
    assert exchanges.rates() == ()
    assert exchanges.round_trips() == 0


def test_wrong_ladders_and_levels_are_refused() -> None:
    for shares in ((), (0.9, 0.5), (1.0, 1.0), (1.0, 0.5, 0.7), (1.0, 0.0), (1.0, float("nan"))):
        with pytest.raises(ValueError, match="begin with 1"):
            Ladder(shares)
    for num_levels, hottest in ((0, 0.5), (3, 1.0), (3, 0.0), (3, 2.0)):
        with pytest.raises(ValueError, match="hottest share"):
            Ladder.geometric(num_levels, hottest)
    assert Ladder.geometric(3, 0.25).shares == (1.0, 0.5, 0.25)
    assert Ladder.geometric(1).shares == (1.0,)
    space = SPACES["free"]()
    kernel = KERNELS["fill edits"](space, None)
    with pytest.raises(ValueError, match="every 1 or more"):
        next(tempered(kernel, start_of(space), 5, 0, LADDERS["three"], every=0))
    for levels in (torch.tensor([[0, 1, 1]]), torch.tensor([[0, 1]]), torch.arange(3).expand(4, 3)):
        with pytest.raises(ValueError, match=r"levels for 3 sentences are \[B, 3\]"):
            next(tempered(kernel, start_of(space, 3), 5, 0, LADDERS["three"], levels=levels))
