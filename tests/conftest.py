"""What holds for every test."""

import gc
import os
import re
import signal
import tempfile

import pytest
from hypothesis import settings

# One thread in each process, set before torch is loaded; subprocesses inherit it. Parallel workers share the cores.
os.environ["OMP_NUM_THREADS"] = "1"

# A model that the user pulled must not change what a test sees: the store is an empty directory of its own.
os.environ["CGMH_HOME"] = tempfile.mkdtemp(prefix="cgmh-tests-")

# A shell lets what it runs in the background ignore interruptions; tests interrupt, also the processes they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, so that a change is judged by what it changed. `--hypothesis-profile hunt` looks
# for new ones; what it finds becomes a test of its own.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("hunt", derandomize=False, max_examples=500, deadline=None)
settings.load_profile("repeatable")

# Tests outside of tests/faults that seed a mistake, by their names
SEEDED = re.compile("caught|negative_control|mistake_is_seen|mistakes_in_|would_be_seen|is_no_sampling")


def pytest_collection_finish() -> None:
    """The garbage collector leaves alone what the imports made: looking through it takes a tenth of the time."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--faults", action="store_true", help="list the seeded faults that were caught")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--faults"):
        passed = (report.nodeid for report in terminalreporter.stats.get("passed", ()))
        caught = sorted(name for name in passed if "/faults/" in name or SEEDED.search(name.partition("[")[0]))
        terminalreporter.section(f"{len(caught)} seeded faults caught, controls included")
        terminalreporter.write_line("\n".join(caught))
