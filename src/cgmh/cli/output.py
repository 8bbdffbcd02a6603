"""What the commands print: results on stdout, as JSON or as lines, edits marked in their text; talk on stderr."""

import codecs
import gc
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..text.edits import Edit, splice
from ..text.tokenizer import split
from .input import Line

if TYPE_CHECKING:
    from ..result import Result
    from ..settings import Settings

_ARGUMENT = re.compile(r"`([a-z_]+)`")
option_names: set[str] = set()  # of all commands; the group fills it


def as_typed(message: object) -> str:
    """A message with the names of arguments as options of the command: `max_words` is typed as --max-words."""

    def typed(match: re.Match[str]) -> str:
        return "--" + match[1].replace("_", "-") if match[1] in option_names else match[0]

    return _ARGUMENT.sub(typed, str(message))


def is_for_reader() -> bool:
    """Whether someone reads the output on a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def is_in_color() -> bool:
    """Whether that terminal shows colours, and its user wants them (no-color.org)."""
    return is_for_reader() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def encodable(text: str) -> str:
    """An argument that was not UTF-8 has halves of characters, which cannot be printed."""
    return text.encode("utf-8", "replace").decode("utf-8")


class _Escapes:
    """What an encoding lacks is written as an escape, and remembered."""

    handler = "cgmh.escape"

    def __init__(self) -> None:
        self.last = ""  # as it was written
        codecs.register_error(self.handler, self._escape)

    def _escape(self, error: UnicodeError) -> tuple[str | bytes, int]:
        escaped, end = codecs.backslashreplace_errors(error)
        self.last = str(escaped)
        return escaped, end

    def warn(self) -> None:
        """Say on stderr that characters were escaped."""
        if self.last and sys.stdout is not None:
            lacking = f"the output is in {sys.stdout.encoding}, which lacks characters; they are written as {self.last}"
            click.echo(f"note: {lacking}; to keep them: --json, or PYTHONIOENCODING=utf-8", err=True)


escapes = _Escapes()


def set_encoding() -> None:
    """Write files and pipes in UTF-8, as they are read, unless PYTHONIOENCODING names another encoding.

    ASCII counts as none: it is what Python falls back to. A character that an encoding lacks does not end the command.
    """
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        return
    is_named = bool(os.environ.get("PYTHONIOENCODING", "").partition(":")[0])
    is_free = codecs.lookup(stream.encoding).name == "ascii" or not (is_named or stream.isatty())
    handler = escapes.handler if stream.errors in ("strict", "surrogateescape") else stream.errors
    stream.reconfigure(encoding="utf-8" if is_free else stream.encoding, errors=handler)


def print_record(record: dict[str, Any]) -> None:
    """Print one JSON object on a line; in an encoding that lacks characters, all but ASCII as JSON escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    is_unicode = codecs.lookup(encoding).name.startswith("utf")
    click.echo(json.dumps(record, ensure_ascii=not is_unicode, allow_nan=False))


@contextmanager
def beside_bar() -> Iterator[None]:
    """A progress bar is out of the way while something is printed."""
    from tqdm import tqdm

    with tqdm.external_write_mode():
        yield


class Page:
    """Answers as lines, under a heading where there are several inputs. A task overrides what it prints otherwise."""

    answers = "answers"  # what the answers to one input are called
    advice = "more --steps or --chains find more"  # what helps where there are too few

    def __init__(self, *, headings: bool) -> None:
        self.headings, self.is_first = headings, True

    def print(self, line: Line, result: "Result") -> None:
        """Print the answers to one input."""
        self.print_heading(result.input)
        for sentence in result:
            click.echo(sentence.text)

    def print_heading(self, text: str) -> None:
        """What tells the answers to one input from those to the next."""
        if self.headings:
            click.echo(f"{'' if self.is_first else chr(10)}# {text}")
        self.is_first = False

    def print_refused(self, line: Line) -> None:
        """Print what stands in place of answers, so that no line of a file is lost; by default nothing."""

    def warn(self, line: Line, result: "Result") -> None:
        """Say on stderr what is odd about the answers."""
        if result.is_poor:
            worth = f"these samples are worth {result.effective_samples:.1f} independent ones"
            click.echo(f"warning: {result.input}: {worth}; raise --chains, or take --use target", err=True)

    def is_short(self, result: "Result", settings: "Settings") -> bool:
        """Whether there are fewer answers than were asked for."""
        return len(result) < settings.n


@contextmanager
def uncollected() -> Iterator[None]:
    """For imports: they leave no garbage, and looking for it takes a tenth of their time, then and ever after."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def print_answers(
    lines: Sequence[Line], inputs: Sequence[Any], settings: "Settings", options: dict[str, Any], page: Page
) -> int:
    """Answer the lines that can be answered, and name the others on stderr; return the exit code, 2 if there are any.

    There is an input for each line without an error.
    """
    with uncollected():
        from ..api import solve_each
    model, big, masked = (options.get(name) for name in ("model", "big", "masked"))
    progress = options["progress"]
    # Whoever interrupts chains that cost much is shown what they have found.
    outcomes = solve_each(inputs, settings, model=model, big=big, masked=masked, progress=progress, salvage=True)
    num_refused = num_short = 0
    for line in lines:
        outcome = line.error or next(outcomes)
        with beside_bar():
            if isinstance(outcome, str | Exception):
                error = as_typed(f"{line.place}: {outcome}")
                click.echo(as_typed(f"cgmh: {line.where}: {outcome}"), err=True)
                num_refused += 1
                if options["as_json"]:
                    print_record({"input": encodable(line.text), "error": encodable(error)})
                else:
                    page.print_refused(line)
            else:
                page.warn(line, outcome)
                num_short += page.is_short(outcome, settings)
                print_json(outcome) if options["as_json"] else page.print(line, outcome)
    next(outcomes, None)  # ends the progress bar
    if num_short:
        where = f" for {num_short} of {len(inputs)} inputs" if len(inputs) > 1 else ""
        click.echo(f"note: fewer than {settings.n} {page.answers} were found{where}; {page.advice}", err=True)
    return 2 if num_refused else 0


def print_json(result: "Result") -> None:
    record = result.to_dict()
    if result.trace:
        record["trace"] = [step.to_dict() for step in result.trace]
    print_record(record)


def print_trace(result: "Result") -> None:
    """Step, sentence and move, as the paper shows them; * the best answer, x a step refused."""
    start = result.traced_from
    before = None if start is None else split(start)
    rows = [] if start is None else [("start", "", start, "")]
    is_reached = False
    for step in result.trace:
        words = split(step.text)
        is_best = step.accepted and step.text == result.best.text.strip() and not is_reached
        is_reached |= is_best
        mark = "x" if not step.accepted else "*" if is_best else ""
        move = step.move if before is None else describe(step.move, before, words)
        rows.append((str(step.step), mark, step.text, move))
        before = words if step.accepted else before
    width = max([len("sentence"), *(len(text) for _, _, text, _ in rows)])
    click.echo(f"\n{'step':>5}     {'sentence':{width}}  move")
    for number, mark, text, move in rows:
        click.echo(f"{number:>5}  {mark:1}  {text:{width}}  {move}".rstrip())


Mark = Callable[[str, str], str]  # what an edit takes away and what it brings -> what is shown for it


def marked(text: str, edits: Iterable[Edit[str]], mark: Mark) -> str:
    """The text with the edits made, each as `mark` shows it. Blanks around what an edit brings are outside the mark."""

    def shown(edit: Edit[str]) -> str:
        new = edit.replacement.strip()
        before, _, after = edit.replacement.partition(new) if new else (edit.replacement, "", "")
        old = edit.original.strip() if new else edit.original  # of a deletion, the blank that goes with the word
        return before + mark(old, new) + after

    return splice(text, [replace(edit, replacement=shown(edit)) for edit in edits])


def bracketed(old: str, new: str) -> str:
    """As `git diff --word-diff=plain` has it."""
    return (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else "")


def red_and_green(old: str, new: str) -> str:
    """As `git diff --word-diff=color` has it."""
    return (click.style(old, fg="red") if old else "") + (click.style(new, fg="green") if new else "")


def green(old: str, new: str) -> str:  # noqa: ARG001
    """What is new alone."""
    return click.style(new, fg="green") if new else ""


def listed(edits: Sequence[Edit[str]]) -> list[str]:
    """One line for each edit: what is changed, its probability and its kind."""
    changes = [_change(edit) for edit in edits]
    width = max(map(len, changes), default=0)
    rows = zip(changes, edits, strict=True)
    return [f"{change:{width}}   {edit.probability:.2f}  {edit.kind}" for change, edit in rows]


def _change(edit: Edit[str]) -> str:
    old, new = (" ".join(text.split()) for text in (edit.original, edit.replacement))
    if old and new:
        return f"{old} → {new}"
    return f"+ {new}" if new else f"- {old}"


def describe(move: str, before: Sequence[str], after: Sequence[str]) -> str:
    """``replace what with which``, ``insert the``, ``delete most``, ``swap now and please``; casings count as the same.

    Where the two sentences do not show such a change, only the name of the move.
    """
    old, new = _changed(before, after)
    shape = (len(old), len(new))
    if move == "replace" and shape == (1, 1):
        return f"replace {old[0]} with {new[0]}"
    if move == "insert" and shape == (0, 1):
        return f"insert {new[0]}"
    if move == "delete" and shape == (1, 0):
        return f"delete {old[0]}"
    if move == "swap" and (blocks := _exchanged(old, new)):
        return f"swap {' '.join(blocks[0])} and {' '.join(blocks[1])}"
    return move


def _changed(before: Sequence[str], after: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """What lies between the words that both have at their beginning and at their end."""
    one, two = _folded(before), _folded(after)
    shorter = min(len(one), len(two))
    left = next((at for at in range(shorter) if one[at] != two[at]), shorter)
    rest = shorter - left
    right = next((at for at in range(rest) if one[-1 - at] != two[-1 - at]), rest)
    return before[left : len(before) - right], after[left : len(after) - right]


def _exchanged(old: Sequence[str], new: Sequence[str]) -> tuple[Sequence[str], Sequence[str]] | None:
    """The blocks at the two ends of `old` that stand the other way round in `new`, the shortest first block first."""
    one, two = _folded(old), _folded(new)
    for first in range(1, len(one)):
        for second in range(len(one) - first, 0, -1):
            end = len(one) - second
            if two == one[end:] + one[first:end] + one[:first]:
                return old[:first], old[end:]
    return None


def _folded(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]
