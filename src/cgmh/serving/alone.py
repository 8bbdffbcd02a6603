"""Jobs that cannot step beside others run alone, each in a process forked for it: with a big model, or tempered."""

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ..api import solve_each
from ..errors import BadInput, CgmhError
from ..result import Result
from .protocols import Job, Outcome


def written(outcome: Result | BadInput) -> Outcome:
    """What the server passes on about an input."""
    return outcome.to_dict() if isinstance(outcome, Result) else {"error": str(outcome)}


class Alone:
    """A process that works on one job and writes the outcomes, or what was wrong, into a pipe."""

    def __init__(self, job: Job, enter: Callable[[], object]) -> None:
        """`enter` is called in the new process first: it lets go of what belongs to the old one."""
        self.reader, writer = os.pipe()
        self._received = bytearray()
        self._process = os.fork()
        if self._process:
            os.close(writer)
            os.set_blocking(self.reader, False)
            return
        status = 1
        try:
            os.close(self.reader)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            enter()
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(json.dumps(_answer(job)).encode())
            status = 0
        finally:
            os._exit(status)

    def answer(self) -> dict[str, Any] | None:
        """Its outcomes or its error, once it has ended; None while it works. To be asked when `reader` is readable."""
        with suppress(BlockingIOError):
            while chunk := os.read(self.reader, 1 << 20):
                self._received += chunk
            self.end()
            try:
                answer: dict[str, Any] = json.loads(self._received)
            except ValueError:
                return {"error": {"type": "EngineLost", "message": "the process that worked on it died"}}
            return answer
        return None

    def end(self) -> None:
        """Stop it, wherever it is."""
        if self._process:
            process, self._process = self._process, 0
            os.close(self.reader)
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)


def _answer(job: Job) -> dict[str, Any]:
    try:
        return {"outcomes": [written(outcome) for outcome in solve_each(job.inputs, job.settings, big=job.big)]}
    except CgmhError as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}
