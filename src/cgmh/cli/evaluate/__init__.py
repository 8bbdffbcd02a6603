"""`cgmh evaluate`: the paper's tables, each by one command. A table has its command in a file of its own."""

import click

from .acceptance import acceptance_command
from .correction import correction_command
from .f_score import f_score_command
from .initial_state import initial_state_command
from .keywords import keywords_command
from .overlap import overlap_command
from .paraphrase import paraphrase_command


@click.group("evaluate", short_help="Make the tables of the paper: systems compared on data, with intervals.")
def evaluate_group() -> None:
    """Make the tables of the paper: systems compared on data, with bootstrap intervals.

    \b
    cgmh evaluate keywords --data DATA --out keywords
    cgmh evaluate keywords --data DATA --systems ours,gbs --limit 20
    cgmh evaluate keywords --data DATA --add mine=mine.txt      one more row, from a file
    cgmh evaluate paraphrase --data DATA --split dev            question pairs, on the part to try things out
    cgmh evaluate overlap --data DATA --out overlap             words of the source by place, as a figure
    cgmh evaluate correction --data DATA --split dev            GLEU and F0.5 on JFLEG, or FCE
    cgmh evaluate acceptance --data DATA --split dev            the paper's kernel beside ours
    cgmh evaluate initial-state --data DATA --split dev         from corrupted starts
    cgmh evaluate f-score answers.m2 gold.m2                    F0.5 of marked edits
    cgmh rate keywords/rate.jsonl                               let people score the same sentences

    DATA is a folder of data sets, in the layout of docs/evaluation.md; a set that is missing is told with where to get
    it. With --out, everything is written into a folder: a report (Markdown, and a page with plots), the table as JSON,
    every sentence. A run that is interrupted goes on from that folder; more systems or a larger --limit only do what
    is new.
    """


for command in (
    keywords_command,
    paraphrase_command,
    overlap_command,
    correction_command,
    acceptance_command,
    initial_state_command,
    f_score_command,
):
    evaluate_group.add_command(command)
