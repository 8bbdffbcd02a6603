"""Drawings for reports, by matplotlib, as SVG without any reference to the outside."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra
from .experiment import Column, Results, Row
from .report import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def empty_drawing(width: float = 8.0, height: float = 4.5) -> "Drawing":
    """A drawing without a window, of so many inches; `drawing.subplots()` gives its axes."""
    try:
        from matplotlib.figure import Figure as Drawing
    except ImportError as error:
        raise MissingExtra("matplotlib", "evaluation") from error
    return Drawing(figsize=(width, height), layout="constrained")


def to_svg(drawing: "Drawing") -> str:
    """The drawing as SVG, its text as text; the same drawing always gives the same SVG."""
    import matplotlib as mpl

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cgmh"}):
        buffer = io.StringIO()
        drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def interval_figures(results: Results[Any]) -> list[Figure]:
    """A drawing for each column that says which way is better: a point with its interval for every row and group."""
    rows = [row for row in results.rows if not row.is_published]
    figures = []
    for column in results.experiment.columns:
        if column.better and column.interval and any(_values(row, column, results) for row in rows):
            title = f"{column.name} ({column.better} is better)"
            figures.append(Figure(title, _intervals(results, rows, column), "Points with 95% bootstrap intervals."))
    return figures


def _values(row: Row, column: Column[Any], results: Results[Any]) -> list[tuple[int, float, float, float]]:
    """The group, value and interval of the cells that a row has in a column."""
    found = []
    for at, group in enumerate(results.experiment.groups):
        cell = row.cells.get(group, {}).get(column.name)
        if cell is not None:
            low = cell.value if cell.low is None else cell.low
            high = cell.value if cell.high is None else cell.high
            found.append((at, cell.value, low, high))
    return found


def _intervals(results: Results[Any], rows: Sequence[Row], column: Column[Any]) -> str:
    groups = list(results.experiment.groups)
    drawing = empty_drawing(max(6.0, 1.6 * len(groups) + 2.5), 4.0)
    axes = drawing.subplots()
    step = 0.7 / max(len(rows), 1)
    for number, row in enumerate(rows):
        values = _values(row, column, results)
        if values:
            places = [at + (number - (len(rows) - 1) / 2) * step for at, _, _, _ in values]
            middle = [value for _, value, _, _ in values]
            # An interval of resampled items need not hold the figure itself.
            below = [max(0.0, value - low) for _, value, low, _ in values]
            above = [max(0.0, high - value) for _, value, _, high in values]
            axes.errorbar(places, middle, yerr=[below, above], fmt="o", capsize=3, label=row.name)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_ylabel(column.name)
    axes.grid(axis="y", alpha=0.3)
    drawing.legend(loc="outside right upper", frameon=False)
    return to_svg(drawing)
