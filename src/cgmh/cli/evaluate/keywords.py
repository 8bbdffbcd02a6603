"""`cgmh evaluate keywords`."""

from pathlib import Path
from typing import Any

import click

from .running import check_plots, make_table, shows_progress, table_options, wanted_files, wanted_systems

# As in evaluation/tables/keywords.py, which loads torch.
SYSTEMS = ("ours", "ours-likeliest", "ours-big", "paper", "paper-time", "gbs", "sep", "asyn", "human")
USUAL = ("ours", "gbs", "sep", "asyn", "human")


@click.command("keywords", short_help="Sentences from keywords: NLL, coverage, diversity, repetition, time.")
@table_options(SYSTEMS, default=USUAL, item="keyword set")
@click.option(
    "--set",
    "which",
    type=click.Choice(["news", "commongen"]),
    default="news",
    show_default=True,
    help="Words of news sentences as they stand there, 1 to 4 of each; or everyday concepts in any form, with BLEU.",
)
@click.option(
    "--paper-time",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="FACTOR",
    help="Time of the system paper-time for each set, in times of ours.",
)
@click.option(
    "--weights",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Let sep and asyn write with these weights (recipes/rivals/backward_forward.py), in place of what they wrote.",
)
@click.option(
    "--min-words",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="At least so many words, of ours, paper and gbs.",
)
@click.option(
    "--max-words", type=click.IntRange(min=1), default=20, show_default=True, metavar="N", help="At most so many words."
)
def keywords_command(data: Path, systems: str, which: str, weights: Path | None, **options: Any) -> None:
    """Sentences from keywords: the table of the paper with our language models, and CommonGen.

    \b
    cgmh evaluate keywords --data DATA --out keywords
    cgmh evaluate keywords --data DATA --systems ours,paper,paper-time --limit 40
    cgmh evaluate keywords --data DATA --set commongen --systems ours,gbs,human
    cgmh evaluate keywords --data DATA --systems ours,gbs --min-words 16  sentences of like length
    cgmh evaluate keywords --data DATA --add mine=mine.jsonl --out keywords
    cgmh rate keywords/rate.jsonl

    \b
    ours            cgmh keywords at its default settings, the embedded model alone
    ours-likeliest  the same with --select likeliest, which searches for a probable sentence as gbs and paper do
    ours-big        the same with gemma3-270m as the target
    paper           the paper's kernel and settings: one chain of 200 steps from the keywords, lowest perplexity
    paper-time      the same kernel with 16 chains, for as long as ours takes (--paper-time FACTOR times that)
    gbs             grid beam search on the embedded model, left to right
    sep, asyn       backward and forward models; they can have one keyword only
    human           the sentence that the keywords are from

    The paper's kernel scores a hundred candidates at every step: a set takes it several times as long as ours.
    """
    from ...evaluation.folder import DataFolder
    from ...evaluation.tables.keywords import keyword_table

    check_plots(options["out"])
    folder = DataFolder(data)
    experiment = keyword_table(
        folder,
        folder.judge(options["judge"], progress=shows_progress(options)),
        wanted_systems(systems, SYSTEMS),
        which="news" if which == "news" else "commongen",
        limit=options["limit"] or None,
        seed=options["seed"],
        added=wanted_files(options["add"]),
        paper_time=options["paper_time"],
        weights=weights,
        min_words=options["min_words"],
        max_words=options["max_words"],
    )
    make_table(experiment, options)
