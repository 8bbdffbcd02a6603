"""Shards: whole or not there, marked after they are written; what is torn is cut off."""

import json
import os
from pathlib import Path

import pytest

from cgmh import BadInput
from cgmh.jobs.shards import MARKS, Shards


def lines(first: int, end: int) -> list[bytes]:
    return [json.dumps({"row": row, "result": {}}).encode() + b"\n" for row in range(first, end)]


def test_what_is_done_is_found_again(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.add(4, 8, lines(4, 8))
    shards.add(0, 2, [b'{"error": "bad", "row": 0}\n'])
    again = Shards(tmp_path)
    assert [(shard.first, shard.end, shard.num_rows, shard.num_failed) for shard in again] == [
        (0, 2, 1, 1),
        (4, 8, 4, 0),
    ]
    assert again.missing(10) == [(2, 4), (8, 10)]
    assert (again.num_rows, again.num_failed) == (5, 1)
    assert again.read(list(again)[1]) == lines(4, 8)


@pytest.mark.parametrize("torn", [b'{"first": 8, "en', b'{"first": 8, "end": 9, "bytes": 1}\n', b"\xff\n", b"\0" * 40])
def test_a_torn_mark_is_cut_off(tmp_path: Path, torn: bytes) -> None:
    Shards(tmp_path).add(0, 4, lines(0, 4))
    whole = (tmp_path / MARKS).read_bytes()
    (tmp_path / MARKS).write_bytes(whole + torn)
    shards = Shards(tmp_path)
    assert shards.missing(9) == [(4, 9)]
    assert (tmp_path / MARKS).read_bytes() == whole
    shards.add(4, 9, lines(4, 9))
    assert not Shards(tmp_path).missing(9)


def test_a_shard_that_is_not_marked_or_not_whole_is_done_again(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    for first in (0, 4, 8):
        shards.add(first, first + 4, lines(first, first + 4))
    names = [shard.name for shard in shards]
    os.truncate(tmp_path / names[0], 10)
    marks = (tmp_path / MARKS).read_bytes().splitlines(keepends=True)
    (tmp_path / MARKS).write_bytes(b"".join(marks[:2]))
    (tmp_path / "rows-000000000012-000000000016.jsonl.gz.tmp").write_bytes(b"half")
    assert Shards(tmp_path).missing(16) == [(0, 4), (8, 16)]
    assert sorted(path.name for path in tmp_path.glob("rows-*")) == [names[1]]


def test_a_shard_that_was_damaged_since_is_named(tmp_path: Path) -> None:
    shards = Shards(tmp_path)
    shards.add(0, 4, lines(0, 4))
    (shard,) = shards
    data = bytearray((tmp_path / shard.name).read_bytes())
    data[len(data) // 2] ^= 255
    (tmp_path / shard.name).write_bytes(data)
    with pytest.raises(BadInput, match="is damaged"):
        shards.read(shard)
