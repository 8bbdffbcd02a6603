"""`cgmh evaluate correction`."""

from typing import TYPE_CHECKING, Any

import click

from .running import check_plots, make_table, table_options, wanted_files, wanted_systems

if TYPE_CHECKING:
    from ...evaluation.experiment import Results
    from ...evaluation.report import Figure

SYSTEMS = ("source", "spellcheck", "paper", "ours", "ours+gemma", "ours+smollm2")
DEFAULT = ("source", "spellcheck", "ours")  # the others take longer than a hundred sentences should


@click.command("correction", short_help="GLEU and F0.5 of corrections of learners' sentences (paper, Table 5).")
@table_options(SYSTEMS, default=DEFAULT, item="sentence", judged=False)
@click.option(
    "--set",
    "name",
    default="jfleg",
    show_default=True,
    metavar="NAME",
    help="jfleg, fce, or a set of your own below DATA: a folder with source, ref0, ref1 ..., or the beginning of the "
    "names of such files (learners/dev for learners/dev.src, learners/dev.ref0 ...).",
)
@click.option(
    "--split", type=click.Choice(["dev", "test"]), help="The part of jfleg; by default test, as in the paper. fce: dev."
)
@click.option(
    "--references",
    type=click.IntRange(0),
    default=0,
    metavar="N",
    help="Feed in N corrections of people too: few of them should be changed.",
)
@click.option("--big", multiple=True, metavar="MODEL", help="One more row: ours with this model as the target.")
@click.option("--model", metavar="MODEL", help="A word model in place of the embedded English one.")
@click.option(
    "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="Where to compute."
)
@click.option("--steps", type=int, help="Steps of each chain, of ours and of paper.")
@click.option("--chains", type=int, help="Chains for each sentence, of ours.")
@click.option("--threshold", type=float, help="The probability from which on ours makes an edit; by default 0.5.")
def correction_command(**options: Any) -> None:
    """Correct learners' sentences, and compare with what people wrote.

    \b
    cgmh evaluate correction --data DATA --split dev --limit 100 --out jfleg
    cgmh evaluate correction --data DATA --set fce --systems ours,source
    cgmh evaluate correction --data DATA --split dev --references 200     are right sentences left alone?
    cgmh evaluate correction --data DATA --add mine=mine.txt              one more row, from a file
    cgmh evaluate correction --data DATA --systems paper --limit 0 --device cuda

    The report has a figure of how often edits are right, by their probability. Seconds of two rows tell how many times
    as fast one is as the other. A run uses all cores.
    """
    check_plots(options["out"])
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.correction import correctors, make_experiment, read_set

    names = wanted_systems(options["systems"], SYSTEMS)
    title, corrections, contents = read_set(DataFolder(options["data"]), options["name"], options["split"])
    kept = {name: options[name] for name in ("big", "seed", "steps", "chains", "threshold", "model", "device")}
    experiment = make_experiment(
        title,
        corrections,
        contents,
        correctors(names, **kept),
        add=wanted_files(options["add"]),
        limit=options["limit"] or None,
        num_people=options["references"],
    )
    make_table(experiment, options, _figures)


def _figures(results: "Results[Any]") -> "list[Figure]":
    from ...evaluation.tables.correction import calibration_figures

    return calibration_figures(results)
