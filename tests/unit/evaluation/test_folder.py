"""The data folder: what is missing is told, and a judge is made once."""

from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.folder import SETS, DataFolder


def test_files_of_a_split(tmp_path: Path) -> None:
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "val.tsv").write_text("a\tb\n")
    assert DataFolder(tmp_path).file("quora", "dev") == tmp_path / "quora" / "val.tsv"
    with pytest.raises(BadInput, match=r"quora/test\.tsv: no such file; the set quora is quora/test\.tsv below"):
        DataFolder(tmp_path).file("quora", "test")


@pytest.mark.parametrize("name", list(SETS))
def test_a_missing_set_is_told_with_layout_and_origin(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput) as told:
        DataFolder(tmp_path).files(name)
    assert SETS[name].layout in str(told.value)
    assert SETS[name].origin in str(told.value)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder; `data` is a folder with keywords/wmt_news_3k"):
        DataFolder(tmp_path / "nowhere")


def test_the_judge_is_made_once_and_by_what_the_text_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))
    text = tmp_path / "judge" / "news.txt.xz"
    text.parent.mkdir()
    import lzma

    text.write_bytes(lzma.compress(b"the train was late .\nthe bus was late .\n"))
    judge = DataFolder(tmp_path).judge()
    (kept,) = (tmp_path / "home" / "judges").iterdir()
    written = (kept / "ngrams.npz").stat().st_mtime_ns
    assert DataFolder(tmp_path).judge().nll(["the bus was late ."]) == judge.nll(["the bus was late ."])
    assert (kept / "ngrams.npz").stat().st_mtime_ns == written
    assert DataFolder(tmp_path).judge(kept).signature == judge.signature
    text.write_bytes(lzma.compress(b"another text altogether .\n"))
    DataFolder(tmp_path).judge()
    assert len(list((tmp_path / "home" / "judges").iterdir())) == 2
