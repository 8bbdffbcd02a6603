"""Results on stdout, as JSON or as lines."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..text.tokenizer import split
from .moves import describe
from .reading import Line

if TYPE_CHECKING:
    from ..result import Result


def is_for_reader() -> bool:
    """Whether someone reads the output on a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def is_in_color() -> bool:
    """Whether that terminal shows colours, and its user wants them (no-color.org)."""
    return is_for_reader() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def encodable(text: str) -> str:
    """An argument that was not UTF-8 has halves of characters, which cannot be printed."""
    return text.encode("utf-8", "replace").decode("utf-8")


@contextmanager
def beside_bar() -> Iterator[None]:
    """A progress bar is out of the way while something is printed."""
    from tqdm import tqdm

    with tqdm.external_write_mode():
        yield


def print_json(result: "Result") -> None:
    record = result.to_dict()
    if result.trace:
        record["trace"] = [step.to_dict() for step in result.trace]
    click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False))


def print_error(line: Line, error: str) -> None:
    """An object in place of an answer, so that objects and lines stay side by side."""
    click.echo(json.dumps({"input": encodable(line.text), "error": f"{line.place}: {error}"}, ensure_ascii=False))


def print_heading(text: str, *, first: bool) -> None:
    """What tells the answers to one input from those to the next."""
    click.echo(f"{'' if first else chr(10)}# {text}")


def warn_if_poor(result: "Result") -> None:
    if result.is_poor:
        click.echo(
            f"warning: {result.input}: these samples are worth {result.effective_samples:.1f} independent ones; "
            "raise --chains, or take --use target",
            err=True,
        )


def print_trace(result: "Result", start: str | None) -> None:
    """Step, sentence and move, as the paper shows them; * the best answer, x a step refused.

    `start` is where the chain began, if that is known.
    """
    at = None if start is None else split(start)
    rows = [] if start is None else [("start", "", start, "")]
    found = False
    for step in result.trace:
        words = split(step.text)
        mark = "x" if not step.accepted else "*" if step.text == result.best.text.strip() and not found else ""
        found |= mark == "*"
        rows.append((str(step.step), mark, step.text, step.move if at is None else describe(step.move, at, words)))
        at = words if step.accepted else at
    width = max([len("sentence"), *(len(text) for _, _, text, _ in rows)])
    click.echo(f"\n{'step':>5}     {'sentence':{width}}  move")
    for number, mark, text, move in rows:
        click.echo(f"{number:>5}  {mark:1}  {text:{width}}  {move}".rstrip())
