"""`cgmh evaluate f-score`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...errors import BadInput
from ..output import print_record

if TYPE_CHECKING:
    from ...evaluation.f_score import Counts
    from ...text.m2 import M2Sentence

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command("f-score", short_help="F0.5 of corrections against what annotators marked, both in the format M2.")
@click.argument("answers", type=_FILE, metavar="ANSWERS.m2")
@click.argument("gold", type=_FILE, metavar="GOLD.m2")
@click.option("--types", is_flag=True, help="Also the scores of each type of edit.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON object.")
def f_score_command(answers: Path, gold: Path, types: bool, as_json: bool) -> None:
    """Score corrections against what annotators marked, both in the format M2.

    \b
    grep '^S ' gold.m2 | cut -c 3- | cgmh correct --m2 > answers.m2
    cgmh evaluate f-score answers.m2 gold.m2 --types

    Edits are compared by their spans, as ERRANT does, and by maximum match, as the M2 scorer of the CoNLL tasks does,
    with the annotator of each sentence who is best for the score so far. The sentences of a gold file are tokenised,
    one per line; `cgmh correct --m2` keeps such tokens.
    """
    from ...evaluation.f_score import score_m2

    made, wanted = _read(answers), _read(gold)
    scores = {
        name: score_m2(made, wanted, max_match=max_match)
        for name, max_match in (("spans", False), ("maximum match", True))
    }
    if as_json:
        found = {name: {**asdict(each), "f0.5": each.total.f_score()} for name, each in scores.items()}
        print_record({"sentences": len(made), **found})
        return
    click.echo(f"{len(made)} sentences")
    click.echo(f"{'':14}{'right':>7}{'wrong':>7}{'missing':>9}{'precision':>11}{'recall':>9}{'F0.5':>9}")
    for name, each in scores.items():
        click.echo(_row(name, each.total))
        for type, counts in each.types.items() if types else ():
            click.echo(_row(f"  {type}", counts))


def _row(name: str, counts: "Counts") -> str:
    return (
        f"{name:14}{counts.right:7}{counts.wrong:7}{counts.missing:9}"
        f"{counts.precision:11.4f}{counts.recall:9.4f}{counts.f_score():9.4f}"
    )


def _read(path: Path) -> "list[M2Sentence]":
    from ...text.m2 import read_m2

    try:
        return read_m2(path.read_text(encoding="utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 ({error.reason}); convert it first") from error
