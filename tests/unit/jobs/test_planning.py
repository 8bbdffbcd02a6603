"""Plans: every row once, in parts that take some seconds, and smaller ones towards the end."""

import pytest

from cgmh.jobs.planning import MOST, Part, Plan


def parts_of(plan: Plan, seconds: float | None = None) -> list[Part]:
    parts = []
    while (part := plan.next()) is not None:
        parts.append(part)
        if seconds is not None:
            plan.heard(part.num_rows, seconds * part.num_rows)
    return parts


@pytest.mark.parametrize("seconds", [None, 0.0, 0.01, 100.0])
@pytest.mark.parametrize("workers", [1, 2, 7])
@pytest.mark.parametrize("together", [1, 8, 64])
def test_every_row_is_handed_out_once(seconds: float | None, workers: int, together: int) -> None:
    gaps = [(3, 5), (64, 700), (1000, 1001), (1064, 9000)]
    wanted = [row for first, end in gaps for row in range(first, end)]
    parts = parts_of(Plan(gaps, workers, together), seconds)
    assert [row for part in parts for row in range(part.first, part.end)] == wanted
    assert all(part.num_rows <= MOST for part in parts)
    at_once = list(Plan(gaps, workers, together).all(100))
    assert [row for part in at_once for row in range(part.first, part.end)] == wanted
    # Rows that run together are in one part, unless some of them are done already.
    edges = {first for first, _ in gaps} | {end for _, end in gaps}
    assert all(part.first % together == 0 or part.first in edges for part in (*parts, *at_once))


def test_parts_take_some_seconds_and_get_smaller() -> None:
    sizes = [part.num_rows for part in parts_of(Plan([(0, 10_000)], 2, 8), 0.1)]
    assert sizes[0] == 8
    assert max(sizes) == 96  # ten seconds, in whole blocks
    assert sizes[-2:] == [8, 8]


def test_what_failed_comes_first() -> None:
    failed = Part(0, 8, (1, 5))
    plan = Plan([(8, 16)], 2, 8, [failed])
    assert plan.num_rows == 10
    assert parts_of(plan) == [failed, Part(8, 16)]
