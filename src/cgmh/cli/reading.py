"""Lines of input, from arguments, a file or stdin."""

import sys
from pathlib import Path

from ..errors import BadInput


def read_lines(file: str | None) -> list[str]:
    """The lines of a UTF-8 file, or of stdin for None and "-"; a mistake names the file and the line."""
    if file is None or file == "-":
        if sys.stdin is None:
            raise BadInput("stdin is closed; give the input as arguments or with --file")
        name, data = "stdin", sys.stdin.buffer.read()
    else:
        name = file
        try:
            data = Path(file).read_bytes()
        except OSError as error:
            raise BadInput(f"{file}: cannot be read ({error.strerror})") from error
    lines = []
    for number, line in enumerate(data.splitlines(), start=1):
        try:
            lines.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{name}, line {number}: not UTF-8 (byte {error.start + 1}); convert the file first"
            ) from error
    return lines


def stdin_is_terminal() -> bool:
    return sys.stdin is None or sys.stdin.isatty()
