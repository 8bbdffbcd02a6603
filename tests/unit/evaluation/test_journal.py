"""A run that is interrupted and picked up again."""

import json
from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.journal import Journal

RUN = {"seed": 0, "match": ("kw", "wvm"), "model": None}


def test_resumed_run_knows_what_was_done(tmp_path: Path) -> None:
    path = tmp_path / "new" / "run.jsonl"
    first = Journal(path, RUN)
    first.add("how are you", {"output": "how do you do", "rate": None})
    first.add("line\u2028separator", {"output": "é"})
    again = Journal(path, RUN, resume=True)
    assert again.records == first.records
    assert list(again.records) == ["how are you", "line\u2028separator"]
    again.add("who is it", {"output": "who"})
    assert list(Journal(path, RUN, resume=True).records) == ["how are you", "line\u2028separator", "who is it"]


def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    journal = Journal(path, RUN)
    journal.add("a", {"output": "b"})
    journal.add("c", {"output": "é"})
    whole = path.read_bytes()
    for cut in range(1, len(whole) - whole.index(b'{"key": "c"')):
        path.write_bytes(whole[:-cut])
        again = Journal(path, RUN, resume=True)
        assert list(again.records) == ["a"]
        again.add("c", {"output": "é"})
        assert path.read_bytes() == whole


def test_without_resume_it_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Journal(path, RUN).add("a", {"output": "b"})
    assert not Journal(path, RUN).records
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1


@pytest.mark.parametrize("content", [None, b"", b'{"run": {"seed"'])
def test_nothing_to_resume_is_a_new_run(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "run.jsonl"
    if content is not None:
        path.write_bytes(content)
    Journal(path, RUN, resume=True).add("a", {"output": "b"})
    assert list(Journal(path, RUN, resume=True).records) == ["a"]


def test_another_run_is_not_resumed(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    Journal(path, RUN).add("a", {"output": "b"})
    before = path.read_bytes()
    with pytest.raises(BadInput, match="another seed;"):
        Journal(path, {**RUN, "seed": 1}, resume=True)
    with pytest.raises(BadInput, match="another match, steps;"):
        Journal(path, {**RUN, "match": ("kw",), "steps": 5}, resume=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", ["no json\n", "[1]\n", '{"run": {}}\n{"output": "b"}\n', '{"a": 1}\n', '{"run": 3}\n']
)
def test_another_file_is_not_resumed(tmp_path: Path, content: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match="not the record of a run"):
        Journal(path, RUN, resume=True)


def test_what_is_kept_in_memory_is_what_is_on_the_disk(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "run.jsonl", RUN)
    journal.add("a", {"others": ("b", "c")})
    last = (tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()[-1]
    assert journal.records["a"] == json.loads(last) == {"key": "a", "others": ["b", "c"]}
