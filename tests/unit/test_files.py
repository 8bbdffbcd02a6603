"""JSON from elsewhere: packed, damaged, endless, nested."""

import gzip
import json
from pathlib import Path

import pytest

from cgmh.files import MAX_BYTES, parse_json, read_json

RECORD = {"words": ["süß", "a"], "number": 1.5, "nothing": None}


def test_a_file_is_read_plain_or_packed(tmp_path: Path) -> None:
    data = json.dumps(RECORD, ensure_ascii=False).encode()
    (tmp_path / "a.json").write_bytes(data)
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(data))
    assert read_json(tmp_path / "a.json") == read_json(tmp_path / "a.json.gz") == parse_json(data) == RECORD


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_deep_nesting_is_refused_like_any_other_damage(opening: str) -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        parse_json(opening * 100_000)


def test_a_small_file_that_becomes_a_large_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range((MAX_BYTES >> 20) + 1):
            file.write(b" " * (1 << 20))
    assert path.stat().st_size < 1_000_000
    with pytest.raises(ValueError, match="it holds more than 64 MB"):
        read_json(path)


def test_damage_is_a_value_error_and_a_missing_file_an_os_error(tmp_path: Path) -> None:
    packed = gzip.compress(json.dumps(RECORD).encode())
    for at, data in enumerate((packed[:-12], packed[:12] + b"??" + packed[14:], gzip.compress(b"{"))):
        (tmp_path / f"{at}.gz").write_bytes(data)
        with pytest.raises(ValueError, match=r"^(damaged|Expecting)"):
            read_json(tmp_path / f"{at}.gz")
    (tmp_path / "plain.gz").write_bytes(b"{}")
    for name in ("none.json", "none.json.gz", "plain.gz"):
        with pytest.raises(OSError, match=r"No such file|Not a gzipped"):
            read_json(tmp_path / name)
