"""Free memory goes back to the system."""

import ctypes
from pathlib import Path

import pytest

from cgmh.serving.memory import Holes

PIECE, PIECES = 100_000, 600  # bytes; smaller than what the C library maps one by one


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="only glibc gives holes back when told to")
def test_holes_are_given_back_at_once_where_that_is_asked_for_and_else_now_and_then() -> None:
    holes = Holes()
    pieces = [bytearray(b"x") * PIECE for _ in range(PIECES)]
    kept = pieces[::20]
    pieces.clear()
    before = resident()
    holes.give_back(soon=False)
    assert resident() > before - PIECE * PIECES / 10  # it was not long ago that they were
    holes.give_back(soon=True)
    assert resident() < before - PIECE * PIECES / 2
    assert all(piece[-1:] == b"x" for piece in kept)
