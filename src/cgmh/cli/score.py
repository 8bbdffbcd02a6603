"""`cgmh score`."""

import click

from ..errors import BadInput
from .input import read_lines, stdin_is_terminal
from .output import encodable, print_record, uncollected


@click.command("score")
@click.argument("sentences", nargs=-1, metavar="[SENTENCE]...")
@click.option("--file", metavar="FILE", help="Read sentences from FILE, one per line (- for stdin).")
@click.option("--model", metavar="MODEL", help="In place of the embedded English one; see `cgmh models --help`.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each sentence.")
def score_command(sentences: tuple[str, ...], file: str | None, model: str | None, as_json: bool) -> None:
    """Print log probability and perplexity of sentences.

    \b
    cgmh score "The train was late for the meeting."
    cgmh score --file sentences.txt --json

    The perplexity is per word, the end of the sentence counting as one. Words outside the vocabulary count as
    unknowns of their shape. Without sentences or --file, they are read from stdin, one per line.
    """
    if sentences and file:
        raise BadInput("give sentences or --file, not both")
    if not sentences and file is None and stdin_is_terminal():
        raise BadInput('no sentences; try: cgmh score "The train was late."')
    lines = list(sentences) if sentences else [line for line in read_lines(file) if line.strip()]
    if not lines:
        raise BadInput("no sentences: the input is empty")
    for number, line in enumerate(lines, start=1):
        if encodable(line) != line:
            raise BadInput(f"sentence {number}: not UTF-8; type it in UTF-8, or convert it first")
    with uncollected():
        from ..api import score
    for number, scored in enumerate(score(lines, model=model)):
        if not as_json and not number:
            click.echo(f"{'log prob':>9}  {'perplexity':>10}", err=True)
        if as_json:
            print_record(scored.to_dict())
        else:
            click.echo(f"{scored.log_prob:9.2f}  {scored.perplexity:10.1f}  {scored.text}")
