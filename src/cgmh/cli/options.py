"""Options that the sampling commands share, and what is read from them."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import click

from ..errors import BadInput
from ..models.pull.store import installed_big
from ..settings import READINGS, STEPS, Rule, Settings, Use
from ..text.facts import KINDS
from .input import read_lines

Command = TypeVar("Command", bound=Callable[..., Any])
_STEPS = f"; by default {STEPS}, or as many as --readings take."
SENTENCE_CHOICES: dict[Rule, str] = {
    "best": "the most natural of all visited",
    "likeliest": "the most probable per word",
    "first": "those reached first",
    "last": "the final states, true samples",
    "consensus": "those most alike",
}


def sampling_options(
    usual: Settings,
    input: str,
    choices: Mapping[Rule, str] = SENTENCE_CHOICES,
    *,
    anneals: bool = True,
    has_budget: bool = False,
) -> Callable[[Command], Command]:
    """How the chains run, and what is chosen of them: the rules, each with what it takes.

    `input` is what one input is called; with `has_budget`, a big target is asked about so many sentences of it.
    """
    annealing = click.option(
        "--anneal", is_flag=True, help="Begin hotter and cool down: a search (as in UPSA), no sampling."
    )
    budget = click.option(
        "--readings",
        type=int,
        help="With a big model as the target, how long it works: so many candidate sentences are read by it for each "
        f"{input}. More readings, better sentences; the time grows with them. By default {READINGS}, unless --steps "
        "are given; with both, what ends first counts.",
    )
    return _together(
        click.option(
            "--steps",
            type=int,
            default=usual.steps,
            show_default=usual.steps is not None,
            help="Steps of each chain" + (_STEPS if usual.steps is None else "."),
        ),
        *([budget] if has_budget else []),
        click.option("--chains", default=usual.chains, show_default=True, help=f"Chains for each {input}."),
        click.option("--seed", default=usual.seed, show_default=True, help="Same seed, same sentences."),
        click.option(
            "--temperature",
            default=usual.temperature,
            show_default=True,
            help="1 samples from the model itself; lower is safer, higher is wilder.",
        ),
        *([annealing] if anneals else []),
        click.option(
            "--select",
            type=click.Choice(list(choices)),
            default=usual.select,
            show_default=True,
            help="; ".join(f"{rule}: {taken}" for rule, taken in choices.items()) + ".",
        ),
    )


def protect_option(usual: Sequence[str], help: str, kinds: Sequence[str] = KINDS) -> Callable[[Command], Command]:
    """Which kinds of facts stay; `help` says how."""
    return click.option(
        "--protect",
        multiple=True,
        default=usual,
        show_default=True,
        metavar="KIND",
        help=f"{help}: {', '.join(kinds)}; or none. Repeat it, or put commas between.",
    )


def wanted_kinds(texts: Sequence[str]) -> tuple[str, ...]:
    """The kinds of facts that --protect names."""
    kinds = tuple(dict.fromkeys(part for text in texts for part in re.split(r"[+,\s]+", text) if part))
    if not kinds:
        raise BadInput("`protect` is empty; for nothing give `protect` none")
    if "none" in kinds and len(kinds) > 1:
        raise BadInput("`protect` none stands alone; leave it out, or leave out the others")
    return () if kinds == ("none",) else kinds


def model_options(uses: Sequence[Use]) -> Callable[[Command], Command]:
    """Which models, and what a big one may do: any of the `uses`, the first unless told otherwise."""
    ranks = "rerank" in uses
    kinds = "a name of `cgmh models list`, a Hugging Face model, an n-gram file"
    does = {
        "rerank": "it ranks what the chains visited",
        "target": "it is what the chains sample, exactly",
        "resample": "it weights their samples, which are then drawn again",
    }
    described = [f"{use}{' (default)' * (use == uses[0])}: {does[use]}" for use in uses]
    return _together(
        click.option(
            "--model",
            metavar="MODEL",
            help="A word model in place of the embedded English one (see `cgmh models --help`); a big one is the "
            "target.",
        ),
        click.option(
            "--big",
            metavar="MODEL",
            help=f"A big model of texts beside it: {kinds}; or none. By default the best one that was pulled."
            if ranks
            else f"A big model of texts beside it, as the target: {kinds}. By default none.",
        ),
        click.option("--use", type=click.Choice(uses), help=f"What the big model does. {'; '.join(described)}."),
        click.option(
            "--context",
            metavar="FILE",
            help="Lines that the big model reads before each sentence, to set the style; or none. By default "
            + ("a few plain ones." if ranks else "it reads none."),
        ),
    )


def output_options(input: str, traced: str = "the best sentence's chain") -> Callable[[Command], Command]:
    """What is printed; `input` is what one input is called, `traced` what --trace follows."""
    return _together(
        click.option("--json", "as_json", is_flag=True, help=f"One JSON object for each {input}."),
        click.option("--trace", is_flag=True, help=f"Also print the accepted steps of {traced}."),
        click.option("--trace-all", is_flag=True, help="Also print every step of it; an x marks those refused."),
        click.option("--quiet", is_flag=True, help="No progress bar."),
    )


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):  # as decorators do: the last one comes first
            command = option(command)
        return command

    return add


def given_options(ctx: click.Context, options: dict[str, Any]) -> set[str]:
    """The names of the options that were not left at their defaults."""
    return {name for name in options if ctx.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT}


def wanted_settings(ctx: click.Context, options: dict[str, Any], defaults: Settings, uses: Sequence[Use]) -> Settings:
    """The settings of a run: the defaults, and the options that were given.

    In `options`, `big` becomes the big model to take, if any, and `progress` says whether to show it.
    """
    given = given_options(ctx, options)
    chosen = {field.name: options[field.name] for field in fields(Settings) if field.name in given - {"context"}}
    chosen["trace"] = "all" if options["trace_all"] else "accepted" if options["trace"] else "none"
    settings = replace(defaults, **chosen)
    # Only someone who watches is shown progress.
    options["progress"] = not options["quiet"] and sys.stderr is not None and sys.stderr.isatty()
    options["big"] = _wanted_big(options, settings, uses)
    return settings if options["context"] is None else replace(settings, context=_wanted_context(options))


def _wanted_big(options: dict[str, Any], settings: Settings, uses: Sequence[Use]) -> str | None:
    """The big model that was asked for; or a pulled one, where one is used by default and fits what is selected."""
    big: str | None = options["big"]
    by_default = "rerank" in uses and options["model"] is None
    if big is None and by_default and (settings.use or uses[0] == "target" or settings.select == Settings.select):
        big = installed_big()
        asked = f"`use` {settings.use} needs" if settings.use else "`readings` need" if settings.readings else ""
        if big is None and asked:
            raise BadInput(f"{asked} a big model; run: cgmh models pull gemma3-270m, or name a `big` one")
    return None if big == "none" else big


def _wanted_context(options: dict[str, Any]) -> tuple[str, ...]:
    """The lines that the big model reads first."""
    file = options["context"]
    if file == "none":
        return ()
    lines = tuple(line for line in read_lines(file) if line.strip())
    if not lines:
        raise BadInput(f"{file}: has no lines; for no context give `context` none")
    if options["big"] is None and options["model"] is None:
        raise BadInput("`context` is read by a big model only; name one by `big`, or leave it out")
    return lines
