"""Options that the sampling commands share, and what is read from them."""

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeVar

import click

from ..errors import BadInput
from ..models.store import installed_big
from ..settings import RULES, STEPS, STEPS_WITH_BIG, USES, Settings
from .reading import read_lines

Command = TypeVar("Command", bound=Callable[..., Any])
_BY_USE = (
    f"; by default {STEPS}, with a big model as target {STEPS_WITH_BIG['target']}, to rank {STEPS_WITH_BIG['rerank']}."
)


def sampling_options(usual: Settings, input: str) -> Callable[[Command], Command]:
    """How the chains run and what is chosen of them; `input` is what one input is called."""
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
        click.option("--anneal", is_flag=True, help="Begin hotter and cool down: a search (as in UPSA), no sampling."),
        click.option(
            "--select",
            type=click.Choice(RULES),
            default=usual.select,
            show_default=True,
            help="best: the most natural of all visited; first: those reached first; last: the final states, true "
            "samples; consensus: those most alike.",
        ),
    )


def model_options() -> Callable[[Command], Command]:
    """Which models, and what a big one does."""
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
            help="A big model of texts beside it: a name of `cgmh models list`, a Hugging Face model, an n-gram file; "
            "or none. By default smollm2 once it is pulled, to rank.",
        ),
        click.option(
            "--use",
            type=click.Choice(USES),
            help="What the big model does. rerank (default): it ranks what the chains visited; target: it is what the "
            "chains sample, exactly; resample: it weights their samples, which are then drawn again.",
        ),
        click.option(
            "--context",
            metavar="FILE",
            help="Lines that the big model reads before each sentence, to set the style; or none. By default a few "
            "plain ones.",
        ),
    )


def output_options(input: str) -> Callable[[Command], Command]:
    """What is printed; `input` is what one input is called."""
    return _together(
        click.option("--json", "as_json", is_flag=True, help=f"One JSON object for each {input}."),
        click.option("--trace", is_flag=True, help="Also print the accepted steps of the best sentence's chain."),
        click.option("--trace-all", is_flag=True, help="Also print every step of it; an x marks those refused."),
        click.option("--quiet", is_flag=True, help="No progress bar."),
    )


def _together(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    def add(command: Command) -> Command:
        for option in reversed(options):  # as decorators do: the last one comes first
            command = option(command)
        return command

    return add


def wanted_trace(options: dict[str, Any]) -> Literal["none", "accepted", "all"]:
    return "all" if options["trace_all"] else "accepted" if options["trace"] else "none"


def wanted_bar(options: dict[str, Any]) -> bool:
    """Whether to show progress: only to someone who watches."""
    return not options["quiet"] and sys.stderr is not None and sys.stderr.isatty()


def wanted_big(options: dict[str, Any], settings: Settings) -> tuple[str | None, Settings]:
    """The big model, and the settings with what it does and reads first.

    As asked for, or smollm2 as a ranker once it is pulled, if the selection leaves ranking to it.
    """
    big, use, context = options["big"], options["use"], options["context"]
    if big is None and options["model"] is None and (use or settings.select == Settings.select):
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
