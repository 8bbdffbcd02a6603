"""Results on stdout, as JSON or as lines."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..result import Result


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
