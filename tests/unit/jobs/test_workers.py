"""Processes that work on rows: one that dies is replaced, and a row on which processes die has failed."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from cgmh import CorrectInput
from cgmh.jobs.outputs import Record
from cgmh.jobs.planning import Plan
from cgmh.jobs.rows import Asked, Raw
from cgmh.jobs.sources import Source, file_of
from cgmh.jobs.work import Work
from cgmh.jobs.workers import LocalWorkers
from forked import warmed
from job_files import model, texts, write_lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")


class Deadly(Work):
    """Answers at once, and kills the process that comes to a row with an odd id."""

    def outcomes(self, found: Sequence[Raw]) -> list[Record]:
        if any(raw.fields.get("id") == "deadly" for raw in found):
            os.kill(os.getpid(), signal.SIGKILL)
        return [{"row": raw.number, "id": raw.number, "result": {}} for raw in found]


def in_a_copy(tmp_path: Path, work: Work, num_rows: int) -> list[Record]:
    """What becomes of rows, in a process that has no threads of the tests."""
    warmed(model())
    number = os.fork()
    if not number:
        try:
            done = [line for _, lines in LocalWorkers(work, 2).run(Plan([(0, num_rows)], 2, 4)) for line in lines]
            (tmp_path / "done").write_bytes(b"".join(line for _, line in sorted(done)))
        finally:
            os._exit(0)
    os.waitpid(number, 0)
    return [json.loads(line) for line in (tmp_path / "done").read_bytes().splitlines()]


def test_a_row_on_which_processes_die_has_failed_and_the_others_are_done(tmp_path: Path) -> None:
    rows = texts(12)
    rows[5] |= {"id": "deadly"}
    rows[7] |= {"id": "deadly"}
    file = file_of(str(write_lines(tmp_path / "in.jsonl", rows)), None)
    file.scan()
    asked = Asked(CorrectInput(""), CorrectInput.defaults)
    done = in_a_copy(tmp_path, Deadly(asked, Source((file,)), {"model": model()}), len(rows))
    assert [record["row"] for record in done] == list(range(12))
    assert [record["row"] for record in done if "error" in record] == [5, 7]
    assert "the process that worked on it died" in done[5]["error"]
    assert done[5]["place"].endswith("line 6")
