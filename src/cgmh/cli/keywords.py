"""`cgmh keywords`."""

from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..inputs import KeywordInput, read_keywords
from ..settings import Settings
from .input import read_lines, stdin_is_terminal
from .options import model_options, output_options, sampling_options, wanted_bar, wanted_big, wanted_trace
from .output import beside_bar, print_heading, print_json, warn_if_poor

if TYPE_CHECKING:
    from ..result import Result


@click.command("keywords")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--file", metavar="FILE", help="Read sets of keywords from FILE, one a line (- for stdin).")
@click.option("--n", default=Settings.n, show_default=True, help="Sentences to print for each set.")
@click.option("--ordered", is_flag=True, help="Keep the keywords in the order given.")
@click.option("--inflect", is_flag=True, help="Let a keyword appear in any inflected form (walk, walks, walked).")
@click.option("--forbid", multiple=True, metavar="WORD", help="A word that must not appear; repeat for more.")
@click.option("--min-words", default=KeywordInput.min_words, show_default=True, help="Fewest words, marks not counted.")
@click.option("--max-words", default=KeywordInput.max_words, show_default=True, help="Most words, marks not counted.")
@sampling_options(Settings(), "set")
@click.option(
    "--temper",
    default=Settings.temper,
    metavar="K",
    help="Each chain is the coldest of K replicas that exchange temperatures, against getting stuck. Costs K times.",
)
@model_options()
@click.option(
    "--masked",
    metavar="MODEL",
    help="A masked language model of Hugging Face that proposes words beside the embedded model.",
)
@output_options("set")
def keywords_command(
    words: tuple[str, ...],
    file: str | None,
    forbid: tuple[str, ...],
    **options: Any,
) -> None:
    """Write sentences that contain the given words.

    \b
    cgmh keywords lottery scholarships
    cgmh keywords "prime minister" visit --ordered      a phrase stays together
    cgmh keywords "car|automobile" repair --inflect     any of several words, in any form
    cgmh keywords BMW Zürich --forbid expensive         any string may be a keyword
    cgmh keywords --file sets.txt --json > out.jsonl    one set a line

    A keyword in lower case matches any casing; one with capitals is kept exactly. A keyword given twice must
    appear twice. Without words or --file, sets are read from stdin, one a line.
    """
    if words and file:
        raise BadInput("give keywords or --file, not both")
    if words:
        sets = [tuple(words)]
    else:
        if file is None and stdin_is_terminal():
            raise BadInput("no keywords; try: cgmh keywords lottery scholarships")
        sets = [read_keywords(line) for line in read_lines(file) if line.strip()]
        if not sets:
            raise BadInput("no keywords: the input is empty")
    names = ("n", "steps", "chains", "seed", "temperature", "select", "temper", "anneal")
    wanted = {name: options[name] for name in names}
    big, settings = wanted_big(options, Settings(**wanted, trace=wanted_trace(options)))
    from ..api import solve
    from ..tasks import Keywords

    inputs = [
        KeywordInput(some, options["ordered"], options["inflect"], forbid, options["min_words"], options["max_words"])
        for some in sets
    ]
    bar = wanted_bar(options)
    results = solve(
        Keywords(), inputs, settings, model=options["model"], big=big, masked=options["masked"], progress=bar
    )
    for number, result in enumerate(results):
        with beside_bar():
            warn_if_poor(result)
            if options["as_json"]:
                print_json(result)
                continue
            if len(inputs) > 1:
                print_heading(result.input, first=number == 0)
            _print(result)


def _print(result: "Result") -> None:
    for sentence in result:
        click.echo(sentence.text)
    if result.trace:
        click.echo(f"\n{'step':>5}  {'move':8}  {'log ratio':>9}     sentence")
        for step in result.trace:
            mark = " " if step.accepted else "x"
            click.echo(f"{step.step:5}  {step.move:8}  {step.log_ratio:9.2f}  {mark}  {step.text}")
