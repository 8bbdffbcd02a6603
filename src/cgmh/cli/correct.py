"""`cgmh correct`."""

import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..inputs import CorrectInput
from ..settings import Rule, Settings
from ..text.edits import Edit
from ..text.m2 import are_tokenised, untouched
from .input import Line, check_quoted, wanted_lines
from .options import (
    given_options,
    model_options,
    output_options,
    protect_option,
    sampling_options,
    wanted_kinds,
    wanted_settings,
)
from .output import (
    Page,
    bracketed,
    encodable,
    green,
    is_for_reader,
    is_in_color,
    listed,
    marked,
    print_answers,
    print_trace,
    red_and_green,
)

if TYPE_CHECKING:
    from ..result import Result

_NUM_DOUBTFUL = 5  # edits that were not made, of those that are shown
_SURE = 0.99999  # the share of an edit that all samples make
_CHOICES: dict[Rule, str] = {
    "threshold": "all edits from --threshold on",
    "consensus": "the sample with the highest expected GLEU against the others",
    "best": "the most probable sentence visited",
    "last": "the last state of the first chain, as the paper took its 100th sample",
}


@click.command("correct", short_help="Correct the mistakes in texts.")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--file", metavar="FILE", help="Read texts from FILE, one per line (- for stdin).")
@click.option(
    "--threshold",
    type=float,
    default=CorrectInput.defaults.threshold,
    show_default=True,
    help="Make the edits of this probability or more: lower finds more, higher is surer.",
)
@click.option("--diff", is_flag=True, help="Show what was changed in the text: [-price-]{+prices+}, or in colours.")
@click.option("--m2", is_flag=True, help="Print tokens and edits in the format M2, with types like those of ERRANT.")
@protect_option(CorrectInput.protect, "Words that are left alone")
@click.option(
    "--n",
    default=CorrectInput.defaults.n,
    show_default=True,
    help="Answers to print: the corrected text, and then other samples, the most probable first; these for a text of "
    "one sentence only.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper"]),
    help="The way of the paper: one chain and its 100th sample, its candidates and its extra rejection of what is much "
    "less probable. That is a search, no sampling. Options given beside it override it.",
)
@sampling_options(CorrectInput.defaults, "sentence", _CHOICES, anneals=False)
@model_options(CorrectInput.uses)
@output_options("text", "the first chain, of the first sentence")
@click.pass_context
def correct_command(ctx: click.Context, /, texts: tuple[str, ...], file: str | None, **options: Any) -> None:
    """Correct spelling and grammar: small edits, each with its probability; everything else stays as typed.

    \b
    cgmh correct "i has two apple and she like them ."
    cgmh correct "Thier house is verry big. I recieve many letter." "She have two cats."
    cgmh correct --file essay.txt > corrected.txt            one text per line, and one line for each
    cgmh correct "..." --diff                                what was changed, within the text
    cgmh correct "..." --threshold 0.7                       only what is rather sure
    cgmh correct --file essay.txt --json > out.jsonl         every edit with its place and probability
    cgmh correct --file essay.txt --m2 > out.m2              for scorers; tokens of tokenised lines stay as they are
    cgmh correct "..." --big gemma3-270m                     the judgement of an LLM that was pulled; slower

    Each TEXT has one sentence or several. Many sentences that may have been meant are sampled. The share of an edit is
    what the samples with it have of the probability of all samples; its probability says how often such edits are
    right: of those with 0.7, about 70% were in what people wrote. From 0.5 on, its share is a half or more; the surest
    have somewhat more than 0.8, because people often mend in another way what all samples mend in one. With --model,
    --preset, --temperature or another --big than the tuned Gemma, no such table is known, and the probability is the
    share; --json has both.

    Edits from --threshold on are made. Where samples agree that something is wrong but not on what was meant (go: went
    or goes), no single edit may reach the threshold; --select consensus then decides, by a whole sample.

    On a terminal, the edits are listed below each text (→ replaced, + inserted, - deleted), with probability and kind,
    and then those that too few samples make; --json has them always, with the places of their characters in the input.

    With --m2, tokenised lines (blanks before most marks of all lines together) have one block each, with the tokens of
    the input, so that they can be scored against a gold file. Other texts have one block for each sentence. A blank
    line has none.

    A line that cannot be corrected is named on stderr and printed as it is, the others are corrected, and the exit code
    is 2. Blank lines, rows of marks, numbers and headings of one word are left alone, and so are the ends of lines.
    Without TEXT or --file, texts are read from stdin, one per line.
    """
    check_quoted(texts, command="correct", what="texts")
    lines = wanted_lines(texts, file, what="texts", example='cgmh correct "i has two apple ."')
    if texts:  # in a file, blank lines stand between paragraphs
        lines = [replace(line, error="is empty; give a sentence") if line.is_blank else line for line in lines]
    asked, settings = wanted_corrections(ctx, options)
    if options["diff"] and options["as_json"]:
        raise BadInput("`diff` marks the edits in the text, --json lists them; leave out one of the two")
    if options["m2"] and (other := _beside_m2(options, settings)):
        raise BadInput(f"--m2 prints tokens and edits alone; leave out {other}, or --m2")
    inputs = [replace(asked, text=line.text) for line in lines if not line.error]
    page = _M2Page(lines) if options["m2"] else _Page(settings, diff=options["diff"], several=len(lines) > 1)
    if not texts and not is_for_reader() and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(newline="")  # the ends of lines as they were, on Windows too
    ctx.exit(print_answers(lines, inputs, settings, options, page))


def wanted_corrections(ctx: click.Context, options: dict[str, Any]) -> tuple[CorrectInput, Settings]:
    """What every text is asked for, itself still missing, and how it is sampled."""
    defaults = CorrectInput.paper_defaults if options["preset"] else CorrectInput.defaults
    settings = wanted_settings(ctx, options, defaults, CorrectInput.uses)
    if "threshold" in given_options(ctx, options) and settings.select != "threshold":
        raise BadInput(
            f"`threshold` says nothing where `select` {settings.select} chooses; leave it out, or `select` threshold"
        )
    return CorrectInput("", wanted_kinds(options["protect"]), paper=options["preset"] == "paper"), settings


def _beside_m2(options: dict[str, Any], settings: Settings) -> str:
    """What was asked for that has no place in M2."""
    others = {"`diff`": options["diff"], "--json": options["as_json"], "`n`": settings.n > 1}
    others |= {"`trace_all`": options["trace_all"], "`trace`": options["trace"]}
    return next((name for name, given in others.items() if given), "")


class _M2Page(Page):
    """Blocks of M2; a line that cannot be corrected has one, too, so that none is lost."""

    def __init__(self, lines: Sequence[Line]) -> None:
        super().__init__(headings=False)
        self._tokenised = are_tokenised(line.text for line in lines)

    def print(self, line: Line, result: "Result") -> None:
        click.echo(result.to_m2(tokenised=self._tokenised), nl=False)

    def print_refused(self, line: Line) -> None:
        for block in untouched(encodable(line.text)):
            click.echo(f"{block}\n")


class _Page(Page):
    """Texts alone when piped, with their edits for someone who reads them on a terminal."""

    answers = "different texts"
    advice = "the samples of a sentence may agree, and a text of several sentences has one answer"

    def __init__(self, settings: Settings, *, diff: bool, several: bool) -> None:
        self._settings, self._for_reader, self._in_color = settings, is_for_reader(), is_in_color()
        super().__init__(headings=several and not self._for_reader and (settings.n > 1 or settings.trace != "none"))
        self._mark = (red_and_green if self._in_color else bracketed) if diff else green if self._in_color else None
        self._needs_gap = self._is_warned = False
        self._keeps_endings = not self._for_reader and settings.n == 1 and settings.trace == "none"  # texts alone

    def warn(self, line: Line, result: "Result") -> None:
        super().warn(line, result)
        bar = self._settings.threshold
        surest = [edit for edit in result.doubtful if edit.share >= _SURE and edit.probability < bar]
        if surest and self._settings.select == "threshold" and not self._is_warned:
            self._is_warned = True
            most = max(edit.probability for edit in surest)
            click.echo(
                f"note: no edit reaches --threshold {bar:g}: those that all samples make have {most:.2f}", err=True
            )

    def print(self, line: Line, result: "Result") -> None:
        if self._needs_gap and not self.headings:
            click.echo()
        self.print_heading(result.input)
        edits = result.edits or ()
        text = result.best.text if self._mark is None else marked(result.input, edits, self._mark)
        self._print_text(line, text)
        if self._for_reader:
            for row in (*listed(edits), *self._doubts(result.doubtful), *["other samples:"][: len(result) - 1]):
                click.echo(click.style(row, dim=True) if self._in_color else row)
        for sentence in result.sentences[1:]:
            click.echo(sentence.text)
        if result.trace:
            print_trace(result)
        self._needs_gap = self._for_reader and bool(edits or result.doubtful or len(result) > 1 or result.trace)

    def print_refused(self, line: Line) -> None:
        text = encodable(line.text)
        self.print_heading(text) if self.headings else self._print_text(line, text)
        self._needs_gap = False

    def _print_text(self, line: Line, text: str) -> None:
        """Print what stands for a line; where nothing else is printed, it ends as the line did."""
        click.echo(f"{line.before}{text}{line.ending}" if self._keeps_endings else text, nl=not self._keeps_endings)

    def is_short(self, result: "Result", settings: Settings) -> bool:
        """A line without a sentence has no other answers."""
        return super().is_short(result, settings) and not math.isnan(result.best.log_target)

    def _doubts(self, edits: tuple[Edit[str], ...]) -> list[str]:
        """The most probable of the edits that were not made."""
        shown = sorted(edits, key=lambda edit: (-edit.probability, -edit.share))[:_NUM_DOUBTFUL]
        by_threshold = self._settings.select == "threshold"
        below = by_threshold and all(edit.probability < self._settings.threshold for edit in shown)
        return ["below the threshold:" if below else "not made:", *listed(shown)] if shown else []
