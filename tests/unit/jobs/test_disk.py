"""Files that are whole or not there."""

import errno
from pathlib import Path

import pytest

from cgmh.jobs.disk import DiskFull, saying_when_full, whole_file


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(path) as file:
        file.write(b"half" + None)  # type: ignore[operator]
    assert path.read_bytes() == b"old"
    with whole_file(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_full_disk_is_told_from_other_mistakes(tmp_path: Path) -> None:
    for number in (errno.ENOSPC, errno.EDQUOT):
        with pytest.raises(DiskFull, match="Make room, and run the same command again"), saying_when_full(tmp_path):
            raise OSError(number, "full")
    with pytest.raises(PermissionError), saying_when_full(tmp_path):
        raise PermissionError(errno.EACCES, "no")
