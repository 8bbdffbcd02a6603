"""`cgmh evaluate acceptance`."""

from typing import Any

import click

from .running import check_plots, make_table, table_options, wanted_systems

SYSTEMS = ("paper", "ours")
TASKS = ("keywords", "paraphrase")


@click.command(
    "acceptance", short_help="Acceptance rates of the paper's kernel and of ours, and how soon chains are fluent."
)
@table_options(SYSTEMS, limit=20, item="start", adds=False, judged=False)
@click.option("--task", type=click.Choice([*TASKS, "both"]), default="both", show_default=True, help="What is sampled.")
@click.option(
    "--split", type=click.Choice(["dev", "test"]), default="test", show_default=True, help="The part of the questions."
)
@click.option("--model", metavar="MODEL", help="A word model in place of the embedded English one.")
@click.option(
    "--steps", type=click.IntRange(1), help="Steps of each chain; by default 200 from keywords and 100 of a paraphrase."
)
@click.option("--chains", type=click.IntRange(1), help="Chains for each start; by default 8 of ours and 1 of paper.")
def acceptance_command(**options: Any) -> None:
    """Run the paper's kernel and ours under the same targets, and count what they accept.

    \b
    cgmh evaluate acceptance --data DATA --split dev --out acceptance
    cgmh evaluate acceptance --data DATA --task keywords --systems ours --limit 50

    The starts are shared out evenly: keywords, and the same questions without matching, with keywords kept (KW), and
    with word vectors too (KW+WVM), as in the paper's table. The report draws the log probability per word and the share
    of words changed over the steps.
    """
    check_plots(options["out"])
    from ...errors import BadInput
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.acceptance import KEYWORDS, STEPS, figures, make_experiment
    from ...evaluation.walks import Walker
    from ...models.load import load_models

    names = wanted_systems(options["systems"], SYSTEMS)
    groups = [
        group for group in STEPS if options["task"] in ("both", "keywords" if group == KEYWORDS else "paraphrase")
    ]
    if not options["limit"]:
        raise BadInput("`limit` 0: chains could start from anything; give a number")
    models = load_models(options["model"])
    if models.text is not None:
        raise BadInput(f"`model` {options['model']}: the paper's kernel needs a word model, not one of texts")
    experiment = make_experiment(
        DataFolder(options["data"]),
        [Walker(name, models, options["seed"], options["chains"]) for name in names],
        models,
        groups=groups,
        limit=options["limit"],
        split=options["split"],
        steps=options["steps"],
    )
    make_table(experiment, options, figures)
