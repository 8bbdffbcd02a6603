"""What `cgmh run` costs and gives: two processes against one, the job around the library, Ray, and memory.

    python benchmarks/jobs.py [--rows 84] [--many 1000000] [--repeats 3]

(1) Corrections of the same rows by one process and by two: rows per second, and their ratio. (2) The CPU time of a job
with one process against that of the library called for the same blocks of rows, both after the models are loaded: what
the job adds to a row. (3) The same job on Ray, if it is installed: the output is compared byte by byte. (4) `--many`
rows on a cheap target, lines without a sentence, for which no step is made: rows per second, and the memory of all
processes together at each tenth of the way. Sentences are put together by chance. Writes benchmarks/results/jobs.json.
"""

import argparse
import json
import os
import platform
import random
import resource
import statistics
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch

from cgmh import CorrectInput, __version__
from cgmh.api import solve_each
from cgmh.cli import main
from cgmh.jobs.rows import Asked, row_seed
from cgmh.threads import set_num_cores

PEOPLE = "my brother,the old teacher,our neighbour,a young doctor,the children,his parents,two students".split(",")
VERBS = "like|want|buy|carry|find|forget|sell|bring|wash|paint|repair|need".split("|")
THINGS = "apple|letter|bicycle|chair|ticket|window|blue car|small boat|old book|green bottle|lamp|coat".split("|")
ENDS = "in the morning,at the market,because it rain,every days,with they friends,near a river".split(",")
RESULTS = Path(__file__).parent / "results" / "jobs.json"


def sentence(chance: random.Random) -> str:
    parts = [chance.choice(each) for each in (PEOPLE, VERBS, ("the", "a", "an", "two"), THINGS, ENDS)]
    return f"{' '.join(parts).capitalize()}."


def in_a_process(work: Callable[[], object]) -> tuple[float, float]:
    """The seconds and the CPU seconds, those of its children included, of some work in a process of its own."""
    began = time.monotonic()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    number = os.fork()
    if not number:
        try:
            work()
        except SystemExit as end:
            os._exit(int(end.code or 0))
        finally:
            os._exit(0)
    if code := os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]):
        raise SystemExit(f"a process of the benchmark ended with {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.monotonic() - began, cpu


def job(source: Path, out: Path, *options: str) -> Callable[[], object]:
    def run() -> None:
        main(["run", "correct", str(source), "--out", str(out), "--quiet", *options])

    return run


def library(texts: list[str]) -> Callable[[], object]:
    """The library, called for the blocks of rows that a process of a job works on at a time."""

    def run() -> None:
        set_num_cores(1)
        torch.set_num_threads(1)
        size = Asked(CorrectInput(""), CorrectInput.defaults).together
        for at in range(0, len(texts), size):
            inputs = [CorrectInput(text) for text in texts[at : at + size]]
            seeds = [row_seed(0, number) for number in range(at, at + len(inputs))]
            for result in solve_each(inputs, seeds=seeds):
                json.dumps(result.to_dict())  # type: ignore[union-attr]

    return run


def memory_of(process: int) -> float:
    """MB that a process and its children have for themselves, shared pages counted once."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if process in (int(folder.name), parent):
                rolled = (folder / "smaps_rollup").read_text()
                total += int(next(line for line in rolled.splitlines() if line.startswith("Pss:")).split()[1])
        except (OSError, StopIteration):
            continue
    return total / 1000


def speeds(folder: Path, texts: list[str], repeats: int) -> dict[str, Any]:
    source = folder / "in.txt"
    source.write_text("".join(f"{text}\n" for text in texts))
    found: dict[str, list[float]] = {"one": [], "two": [], "one cpu": [], "library cpu": []}
    for number in range(repeats):  # side by side, since other work on the machine comes and goes
        for name, workers in (("one", "1"), ("two", "2")):
            seconds, cpu = in_a_process(job(source, folder / f"{name}{number}.jsonl", "--workers", workers))
            found[name].append(len(texts) / seconds)
            if name == "one":
                found["one cpu"].append(cpu)
        found["library cpu"].append(in_a_process(library(texts))[1])
    outputs = {(folder / f"{name}{number}.jsonl").read_bytes() for name in ("one", "two") for number in range(repeats)}
    overheads = [one / alone - 1 for one, alone in zip(found["one cpu"], found["library cpu"], strict=True)]
    return {
        "rows": len(texts),
        "rows_per_second": {name: round(statistics.median(found[name]), 2) for name in ("one", "two")},
        "ratio": round(statistics.median(t / o for t, o in zip(found["two"], found["one"], strict=True)), 2),
        "overhead": {"median": round(statistics.median(overheads), 4), "all": [round(each, 4) for each in overheads]},
        "cpu_seconds": {name: [round(each, 2) for each in found[f"{name} cpu"]] for name in ("one", "library")},
        "outputs_alike": len(outputs) == 1,
    }


def on_ray(folder: Path) -> dict[str, Any] | None:
    if find_spec("ray") is None:
        return None
    out = folder / "ray.jsonl"
    seconds, _ = in_a_process(job(folder / "in.txt", out, "--engine", "ray", "--workers", "2"))
    return {"seconds": round(seconds, 1), "same_bytes": out.read_bytes() == (folder / "one0.jsonl").read_bytes()}


def many(folder: Path, rows: int) -> dict[str, Any]:
    source, out = folder / "many.txt", folder / "many.jsonl"
    with source.open("w") as file:
        file.writelines(f"Heading{number % 1000}\n" for number in range(rows))
    sizes: list[tuple[float, float]] = []  # how far, and MB
    marks = folder / "many.jsonl.job" / "done.jsonl"
    is_over = threading.Event()
    own = os.getpid()

    def watch() -> None:
        while not is_over.wait(1.0):
            children = Path(f"/proc/{own}/task/{own}/children").read_text().split()
            if children and marks.exists():
                done = sum(json.loads(line)["rows"] for line in marks.read_bytes().splitlines())
                sizes.append((done / rows, memory_of(int(children[0]))))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        seconds, cpu = in_a_process(job(source, out, "--workers", "2", "--chains", "1", "--steps", "1"))
    finally:
        is_over.set()
        watching.join()
    with out.open("rb") as file:
        num_lines = sum(1 for _ in file)
    tenths = {f"{tenth / 10:.1f}": [mb for far, mb in sizes if tenth <= 10 * far < tenth + 1] for tenth in range(10)}
    return {
        "rows": rows,
        "rows_out": num_lines,
        "rows_per_second": round(rows / seconds),
        "cpu_microseconds_per_row": round(1e6 * cpu / rows, 1),
        "megabytes": {far: round(max(found)) for far, found in tenths.items() if found},
    }


def run() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=84)
    parser.add_argument("--many", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    list(solve_each([CorrectInput("I has two apple.")]))  # everything is loaded before a process is copied
    chance = random.Random(0)  # noqa: S311
    record: dict[str, Any] = {
        "version": __version__,
        "torch": torch.__version__,
        "machine": f"{os.cpu_count()} cores, {platform.processor() or platform.machine()}",
        "load": os.getloadavg()[0],
    }
    with TemporaryDirectory(prefix="cgmh-jobs-") as name:
        folder = Path(name)
        if asked.rows:
            record["speed"] = speeds(folder, [sentence(chance) for _ in range(asked.rows)], asked.repeats)
            record["ray"] = on_ray(folder)
        if asked.many:
            record["many"] = many(folder, asked.many)
    print(json.dumps(record, indent=1))
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}  # what was not run keeps its figures
    RESULTS.write_text(json.dumps({**before, **record}, indent=1) + "\n")


if __name__ == "__main__":
    run()
