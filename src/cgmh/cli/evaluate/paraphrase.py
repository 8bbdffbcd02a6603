"""`cgmh evaluate paraphrase`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..options import given_options
from .running import Command, check_plots, make_table, shows_progress, table_options, wanted_files, wanted_systems

if TYPE_CHECKING:
    from ...evaluation.tables.paraphrase import Asked

# As in evaluation/tables/paraphrase.py, which loads torch.
SYSTEMS = (
    "copy", "people", "seq2seq-77k", "seq2seq-50k", "seq2seq-20k", "vae-svg", "vae-svg-eq", "vae", "paper-none",
    "paper-kw", "paper-kw+wva", "paper-kw+wvm", "paper-kw+st", "upsa", "ours",
)  # fmt: skip


def paraphrase_options(command: Command) -> Command:
    """The options of tables on question pairs, beside those of every table."""
    options = (
        click.option(
            "--split",
            type=click.Choice(["dev", "test"]),
            default="test",
            show_default=True,
            help="Which part of the data.",
        ),
        click.option(
            "--variant",
            "variants",
            multiple=True,
            metavar="'NAME: OPTION=VALUE ...'",
            help="One more row: cgmh with other options of `cgmh paraphrase` (match, protect, max_overlap, difference, "
            "start, steps, chains, temperature, select, anneal, use ...), preset=paper, gibbs=yes, model=NAME or "
            "big=NAME. Repeat it for more.",
        ),
        click.option(
            "--gibbs",
            is_flag=True,
            help="Step the paper's rows by the paper's kernel: it samples from the same distribution, but takes some "
            "15 seconds for each source.",
        ),
        click.option(
            "--recorded",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Outputs of the trained rivals, SYSTEM.val.txt and SYSTEM.test.txt, as recipes/rivals/paraphrase.py "
            "writes them; by default those that come with the package.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command("paraphrase", short_help="Paraphrases of questions: BLEU-ref, BLEU-ori, iBLEU, NLL, facts kept.")
@table_options(SYSTEMS, item="pair")
@paraphrase_options
@click.pass_context
def paraphrase_command(ctx: click.Context, /, **options: Any) -> None:
    """The table of paraphrases on question pairs (DATA/quora): the paper's variants, rivals, people, and ours.

    \b
    cgmh evaluate paraphrase --data DATA --split dev --limit 100
    cgmh evaluate paraphrase --data DATA --systems copy,paper-kw,ours --out paraphrase
    cgmh evaluate paraphrase --data DATA --systems ours --variant 'far: max_overlap=40 steps=160'
    cgmh evaluate paraphrase --data DATA --systems ours --variant 'gemma: big=gemma3-270m'
    cgmh evaluate paraphrase --data DATA --add mine=mine.txt        a line for each pair of the file

    \b
    copy, people        the source itself; what people wrote
    seq2seq-*, vae-*    trained rivals: recorded outputs, not run here
    paper-*             the paper's target with its matching functions, and its rule: the first sample
                        that shares less than 55 (BLEU) with the source
    upsa                simulated annealing, after UPSA: a search
    ours                cgmh paraphrase as it comes, the best answer

    BLEU-ref is with what people wrote, BLEU-ori with the source. Copying has the highest BLEU-ref of all, so that both
    count: iBLEU is 0.9 of the first less 0.1 of the second.
    """
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.paraphrase import paraphrase_table

    check_plots(options["out"])
    data = DataFolder(options["data"])
    data.file("quora", options["split"])  # known to be there before a judge is made
    judge = data.judge(options["judge"], progress=shows_progress(options))
    make_table(
        paraphrase_table(data, wanted_rows(ctx, options, SYSTEMS), judge, limit=options["limit"] or None), options
    )


def wanted_rows(ctx: click.Context, options: dict[str, Any], systems: Sequence[str]) -> "Asked":
    """The rows that the options ask for; rivals without outputs are left out, unless they were named."""
    from ...evaluation.tables.paraphrase import Asked

    recorded = {} if options["recorded"] is None else {"recorded": options["recorded"]}
    return Asked(
        wanted_systems(options["systems"], systems),
        options["split"],
        options["seed"],
        options["gibbs"],
        added=wanted_files(options["add"]),
        variants=options["variants"],
        skip_missing="systems" not in given_options(ctx, options),
        **recorded,
    )
