"""How much memory the commands take: real processes, for what a test process holds already would hide it."""

import random
import subprocess
import sys

import pytest

WORDS = "the a man house road river old new walks sees of in on with and very city water school train quickly".split()
# A process counts the memory of the one that it was forked from as its own, and this one holds a lot.
BETWEEN = """
import resource, subprocess, sys
subprocess.run([sys.executable, "-m", "cgmh", *sys.argv[1:]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
"""


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
    process = subprocess.run(
        [sys.executable, "-c", BETWEEN, *arguments], input=text.encode(), capture_output=True, check=True
    )
    assert len(process.stdout.splitlines()) == len(text.splitlines())
    assert int(process.stderr.split()[-1]) / 1e6 < 1.2  # GB
