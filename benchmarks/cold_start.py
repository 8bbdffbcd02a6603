"""From the start of the process to five sentences, and to the help text: python benchmarks/cold_start.py

Each figure is the median of five runs of the real command at default settings, without a big model and (once one is
pulled) with it as the target and to rank.
Writes benchmarks/results/cold_start.json.
"""

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

from cgmh.models.pull.store import installed_big

COMMANDS = {
    "five sentences": ["keywords", "lottery", "scholarships", "--big", "none"],
    "help": ["--help"],
    "load and score": ["score", "The train was late."],
}
if installed_big():
    COMMANDS["five, big target"] = ["keywords", "lottery", "scholarships"]
    COMMANDS["five, ranked"] = ["keywords", "lottery", "scholarships", "--use", "rerank"]
LOADING = """import time, torch, cgmh.models.word.checkpoint as c
t = time.perf_counter()
c.load_model()
print(time.perf_counter() - t)"""


def seconds(arguments: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "cgmh", *arguments], check=True, capture_output=True)  # noqa: S603
    return time.perf_counter() - began


def main() -> None:
    medians = {name: statistics.median(seconds(arguments) for _ in range(5)) for name, arguments in COMMANDS.items()}
    loads = [subprocess.run([sys.executable, "-c", LOADING], check=True, capture_output=True) for _ in range(5)]  # noqa: S603
    medians["load the model"] = statistics.median(float(load.stdout) for load in loads)
    signature = json.loads(
        subprocess.run(
            [sys.executable, "-m", "cgmh", "keywords", "lottery", "scholarships", "--json"],
            check=True,
            capture_output=True,
        ).stdout
    )["signature"]
    for name, value in medians.items():
        print(f"{name:16} {value:6.2f} s")
    print(signature)
    out = Path(__file__).parent / "results" / "cold_start.json"
    out.write_text(json.dumps({"signature": signature, "seconds": medians}, indent=1) + "\n")


if __name__ == "__main__":
    main()
