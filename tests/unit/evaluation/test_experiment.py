"""Systems that answer items: figures, intervals, differences, and runs that are picked up again."""

import json
from pathlib import Path

import numpy as np
import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.experiment import Sums, mean_of, run
from experiments import ITEMS, Writer, experiment


def test_the_figures_are_means_over_a_group() -> None:
    ours, other, theirs = run(experiment()).rows
    found = {group: cells["length"].value for group, cells in ours.cells.items() if cells["length"]}
    assert found == pytest.approx({"long": 6, "short": (5 + 4 + 5) / 3, "all": (6 + 5 + 4 + 5) / 4})
    assert other.cells["all"]["length"].value == 6.0  # type: ignore[union-attr]
    assert theirs.is_published
    assert theirs.cells["all"]["length"].value == 3.0  # type: ignore[union-attr]


def test_intervals_hold_the_figure_and_are_those_of_the_items() -> None:
    ours, other, _ = run(experiment()).rows
    cell = ours.cells["all"]["length"]
    assert cell is not None
    assert cell.low is not None
    assert cell.high is not None
    assert 4 <= cell.low < cell.value < cell.high <= 6
    single = ours.cells["long"]["length"]
    assert single is not None
    assert single.low == single.high == single.value  # one item: whatever is drawn is the same
    gap = other.differences["all"]["length"]
    assert gap is not None
    assert gap.value == gap.low == gap.high == 1.0  # one letter more for every item: paired, it does not vary
    assert not ours.differences["all"]


def test_an_interval_covers_the_mean_of_the_population_as_often_as_it_says() -> None:
    """Of means of 60 normal numbers, 95 in 100 intervals hold the true one; 400 trials, false alarm under 1e-3."""
    from cgmh.evaluation.experiment import _cell, _weights

    weights = _weights(60, range(60))
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        cell = _cell(mean_of(generator.normal(size=60)).score(weights), has_interval=True)
        assert cell is not None
        assert cell.low is not None
        assert cell.high is not None
        held += cell.low <= 0 <= cell.high
    assert 0.90 <= held / 400 <= 0.98


def test_a_row_has_no_figure_for_a_group_that_it_did_not_answer_in_full() -> None:
    _, partial, _ = run(experiment(Writer("ours", "!"), Writer("partial", "?", silent=("lake",)))).rows
    assert partial.cells["long"]["length"] is not None
    assert partial.cells["short"]["length"] is None
    assert partial.cells["all"]["length"] is None


def test_a_resumed_run_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(experiment(Writer("ours", "!", stops_after=2)), tmp_path)
    again, new = Writer("ours", "!"), Writer("new", "#")
    results = run(experiment(again, new), tmp_path)
    assert again.asked == ["sea", "pond"]
    assert new.asked == list(ITEMS)
    assert results.rows == run(experiment(Writer("ours", "!"), Writer("new", "#"))).rows


def test_silence_is_remembered(tmp_path: Path) -> None:
    run(experiment(Writer("ours", "!", silent=("sea",))), tmp_path)
    again = Writer("ours", "!")
    results = run(experiment(again), tmp_path)
    assert not again.asked
    assert results.answers["ours"][2] is None


@pytest.mark.parametrize("other", [{"signature": "words|v2"}, {"systems": [Writer("ours", "!", signature="v2")]}])
def test_another_run_is_not_gone_on_with(tmp_path: Path, other: dict[str, object]) -> None:
    run(experiment(Writer("ours", "!")), tmp_path)
    before = (tmp_path / "answers" / "ours.jsonl").read_bytes()
    with pytest.raises(BadInput, match=r"made with another (data|settings); give another `out`"):
        run(experiment(Writer("ours", "!"), **other), tmp_path)
    assert (tmp_path / "answers" / "ours.jsonl").read_bytes() == before


def test_a_journal_has_every_answer(tmp_path: Path) -> None:
    run(experiment(Writer("ours", "!")), tmp_path)
    lines = (tmp_path / "answers" / "ours.jsonl").read_text().splitlines()
    assert json.loads(lines[1]) == {"key": "key river", "text": "river!", "seconds": 0.5, "details": {"of": "river"}}


def test_mistakes_are_told() -> None:
    with pytest.raises(BadInput, match="words: no items"):
        run(experiment(items=()))
    with pytest.raises(BadInput, match="the system ours comes twice"):
        run(experiment(Writer("ours", "!"), Writer("ours", "?")))
    with pytest.raises(BadInput, match="the key same comes twice"):
        run(experiment(key=lambda _: "same"))

    class Short(Writer):
        def answer(self, items):  # type: ignore[no-untyped-def]
            return super().answer(items[:3])

    with pytest.raises(BadInput, match="ours: 3 answers to 4 items"):
        run(experiment(Short("ours", "!")))


def test_sums_of_a_ratio() -> None:
    """A ratio of sums, not a mean of ratios: 1 of 2 and 3 of 3 are 4 of 5."""
    sums = Sums(np.array([[1.0, 2.0], [3.0, 3.0]]))
    assert sums.score(np.array([[1.0, 1.0], [2.0, 0.0]])).tolist() == [0.8, 0.5]
