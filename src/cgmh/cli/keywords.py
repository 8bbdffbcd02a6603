"""`cgmh keywords`."""

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..models.store import installed_big
from ..settings import RULES, STEPS, STEPS_WITH_BIG, USES, Settings, Use
from ..tasks.reading import KeywordInput, read_keywords
from .reading import read_lines, stdin_is_terminal

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
@click.option(
    "--steps",
    type=int,
    help=f"Steps of each chain; by default {STEPS}, with a big model as target {STEPS_WITH_BIG['target']}, to rank "
    f"{STEPS_WITH_BIG['rerank']}.",
)
@click.option("--chains", default=Settings.chains, show_default=True, help="Chains for each set.")
@click.option("--seed", default=Settings.seed, show_default=True, help="Same seed, same sentences.")
@click.option(
    "--temperature",
    default=Settings.temperature,
    show_default=True,
    help="1 samples from the model itself; lower is safer, higher is wilder.",
)
@click.option(
    "--temper",
    default=Settings.temper,
    metavar="K",
    help="Each chain is the coldest of K replicas that exchange temperatures, against getting stuck. Costs K times.",
)
@click.option("--anneal", is_flag=True, help="Begin hotter and cool down: a search, no sampling.")
@click.option(
    "--select",
    type=click.Choice(RULES),
    default=Settings.select,
    show_default=True,
    help="best: the most natural of all visited; last: the final states, true samples; consensus: those most alike.",
)
@click.option(
    "--model",
    metavar="MODEL",
    help="A word model in place of the embedded English one (see `cgmh models --help`); a big one is the target.",
)
@click.option(
    "--big",
    metavar="MODEL",
    help="A big model of texts beside it: a name of `cgmh models list`, a Hugging Face model, an n-gram file; or none. "
    "By default smollm2 once it is pulled, to rank.",
)
@click.option(
    "--use",
    type=click.Choice(USES),
    help="What the big model does. rerank (default): it ranks what the chains visited; target: it is what the chains "
    "sample, exactly; resample: it weights their samples, which are then drawn again.",
)
@click.option(
    "--context",
    metavar="FILE",
    help="Lines that the big model reads before each sentence, to set the style; or none. By default a few plain ones.",
)
@click.option(
    "--masked",
    metavar="MODEL",
    help="A masked language model of Hugging Face that proposes words beside the embedded model.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each set.")
@click.option("--trace", is_flag=True, help="Also print the accepted steps of the best sentence's chain.")
@click.option("--trace-all", is_flag=True, help="Also print every step of it; an x marks those refused.")
@click.option("--quiet", is_flag=True, help="No progress bar.")
def keywords_command(
    words: tuple[str, ...],
    file: str | None,
    forbid: tuple[str, ...],
    as_json: bool,
    trace: bool,
    trace_all: bool,
    quiet: bool,
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
    big, use, context = _big(options, is_plain=options["select"] == Settings.select)
    from ..api import solve
    from ..tasks import Keywords

    names = ("n", "steps", "chains", "seed", "temperature", "select", "temper", "anneal")
    wanted = {name: options[name] for name in names}
    settings = Settings(
        **wanted,
        trace="all" if trace_all else "accepted" if trace else "none",
        use=use,
        context=context,
    )
    inputs = [
        KeywordInput(some, options["ordered"], options["inflect"], forbid, options["min_words"], options["max_words"])
        for some in sets
    ]
    shown = not quiet and sys.stderr.isatty()
    results = solve(
        Keywords(), inputs, settings, model=options["model"], big=big, masked=options["masked"], progress=shown
    )
    for number, result in enumerate(results):
        if result.is_poor:
            click.echo(
                f"warning: {result.input}: these samples are worth {result.effective_samples:.1f} independent ones; "
                "raise --chains, or take --use target",
                err=True,
            )
        if as_json:
            record = result.to_dict()
            if result.trace:
                record["trace"] = [step.to_dict() for step in result.trace]
            click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False))
        else:
            _print(result, heading=len(inputs) > 1, first=number == 0)


def _big(options: dict[str, Any], *, is_plain: bool) -> tuple[str | None, Use | None, tuple[str, ...]]:
    """The big model, what it does, and what it reads first: as asked for, or smollm2 as a ranker once it is pulled."""
    big, use, context = options["big"], options["use"], options["context"]
    if big is None and options["model"] is None and (use or is_plain):
        big = installed_big()
        if big is None and use:
            raise BadInput(f"--use {use} needs a big model; run: cgmh models pull smollm2, or name one with --big")
    if context is None:
        lines = Settings.context
    else:
        lines = () if context == "none" else tuple(line for line in read_lines(context) if line.strip())
        if context != "none" and not lines:
            raise BadInput(f"{context}: has no lines; for no context give --context none")
    return None if big == "none" else big, use, lines


def _print(result: "Result", *, heading: bool, first: bool) -> None:
    if heading:
        click.echo(f"{'' if first else chr(10)}# {result.input}")
    for sentence in result:
        click.echo(sentence.text)
    if result.trace:
        click.echo(f"\n{'step':>5}  {'move':8}  {'log ratio':>9}     sentence")
        for step in result.trace:
            mark = " " if step.accepted else "x"
            click.echo(f"{step.step:5}  {step.move:8}  {step.log_ratio:9.2f}  {mark}  {step.text}")
