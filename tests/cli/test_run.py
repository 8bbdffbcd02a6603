"""`cgmh run`: formats, rows that fail, what is refused, and going on."""

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import cgmh
from cgmh import CorrectInput, Settings
from cgmh.api import solve_each
from cgmh.jobs.rows import row_seed
from commands import run
from forked import forked
from job_files import job, model, read_lines, texts, write_lines

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks")


def ran(tmp_path: Path, arguments: list[str], stdin: bytes = b"") -> tuple[int, str]:
    """The exit code of a command, and what it said."""
    (tmp_path / "stdin").write_bytes(stdin)
    process = forked(arguments, tmp_path / "said", tmp_path / "stdin")
    code = process.end()
    said = process.said.read_text(encoding="utf-8")
    process.said.unlink()
    return code, said


def test_a_row_is_answered_as_alone_with_its_seed(tmp_path: Path) -> None:
    rows = [{**row, "id": f"r{number}"} for number, row in enumerate(texts(6))]
    rows[2] |= {"seed": 5, "chains": 3, "protect": ["numbers"]}
    source = write_lines(tmp_path / "in.jsonl", rows)
    assert ran(tmp_path, job(source, tmp_path / "out.jsonl", "--seed", "9"))[0] == 0
    answers = read_lines(tmp_path / "out.jsonl")
    assert [answer["id"] for answer in answers] == [row["id"] for row in rows]
    usual = Settings(n=1, chains=128, steps=1, temperature=1.0, select="threshold", context=())
    for number, answer in enumerate(answers):
        input, settings = CorrectInput(rows[number]["text"]), usual
        seed = row_seed(9, f"r{number}")
        if number == 2:
            input, seed = CorrectInput(rows[number]["text"], protect=("numbers",)), 5
            settings = Settings(n=1, chains=3, steps=1, temperature=1.0, select="threshold", context=())
        (alone,) = solve_each([input], settings, seeds=[seed], model=model())
        assert isinstance(alone, cgmh.Result)
        assert answer["signature"] == alone.signature
        assert answer["results"][0]["text"] == alone.best.text


BAD = [
    (b'{"text": "The cat sat."}', ""),
    (b"{}", "`text` is missing"),
    (b'{"text": 5}', "`text` takes a string"),
    (b'{"text": "The \xff sat."}', "not UTF-8"),
    (b'{"text": "The cat sat.", "chains": "many"}', "`chains` 'many' is not a whole number"),
    (b'{"text": "The cat sat.", "select": "last", "threshold": 2}', "`threshold` 2 is out of range"),
    (b'{"text": "The cat sat.", "use": "target"}', "`use` target needs a big model"),
    (b"[1]", "not a JSON object"),
    (b'{"text": "The dog sat."}', ""),
]


def test_bad_rows_among_good_ones(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join(line for line, _ in BAD))
    code, said = ran(tmp_path, job(source, out))
    assert code == 3
    assert "2 of 9 rows are done" in said
    assert "7 rows failed" in said
    assert [answer["id"] for answer in read_lines(out)] == [0, 8]
    errors = read_lines(tmp_path / "out.jsonl.errors.jsonl")
    wrong = [(number, reason) for number, (_, reason) in enumerate(BAD) if reason]
    assert [error["row"] for error in errors] == [number for number, _ in wrong]
    for error, (number, reason) in zip(errors, wrong, strict=True):
        assert reason in error["error"]
        assert error["place"] == f"{source}, line {number + 1}"


def test_contradictory_constraints_fail_alone(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"keywords": ["cat"]},
        {"keywords": ["cat"], "forbid": ["cat"]},
        {"keywords": ["cat", "dog", "sat"], "max_words": 2},
        {"keywords": ["cat"], "min_words": 9, "max_words": 4},
        {"keywords": ["dog"]},
    ]
    source, out = write_lines(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    small = ["--chains", "128", "--steps", "1", "--n", "1"]
    code, _ = ran(tmp_path, ["run", "keywords", str(source), "--out", str(out), "--model", model(), *small])
    assert code == 3
    assert [answer["input"] for answer in read_lines(out)] == ["cat", "dog"]
    assert [error["row"] for error in read_lines(tmp_path / "out.jsonl.errors.jsonl")] == [1, 2, 3]


def test_only_what_failed_is_done_once_more(tmp_path: Path) -> None:
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_bytes(b"\n".join(line for line, _ in BAD))
    ran(tmp_path, job(source, out))
    before = out.read_bytes()
    marks = (tmp_path / "out.jsonl.job" / "done.jsonl").read_bytes()
    assert ran(tmp_path, job(source, out))[0] == 3
    assert (tmp_path / "out.jsonl.job" / "done.jsonl").read_bytes() == marks
    assert ran(tmp_path, job(source, out, "--retry-errors"))[0] == 3
    assert (tmp_path / "out.jsonl.job" / "done.jsonl").read_bytes() != marks
    assert out.read_bytes() == before
    assert len(read_lines(tmp_path / "out.jsonl.errors.jsonl")) == 7


def test_an_input_that_grew_goes_on_and_another_one_is_refused(tmp_path: Path) -> None:
    rows = texts(12)
    source, out = write_lines(tmp_path / "in.jsonl", rows[:8]), tmp_path / "out.jsonl"
    assert ran(tmp_path, job(source, out))[0] == 0
    write_lines(source, rows)
    code, said = ran(tmp_path, job(source, out))
    assert (code, "12 of 12 rows are done (8 of them before)" in said) == (0, True)
    assert [answer["id"] for answer in read_lines(out)] == list(range(12))
    whole = tmp_path / "whole.jsonl"
    ran(tmp_path, job(source, whole))
    assert out.read_bytes() == whole.read_bytes()

    write_lines(source, [*rows[:3], {"text": "Another."}, *rows[4:]])
    code, said = ran(tmp_path, job(source, out))
    assert code == 2
    assert said.splitlines()[-1].startswith(f"cgmh: {out}.job was begun otherwise: the input {source} has changed")
    code, said = ran(tmp_path, job(source, out, "--threshold", "0.9"))
    assert (code, "--threshold 0.5, now 0.9" in said) == (2, True)


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    source, out = write_lines(tmp_path / "in.jsonl", texts(1)), tmp_path / "out.jsonl"
    out.write_text("precious")
    code, said = ran(tmp_path, job(source, out))
    assert (code, "is there already, and is not of a job" in said) == (2, True)
    assert out.read_text() == "precious"


def test_csv_in_and_out(tmp_path: Path) -> None:
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    with source.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerows(
            [("key", "sentence", "label", "n"), ("a", "The cat,\nsat.", "x, y", ""), ("b", "A dog.", "z", "2")]
        )
    columns = ["--column", "sentence", "--id-column", "key", "--carry", "label"]
    assert ran(tmp_path, job(source, out, *columns)) == (0, f"{out}: 2 of 2 rows are done\n")
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id"], row["label"], row["rank"]) for row in rows][:2] == [("a", "x, y", "1"), ("b", "z", "1")]
    assert rows[0]["input"] == "The cat,\nsat."
    assert list(rows[0]) == "id label input rank text nll_per_word log_target log_big edits".split()
    code, said = ran(tmp_path, job(source, tmp_path / "other.csv", "--column", "sentence"))
    assert (code, "`key`: no such field" in said) == (2, True)


def test_a_text_keeps_its_lines(tmp_path: Path) -> None:
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"The cat sat.\n\nThe \xff.\n12\n")
    assert ran(tmp_path, job(source, out))[0] == 3
    lines = out.read_text(encoding="utf-8").split("\n")
    assert (lines[1:4], len(lines)) == (["", "The �.", "12"], 5)


def test_lines_of_a_batch(tmp_path: Path) -> None:
    body = {"text": "The cat sat."}
    rows = [
        {"custom_id": "a", "method": "POST", "url": "/v1/correct", "body": body},
        {"custom_id": "b", "body": {"txt": "?"}},
    ]
    source, out = write_lines(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    assert ran(tmp_path, job(source, out))[0] == 3
    (answer,) = read_lines(out)
    assert (answer["custom_id"], answer["response"]["status_code"], answer["error"]) == ("a", 200, None)
    assert answer["response"]["body"]["input"] == "The cat sat."
    (error,) = read_lines(tmp_path / "out.jsonl.errors.jsonl")
    assert (error["custom_id"], error["error"]["code"]) == ("b", "invalid_row")


def test_stdin_and_stdout(tmp_path: Path) -> None:
    code, said = ran(tmp_path, job("-", Path("-")), b'{"text": "The cat sat."}\n{"txt": 1}\n')
    assert code == 3
    answer, error = said.splitlines()
    assert json.loads(answer)["input"] == "The cat sat."
    assert error.startswith("cgmh: ")
    assert error.endswith("stdin, line 2: `text` is missing")
    code, _ = ran(tmp_path, job("-", tmp_path / "out.jsonl"), b"The cat sat.\n")
    assert (code, read_lines(tmp_path / "out.jsonl")[0]["id"]) == (0, 0)


def test_parquet_in_and_out(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{**row, "label": number, "id": f"r{number}"} for number, row in enumerate(texts(9))]
    for name, part in (("a", rows[:5]), ("b", rows[5:])):
        parquet.write_table(pa.Table.from_pylist(part), tmp_path / f"{name}.parquet", row_group_size=2)
    out = tmp_path / "out.parquet"
    assert ran(tmp_path, job(str(tmp_path / "?.parquet"), out, "--carry", "label"))[0] == 0
    table = parquet.read_table(out).to_pylist()
    assert [(row["id"], row["label"], row["input"]) for row in table] == [
        (row["id"], str(row["label"]), row["text"]) for row in rows
    ]
    as_lines = tmp_path / "lines.jsonl"
    source = write_lines(tmp_path / "in.jsonl", rows)
    assert ran(tmp_path, job(source, as_lines, "--carry", "label"))[0] == 0
    assert [row["text"] for row in table] == [answer["results"][0]["text"] for answer in read_lines(as_lines)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.jsonl", "--out", "x.jsonl"], "no.jsonl: no such file"),
        (["in.jsonl", "--out", "x.doc"], "x.doc: --out ends in one of .jsonl"),
        (["in.jsonl", "--out", "no/x.jsonl"], "no: no such directory"),
        (["in.jsonl", "--out", "x.jsonl", "--carry", "text"], "--carry text: the output has a text of its own"),
        (["in.jsonl", "--out", "x.jsonl", "--chains", "0"], "--chains 0 is out of range"),
    ],
)
def test_a_job_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", texts(1))
    answer = run("run", "correct", *arguments)
    assert (answer.code, answer.errors.startswith(f"cgmh: {said}")) == (2, True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_only_one_process_works_on_an_output(tmp_path: Path) -> None:
    from cgmh.models.pull.store import only_process

    source, out = write_lines(tmp_path / "in.jsonl", texts(1)), tmp_path / "out.jsonl"
    with only_process(tmp_path / "out.jsonl.job" / "lock", ""):
        code, said = ran(tmp_path, job(source, out))
    assert (code, "another `cgmh run` is at work on it" in said) == (2, True)
