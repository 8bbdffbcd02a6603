"""Edits as a reader sees them: marked in their text, and as a list."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..result import Edit

Mark = Callable[[str, str], str]  # what an edit takes away and what it brings -> what is shown for it


def marked(text: str, edits: Iterable["Edit"], mark: Mark) -> str:
    """The text with the edits made, each as `mark` shows it. Blanks around what an edit brings are outside the mark."""
    pieces: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        new = edit.replacement.strip()
        before, _, after = edit.replacement.partition(new) if new else (edit.replacement, "", "")
        old = edit.original.strip() if new else edit.original  # of a deletion, the blank that goes with the word
        pieces += [text[at : edit.start], before, mark(old, new), after]
        at = edit.end
    return "".join([*pieces, text[at:]])


def bracketed(old: str, new: str) -> str:
    """As `git diff --word-diff=plain` has it."""
    return (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else "")


def red_and_green(old: str, new: str) -> str:
    """As `git diff --word-diff=color` has it."""
    return (click.style(old, fg="red") if old else "") + (click.style(new, fg="green") if new else "")


def green(old: str, new: str) -> str:  # noqa: ARG001
    """What is new alone."""
    return click.style(new, fg="green") if new else ""


def listed(edits: Sequence["Edit"]) -> list[str]:
    """One line an edit: what is changed, its probability and its kind."""
    said = [_said(edit) for edit in edits]
    width = max(map(len, said), default=0)
    rows = zip(said, edits, strict=True)
    return [f"{what:{width}}   {edit.probability:.2f}  {edit.kind}" for what, edit in rows]


def _said(edit: "Edit") -> str:
    old, new = (" ".join(text.split()) for text in (edit.original, edit.replacement))
    if old and new:
        return f"{old} → {new}"
    return f"+ {new}" if new else f"- {old}"
