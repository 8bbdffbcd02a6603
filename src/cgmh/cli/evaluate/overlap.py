"""`cgmh evaluate overlap`."""

from typing import Any

import click

from .paraphrase import SYSTEMS, paraphrase_options, wanted_rows
from .running import check_plots, make_table, table_options

USUAL = ("vae", "paper-kw", "ours")  # as in evaluation/tables/overlap.py, which loads torch


@click.command("overlap", short_help="Words of the source by their place in paraphrases, as a figure.")
@table_options(SYSTEMS, default=USUAL, item="pair")
@paraphrase_options
@click.pass_context
def overlap_command(ctx: click.Context, /, **options: Any) -> None:
    """The paper's figure of word overlap: how many answers have a word of the source in each place.

    \b
    cgmh evaluate overlap --data DATA --split dev --out overlap
    cgmh evaluate overlap --data DATA --systems vae,ours,people --limit 500

    The paper finds that what an autoencoder writes from left to right drifts away from the source, and that what is
    edited in place hardly does. With --out, the curves are in report.html and figure-1.svg. The systems are those of
    `cgmh evaluate paraphrase`.
    """
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.overlap import overlap_figure, overlap_table

    check_plots(options["out"])
    asked = wanted_rows(ctx, options, SYSTEMS)
    experiment = overlap_table(DataFolder(options["data"]), asked, limit=options["limit"] or None)
    make_table(experiment, options, lambda results: [overlap_figure(results)])
