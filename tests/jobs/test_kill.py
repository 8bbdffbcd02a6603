"""Jobs that are stopped at any moment: nothing is lost, nothing is done twice, and the output is the same."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

from forked import forked
from job_files import job, read_lines, texts, write_lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")
KILLS = 20
PATIENCE = 120  # seconds, on a machine that is busy
ROWS, SOME_ROWS = 240, 80


def children_of(process: int) -> set[int]:
    """The processes that a process has started."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.add(int(status.parent.name))
    return found


def whole(tmp_path: Path, source: Path) -> bytes:
    """The output of a job that nobody disturbs."""
    out = tmp_path / "whole.jsonl"
    assert forked(job(source, out, "--workers", "1"), tmp_path / "said").end() == 0
    return out.read_bytes()


def test_a_job_that_is_killed_twenty_times_gives_the_rows_of_one_that_was_not(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", texts(ROWS))
    expected = whole(tmp_path, source)
    out, said, chance = tmp_path / "out.jsonl", tmp_path / "said", random.Random(16)
    marks = tmp_path / "out.jsonl.job" / "done.jsonl"
    num_killed, num_marked, seen = 0, 0, list[bytes]()
    while num_killed < KILLS:
        # Wait for another shard, then for a random moment: so every run comes some way, and none is killed alike.
        process = forked(job(source, out, "--workers", "2", "--shard-rows", "4"), said)
        until = time.monotonic() + PATIENCE
        while (
            time.monotonic() < until and (len(marks.read_bytes().splitlines()) if marks.exists() else 0) <= num_marked
        ):
            time.sleep(0.001)
        code = process.kill(chance.random() * 0.05)
        assert code == -signal.SIGKILL, said.read_text()
        num_killed += 1
        lines = marks.read_bytes().splitlines(keepends=True)
        assert lines[: len(seen)] == seen  # what was marked as done is never done again
        seen = [line for line in lines if line.endswith(b"\n")]
        num_marked = len(lines)
        assert not out.exists()
    assert forked(job(source, out, "--workers", "2", "--shard-rows", "4"), said).end() == 0, said.read_text()
    assert out.read_bytes() == expected
    assert [row["id"] for row in read_lines(out)] == list(range(ROWS))


def test_the_processes_of_a_job_end_with_it(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", texts(400))
    process = forked(job(source, tmp_path / "out.jsonl", "--workers", "2"), tmp_path / "said")
    until = time.monotonic() + PATIENCE
    while len(workers := children_of(process.id)) < 2 and time.monotonic() < until:
        time.sleep(0.01)
    assert process.kill(0) == -signal.SIGKILL
    until = time.monotonic() + PATIENCE
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < until:
        time.sleep(0.01)
    assert len(workers) == 2
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_worker_that_is_killed_is_replaced(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", texts(SOME_ROWS))
    expected = whole(tmp_path, source)
    out, said = tmp_path / "out.jsonl", tmp_path / "said"
    process = forked(job(source, out, "--workers", "2", "--shard-rows", "4"), said)
    killed, until = set[int](), time.monotonic() + PATIENCE
    while len(killed) < 2 and time.monotonic() < until:
        workers = children_of(process.id) - killed
        if len(workers) == 2:
            os.kill(victim := min(workers), signal.SIGKILL)
            killed.add(victim)
        time.sleep(0.01)
    assert len(killed) == 2
    assert process.end() == 0, said.read_text()
    assert out.read_bytes() == expected


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_job_that_is_interrupted_goes_on(tmp_path: Path, how: int) -> None:
    source = write_lines(tmp_path / "in.jsonl", texts(SOME_ROWS))
    out, said = tmp_path / "out.jsonl", tmp_path / "said"
    process = forked(job(source, out, "--shard-rows", "4"), said)
    marks = tmp_path / "out.jsonl.job" / "done.jsonl"
    until = time.monotonic() + PATIENCE
    while not marks.exists() and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(process.id, how)
    code = process.end()
    assert code == (130 if how == signal.SIGINT else -how)
    if how == signal.SIGINT:
        assert "what is done is kept" in said.read_text()
    assert forked(job(source, out, "--shard-rows", "4"), said).end() == 0, said.read_text()
    assert out.read_bytes() == whole(tmp_path, source)
