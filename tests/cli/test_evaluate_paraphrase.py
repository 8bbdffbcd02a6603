"""`cgmh evaluate paraphrase` and `overlap`: a table, its files, and what is wrong in one line."""

import json
from pathlib import Path

import pytest

from cgmh.evaluation.judges import NgramJudge
from commands import run

LINES = ["how do i learn to swim", "how can i swim", "why is the sky blue", "why is the sky not green"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "quora").mkdir()
    (tmp_path / "quora" / "val.tsv").write_text(f"{LINES[0]}\t{LINES[1]}\n{LINES[2]}\t{LINES[3]}\n", encoding="utf-8")
    (tmp_path / "vae.val.txt").write_text("how do you learn\nwhy is it so\n", encoding="utf-8")
    NgramJudge.train(LINES * 2).save(tmp_path / "judge")
    return tmp_path


def table(data: Path, *arguments: str) -> tuple[str, ...]:
    return ("evaluate", "paraphrase", "--data", str(data), "--split", "dev", "--judge", str(data / "judge"), *arguments)


def test_the_table_and_its_files(data: Path) -> None:
    out = data / "out"
    row = "quick: chains=4 steps=10"
    asked = ("--systems", "copy,people,vae,paper-kw", "--recorded", str(data), "--variant", row, "--out", str(out))
    answer = run(*table(data, *asked))
    assert answer.code == 0, answer.errors
    assert [line.split()[0] for line in answer.output.splitlines()[2:7]] == [
        "copy",
        "people",
        "vae",
        "paper-kw",
        "quick",
    ]
    assert {"report.md", "report.html", "table.json", "answers.jsonl", "rate.jsonl"} <= {
        file.name for file in out.iterdir()
    }
    record = json.loads((out / "answers.jsonl").read_text(encoding="utf-8").splitlines()[1])
    assert record["answers"]["vae"]["text"] == "why is it so"
    assert record["answers"]["people"]["text"] == LINES[3]


def test_rivals_that_are_not_named_may_be_missing(data: Path) -> None:
    answer = run(*table(data, "--systems", "seq2seq-20k", "--recorded", str(data)))
    assert answer.code == 2
    assert "seq2seq-20k.val.txt: no such file" in answer.errors


def test_json(data: Path) -> None:
    record = json.loads(run(*table(data, "--systems", "copy", "--json")).output)
    assert record["table"] == "paraphrase"
    assert record["rows"][0]["cells"]["all pairs"]["copies"]["value"] == 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--systems", "copy", "--variant", "a: step=3"), "no option step"),
        (("--systems", "everything"), "not a system of this table"),
    ],
)
def test_mistakes_are_told_in_a_line(data: Path, arguments: tuple[str, ...], message: str) -> None:
    answer = run(*table(data, *arguments))
    assert answer.code == 2
    assert message in answer.errors
    assert "Traceback" not in answer.errors


def test_missing_data_is_told_before_a_judge_is_made(tmp_path: Path) -> None:
    answer = run("evaluate", "paraphrase", "--data", str(tmp_path), "--systems", "copy")
    assert answer.code == 2
    assert "quora/test.tsv" in answer.errors


def test_overlap(data: Path) -> None:
    out = data / "overlap"
    arguments = ("--data", str(data), "--split", "dev", "--systems", "vae,people", "--recorded", str(data))
    answer = run("evaluate", "overlap", *arguments, "--out", str(out))
    assert answer.code == 0, answer.errors
    assert answer.output.splitlines()[2].split()[:2] == ["vae", "100"]
    assert (out / "figure-1.svg").read_text(encoding="utf-8").startswith("<svg")
