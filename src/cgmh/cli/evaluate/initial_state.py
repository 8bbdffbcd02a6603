"""`cgmh evaluate initial-state`."""

from typing import Any

import click

from ...errors import BadInput
from ...inputs import CORRUPTED
from .running import check_plots, make_table, table_options, wanted_systems


@click.command("initial-state", short_help="How soon chains forget a corrupted start: curves over the steps.")
@table_options(tuple(CORRUPTED), item="pair", adds=False, judged=False)
@click.option("--split", type=click.Choice(["dev", "test"]), default="test", show_default=True)
@click.option("--model", metavar="MODEL", help="A word model in place of the embedded English one.")
@click.option("--steps", type=click.IntRange(1), default=100, show_default=True, help="Steps of each chain.")
@click.option("--every", type=click.IntRange(1), default=10, show_default=True, help="Steps between two points.")
@click.option("--chains", type=click.IntRange(1), default=8, show_default=True, help="Chains for each question.")
def initial_state_command(**options: Any) -> None:
    """Paraphrase from corrupted starts, as in the paper's figure.

    \b
    cgmh evaluate initial-state --data DATA --split dev --out initial-state
    cgmh evaluate initial-state --data DATA --systems copy,random --steps 400 --limit 20

    Chains start at a question, at copies with 5% or 10% of the words replaced by random ones, or with all of them.
    BLEU and nats per word are those of where the chains stand, every few steps; the report draws them.
    """
    check_plots(options["out"])
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.initial_state import Starting, curve_table, figures, make_experiment
    from ...models.load import load_models

    if options["every"] > options["steps"]:
        raise BadInput(f"`every` {options['every']}: more than the `steps` {options['steps']}; give fewer")
    names = wanted_systems(options["systems"], tuple(CORRUPTED))
    models = load_models(options["model"])
    if models.text is not None:
        raise BadInput(f"`model` {options['model']}: give a word model, not one of texts")
    how = {name: options[name] for name in ("seed", "chains", "steps", "every")}
    experiment = make_experiment(
        DataFolder(options["data"]),
        [Starting(name, models, **how) for name in names],
        models,
        split=options["split"],
        limit=options["limit"] or None,
    )
    results = make_table(experiment, options, figures)
    if not options["as_json"]:
        click.echo(f"\n{curve_table(results)}")
