"""`cgmh evaluate correction`, `acceptance`, `initial-state` and `f-score`, on data made here."""

import json
from pathlib import Path

import pytest

from commands import run

CORRECTIONS = {
    "src": ["he go to school .", "I has two apple .", "It rain now ."],
    "ref0": ["He goes to school .", "I have two apples .", "It is raining now ."],
    "spellchecked.src": ["he go to school .", "I has two apple .", "It rain now ."],
}
PAIRS = "how do i learn to swim ?\thow can i learn swimming ?\nwhat is the best book ?\twhich book is best ?\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("jfleg", "quora", "keywords"):
        (tmp_path / name).mkdir()
    for name, lines in CORRECTIONS.items():
        names = [f"ref{at}" for at in range(4)] if name == "ref0" else [name]
        for each in names:
            (tmp_path / "jfleg" / f"dev.{each}").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "quora" / "val.tsv").write_text(PAIRS)
    lines = ["The old bridge over the river was closed .", "Children play in the park after school ."]
    (tmp_path / "keywords" / "wmt_news_3k.txt").write_text("".join(f"{line}\n" for line in lines))
    return tmp_path


def rows(output: str) -> dict[str, dict]:
    return {row["name"]: row["cells"] for row in json.loads(output)["rows"]}


def test_corrections(data: Path, tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    mine.write_text("\n".join(CORRECTIONS["ref0"]) + "\n")
    asked = (
        "evaluate", "correction", "--data", str(data), "--split", "dev", "--systems", "source,spellcheck,ours",
        "--steps", "2", "--chains", "1", "--references", "1", "--add", f"mine={mine}", "--out", str(out), "--json",
    )  # fmt: skip
    answer = run(*asked, "--limit", "2")
    assert answer.code == 0, answer.errors
    found = rows(answer.output)
    assert found["mine"]["jfleg dev"]["GLEU"]["value"] == pytest.approx(100)
    assert found["mine"]["jfleg dev"]["F0.5 spans"]["value"] == 100
    assert found["mine"]["jfleg dev"]["exact %"]["value"] == 100
    assert found["source"]["jfleg dev"]["changed %"]["value"] == 0
    assert found["ours"]["people's corrections"]["changed %"]["value"] in (0, 100)
    assert found["ours"]["people's corrections"]["GLEU"] is None
    assert found["ours"]["jfleg dev"]["calibration error"] is not None
    assert list(found) == ["source", "spellcheck", "ours", "mine"]  # what others printed is of the test split
    page = (out / "report.html").read_text()
    assert "share in some reference" in page


def test_a_run_goes_on(data: Path, tmp_path: Path) -> None:
    asked = (
        "evaluate", "correction", "--data", str(data), "--split", "dev", "--systems", "ours", "--steps", "2",
        "--chains", "1", "--out", str(tmp_path / "out"),
    )  # fmt: skip
    assert run(*asked, "--limit", "2").code == 0
    journal = tmp_path / "out" / "answers" / "ours.jsonl"
    before = journal.read_text()
    # One sentence more is one answer more; other settings are another run.
    assert run(*asked, "--limit", "3").code == 0
    assert journal.read_text().startswith(before)
    assert len(journal.read_text().splitlines()) == len(before.splitlines()) + 1
    answer = run(*asked, "--seed", "1")
    assert answer.code == 2
    assert "give another --out" in answer.errors


def test_corrections_by_the_paper(data: Path) -> None:
    answer = run(
        "evaluate", "correction", "--data", str(data), "--split", "dev", "--systems", "paper", "--steps", "4",
        "--limit", "1",
    )  # fmt: skip
    assert answer.code == 0, answer.errors
    assert "paper is a search, no sampling" in answer.output
    assert "calibration error ↓" not in answer.output  # one sample has no probabilities


def test_data_that_is_missing_is_told(data: Path) -> None:
    answer = run("evaluate", "correction", "--data", str(data))
    assert (answer.code, answer.output) == (2, "")
    assert "the set jfleg is jfleg/test.src" in answer.errors
    answer = run("evaluate", "correction", "--data", str(data), "--systems", "best")
    assert answer.code == 2
    assert "not a system of this table" in answer.errors


def test_acceptance(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    answer = run(
        "evaluate", "acceptance", "--data", str(data), "--split", "dev", "--limit", "4", "--steps", "2", "--chains",
        "1", "--out", str(out), "--json",
    )  # fmt: skip
    assert answer.code == 0, answer.errors
    found = rows(answer.output)
    groups = ["keywords", "paraphrase, no matching", "paraphrase, KW", "paraphrase, KW+WVM"]
    assert list(found["ours"]) == list(found["paper"]) == groups
    assert found["CGMH"]["paraphrase, KW"]["insert %"]["value"] == 8.0
    for system in ("ours", "paper"):
        cells = found[system]["keywords"]
        assert 0 <= cells["steps to fluent"]["value"] <= 2
        assert 0 <= cells["moved %"]["value"] <= 100
        assert found[system]["paraphrase, KW"]["steps to fluent"] is None
    page = (out / "report.html").read_text()
    assert "log probability per word: keywords" in page
    assert "share of words changed: paraphrase, KW+WVM" in page


def test_initial_states(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = (
        "evaluate", "initial-state", "--data", str(data), "--split", "dev", "--systems", "copy,random", "--steps", "4",
        "--every", "2", "--chains", "2",
    )  # fmt: skip
    answer = run(*asked, "--out", str(out))
    assert answer.code == 0, answer.errors
    lines = answer.output.split("BLEU-ori       copy     random\n")[1].splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["0", "2", "4"]
    assert lines[0].split()[1] == "100.00"  # a copy of the source
    assert float(lines[0].split()[2]) < 60
    assert "From corrupted starts" in (out / "report.html").read_text()
    answer = run(*asked, "--every", "9")
    assert answer.code == 2
    assert "more than the --steps 4" in answer.errors


def test_f_score_of_marked_edits(tmp_path: Path) -> None:
    gold, answers = tmp_path / "gold.m2", tmp_path / "answers.m2"
    gold.write_text("S he go\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n")
    answers.write_text("S he go\nA 1 2|||R:OTHER|||goes|||REQUIRED|||-NONE-|||0\n")
    answer = run("evaluate", "f-score", str(answers), str(gold), "--types")
    assert answer.code == 0, answer.errors
    assert "R:VERB:SVA" in answer.output
    record = json.loads(run("evaluate", "f-score", str(answers), str(gold), "--json").output)
    assert record["maximum match"]["f0.5"] == 1
    assert record["spans"]["total"] == {"right": 1, "wrong": 0, "missing": 0}
    gold.write_bytes(b"S \xff\n")
    assert "not UTF-8" in run("evaluate", "f-score", str(answers), str(gold)).errors
    assert run("evaluate", "f-score", str(answers), str(tmp_path / "none.m2")).code == 2
