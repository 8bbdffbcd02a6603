"""What the tables of `cgmh evaluate` share: their options, and a run from there to the table and its report."""

import re
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ...errors import BadInput, MissingExtra
from ..output import print_record

if TYPE_CHECKING:
    from ...evaluation.experiment import Experiment, Results
    from ...evaluation.report import Figure

Command = TypeVar("Command", bound=Callable[..., Any])


def table_options(
    systems: Sequence[str],
    *,
    default: Sequence[str] | None = None,
    limit: int = 100,
    item: str = "item",
    adds: bool = True,
    judged: bool = True,
) -> Callable[[Command], Command]:
    """The options of every table. `systems` can be asked for; by default the `default` ones are, or all of them.

    A table whose rows are not of texts alone `adds` none from files; one that is not `judged` needs no n-gram judge.
    """
    usual = ",".join(default or systems)
    adding = click.option(
        "--add",
        multiple=True,
        metavar="NAME=FILE",
        help=f"One more row, read from a file: text with a line for each {item} of the data, or .jsonl with `key` "
        "and `text`. Repeat it for more.",
    )
    judging = click.option(
        "--judge",
        type=click.Path(path_type=Path),
        metavar="DIR",
        help="The n-gram judge, as recipes/judge.py writes it; by default one is made of DATA/judge, once.",
    )
    options = (
        click.option(
            "--data",
            required=True,
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="The folder of the data sets; docs/evaluation.md has its layout.",
        ),
        click.option(
            "--systems",
            default=usual,
            show_default=True,
            metavar="NAMES",
            help=f"The rows, with commas between: {', '.join(systems)}.",
        ),
        *([adding] if adds else []),
        click.option(
            "--limit",
            type=click.IntRange(0),
            default=limit,
            show_default=True,
            help=f"How many {item}s; 0 for all. A smaller number is part of a larger one.",
        ),
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of all chance."),
        click.option(
            "--out",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Write report, table and all sentences into a folder; a run that was interrupted goes on from it.",
        ),
        *([judging] if judged else []),
        click.option("--json", "as_json", is_flag=True, help="Print the table as one JSON object."),
        click.option("--quiet", is_flag=True, help="No progress bar."),
    )

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def wanted_systems(given: str, systems: Sequence[str]) -> tuple[str, ...]:
    """The names that --systems lists."""
    names = tuple(dict.fromkeys(part for part in re.split(r"[,\s]+", given) if part))
    unknown = [name for name in names if name not in systems]
    if unknown:
        raise BadInput(f"`systems` {unknown[0]}: not a system of this table; it has {', '.join(systems)}")
    return names


def wanted_files(given: Sequence[str]) -> list[tuple[str, Path]]:
    """The names and files that --add gives."""
    pairs = []
    for text in given:
        name, mark, file = text.partition("=")
        if not mark or not name or not file:
            raise BadInput(f"`add` {text}: give NAME=FILE")
        pairs.append((name, Path(file)))
    return pairs


def shows_progress(options: dict[str, Any]) -> bool:
    """Only someone who watches is shown progress."""
    return not options["quiet"] and sys.stderr is not None and sys.stderr.isatty()


def check_plots(out: Path | None) -> None:
    """Refuse to begin a run whose report could not be drawn at its end."""
    if out is not None and find_spec("matplotlib") is None:
        raise MissingExtra("matplotlib", "evaluation")


def make_table(
    experiment: "Experiment[Any]",
    options: dict[str, Any],
    figures: "Callable[[Results[Any]], Sequence[Figure]] | None" = None,
) -> "Results[Any]":
    """Run the experiment, print its table, and write its report with the figures; `options` are those of the table."""
    from ...evaluation.experiment import run
    from ...evaluation.plots import interval_figures
    from ...evaluation.report import write_report
    from ...evaluation.table import as_dict, text_table

    out = options["out"]
    results = run(experiment, out, progress=shows_progress(options))
    if options["as_json"]:
        print_record(as_dict(results))
    else:
        click.echo(text_table(results))
    if out is not None:
        drawn = [*interval_figures(results), *(figures(results) if figures else ())]
        write_report(results, out, drawn)
        click.echo(f"written: {out / 'report.html'}, report.md, table.json, answers.jsonl, rate.jsonl", err=True)
    return results
