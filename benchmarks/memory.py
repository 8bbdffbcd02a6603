"""The most memory that the commands take on the files that need most: python benchmarks/memory.py [NAME ...]

Each figure is the peak resident size of a real process. Long lines, many lines and many chains are what takes memory;
how many steps are made hardly matters, so there are few. Fails where a default run takes more than 0.8 GB, or any other
more than 1.5 GB. Writes benchmarks/results/memory.json.
"""

import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch

from cgmh import __version__

MAX_GB = {"default": 0.8, "file": 1.5}
WORDS = (
    "the a man woman house road river old new young big small red green walks sees finds takes of in on with for and "
    "but very quite city water school teacher train station morning evening quickly slowly"
).split()
FEW = ("--steps", "10")


def line(number: int, words: int) -> str:
    """A line of so many words and marks; the same for the same number."""
    return " ".join(random.Random(number).choices(WORDS, k=words - 1)).capitalize() + "."  # noqa: S311


def lines(number: int, words: int) -> str:
    return "\n".join(line(at, words) for at in range(number))


# The kind of run, its arguments, and what it reads on stdin.
RUNS: dict[str, tuple[str, list[str], str]] = {
    "score, default": ("default", ["score"], "The train was late for the meeting."),
    "keywords, default": ("default", ["keywords"], "lottery scholarships"),
    "paraphrase, default": ("default", ["paraphrase"], "How do I learn to play guitar in two weeks?"),
    "correct, default": ("default", ["correct"], "Thier house is verry big. I recieve many letter."),
    "score, 512 lines of 200": ("file", ["score"], lines(512, 200)),
    "correct, 41 short lines and one of 118": ("file", ["correct"], f"{lines(41, 8)}\n{line(0, 118)}"),
    "correct, 12 lines of 118": ("file", ["correct", *FEW], lines(12, 118)),
    "correct, 300 words in a line": ("file", ["correct", *FEW], " ".join(line(at, 15) for at in range(20))),
    "correct, 118 words, 512 chains": ("file", ["correct", *FEW, "--chains", "512"], line(0, 118)),
    "correct, one chain": ("file", ["correct", *FEW, "--chains", "1"], lines(32, 60)),
    "correct, the paper's way": ("file", ["correct", "--preset", "paper", "--steps", "3"], lines(32, 60)),
    "paraphrase, 16 lines of 60": ("file", ["paraphrase", *FEW], lines(16, 60)),
    "paraphrase, 60 words, 2048 chains": ("file", ["paraphrase", "--steps", "3", "--chains", "2048"], line(0, 60)),
    "paraphrase, the paper's way": ("file", ["paraphrase", "--preset", "paper", "--steps", "3"], lines(16, 60)),
    "keywords, 16 sets of 20": (
        "file",
        ["keywords", *FEW],
        "\n".join(" ".join(WORDS[at : at + 20]) for at in range(16)),
    ),
    "keywords, 30 words, 2048 chains": (
        "file",
        ["keywords", "--steps", "3", "--chains", "2048", "--max-words", "40"],
        " ".join(WORDS[:30]),
    ),
    "keywords, 8 replicas": ("file", ["keywords", *FEW, "--chains", "256", "--temper", "8"], "river boat"),
}


def measure(arguments: list[str], text: str) -> tuple[float, float]:
    """Peak resident size in GB, and seconds, of one process."""
    with tempfile.TemporaryFile() as typed, tempfile.TemporaryFile() as printed:
        typed.write(f"{text}\n".encode())
        typed.seek(0)
        began = time.perf_counter()
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "cgmh", *arguments], stdin=typed, stdout=printed, stderr=printed
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            printed.seek(0)
            raise SystemExit(f"{arguments}: {printed.read().decode()[-500:]}")
        return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9, time.perf_counter() - began


def main() -> int:
    wanted = sys.argv[1:] or list(RUNS)
    rows = []
    for name in wanted:
        kind, arguments, text = RUNS[name]
        peak, seconds = measure(arguments, text)
        rows.append({"run": name, "peak_gb": round(peak, 3), "most_gb": MAX_GB[kind], "seconds": round(seconds, 1)})
        print(json.dumps(rows[-1]), flush=True)
    where = platform.processor() or platform.machine()
    signature = f"cgmh {__version__} | {where} | cores {os.cpu_count()} | torch {torch.__version__}"
    print(signature)
    if wanted == list(RUNS):
        out = Path(__file__).parent / "results" / "memory.json"
        out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    return int(any(row["peak_gb"] > row["most_gb"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
