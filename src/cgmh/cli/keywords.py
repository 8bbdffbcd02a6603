"""`cgmh keywords`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..inputs import KeywordInput
from .input import Line, wanted_lines
from .options import model_options, output_options, sampling_options, wanted_settings
from .output import Page, print_answers

if TYPE_CHECKING:
    from ..result import Result
    from ..settings import Settings

_DEFAULTS = KeywordInput.defaults


@click.command("keywords")
@click.argument("words", nargs=-1, metavar="[WORD]...")
@click.option("--file", metavar="FILE", help="Read sets of keywords from FILE, one per line (- for stdin).")
@click.option("--n", default=_DEFAULTS.n, show_default=True, help="Sentences to print for each set.")
@click.option("--ordered", is_flag=True, help="Keep the keywords in the order given.")
@click.option("--inflect", is_flag=True, help="Let a keyword appear in any inflected form (walk, walks, walked).")
@click.option("--forbid", multiple=True, metavar="WORD", help="A word that must not appear; repeat for more.")
@click.option("--min-words", default=KeywordInput.min_words, show_default=True, help="Fewest words, marks not counted.")
@click.option("--max-words", default=KeywordInput.max_words, show_default=True, help="Most words, marks not counted.")
@click.option("--start", default="", metavar="SENTENCE", help="A sentence to start from; it obeys all that is asked.")
@sampling_options(_DEFAULTS, "set", has_budget=True)
@click.option(
    "--temper",
    default=_DEFAULTS.temper,
    metavar="K",
    help="Each chain is the coldest of K replicas that exchange temperatures, against getting stuck. Costs K times.",
)
@model_options(KeywordInput.uses)
@click.option(
    "--masked",
    metavar="MODEL",
    help="A masked language model of Hugging Face that proposes words beside the embedded model.",
)
@output_options("set")
@click.pass_context
def keywords_command(ctx: click.Context, /, words: tuple[str, ...], file: str | None, **options: Any) -> None:
    """Write sentences that contain the given words.

    \b
    cgmh keywords lottery scholarships
    cgmh keywords "prime minister" visit --ordered      a phrase stays together
    cgmh keywords "car|automobile" repair --inflect     any of several words, in any form
    cgmh keywords BMW Zürich --forbid expensive         any string may be a keyword
    cgmh keywords --file sets.txt --json > out.jsonl    one set per line

    \b
    cgmh models pull gemma3-270m                        once: a small LLM, then used by default
    cgmh keywords letter friend --readings 1000         it works longer: better sentences
    cgmh keywords letter friend --use rerank            it only ranks: sooner
    cgmh keywords letter friend --big none              without it

    The model inside the package proposes each change. Once a big model is pulled, it is the judge: it reads the
    changes that pass, until --readings are used up. Ctrl-C then prints the best sentences so far.

    A keyword in lower case matches any casing; one with capitals is kept exactly. A keyword given twice must
    appear twice. Without words or --file, sets are read from stdin, one per line. Lines that cannot be answered are
    named on stderr, the others are answered, and the exit code is 2.
    """
    lines = wanted_lines(words, file, what="keywords", example="cgmh keywords lottery scholarships")
    asked, settings = wanted_keywords(ctx, options)
    if words:
        inputs = [replace(asked, keywords=words)]
        lines = [Line("keywords", str(inputs[0]))]
    else:
        lines = [line for line in lines if not line.is_blank]
        inputs = [replace(asked, keywords=KeywordInput.read(line.text).keywords) for line in lines if not line.error]
    if options["trace"] and "all" in words:
        click.echo("note: all is a keyword here; --trace-all is what prints every step", err=True)
    page = _Page(headings=len(lines) > 1)
    if options["big"] and settings.use in (None, "target") and settings.budget is not None:
        page.advice = "more --readings find more"
    ctx.exit(print_answers(lines, inputs, settings, options, page))


def wanted_keywords(ctx: click.Context, options: dict[str, Any]) -> tuple[KeywordInput, "Settings"]:
    """What every set is asked for, its words still missing, and how it is sampled."""
    asked = KeywordInput((), **{name: options[name] for name in KeywordInput.options})
    return asked, wanted_settings(ctx, options, KeywordInput.defaults, KeywordInput.uses)


class _Page(Page):
    answers = "sentences"

    def print(self, line: Line, result: "Result") -> None:
        super().print(line, result)
        if result.trace:
            texts = [result.traced_from, *(step.text for step in result.trace if step.accepted)]
            if result.best.text not in texts:
                click.echo("note: a search for starts found the best sentence; these are the steps beside it", err=True)
            click.echo(f"\n{'step':>5}  {'move':8}  {'log ratio':>9}     sentence")
            if result.traced_from is not None:
                click.echo(f"{'start':>5}  {'':8}  {'':9}     {result.traced_from}")
            for step in result.trace:
                mark = " " if step.accepted else "x"
                click.echo(f"{step.step:5}  {step.move:8}  {step.log_ratio:9.2f}  {mark}  {step.text}")
