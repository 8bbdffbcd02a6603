"""Files by their addresses, in a store of fsspec that lives in memory."""

from pathlib import Path

import pytest

from cgmh import BadInput, KeywordInput
from cgmh.jobs.remote import listed, opened, upload
from cgmh.jobs.rows import Asked
from cgmh.jobs.sources import file_of, found_files

fsspec = pytest.importorskip("fsspec")
ASKED = Asked(KeywordInput(()), KeywordInput.defaults)


def test_files_elsewhere_are_found_and_read(tmp_path: Path) -> None:
    local = tmp_path / "in.jsonl"
    local.write_text("".join(f'{{"words": ["w{number}"]}}\n' for number in range(100)))
    for name in ("a.jsonl", "b.jsonl", "notes.md"):
        upload(local, f"memory://bucket/{name}")
    wanted = ["memory://bucket/a.jsonl", "memory://bucket/b.jsonl"]
    for given in ("memory://bucket/*.jsonl", "memory://bucket"):
        assert [name.replace(":///", "://") for name in found_files([given])] == wanted
    file = file_of(found_files(["memory://bucket/b.jsonl"])[0], None)
    file.scan()
    assert file.num_rows == 100
    assert [raw.fields["words"] for raw in file.read(70, 72, ASKED)] == [["w70"], ["w71"]]
    with opened(wanted[0]) as found:
        assert found.read() == local.read_bytes()


@pytest.mark.parametrize("name", ["memory://bucket/no.jsonl", "nowhere://bucket/a.jsonl"])
def test_an_address_where_nothing_is(name: str) -> None:
    with pytest.raises(BadInput, match=r"no such file|cannot be opened"):
        found_files([name])


def test_a_directory_gives_what_is_known(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("a\n")
    upload(tmp_path / "x.csv", "memory://other/x.csv")
    assert not listed("memory://other", lambda _: False)
