"""Options that the sampling commands share, and what is read from them."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

import click

from ..errors import BadInput
from ..models.pull.store import installed_big
from ..settings import STEPS, STEPS_WITH_BIG, USES, Rule, Settings
from ..text.facts import KINDS
from .input import read_lines

Command = TypeVar("Command", bound=Callable[..., Any])
_BY_USE = (
    f"; by default {STEPS}, with a big model as target {STEPS_WITH_BIG['target']}, to rank {STEPS_WITH_BIG['rerank']}."
)
SENTENCE_CHOICES: dict[Rule, str] = {
    "best": "the most natural of all visited",
    "first": "those reached first",
    "last": "the final states, true samples",
    "consensus": "those most alike",
}


def sampling_options(
    usual: Settings, input: str, choices: Mapping[Rule, str] = SENTENCE_CHOICES, *, anneals: bool = True
) -> Callable[[Command], Command]:
    """How the chains run, and what is chosen of them: the rules, each with what it takes.

    `input` is what one input is called.
    """
    annealing = click.option(
        "--anneal", is_flag=True, help="Begin hotter and cool down: a search (as in UPSA), no sampling."
    )
    return _together(
        click.option(
            "--steps",
            type=int,
            default=usual.steps,
            show_default=usual.steps is not None,
            help="Steps of each chain" + (_BY_USE if usual.steps is None else "."),
        ),
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


def protect_option(usual: Sequence[str], help: str) -> Callable[[Command], Command]:
    """Which kinds of facts stay; `help` says how."""
    return click.option(
        "--protect",
        multiple=True,
        default=usual,
        show_default=True,
        metavar="KIND",
        help=f"{help}: {', '.join(KINDS)}; or none. Repeat it, or put commas between.",
    )


def wanted_kinds(texts: Sequence[str]) -> tuple[str, ...]:
    """The kinds of facts that --protect names."""
    kinds = tuple(dict.fromkeys(part for text in texts for part in re.split(r"[+,\s]+", text) if part))
    if not kinds:
        raise BadInput("--protect is empty; for nothing give --protect none")
    if "none" in kinds and len(kinds) > 1:
        raise BadInput("--protect none stands alone; leave it out, or leave out the others")
    return () if kinds == ("none",) else kinds


def model_options(*, ranks: bool = True) -> Callable[[Command], Command]:
    """Which models, and what a big one does: anything, by default to rank; or nothing but to be the target."""
    kinds = "a name of `cgmh models list`, a Hugging Face model, an n-gram file"
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
            help=f"A big model of texts beside it: {kinds}; or none. By default smollm2 once it is pulled, to rank."
            if ranks
            else f"A big model of texts beside it, as the target: {kinds}. By default none.",
        ),
        click.option(
            "--use",
            type=click.Choice(USES if ranks else ["target"]),
            help="What the big model does. rerank (default): it ranks what the chains visited; target: it is what the "
            "chains sample, exactly; resample: it weights their samples, which are then drawn again."
            if ranks
            else "What the big model does. target (default): it is what the chains sample, exactly.",
        ),
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


def wanted_trace(options: dict[str, Any]) -> Literal["none", "accepted", "all"]:
    return "all" if options["trace_all"] else "accepted" if options["trace"] else "none"


def wanted_bar(options: dict[str, Any]) -> bool:
    """Whether to show progress: only to someone who watches."""
    return not options["quiet"] and sys.stderr is not None and sys.stderr.isatty()


def wanted_big(options: dict[str, Any], settings: Settings, *, ranks: bool = True) -> tuple[str | None, Settings]:
    """The big model, and the settings with what it does and reads first.

    As asked for, or smollm2 as a ranker once it is pulled, if the selection leaves ranking to it. Where a big model
    does not rank it is the target, and none is taken unasked.
    """
    big, use, context = options["big"], options["use"], options["context"]
    if not ranks:
        use = use or (None if big in (None, "none") else "target")
    elif big is None and options["model"] is None and (use or settings.select == Settings.select):
        big = installed_big()
        if big is None and use:
            raise BadInput(f"--use {use} needs a big model; run: cgmh models pull smollm2, or name one with --big")
    lines = settings.context
    if context is not None:
        lines = () if context == "none" else tuple(line for line in read_lines(context) if line.strip())
        if context != "none" and not lines:
            raise BadInput(f"{context}: has no lines; for no context give --context none")
        if context != "none" and big in (None, "none") and options["model"] is None:
            raise BadInput("--context is read by a big model only; name one with --big, or leave it out")
    return None if big == "none" else big, replace(settings, use=use, context=lines)
