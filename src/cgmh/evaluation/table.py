"""The results of an experiment as a table: for a terminal, in Markdown, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .experiment import Cell, Column, Experiment, Results, Row

NOTHING = "–"
PUBLISHED = "†"  # marks a row of figures that others printed


def cell_text(cell: Cell | None, digits: int = 2, *, signed: bool = False) -> str:
    """4.28 [4.01, 4.55]"""
    if cell is None:
        return NOTHING
    form = f"{'+' if signed else ''}.{digits}f"
    if cell.low is None or cell.high is None:
        return f"{cell.value:{form}}"
    return f"{cell.value:{form}} [{cell.low:{form}}, {cell.high:{form}}]"


def heading(column: Column[Any]) -> str:
    """The name of a column, and which way is better."""
    return column.name + {"lower": " ↓", "higher": " ↑", "": ""}[column.better]


def text_table(results: Results[Any]) -> str:
    """The table for a terminal: a block for each group, the differences from the baseline in the last one, a legend."""
    experiment = results.experiment
    blocks = [
        "\n".join([f"{experiment.name}: {title_of(experiment, group)}", *_aligned(grid(results, group))])
        for group in experiment.groups
    ]
    last = list(experiment.groups)[-1]
    compared = difference_grid(results, last)
    if compared:
        blocks.append("\n".join([f"difference from {experiment.baseline}, {last}", *_aligned(compared)]))
    blocks.append("\n".join(legend(results)))
    return "\n\n".join(blocks)


def markdown_table(results: Results[Any]) -> str:
    """The same in Markdown, with the differences of every group."""
    experiment = results.experiment
    blocks = []
    for group in experiment.groups:
        blocks += [f"### {title_of(experiment, group)}", _piped(grid(results, group))]
        compared = difference_grid(results, group)
        if compared:
            blocks += [f"Difference from {experiment.baseline}:", _piped(compared)]
    return "\n\n".join([*blocks, "\n".join(f"- {line}" for line in legend(results))])


def grid(results: Results[Any], group: str) -> list[list[str]]:
    """The cells of one group as texts, headings first; columns that no row has a figure for are left out."""
    columns = [column for column in results.experiment.columns if _is_filled(results.rows, group, column)]
    rows = [row for row in results.rows if any(row.cells.get(group, {}).get(column.name) for column in columns)]
    lines = [["system", *map(heading, columns)]]
    for row in rows:
        cells = row.cells[group]
        name = row.name + PUBLISHED * row.is_published
        lines.append([name, *(cell_text(cells.get(column.name), column.digits) for column in columns)])
    return lines


def difference_grid(results: Results[Any], group: str) -> list[list[str]]:
    """How far each row is from the baseline, as texts; nothing where there is nothing to compare."""
    rows = [row for row in results.rows if row.differences.get(group)]
    names = {name for row in rows for name in row.differences[group]}
    columns = [column for column in results.experiment.columns if column.name in names and column.better]
    if not rows or not columns:
        return []
    lines = [["system", *map(heading, columns)]]
    for row in rows:
        cells = row.differences[group]
        lines.append([row.name, *(cell_text(cells.get(each.name), each.digits, signed=True) for each in columns)])
    return lines


def legend(results: Results[Any]) -> list[str]:
    """What the rows and columns are, what is to be known about them, and the signature."""
    experiment = results.experiment
    lines = [f"{row.name}{PUBLISHED * row.is_published}: {row.about}" for row in results.rows if row.about]
    lines += [f"{column.name}: {column.about}" for column in experiment.columns if column.about]
    lines += experiment.notes
    if any(row.is_published for row in results.rows):
        lines.append(
            f"{PUBLISHED} published figures, measured by others on other data: not comparable to the rows above"
        )
    return [*lines, f"signature: {experiment.signature}"]


def as_dict(results: Results[Any]) -> dict[str, Any]:
    """The table as JSON, the differences and every signature with it."""
    experiment = results.experiment
    return {
        "table": experiment.name,
        "signature": experiment.signature,
        "baseline": experiment.baseline,
        "groups": {name: len(members) for name, members in experiment.groups.items()},
        "columns": [
            {"name": column.name, "better": column.better, "about": column.about} for column in experiment.columns
        ],
        "rows": [asdict(row) for row in results.rows],
        "notes": list(experiment.notes),
    }


def title_of(experiment: Experiment[Any], group: str) -> str:
    """A group with how many items it has: of few, intervals say little."""
    number = len(experiment.groups[group])
    return f"{group} ({number} item{'s' * (number != 1)})"


def _is_filled(rows: Sequence[Row], group: str, column: Column[Any]) -> bool:
    return any(row.cells.get(group, {}).get(column.name) is not None for row in rows)


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    return [
        "  ".join([f"{name:{widths[0]}}", *(f"{cell:>{width}}" for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in lines
    ]


def _piped(lines: Sequence[Sequence[str]]) -> str:
    first, *rest = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
    return "\n".join([first, f"|---|{'---:|' * (len(lines[0]) - 1)}", *rest])
