"""Lines of input, from arguments, a file or stdin."""

import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from ..errors import BadInput

MAX_BYTES = 100 << 20  # of a file: a device may have no end
_MANY = 3  # lines that are not UTF-8, so many that they may speak for the whole file


@dataclass(frozen=True)
class Line:
    """One input, where it stood, and what is wrong with it if it cannot even be read.

    In a file, a byte order mark may stand before it, and after it the end of the line, if that is not the last one.
    """

    place: str
    text: str
    error: str = ""
    file: str = ""
    before: str = ""
    ending: str = "\n"

    @property
    def where(self) -> str:
        """The place, with the name of the file."""
        return f"{self.file}, {self.place}" if self.file else self.place

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def read_lines(file: str | None) -> list[str]:
    """The lines of a UTF-8 file, or of stdin for None and "-"; a mistake names the file and the line."""
    lines = read_each(file)
    for line in lines:
        if line.error:
            raise BadInput(f"{'' if line.file else 'stdin, '}{line.where}: {line.error}")
    return [line.text for line in lines]


def read_each(file: str | None) -> list[Line]:
    """The lines, each by itself: one that is not UTF-8 spoils no other."""
    name = "" if file is None or file == "-" else file
    return [_decoded(name, number, line) for number, line in enumerate(_read(file).splitlines(keepends=True), start=1)]


def _read(file: str | None) -> bytes:
    is_stdin = file is None or file == "-"
    if is_stdin and sys.stdin is None:
        raise BadInput("stdin is closed; give the input as arguments or with --file")
    name = "stdin" if is_stdin else str(file) or "''"
    try:
        with nullcontext(sys.stdin.buffer) if is_stdin else Path(str(file)).open("rb") as source:
            data = source.read(MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(f"{name}: cannot be read ({error.strerror})") from error
    if len(data) > MAX_BYTES:
        raise BadInput(f"{name}: has more than {MAX_BYTES >> 20} MB; split it")
    _check_text(name, data)
    return data


def _check_text(name: str, data: bytes) -> None:
    """Refuse at once what is no text in UTF-8 at all; a line that is none is refused by itself."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise BadInput(f"{name}: is in UTF-16; convert it to UTF-8 first")
    lines = [line for line in data.splitlines() if line.strip()]
    num_bad = sum(not _is_utf8(line) for line in lines)
    if num_bad and b"\0" in data:
        raise BadInput(f"{name}: is no text, but binary data")
    if num_bad >= _MANY and 2 * num_bad > len(lines):
        raise BadInput(f"{name}: {num_bad} of its {len(lines)} lines are not UTF-8; convert the file first")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _decoded(file: str, number: int, line: bytes) -> Line:
    place, encoding, data = f"line {number}", "utf-8-sig" if number == 1 else "utf-8", line.rstrip(b"\r\n")
    around = {"before": "\ufeff" * (number == 1 and data.startswith(BOM_UTF8)), "ending": line[len(data) :].decode()}
    try:
        return Line(place, data.decode(encoding), file=file, **around)
    except UnicodeDecodeError as error:
        readable = data.decode(encoding, "replace")
        return Line(place, readable, f"not UTF-8 (byte {error.start + 1}); convert the file first", file, **around)


def stdin_is_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()


def wanted_lines(arguments: Sequence[str], file: str | None, *, what: str, example: str) -> list[Line]:
    """The inputs given as arguments, in a file or on stdin, and where each stood.

    `what` the inputs are called, and an `example` of the command, help someone who gave none.
    """
    if arguments and file:
        raise BadInput(f"give {what} or --file, not both")
    if arguments:
        return [Line(f"{what.removesuffix('s')} {number}", text) for number, text in enumerate(arguments, start=1)]
    if file is None and stdin_is_terminal():
        raise BadInput(f"no {what}; try: {example}")
    lines = read_each(file)
    if all(line.is_blank for line in lines):
        raise BadInput(f"no {what}: the input is empty")
    return lines


def check_quoted(texts: Sequence[str], *, command: str, what: str) -> None:
    """Refuse arguments that were probably meant otherwise: the name of a file, a sentence without quotes."""
    if len(texts) == 1 and len(texts[0]) < 200 and _is_file(texts[0]):
        raise BadInput(f"{texts[0]} is a file; to read {what} from it: cgmh {command} --file {texts[0]}")
    if len(texts) > 1 and all(len(text.split()) == 1 for text in texts):
        one = what.removesuffix("s")
        raise BadInput(f'every argument is one word; put quotes around a {one}: "{" ".join(texts)}"')


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # no name for a file
        return False
