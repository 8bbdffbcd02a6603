"""One process at a time, without a trace left by a process that was killed."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ..errors import BadInput


@contextmanager
def only_process(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock file at `path`, or refuse with the line `busy`; the system frees it when a process dies."""
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
            # This file system has no locks: unique names and checksums must do.
        try:
            yield
        finally:
            if sys.platform != "win32":
                path.unlink(missing_ok=True)
    if sys.platform == "win32":  # where an open file cannot be removed
        try:
            path.unlink(missing_ok=True)
        except OSError:
            return


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
