"""Ladders, what they refuse, and the count of exchanges."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from cgmh.sampling import Exchanges, Ladder, tempered
from histories import start_of
from replicas import LADDERS
from spaces import KERNELS, SPACES


def _rounds(tried: list[list[int]], accepted: list[list[int]]) -> Exchanges:
    """The count over the rounds of one chain: the pairs of levels tried and accepted."""
    exchanges = Exchanges()
    for row in zip(tried, accepted, strict=True):
        try_, take = (torch.tensor([pairs]) > 0 for pairs in row)
        info: Any = SimpleNamespace(exchange=SimpleNamespace(tried=try_, accepted=take))
        exchanges.add(info)
    return exchanges


def test_rates_by_hand() -> None:
    tried = [[0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 1]]
    accepted = [[0, 0], [1, 0], [0, 1], [1, 0], [0, 1], [1, 0], [0, 0]]
    assert _rounds(tried, accepted).rates() == (1.0, 2 / 3)
    assert _rounds([[0]] * 3, [[0]] * 3).rates() == (None,)
    assert _rounds([[]] * 4, [[]] * 4).rates() == ()  # one level
    assert Exchanges().rates() == ()


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
    for levels in (torch.tensor([[0, 1, 1]]), torch.tensor([[0, 1]]), torch.arange(3).expand(4, 3)):
        with pytest.raises(ValueError, match=r"levels for 3 sentences are \[B, 3\]"):
            next(tempered(kernel, start_of(space, 3), 5, 0, LADDERS["three"], levels=levels))
