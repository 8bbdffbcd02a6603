"""Files by their addresses: on this machine, or in an object store (s3://, gs://, …), which fsspec opens."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..errors import BadInput, MissingExtra


def is_remote(name: str) -> bool:
    """Whether a name is an address elsewhere."""
    return "://" in name


def _store_of(name: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise MissingExtra("fsspec", "data") from error
    try:
        found: tuple[Any, str] = url_to_fs(name)
    except (ImportError, ValueError) as error:  # fsspec says which package is missing
        raise BadInput(f"{name}: cannot be opened ({error})") from error
    return found


def opened(name: str) -> BinaryIO:
    """A file to read, from any place in it."""
    if not is_remote(name):
        return Path(name).open("rb")
    store, path = _store_of(name)
    return cast("BinaryIO", _asked(name, lambda: store.open(path, "rb")))


def listed(name: str, known: Callable[[str], bool]) -> list[str]:
    """The files that a remote file, directory or pattern stands for; of a directory those of a `known` kind."""
    store, path = _store_of(name)
    if any(sign in path for sign in "*?["):
        found = _asked(name, lambda: store.glob(path))
    elif _asked(name, lambda: store.isdir(path)):
        found = [inside for inside in _asked(name, lambda: store.ls(path, detail=False)) if known(inside)]
    else:
        found = [path] if _asked(name, lambda: store.exists(path)) else []
    return [str(store.unstrip_protocol(each)) for each in sorted(found)]


def upload(path: Path, name: str) -> None:
    """Put a file to an address; it is there as a whole or not at all."""
    store, target = _store_of(name)

    def put() -> None:
        with path.open("rb") as source, store.open(target, "wb") as file:
            shutil.copyfileobj(source, file)

    _asked(name, put)


def _asked(name: str, ask: Callable[[], Any]) -> Any:
    """What a store answers; whatever goes wrong there is told with the address."""
    try:
        return ask()
    except OSError:
        raise
    except Exception as error:
        raise BadInput(f"{name}: cannot be read or written ({type(error).__name__}: {error})") from error
