"""How much memory the commands take: real processes, for what a test process holds already would hide it."""

import os
import random
import subprocess
import sys
import tempfile

import pytest

WORDS = "the a man house road river old new walks sees of in on with and very city water school train quickly".split()


def line(number: int, words: int) -> str:
    return " ".join(random.Random(number).choices(WORDS, k=words - 1)).capitalize() + "."


def lines(number: int, words: int) -> str:
    return "".join(line(at, words) + "\n" for at in range(number))


@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes, as Linux does")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["score"], lines(128, 200)),
        (["correct", "--steps", "1", "--chains", "64"], lines(5, 8) + line(0, 118)),
    ],
    ids=["score", "correct"],
)
def test_memory_does_not_follow_the_longest_line(arguments: list[str], text: str) -> None:
    with tempfile.TemporaryFile() as typed, tempfile.TemporaryFile() as printed:
        typed.write(text.encode())
        typed.seek(0)
        process = subprocess.Popen([sys.executable, "-m", "cgmh", *arguments], stdin=typed, stdout=printed)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        assert len(printed.read().splitlines()) == len(text.splitlines())
    assert process.returncode == 0
    assert usage.ru_maxrss / 1e6 < 1.2  # GB
