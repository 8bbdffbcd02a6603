"""`cgmh correct`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..inputs import LONGEST, CorrectInput
from ..settings import CORRECT, PAPER_CORRECT, Rule, Settings
from ..text.passages import read_passage
from .input import Line, errors_of, wanted_lines
from .options import (
    given_options,
    model_options,
    output_options,
    protect_option,
    sampling_options,
    wanted_bar,
    wanted_big,
    wanted_kinds,
    wanted_trace,
)
from .output import (
    beside_bar,
    bracketed,
    encodable,
    green,
    is_for_reader,
    is_in_color,
    listed,
    marked,
    print_error,
    print_heading,
    print_json,
    print_trace,
    red_and_green,
)

if TYPE_CHECKING:
    from ..result import Edit, Result

_RUN = ("n", "threshold", "steps", "chains", "seed", "temperature", "select")  # options of a run
_MOST_DOUBTFUL = 5  # edits that were not made, of those that are shown
_CHOICES: dict[Rule, str] = {
    "threshold": "all edits from --threshold on",
    "consensus": "the sample with the highest expected GLEU against the others",
    "best": "the most probable sentence visited",
    "last": "the last state of the first chain, as the paper took its 100th sample",
}


@click.command("correct", short_help="Correct the mistakes in texts.")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--file", metavar="FILE", help="Read texts from FILE, one a line (- for stdin).")
@click.option(
    "--threshold",
    type=float,
    default=CORRECT.threshold,
    show_default=True,
    help="Make the edits of this probability or more: lower finds more, higher is surer.",
)
@click.option("--diff", is_flag=True, help="Show what was changed in the text: [-price-]{+prices+}, or in colours.")
@protect_option(CorrectInput.protect, "Words that are left alone")
@click.option(
    "--n",
    default=CORRECT.n,
    show_default=True,
    help="Answers to print: the corrected text, and then other samples, the most frequent first; these for a text of "
    "one sentence only.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper"]),
    help="The way of the paper: one chain and its 100th sample, its candidates and its extra rejection of what is much "
    "less probable. That is a search, no sampling. Options given beside it override it.",
)
@sampling_options(CORRECT, "sentence", _CHOICES, anneals=False)
@model_options(ranks=False)
@output_options("text", "the first chain, of the first sentence")
@click.pass_context
def correct_command(ctx: click.Context, /, texts: tuple[str, ...], file: str | None, **options: Any) -> None:
    """Correct spelling and grammar: small edits, each with its probability; everything else stays as typed.

    \b
    cgmh correct "i has two apple and she like them ."
    cgmh correct "Thier house is verry big. I recieve many letter." "She have two cats."
    cgmh correct --file essay.txt > corrected.txt            one text a line, and one line for each
    cgmh correct "..." --diff                                what was changed, within the text
    cgmh correct "..." --threshold 0.8                       only what is rather sure
    cgmh correct --file essay.txt --json > out.jsonl         every edit with its place and probability
    cgmh correct "..." --model smollm2                       the judgement of a real LLM; slower

    Each TEXT has one sentence or several. Many sentences that may have been meant are sampled. The probability of an
    edit is the share of these samples that contain it: 0.93 says that 93% of them make it. Edits from --threshold on
    are made. Where samples agree that something is wrong but not on what was meant (go: went or goes), no single edit
    may reach the threshold; --select consensus then decides, by a whole sample.

    On a terminal, the edits are listed below each text (→ replaced, + inserted, - deleted), with probability and kind,
    and then those that too few samples make; --json has them always, with the places of their characters in the input.

    A line that cannot be corrected is named on stderr and printed as it is, the others are corrected, and the exit code
    is 2. Blank lines stay. Without TEXT or --file, texts are read from stdin, one a line.
    """
    lines = wanted_lines(texts, file, command="correct", input="text", example="i has two apple .")
    given = given_options(ctx, options)
    settings = _settings(options, given)
    asked = CorrectInput("", wanted_kinds(options["protect"]), paper=options["preset"] == "paper")
    big, settings = wanted_big(options, settings, ranks=False)
    blank = [not texts and not line.text.strip() for line in lines]  # between paragraphs, not a mistake
    if all(blank):
        raise BadInput("no texts: the input is empty")
    from ..correction import correct_all
    from ..models.load import as_models

    small, judge, use = as_models(options["model"], big, settings.use)
    settings = replace(settings, use=use)
    errors = errors_of(lines, lambda text: read_passage(text, small.vocabulary, most=LONGEST))
    wrong = [(line, error) for line, error, empty in zip(lines, errors, blank, strict=True) if error and not empty]
    for line, error in wrong:
        click.echo(f"cgmh: {line.place}: {error}", err=True)
    inputs = [replace(asked, text=line.text) for line, error in zip(lines, errors, strict=True) if not error]
    results = correct_all(inputs, settings, model=small, big=judge, progress=wanted_bar(options))
    page = _Page(settings, diff=options["diff"], several=len(lines) > 1)
    for line, error in zip(lines, errors, strict=True):
        if not error:
            result = next(results)
            with beside_bar():
                print_json(result) if options["as_json"] else page.print(result)
                if result.trace and not options["as_json"]:
                    first = read_passage(line.text, small.vocabulary, most=LONGEST).sentences[0]
                    # Only the paper's search starts at the source; others where plain mistakes are mended.
                    print_trace(result, line.text[first.start : first.end] if asked.paper else None)
        else:
            print_error(line, error) if options["as_json"] else page.print_as_is(line)
    next(results, None)  # ends the progress bar
    if wrong:
        ctx.exit(2)


def _settings(options: dict[str, Any], given: set[str]) -> Settings:
    usual = PAPER_CORRECT if options["preset"] else CORRECT
    settings = replace(usual, **{name: options[name] for name in _RUN if name in given}, trace=wanted_trace(options))
    if "threshold" in given and settings.select != "threshold":
        raise BadInput(
            f"--threshold says nothing where --select {settings.select} chooses; leave it out, or --select threshold"
        )
    return settings


class _Page:
    """Answers as lines: texts alone when piped, with their edits for someone who reads them on a terminal."""

    def __init__(self, settings: Settings, *, diff: bool, several: bool) -> None:
        self._settings, self._for_reader, self._in_color = settings, is_for_reader(), is_in_color()
        self._mark = (red_and_green if self._in_color else bracketed) if diff else green if self._in_color else None
        self._headings = several and not self._for_reader and (settings.n > 1 or settings.trace != "none")
        self._first, self._gap = True, False

    def print(self, result: "Result") -> None:
        if self._headings:
            print_heading(result.input, first=self._first)
        elif self._gap:
            click.echo()
        edits = result.edits or ()
        click.echo(result.best.text if self._mark is None else marked(result.input, edits, self._mark))
        if self._for_reader:
            for line in (*listed(edits), *self._doubts(result.doubtful), *["other samples:"][: len(result) - 1]):
                click.echo(click.style(line, dim=True) if self._in_color else line)
        for sentence in result.sentences[1:]:
            click.echo(sentence.text)
        self._first = False
        self._gap = self._for_reader and bool(edits or result.doubtful or len(result) > 1 or result.trace)

    def print_as_is(self, line: Line) -> None:
        """A line that has no correction, so that no line of a file is lost."""
        text = encodable(line.text)
        print_heading(text, first=self._first) if self._headings else click.echo(text)
        self._first = self._gap = False

    def _doubts(self, edits: tuple["Edit", ...]) -> list[str]:
        """The most probable of the edits that were not made."""
        shown = sorted(edits, key=lambda edit: -edit.probability)[:_MOST_DOUBTFUL]
        by_threshold = self._settings.select == "threshold"
        below = by_threshold and all(edit.probability < self._settings.threshold for edit in shown)
        return ["below the threshold:" if below else "not made:", *listed(shown)] if shown else []
