"""A file from the web, bit by bit: what has come stays in FILE.part, and the next attempt goes on from there."""

import hashlib
import http
import re
from pathlib import Path
from typing import Any

from tqdm import tqdm

from ..errors import BadModel
from .connection import Connection, Unreachable, reaching, shown
from .store import Content

_ATTEMPTS = 10  # each has to bring something
_CHUNK = 1 << 18
# Answers to a request for the rest of a file after which only all of it helps: another part, or no such part.
_NO_USE = (http.HTTPStatus.PARTIAL_CONTENT, http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)


def fetch(connection: Connection, url: str, part: Path, *, size: int | None, progress: bool) -> None:
    """Bring the bytes of an address into `part`, behind those that are there; `size` is what they must come to."""
    for attempt in range(1, _ATTEMPTS + 1):
        had = size_of(part)
        try:
            _transfer(connection, url, part, size, progress)
            return
        except Unreachable as error:
            if had and error.status in _NO_USE:
                part.unlink()
            elif error.status is not None or size_of(part) <= had or attempt == _ATTEMPTS:
                raise


def verify(path: Path, content: Content) -> None:
    """Refuse a file that is not the one whose size and checksum are known."""
    if size_of(path) != content.size:
        raise BadModel(f"{path}: not {content.name} (it has {size_of(path):,} bytes, not {content.size:,})")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != content.sha256:
        raise BadModel(f"{path}: not {content.name} (its sha256 is {found}, not {content.sha256})")


def size_of(part: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    return part.stat().st_size if part.exists() else 0


def _transfer(connection: Connection, url: str, part: Path, size: int | None, progress: bool) -> None:
    have = size_of(part)
    if size is not None and have > size:
        part.unlink()
        have = 0
    if have and have == size:
        return
    with connection.open(url, {"Range": f"bytes={have}-"} if have else {}) as answer:
        partial = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        if partial and not re.match(rf"bytes {have}-", answer.headers.get("Content-Range", "")):
            raise Unreachable(url, "it answered with another part of the file than was asked for", answer.status)
        if not partial:
            have = 0  # the server does not know Range: all of it again
        length = answer.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() else size
        if size is not None and total != size:
            raise BadModel(f"{shown(url)}: not the right file (it has {total:,} bytes, not {size:,})")
        _write(answer, url, part, have, total, progress)


def _write(answer: Any, url: str, part: Path, have: int, total: int | None, progress: bool) -> None:
    bar = tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=part.stem, disable=not progress, leave=False)
    with bar, part.open("ab" if have else "wb") as file:
        while True:
            with reaching(url):
                chunk = answer.read(_CHUNK)
            if not chunk:
                break
            have += len(chunk)
            if total is not None and have > total:
                part.unlink()
                raise BadModel(f"{shown(url)}: not the right file (it has more than {total:,} bytes)")
            file.write(chunk)
            bar.update(len(chunk))
    if total is not None and have < total:
        raise Unreachable(url, f"the connection was lost after {have / 1e6:,.1f} of {total / 1e6:,.1f} MB")
