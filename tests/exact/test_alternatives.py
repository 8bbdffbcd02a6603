"""The kernel of a correction is exact: groups of phrases of every shape, beside edits and swaps, under a channel."""

import pytest
import torch

from enumeration import violations
from histories import history, start_of
from phrases import ALL, EACH, GROUPS, SHAPES, SPELLING, correcting_kernel
from spaces import SPACES

torch.set_num_threads(1)

TWO, LOCAL = "channel, two inputs", "channel, run-local"


def test_every_shape_has_an_input() -> None:
    assert [group for some in EACH.values() for group in some] == list(SHAPES.values())


@pytest.mark.parametrize("name", GROUPS)
def test_exact(name: str) -> None:
    space = SPACES[TWO]()
    assert violations(correcting_kernel(space, GROUPS[name], None), space.states, 0.7) == []


@pytest.mark.parametrize(
    ("name", "window", "beta"),
    [("half of them each", 1, 0.5), ("half of them each", 0, 1.0), ("none for the first", 1, 2.0)],
)
def test_exact_with_delayed_acceptance(name: str, window: int, beta: float) -> None:
    space = SPACES[TWO]()
    assert violations(correcting_kernel(space, GROUPS[name], window), space.states, beta) == []


@pytest.mark.parametrize("window", [None, 1])
def test_exact_with_run_local_words(window: int | None) -> None:
    """A word outside the vocabulary comes and goes by groups alone; without them it is there to stay."""
    space = SPACES[LOCAL]()
    assert violations(correcting_kernel(space, SPELLING, window), space.states, 0.8) == []
    found = violations(correcting_kernel(space, [ALL[::3]], window), space.states, 0.8)
    assert [one.partition(":")[0] for one in found] == ["one communicating class an input"]


def test_a_row_alone_is_the_row_in_a_batch() -> None:
    space, groups = SPACES[TWO](), GROUPS["half of them each"]
    kernel, start = correcting_kernel(space, groups, 1), start_of(space)
    plain = history(kernel, start)
    five = torch.tensor([5])
    alone = history(kernel, start.select(five), chains=five)
    assert alone == {key: some for key, some in plain.items() if key[0] == 5}
