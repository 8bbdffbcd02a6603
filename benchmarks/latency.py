"""Whether corrections come fast enough to type beside: python benchmarks/latency.py JFLEG/dev.src

The file has a sentence per line. Measured are the command over its first lines, a new process; one sentence after
another in a warm process, each for the first time; the same ones again; and where the time of the batch goes. The
command is timed once with so many lines and once with one, so that the difference is free of what starting costs.
Writes benchmarks/results/latency.json: counts and seconds, none of the sentences.
"""

import argparse
import cProfile
import json
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cgmh
from cgmh.api import solve
from cgmh.inputs import CorrectInput
from cgmh.remembered import ANSWERS
from cgmh.threads import num_cores

# Where the time goes: the functions whose whole time is added up, by the name of the part.
PARTS = {
    "reading the text": [("session.py", "read")],
    "confusions of words": [("correct/source.py", "read")],
    "what may be tried": [("correct/moves.py", "estimate_gains")],
    "where chains start": [("correct/moves.py", "mended_starts")],
    "proposals": [("proposals/mixture.py", "propose")],
    "first stage: word model": [("word/two_stage.py", "score")],
    "channel": [("constraints/channel.py", "log_factor")],
    "second stage: all readings": [("word/experts.py", "finish")],
    "going on from a sentence": [("word/two_stage.py", "commit")],
    "report": [("correct/report.py", "result")],
}


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def command(lines: list[str]) -> float:
    """Seconds of `cgmh correct --file`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        call = [sys.executable, "-m", "cgmh", "correct", "--file", str(path)]
        return seconds(lambda: subprocess.run(call, check=True, capture_output=True))  # noqa: S603


def parts(lines: list[str]) -> dict[str, float]:
    """Seconds of each part, in one process: of a batch, the profiler's own time included."""
    ANSWERS.clear()
    profile = cProfile.Profile()
    profile.enable()
    list(solve([CorrectInput(line) for line in lines]))
    profile.disable()
    stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    spent = {
        part: sum(
            stat[3] for (file, _, name), stat in stats.items() for path, wanted in named
            if name == wanted and file.replace("\\", "/").endswith(path)
        )
        for part, named in PARTS.items()
    }  # fmt: skip
    return spent | {"all": max(stat[3] for stat in stats.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--lines", type=int, default=100, help="of the file, for the command")
    parser.add_argument("--single", type=int, default=20, help="sentences that are asked one by one")
    parser.add_argument("--words", type=int, default=15, help="that each of those has")
    parser.add_argument("--profiled", type=int, default=0, help="lines whose time is split up, on one core")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "latency.json")
    args = parser.parse_args()
    lines = [line for line in args.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    whole, one = command(lines[: args.lines]), command(lines[:1])
    rate = (min(args.lines, len(lines)) - 1) / (whole - one)
    print(f"{args.lines} lines {whole:.1f} s, of which {one:.1f} s for the first: {rate:.2f} sentences/s after it")
    singles = [line for line in lines if len(line.split()) == args.words][: args.single]
    cgmh.correct("This is a warm-up .")
    ANSWERS.clear()
    first = [seconds(lambda line=line: cgmh.correct(line)) for line in singles]  # type: ignore[misc]
    again = [seconds(lambda line=line: cgmh.correct(line)) for line in singles]  # type: ignore[misc]
    text = " ".join(singles)
    cgmh.correct(text)
    text_again = seconds(lambda: cgmh.correct(text))
    for name, values in {"one sentence": first, "seen before": again}.items():
        print(f"{name}: median {1000 * statistics.median(values):.1f} ms, longest {1000 * max(values):.1f} ms")
    print(f"a text of these {len(singles)} sentences: {1000 * text_again:.1f} ms")
    figures = {
        "lines": min(args.lines, len(lines)), "seconds": whole, "seconds_of_one": one, "sentences_per_second": rate,
        "cores": num_cores(), "words": args.words, "single": first, "seen_before": again,
        "text_seen_before": text_again,
    }  # fmt: skip
    if args.profiled:
        spent = parts(lines[: args.profiled])
        figures["parts"] = {part: value / args.profiled for part, value in spent.items()}
        for part, value in spent.items():
            print(f"{part:28}{1000 * value / args.profiled:8.1f} ms a sentence")
    signature = f"{cgmh.correct('This is a warm-up .').signature} | {num_cores()} cores"
    print(signature)
    args.out.write_text(json.dumps({"signature": signature, **figures}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
