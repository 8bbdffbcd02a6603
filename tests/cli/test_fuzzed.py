"""Odd commands, found by hand or by recipes/fuzz, that once ended in something else than one clear message."""

import pytest

from commands import run

QUICK = ("--chains", "1", "--steps", "1")


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (("score", "--file", ""), b"", 2, "cgmh: '': cannot be read (Is a directory)"),
        (("score", "--model", "x" * 300, "It is."), b"", 2, f"cgmh: {'x' * 300}: cannot be read (File name too long)"),
        (("score", "It \udcff is."), b"", 2, "cgmh: sentence 1: not UTF-8; type it in UTF-8, or convert it first"),
        (("keywords", *QUICK), bytes(range(256)), 2, "cgmh: stdin: is no text, but binary data"),
    ],
)
def test_what_was_found(arguments: tuple[str, ...], stdin: bytes, code: int, message: str) -> None:
    answer = run(*arguments, stdin=stdin)
    assert (answer.code, answer.output) == (code, "")
    assert answer.errors == f"{message}\n"
