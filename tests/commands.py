"""The `cgmh` command in this process, so that tests share one loaded model."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from cgmh.cli import main


@dataclass(frozen=True)
class Answer:
    code: int
    output: str
    errors: str


def run(*arguments: str, stdin: bytes = b"") -> Answer:
    """What the command printed and how it ended."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as stop:
            main(arguments)
    return Answer(int(stop.value.code or 0), output.getvalue(), errors.getvalue())
