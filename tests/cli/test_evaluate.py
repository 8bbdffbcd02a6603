"""`cgmh evaluate`: a table from the command to its folder, gone on with, and rated over HTTP as the page does it."""

import json
import lzma
import signal
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from cgmh.cli.evaluate import keywords as command
from cgmh.evaluation.tables import keywords as table
from commands import run

LINES = [f"The {colour} {thing} was {what} in the garden ." for colour in ("red", "green") for thing in ("house", "car")
         for what in ("seen", "sold")]  # fmt: skip
SECONDS = 60


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))
    folder = tmp_path / "data"
    (folder / "keywords").mkdir(parents=True)
    (folder / "judge").mkdir()
    (folder / "keywords" / "wmt_news_3k.txt").write_text("\n".join(LINES) + "\n")
    (folder / "judge" / "news.txt.xz").write_bytes(lzma.compress("\n".join(LINES).encode()))
    (folder / "mine.txt").write_text("".join(f"A sentence, number {at}.\n" for at in range(8)))
    return folder


def evaluate(data: Path, *more: str) -> Any:
    return run("evaluate", "keywords", "--data", str(data), "--add", f"mine={data / 'mine.txt'}", *more)


def test_the_command_knows_the_systems_of_the_table() -> None:
    assert (command.SYSTEMS, command.USUAL) == (table.SYSTEMS, table.USUAL)


def test_a_table_its_folder_and_more_of_it(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = evaluate(data, "--systems", "human", "--limit", "4", "--out", str(out))
    assert first.code == 0, first.errors
    assert "keywords (news): all (4 items)" in first.output
    assert "CGMH (paper)†" in first.output
    names = {file.name for file in out.iterdir()}
    assert names >= {"report.md", "report.html", "table.json", "answers.jsonl", "rate.jsonl", "answers", "figure-1.svg"}
    more = evaluate(data, "--systems", "human", "--limit", "0", "--out", str(out), "--json")
    assert more.code == 0, more.errors
    record = json.loads(more.output)
    assert record["groups"]["all"] == 8
    assert [row["name"] for row in record["rows"]][:2] == ["human", "mine"]
    other = evaluate(data, "--systems", "human", "--seed", "1", "--out", str(out))
    assert other.code == 2
    assert "made with another data; give another --out" in other.errors


def test_a_sampled_row(data: Path) -> None:
    answer = evaluate(data, "--systems", "ours", "--limit", "1", "--json")
    assert answer.code == 0, answer.errors
    ours = json.loads(answer.output)["rows"][0]
    assert ours["cells"]["all"]["coverage"]["value"] == 100
    assert ours["cells"]["all"]["seconds"]["value"] > 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--systems", "theirs"], "--systems theirs: not a system of this table; it has ours,"),
        (["--systems", "human", "--add", "mine"], "--add mine: give NAME=FILE"),
        (["--systems", "human", "--set", "commongen"], "keywords/commongen_dev.jsonl: no such file; the set commongen"),
        (["--systems", "human", "--judge", "nowhere"], "nowhere: not a judge"),
    ],
)
def test_mistakes_cost_a_line(data: Path, options: list[str], told: str) -> None:
    answer = run("evaluate", "keywords", "--data", str(data), *options)
    assert (answer.code, answer.output) == (2, "")
    assert told in answer.errors
    assert len(answer.errors.splitlines()) == 1


def test_two_people_rate_what_the_table_wrote(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert evaluate(data, "--systems", "human", "--limit", "4", "--out", str(out)).code == 0
    start = [sys.executable, "-m", "cgmh", "rate", str(out / "rate.jsonl"), "--no-browser"]
    with subprocess.Popen(start, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert server.stderr is not None
        address = server.stderr.readline().split("rate at ")[1].split()[0].removeprefix("http://").rstrip("/")

        def post(path: str, **fields: Any) -> Any:
            with closing(HTTPConnection(address, timeout=SECONDS)) as connection:
                connection.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
                return json.load(connection.getresponse())

        for rater, low in (("Ann", 0.25), ("Bob", 0.5)):
            standing = post("/v1/ratings/next", rater=rater)
            assert standing["total"] == 8
            while (item := standing["item"]) is not None:
                score = low if item["text"].startswith("A sentence") else 1.0
                standing = post("/v1/ratings", rater=rater, item=item["id"], question="score", score=score)
        server.send_signal(signal.SIGINT)
        tables, _ = server.communicate(timeout=SECONDS)
    assert "human  " in tables
    assert "1.00 [1.00, 1.00]" in tables
    assert "0.38 [0.38, 0.38]" in tables  # the mean of the two raters
    assert "agreement on score (Krippendorff's alpha): 0.8" in tables
    assert "Ann 8, Bob 8" in tables
