"""JSON that comes from elsewhere: never more of it than a model needs, however small the file or deep its nesting."""

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

MAX_BYTES = 64 << 20  # the words of the largest vocabulary that `cgmh train` makes, several times over


def read_json(path: Path) -> Any:
    """What a file says, plain or packed (.gz); OSError or ValueError say why it cannot be read."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)  # never more, whatever a packed file would become
    except (EOFError, zlib.error) as error:
        raise ValueError(f"damaged: {error}") from error
    if len(data) > MAX_BYTES:
        raise ValueError(f"it holds more than {MAX_BYTES >> 20} MB")
    return parse_json(data)


def parse_json(data: bytes | str, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """What a text of JSON says; ValueError says why it is none. NaN and Infinity are read, or what is said of them."""
    try:
        return json.loads(data, parse_constant=parse_constant)
    except RecursionError as error:
        raise ValueError("lists or objects are nested too deeply") from error
