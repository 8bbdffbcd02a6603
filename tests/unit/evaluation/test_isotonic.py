"""A monotone map is fitted, worked by hand and by its laws."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.evaluation.isotonic import BELOW_HALF, MIN_EDITS, Judged, cross_fitted, fit_groups, fit_knots, isotonic


def test_neighbours_that_fall_are_pooled() -> None:
    assert isotonic([], []) == []
    assert isotonic([1, 2, 3], [1, 1, 1]) == [1, 2, 3]
    assert isotonic([3, 1, 2], [1, 1, 1]) == [2, 2, 2]
    assert isotonic([1, 3, 2, 4], [1, 1, 1, 1]) == [1, 2.5, 2.5, 4]
    assert isotonic([0.2, 0.8, 0.5], [1, 2, 4]) == pytest.approx([0.2, 0.6, 0.6])  # (2 * 0.8 + 4 * 0.5) / 6


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 5)), min_size=1, max_size=12))
def test_the_sequence_rises_and_is_the_nearest_one(rows: list[tuple[int, int]]) -> None:
    """The conditions of the projection on rising sequences: orthogonal to itself, and no rising direction is better."""
    values, weights = [value for value, _ in rows], [weight for _, weight in rows]
    found = isotonic(values, weights)
    assert all(a <= b for a, b in pairwise(found))
    residue = [weight * (value - fit) for value, weight, fit in zip(values, weights, found, strict=True)]
    assert sum(r * fit for r, fit in zip(residue, found, strict=True)) == pytest.approx(0, abs=1e-6)
    assert sum(residue) == pytest.approx(0, abs=1e-6)
    assert all(sum(residue[at:]) <= 1e-6 for at in range(len(residue)))


def judged(share: float, num: int, num_right: int, first: int = 0, kind: str = "tense") -> list[Judged]:
    return [Judged(first + at, kind, share, at < num_right) for at in range(num)]


def test_knots_worked_by_hand() -> None:
    edits = [*judged(0.1, 100, 30), *judged(0.3, 100, 20), *judged(0.45, 100, 60), *judged(1.0, 100, 90)]
    # 30% and 20% are pooled to 25% at their mean share; 60% below a half stays below it.
    assert fit_knots(edits) == [(0, 0), (0.2, 0.25), (0.45, BELOW_HALF), (0.5, 0.5), (1, 0.9)]
    # What is below a half above it is lifted to it; beyond the last edits the map stays as it is.
    high = [*judged(0.6, 80, 20), *judged(0.9, 80, 60)]
    assert fit_knots(high) == [(0, 0), (0.5, 0.5), (0.6, 0.5), (0.9, 0.75), (1, 0.75)]
    assert fit_knots([]) == [(0, 0), (0.5, 0.5), (1, 1)]


def test_few_edits_are_taken_together() -> None:
    most = MIN_EDITS - 1
    few = [*judged(0.1, most, 0), *judged(0.2, 1, 1), *judged(0.3, most, 0), *judged(1.0, most, most)]
    right = round(1 / (2 * most + 1), 4)  # the last ones are too few for a bin, but nothing else is above a half
    assert fit_knots(few) == [(0, 0), (0.2, right), (0.5, 0.5), (1, 1)]


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=300))
def test_every_map_rises_and_a_half_stays_a_half(rows: list[tuple[int, bool]]) -> None:
    knots = fit_knots([Judged(at, "", share / 20, right) for at, (share, right) in enumerate(rows)])
    assert knots[0] == (0, 0)
    assert knots[-1][0] == 1
    assert (0.5, 0.5) in knots
    for (share, value), (next_share, next_value) in pairwise(knots):
        assert share < next_share
        assert 0 <= value <= next_value <= 1
        assert (value < 0.5) == (share < 0.5)


def test_kinds_of_a_group_have_a_map_of_their_own() -> None:
    edits = [*judged(1.0, 100, 90, kind="spelling"), *judged(1.0, 100, 60), *judged(1.0, 100, 80, kind="comma")]
    groups = fit_groups(edits, [["spelling"]])
    assert groups["spelling"][-1] == (1, 0.9)
    assert groups[""][-1] == (1, 0.7)
    assert set(groups) == {"spelling", ""}
    with pytest.raises(BadInput, match="no edits"):
        fit_groups([], [])


def test_no_sentence_is_judged_by_a_map_that_saw_it() -> None:
    edits = [edit for number in range(20) for edit in judged(0.7, 1, number % 2, first=number) * 3]
    seen: list[set[int]] = []

    def fit(some: Sequence[Judged]) -> "Seen":
        seen.append({edit.sentence for edit in some})
        return Seen(len(seen) - 1)

    numbers = cross_fitted(edits, fit, num_folds=5)
    assert len(seen) == 5
    for edit, number in zip(edits, numbers, strict=True):
        assert edit.sentence not in seen[int(number)]
    assert all(len(some) == 16 for some in seen)
    assert cross_fitted(edits, fit, num_folds=5) == [number + 5 for number in numbers]  # the same folds again


class Seen:
    """A map that gives its own number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, share: float, kind: str) -> float:
        return self.number
