"""A real Ray: the rows are those of processes of this machine, byte for byte, also when an actor is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forked import forked
from job_files import job, texts, write_lines

pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and looks for processes")
PATIENCE = 300  # seconds, on a machine that is busy


def actors_of(process: int) -> list[int]:
    """The actors among the processes that a process and those of it have started."""
    parents, actors = dict[int, int](), list[int]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if b"ray::MapWorker" in (folder / "cmdline").read_bytes():
                actors.append(int(folder.name))
        except OSError:
            continue

    def is_below(number: int) -> bool:
        while number in parents and number != process:
            number = parents[number]
        return number == process

    return [actor for actor in actors if is_below(actor)]


def test_an_actor_is_killed_and_the_rows_are_the_same(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [*texts(40), {"text": 5}])
    local, out = tmp_path / "local.jsonl", tmp_path / "ray.jsonl"
    assert forked(job(source, local), tmp_path / "said").end() == 3
    arguments = job(source, out, "--engine", "ray", "--workers", "2", "--shard-rows", "4")
    process = subprocess.Popen([sys.executable, "-m", "cgmh", *arguments], stderr=subprocess.PIPE, text=True)
    marks = tmp_path / "ray.jsonl.job" / "done.jsonl"
    until = time.monotonic() + PATIENCE
    while not marks.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    actors = actors_of(process.pid)
    assert actors
    os.kill(actors[0], signal.SIGKILL)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 3, said
    assert "40 of 41 rows are done" in said
    assert out.read_bytes() == local.read_bytes()
    errors = [(tmp_path / f"{name}.jsonl.errors.jsonl").read_bytes() for name in ("local", "ray")]
    assert errors[0] == errors[1]
