"""A disk that is full: the job says so and ends; when there is room again, it goes on."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from forked import forked
from job_files import job, read_lines, texts, write_lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="mounts a small disk")
SIZE = 256 << 10
ROWS = 40


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 kB, which only an administrator can make."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def filled(disk: Path, spared: int) -> Path:
    """A file that takes all of the disk but some bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            size = file.tell()
        file.truncate(size - spared)
    return ballast


@pytest.mark.parametrize("spared", [0, 3 * 4096])
def test_a_job_goes_on_when_there_is_room_again(tmp_path: Path, disk: Path, spared: int) -> None:
    source, said = write_lines(tmp_path / "in.jsonl", texts(ROWS)), tmp_path / "said"
    whole, out = tmp_path / "whole.jsonl", disk / "out.jsonl"
    assert forked(job(source, whole), said).end() == 0
    said.unlink()
    ballast = filled(disk, spared)
    assert forked(job(source, out, "--shard-rows", "4"), said).end() == 2
    line = said.read_text().splitlines()[-1]
    assert line.startswith(f"cgmh: {disk}")
    assert line.endswith("no space is left on the disk; the rows that are done are kept. Make room, and run the same "
                         "command again to go on")  # fmt: skip
    assert not out.exists()
    assert not list(disk.rglob("*.tmp"))
    done = len(list(disk.glob("out.jsonl.job/rows-*")))
    assert bool(done) == bool(spared)
    ballast.unlink()
    assert forked(job(source, out, "--shard-rows", "4"), said).end() == 0, said.read_text()
    assert out.read_bytes() == whole.read_bytes()
    assert len(read_lines(out)) == ROWS


def test_an_output_that_finds_no_room_is_written_later(tmp_path: Path, disk: Path) -> None:
    """What is kept is packed, so that the output may need more room than all shards together."""
    source, said, out = write_lines(tmp_path / "in.jsonl", texts(ROWS)), tmp_path / "said", disk / "out.jsonl"
    ballast = filled(disk, 16 * 4096)
    code = forked(job(source, out, "--shard-rows", str(ROWS)), said).end()
    num_done = len((disk / "out.jsonl.job" / "done.jsonl").read_text().splitlines())
    assert code == 2
    assert num_done
    assert not out.exists()
    ballast.unlink()
    assert forked(job(source, out, "--shard-rows", str(ROWS)), said).end() == 0
    assert len((disk / "out.jsonl.job" / "done.jsonl").read_text().splitlines()) == num_done
    assert len(read_lines(out)) == ROWS
