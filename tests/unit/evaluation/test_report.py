"""What an evaluation leaves in its folder."""

import json
from pathlib import Path

import pytest

from cgmh.evaluation.experiment import run
from cgmh.evaluation.plots import interval_figures
from cgmh.evaluation.ratings import read_items
from cgmh.evaluation.report import Figure, examples, write_report
from experiments import ITEMS, Writer, experiment


def test_the_folder_has_report_table_answers_and_a_study(tmp_path: Path) -> None:
    results = run(experiment(Writer("ours", "!"), Writer("partial", "<b>&", silent=("sea",))), tmp_path)
    write_report(results, tmp_path, interval_figures(results))
    assert json.loads((tmp_path / "table.json").read_text())["table"] == "words"
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
    assert [line["key"] for line in lines] == [f"key {item}" for item in ITEMS]
    assert lines[0]["answers"]["ours"] == {"text": "river!", "seconds": 0.5, "details": {"of": "river"}}
    assert list(lines[2]["answers"]) == ["ours"]
    items = read_items([tmp_path / "rate.jsonl"])
    groups = {item.input: item.group for item in items}
    for name, members in results.experiment.groups.items():
        own = {f"about <{ITEMS[at]}>" for at in members}
        assert {input for input, group in groups.items() if group == name} == (own if len(own) < len(ITEMS) else set())
    assert {(item.input, item.text, item.systems) for item in items} >= {
        ("about <sea>", "sea!", ("ours",)),
        ("about <pond>", "pond<b>&", ("partial",)),
    }


def test_the_page_is_escaped_and_needs_nothing_else(tmp_path: Path) -> None:
    results = run(experiment(Writer("ours", "!"), Writer("other", "<script>alert(1)</script>")))
    write_report(results, tmp_path, [*interval_figures(results), Figure("a <figure>", "<svg></svg>", "a <caption>")])
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "river&lt;script&gt;" in page
    assert "a &lt;figure&gt;" in page
    assert page.count("<svg") == 2
    for name, members in results.experiment.groups.items():
        assert f"<h2>{name} ({len(members)} item" in page
    assert "http-equiv" not in page
    for loads in ("src=", "<link", "@import", "url(http"):
        assert loads not in page
    text = (tmp_path / "report.md").read_text()
    assert "\\<script\\>" in text
    assert "figure-2.svg" in text
    assert (tmp_path / "figure-2.svg").read_text() == "<svg></svg>"


def test_items_that_look_the_same_are_rated_once(tmp_path: Path) -> None:
    write_report(run(experiment(show=lambda _: "the same")), tmp_path)
    assert len((tmp_path / "rate.jsonl").read_text().splitlines()) == 1
    assert len(read_items([tmp_path / "rate.jsonl"])) == 2


@pytest.mark.parametrize(("number", "shown"), [(2, ["river", "sea"]), (9, list(ITEMS))])
def test_examples_are_spread_over_the_items(number: int, shown: list[str]) -> None:
    assert [record["key"] for record in examples(run(experiment()), number)] == [f"key {item}" for item in shown]
