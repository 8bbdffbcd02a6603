"""Files that are whole or not there, whenever the power goes; and what is said when the disk is full."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import CgmhError

TEMPORARY = ".tmp"  # how the name of a file ends that is still being written
_FULL = (errno.ENOSPC, errno.EDQUOT)


class DiskFull(CgmhError):
    """There is no room for the output; what is done is kept."""


@contextmanager
def saying_when_full(directory: Path) -> Iterator[None]:
    """A full disk is no mistake of the program: say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise DiskFull(
            f"{directory}: no space is left on the disk; the rows that are done are kept. Make room, and run the same "
            "command again to go on"
        ) from error


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that appears under its name when all of it is on the disk; if anything fails, nothing of it is left."""
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """The names in a directory are on the disk, too."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
