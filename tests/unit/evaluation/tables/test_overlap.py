"""Words of the source by place, counted by hand; the figure."""

from pathlib import Path

import pytest

from cgmh.cli.evaluate import overlap as command
from cgmh.evaluation.experiment import Results, run
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.paraphrases import Question
from cgmh.evaluation.tables.overlap import PLACES, SYSTEMS, overlap_figure, overlap_table
from cgmh.evaluation.tables.paraphrase import GROUP, Asked


@pytest.fixture
def results(tmp_path: Path) -> Results[Question]:
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "val.tsv").write_text("a b c d\tx\na b c d\ta x\nk l\tx\n", encoding="utf-8")
    (tmp_path / "mine.txt").write_text("a x d\nb b\nx l l\n", encoding="utf-8")
    asked = Asked(["copy"], "dev", added=[("mine", tmp_path / "mine.txt")])
    return run(overlap_table(DataFolder(tmp_path), asked))


def test_the_command_has_the_systems_of_the_table() -> None:
    assert command.USUAL == SYSTEMS
    assert set(SYSTEMS) <= set(command.SYSTEMS)


def test_every_place_counts_the_answers_that_reach_it(results: Results[Question]) -> None:
    cells = {row.name: row.cells[GROUP] for row in results.rows}
    mine = [cell.value if (cell := cells["mine"][str(place + 1)]) else None for place in range(PLACES)]
    assert mine[:3] == pytest.approx([200 / 3, 200 / 3, 100])
    assert mine[3:] == [None] * (PLACES - 3)
    copied = [cell.value if (cell := cells["copy"][str(place + 1)]) else None for place in range(PLACES)]
    assert copied == [100.0] * 4 + [None] * (PLACES - 4)


def test_the_figure_has_a_curve_for_each_row(results: Results[Question]) -> None:
    figure = overlap_figure(results)
    assert figure.svg.startswith("<svg")
    assert ">mine<" in figure.svg
    assert ">copy<" in figure.svg
