"""Tables as text, in Markdown and as JSON."""

import json

from cgmh.evaluation.experiment import Cell, run
from cgmh.evaluation.table import as_dict, cell_text, difference_grid, grid, markdown_table, text_table
from experiments import Writer, experiment


def test_cells() -> None:
    assert cell_text(Cell(4.281, 4.014, 4.549)) == "4.28 [4.01, 4.55]"
    assert cell_text(Cell(0.5, -0.25, 1.0), 1, signed=True) == "+0.5 [-0.2, +1.0]"
    assert cell_text(Cell(3.0)) == "3.00"
    assert cell_text(None) == "–"


def test_the_grid_has_a_row_for_each_system_and_marks_published_ones() -> None:
    results = run(experiment())
    heads, *rows = grid(results, "all")
    assert heads == ["system", "length ↓", "seconds"]
    assert [row[0] for row in rows] == ["ours", "other", "theirs†"]
    assert rows[2][1:] == ["3.00", "–"]
    assert [row[0] for row in grid(results, "long")[1:]] == ["ours", "other"]  # nothing was published for it
    assert difference_grid(results, "all")[1] == ["other", "+1.00 [+1.00, +1.00]"]


def test_the_text_says_what_is_what() -> None:
    text = text_table(run(experiment()))
    for part in ("words: long (1 item)", "words: all (4 items)", "difference from ours, all", "ours: a rule",
                 "length: of the answer", "† published figures", "signature: words|v1"):  # fmt: skip
        assert part in text
    aligned = [line for line in text.splitlines() if line.startswith(("ours  ", "other "))][:2]
    assert len({len(line) for line in aligned}) == 1


def test_markdown_has_as_many_cells_in_every_row() -> None:
    text = markdown_table(run(experiment(Writer("ours", "!"), Writer("a|b", "?"))))
    assert "a\\|b" in text
    for block in text.split("\n\n"):
        rows = [line.replace("\\|", "").count("|") for line in block.splitlines() if line.startswith("|")]
        assert len(set(rows)) <= 1


def test_json_holds_every_figure() -> None:
    record = json.loads(json.dumps(as_dict(run(experiment())), allow_nan=False))
    other = next(row for row in record["rows"] if row["name"] == "other")
    assert other["cells"]["all"]["length"]["value"] == 6.0
    assert other["differences"]["all"]["length"]["value"] == 1.0
    assert record["groups"] == {"long": 1, "short": 3, "all": 4}
