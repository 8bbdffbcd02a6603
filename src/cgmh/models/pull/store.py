"""The models of a user: the one inside the package, those that can be pulled, and those in the cache directory.

CGMH_HOME/models/NAME/           a Llama directory: config.json, tokenizer.json, weights.safetensors, TERMS.html if any
CGMH_HOME/models/.NAME.*.tmp/    one that is being made or removed; it becomes NAME in one rename
CGMH_HOME/downloads/FILE.part    a download to go on with, removed by the next pull that succeeds or by --clear
CGMH_HOME/downloads/NAME.lock    held by the process that pulls NAME; the system frees it when a process dies
"""

import errno
import hashlib
import math
import os
import re
import secrets
import shutil
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ...errors import BadInput, BadModel
from ...files import parse_json, read_json
from .registry import REGISTRY

LLAMA_FORMAT = "cgmh-llama-1"
CONFIG, TOKENIZER, WEIGHTS, TERMS = "config.json", "tokenizer.json", "weights.safetensors", "TERMS.html"
VERBS = "verbs.json.gz"  # of the embedded model
INT8 = "int8.safetensors"  # the same weights once more, for processors with VNNI
TUNED = 2  # which tuning an adapter is of: on plain sentences (1), and on mistaken ones too (2); 0 for none
EMBEDDED = Path(__file__).parents[1] / "en"
AGAIN = "get the model again (`cgmh train`, `cgmh models pull`)"
CHOICES = (
    "give a name of `cgmh models list`, a directory of `cgmh train` or of Hugging Face, a hub name (owner/name), "
    "or an n-gram file (.arpa, .klm)"
)
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")


@dataclass(frozen=True)
class Entry:
    """What is known about a model."""

    name: str
    kind: str  # embedded, installed, available (to be pulled) or damaged
    what: str
    licence: str
    source: str
    parameters: int
    size: int  # bytes on disk, or of the download
    path: Path | None
    perplexity: dict[str, float] | None = None  # on held-out text
    terms: str | None = None  # of use: their name and where they can be read

    def to_dict(self) -> dict[str, Any]:
        record = {**vars(self), "path": None if self.path is None else str(self.path)}
        return {key: value for key, value in record.items() if key not in ("perplexity", "terms") or value}


def home() -> Path:
    """The directory of everything we keep for the user: CGMH_HOME, or a place in the cache of the platform."""
    if given := os.environ.get("CGMH_HOME"):
        return expanded(given).absolute()
    try:
        if sys.platform == "win32":
            base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
        elif sys.platform == "darwin":
            base = Path.home() / "Library" / "Caches"
        else:
            cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
            base = cache if cache.is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:
        raise BadInput("no home directory is known; set CGMH_HOME to a directory for models") from error
    return base / "cgmh"


def expanded(path: str | Path) -> Path:
    """A path with the ~ of a user's home replaced, where that user exists."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - the method of a path raises where there is no such user


def downloads() -> Path:
    return home() / "downloads"


def directory_of(name: str) -> Path:
    """Where a model of this name is or would be; a name that could leave the store is refused."""
    if not _NAME.fullmatch(name):
        if expanded(name).is_dir():
            raise BadInput(_is_directory(name))
        raise BadInput(f"{name!r}: not a name for a model; use lower-case letters, digits and . _ - between them")
    return EMBEDDED if name == "en" else home() / "models" / name


def _is_directory(name: str) -> str:
    return f"{name!r}: not a name for a model but a directory; `model` takes it as it is, its {CONFIG} describes it"


def path_of(name: str) -> Path:
    """The directory of an embedded or installed model."""
    path = directory_of(name)
    if is_installed(name):
        return path
    if os.path.lexists(path):
        again = "pull" if name in REGISTRY else "remove"
        raise BadModel(f"{path}: damaged; run: cgmh models {again} {name}")
    if name in REGISTRY:
        here = f", or give ./{name} for the directory" if Path(name).is_dir() else ""
        raise BadModel(f"{name} is not installed; run: cgmh models pull {name}{here}")
    if Path(name).is_dir():
        raise BadModel(_is_directory(name))
    raise BadModel(f"{name}: no such model; there is: {', '.join(dict.fromkeys(['en', *installed(), *REGISTRY]))}")


def is_installed(name: str) -> bool:
    """Whether a model of this name can be opened; any text may be asked about."""
    return name == "en" or bool(_NAME.fullmatch(name) and _config(directory_of(name)))


def is_whole(name: str) -> bool:
    """Whether every file of an installed model has the checksum that was noted when it was made."""
    path = directory_of(name)
    record = _config(path)
    try:
        return bool(record) and all(sha256_of(path / file) == noted for file, noted in record["sha256"].items())
    except (OSError, KeyError, AttributeError):
        return False


def sha256_of(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def installed() -> list[str]:
    """The names of the pulled models, in alphabetical order."""
    try:
        names = [path.name for path in (home() / "models").iterdir()]
    except OSError:
        return []
    return sorted(name for name in names if name != "en" and is_installed(name))


def installed_big() -> str | None:
    """The name of the best pulled LLM: the first of the registry that is there, even damaged, so that this is not
    passed over in silence; otherwise one of the user's own.
    """
    known = (name for name in REGISTRY if os.path.lexists(directory_of(name)))
    return next(known, None) or next(iter(installed()), None)


def entries() -> list[Entry]:
    """The embedded model, the installed ones, and those that can be pulled."""
    return [entry_of(name) for name in dict.fromkeys(["en", *installed(), *REGISTRY])]


def entry_of(name: str) -> Entry:
    """What is known about a model, installed or not."""
    if name in REGISTRY and not is_installed(name):
        known = REGISTRY[name]
        kind = "damaged" if os.path.lexists(directory_of(name)) else "available"
        terms = f"{known.terms.name}, {known.terms.url}" if known.terms else None
        facts = (known.what, known.licence, known.source, known.parameters, known.size)
        return Entry(name, kind, *facts, path=None, terms=terms)
    path = path_of(name)
    if name == "en":
        return _embedded(path)
    record = _config(path)
    what, licence, source = (str(record.get(key, "unknown")) for key in ("what", "licence", "source"))
    terms = str(record["terms"]) if "terms" in record else None
    if terms and (path / TERMS).is_file():
        terms += f"; their text is in {path / TERMS}"
    parameters, size = int(record.get("parameters", 0)), _size(path)
    return Entry(name, "installed", what, licence, source, parameters, size, path, terms=terms)


def _embedded(path: Path) -> Entry:
    try:
        reported = read_config(path)["held_out"]["perplexity"]
        perplexity = {key: value for key, value in reported.items() if key != "corpora"}
        what, source = "the English word model that proposes every edit", "inside the package; see its README.md"
        weights = _num_weights(path / WEIGHTS)
        return Entry("en", "embedded", what, "Apache-2.0", source, weights, _size(path), path, perplexity)
    except (BadModel, OSError, ValueError, KeyError, struct.error) as error:
        raise BadModel(
            f"{path}: the model inside the package is damaged; run: pip install --force-reinstall cgmh"
        ) from error


def _config(path: Path) -> dict[str, Any]:
    """The `config.json` of a Llama directory whose files are there; empty if it is none."""
    try:
        record = read_config(path)
    except BadModel:
        return {}
    is_llama = record.get("format") == LLAMA_FORMAT
    return record if is_llama and all((path / name).is_file() for name in (TOKENIZER, WEIGHTS)) else {}


def read_config(directory: Path) -> dict[str, Any]:
    """The `config.json` of a model directory of any kind."""
    path = directory / CONFIG
    try:
        record = read_json(path)
    except FileNotFoundError:
        raise BadModel(f"{directory}: not a model directory (it has no {CONFIG}); {CHOICES}") from None
    except (OSError, ValueError) as error:
        raise BadModel(f"{path}: cannot be read ({error}); {AGAIN}") from error
    if not isinstance(record, dict):
        raise BadModel(f"{path}: not the configuration of a model; {AGAIN}")
    return record


def read_checked(path: Path, sha256: str) -> bytes:
    """The bytes of a file whose checksum was noted when the model was made."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadModel(f"{path}: cannot be read ({error.strerror}); {AGAIN}") from error
    if hashlib.sha256(data).hexdigest() != sha256:
        raise BadModel(f"{path}: damaged (its checksum is not the one in {CONFIG}); {AGAIN}")
    return data


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.iterdir() if file.is_file())


def _num_weights(path: Path) -> int:
    """The number of weights in a safetensors file, the scales of rounded ones not counted, from its header."""
    with path.open("rb") as file:
        header = parse_json(file.read(min(struct.unpack("<Q", file.read(8))[0], path.stat().st_size)))
    names = [name for name in header if name != "__metadata__" and not name.endswith("scale")]
    return sum(math.prod(header[name]["shape"]) for name in names)


def remove(name: str) -> Path:
    """Remove a pulled model, whole or damaged; returns where it was."""
    path = directory_of(name)
    if name == "en":
        raise BadInput("en is part of the package and stays")
    if not os.path.lexists(path):
        raise BadModel(f"{name} is not installed; there is nothing to remove")
    try:
        shutil.rmtree(path.rename(_beside(path)))  # renamed in one step, so that nobody opens half a model
    except OSError as error:
        raise BadModel(f"{path}: cannot be removed ({error.strerror})") from error
    return path


@contextmanager
def new_directory(name: str) -> Iterator[Path]:
    """A directory to write a model into, which is then installed in one rename; nothing stays after a failure."""
    path = directory_of(name)
    unfinished = _beside(path)
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        try:
            unfinished.rename(path)
        except OSError:
            if not is_installed(name):  # otherwise another process was faster; theirs is as good
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def partial_files(name: str) -> list[Path]:
    """Where downloads of a model go, whether they are there or not."""
    known = REGISTRY.get(name)
    names = [known.gguf.name, *(part.wheel.name for part in known.wheels)] if known else [f"{name}.gguf"]
    return [downloads() / f"{name}.part" for name in names]


def unfinished() -> list[tuple[str, Path]]:
    """The models that are being made or removed, or were by a process that was killed: names and directories."""
    paths = sorted((home() / "models").glob(".*.tmp"))
    found = ((re.fullmatch(r"\.(.+)\.[0-9a-f]{8}\.tmp", path.name), path) for path in paths)
    return [(match[1], path) for match, path in found if match]


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


@contextmanager
def only_process(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock file at `path`, or refuse with the line `busy` where another process holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        try:
            _lock(file)
            # Its last holder may have removed the file between our opening and our locking of it.
            if not path.exists() or not os.path.samestat(os.fstat(file.fileno()), path.stat()):
                raise BadInput(busy)
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise BadInput(busy) from error
            # Otherwise this file system has no locks: unique names and checksums must do.
        try:
            yield
        finally:
            with suppress(OSError):  # Windows does not remove a file that is open
                path.unlink()


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
