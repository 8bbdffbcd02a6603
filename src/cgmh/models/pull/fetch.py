"""A file from an address into FILE.part, behind what came of it before.

No file is taken that is larger than any model that can be used, or than the disk has room for.
"""

import http
import re
import shutil
from pathlib import Path

from tqdm import tqdm

from ...errors import BadModel
from . import store
from .index import Client, Unreachable, reaching, without_secrets

_MAX_ATTEMPTS = 10  # each has to bring something
_CHUNK = 1 << 18  # bytes that are read at once
_SPARE = 10_000_000  # bytes that stay free on the disk
_MAX_SIZE = 8_000_000_000  # bytes of a file of unknown size: SmolLM2 with 1.7 billion weights in float32 has 6.8
# Answers to a request for the rest of a file after which only all of it helps: another part, or no such part.
_NO_REST = (http.HTTPStatus.PARTIAL_CONTENT, http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)


def check_room(needed: int) -> None:
    """Refuse to write so many bytes where the disk would be full."""
    free = shutil.disk_usage(store.downloads()).free
    if free < needed + _SPARE:
        room = f"{(needed + _SPARE) / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free"
        raise BadModel(f"{store.home()}: {room}; make room or set CGMH_HOME to another directory")


def size_of(part: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    return part.stat().st_size if part.exists() else 0


def fetch(client: Client, url: str, part: Path, size: int | None, progress: bool) -> None:
    """Bring the bytes of an address into `part`, behind those that are there; `size` is what they must come to."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        before = size_of(part)
        try:
            _transfer(client, url, part, size, progress)
            return
        except Unreachable as error:
            if before and error.status in _NO_REST:
                part.unlink()
            elif error.status is not None or size_of(part) <= before or attempt == _MAX_ATTEMPTS:
                raise


def _transfer(client: Client, url: str, part: Path, size: int | None, progress: bool) -> None:
    have = size_of(part)
    if size is not None and have > size:
        part.unlink()
        have = 0
    if have and have == size:
        return
    with client.open(url, {"Range": f"bytes={have}-"} if have else {}) as answer:
        partial = answer.status == http.HTTPStatus.PARTIAL_CONTENT
        if partial and not re.match(rf"bytes {have}-", answer.headers.get("Content-Range", "")):
            raise Unreachable(url, "it answered with another part of the file than was asked for", answer.status)
        if not partial:
            have = 0  # the server does not know Range: all of it again
        length = answer.headers.get("Content-Length", "")
        total = have + int(length) if length.isdecimal() else size
        if size is not None and total != size:
            raise BadModel(f"{without_secrets(url)}: not the right file (it has {total:,} bytes, not {size:,})")
        if size is None and total is not None:
            _check_unknown(url, total)
            check_room(2 * total - have)  # the model that it becomes is as large
        bar = tqdm(
            total=total, initial=have, unit="B", unit_scale=True, desc=part.stem, disable=not progress, leave=False
        )
        with bar, part.open("ab" if have else "wb") as file:
            while True:
                with reaching(url):
                    chunk = answer.read(_CHUNK)
                if not chunk:
                    break
                have += len(chunk)
                if total is not None and have > total:
                    part.unlink()
                    raise BadModel(f"{without_secrets(url)}: not the right file (it has more than {total:,} bytes)")
                if total is None:  # a server that does not say how long its file is, and may never end
                    _check_unknown(url, have)
                    check_room(len(chunk) + have)
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and have < total:
        raise Unreachable(url, f"the connection was lost after {have / 1e6:,.1f} of {total / 1e6:,.1f} MB")


def _check_unknown(url: str, size: int) -> None:
    """Refuse a file of which nothing is known but that it has at least so many bytes."""
    if size > _MAX_SIZE:
        limit = f"models that can be used have at most {_MAX_SIZE / 1e9:,.0f} GB"
        raise BadModel(f"{without_secrets(url)}: too large ({size / 1e9:,.1f} GB or more; {limit})")
