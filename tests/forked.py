"""The `cgmh` command in a process of its own, a copy of this one: torch is loaded already, so it begins at once."""

import os
import signal
import time
import traceback
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import cgmh.jobs.job
import cgmh.jobs.workers  # noqa: F401 - loaded once, for all copies
from cgmh import CorrectInput
from cgmh.api import solve_each
from cgmh.cli import main


@dataclass
class Forked:
    """A command that runs; what it says is in a file."""

    id: int
    said: Path

    def end(self) -> int:
        """Wait for its end; its exit code, negative if a signal ended it."""
        return os.waitstatus_to_exitcode(os.waitpid(self.id, 0)[1])

    def kill(self, after: float) -> int:
        """Kill it, unless it ends before; its exit code."""
        ends = time.monotonic() + after
        while time.monotonic() < ends:
            found, status = os.waitpid(self.id, os.WNOHANG)
            if found:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.001)
        os.kill(self.id, signal.SIGKILL)
        return self.end()


@cache
def warmed(model: str) -> None:
    """Load what a job needs once, for all copies of this process."""
    list(solve_each([CorrectInput("The cat.")], replace(CorrectInput.defaults, chains=1, steps=1), model=model))


def forked(arguments: list[str], said: Path, stdin: Path | str = os.devnull) -> Forked:
    """Start the command; what it reads from stdin is in a file."""
    if "--model" in arguments:
        warmed(arguments[arguments.index("--model") + 1])
    number = os.fork()
    if number:
        return Forked(number, said)
    code = 99
    try:
        target = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(os.open(stdin, os.O_RDONLY), 0)
        os.dup2(target, 1)
        os.dup2(target, 2)
        os.closerange(3, 256)
        import sys

        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
        main(arguments)
    except SystemExit as end:
        code = int(end.code or 0)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
    finally:
        os._exit(code)
