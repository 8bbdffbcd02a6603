"""Which sentences are shown."""

import pytest

from cgmh import api
from cgmh.selection import Visit, choose, consensus


def _ids(*words: str) -> tuple[int, ...]:
    return tuple(api.as_model(None).vocabulary.ids[word] for word in words)


GOOD = _ids("the", "train", "was", "late", ".")
OTHER = _ids("she", "bought", "some", "bread", ".")
ODD = _ids("late", "the", "was", "train", ".")


def _visit(ids: tuple[int, ...], log_model: float) -> Visit:
    return Visit(ids, log_model, log_model, 0)


def test_best_prefers_english_whatever_the_order_of_visits() -> None:
    visits = [_visit(ODD, -30.0), _visit(GOOD, -20.0), _visit(OTHER, -20.0), _visit(GOOD, -20.0)]
    chosen = choose("best", visits, [], api.as_model(None), 3)
    assert {visit.ids for visit in chosen[:2]} == {GOOD, OTHER}
    assert chosen[2].ids == ODD


def test_last_shows_final_states_only_each_once() -> None:
    chosen = choose(
        "last", [_visit(GOOD, -1.0)], [_visit(ODD, -9.0), _visit(OTHER, -5.0), _visit(ODD, -9.0)], api.as_model(None), 5
    )
    assert [visit.ids for visit in chosen] == [ODD, OTHER]


def test_consensus_is_the_mean_overlap_with_the_others() -> None:
    assert consensus([(1, 2), (1, 2), (3, 4)]) == pytest.approx([0.5, 0.5, 0.0])


def test_answers_that_are_nearly_the_same_come_last() -> None:
    near = _ids("the", "train", "is", "late", ".")
    chosen = choose("best", [_visit(GOOD, -20.0), _visit(near, -20.0), _visit(OTHER, -26.0)], [], api.as_model(None), 2)
    assert OTHER in {visit.ids for visit in chosen}
