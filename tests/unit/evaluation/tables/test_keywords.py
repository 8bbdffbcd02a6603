"""The keyword table: which items and rows it has, and what its columns measure."""

from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.datasets import KeywordSet
from cgmh.evaluation.experiment import Answer, Column, run
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.judges import NgramJudge
from cgmh.evaluation.tables import keywords
from cgmh.evaluation.tables.keywords import NLL, Human, Ours, key_of, keyword_table
from cgmh.inputs import KeywordInput
from cgmh.models.load import load_models
from cgmh.settings import Settings

LINES = [f"The {colour} {thing} was {what} in the garden ." for colour in ("red", "green") for thing in ("house", "car")
         for what in ("seen", "sold")]  # fmt: skip
JUDGE = NgramJudge.train(LINES)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))  # no model is pulled
    (tmp_path / "keywords").mkdir()
    (tmp_path / "keywords" / "wmt_news_3k.txt").write_text("\n".join(LINES) + "\n")
    (tmp_path / "keywords" / "commongen_dev.jsonl").write_text(
        '{"concepts": ["dog", "run"], "references": ["A dog runs.", "The dog ran home.", "Dogs are running."]}\n'
        '{"concepts": ["cat", "sleep"], "references": ["A cat sleeps.", "The cat slept on it."]}\n'
    )
    return DataFolder(tmp_path)


def score(column: Column[KeywordSet], items: list[KeywordSet], texts: list[str]) -> float:
    measured = column.measure(items, [Answer(text) for text in texts])
    assert measured is not None
    import numpy as np

    return float(measured.score(np.ones((1, len(items))))[0])


def test_sets_of_one_to_four_words_each_a_group(data: DataFolder) -> None:
    table = keyword_table(data, JUDGE, ["human"])
    assert list(table.groups) == ["1 keyword", "2 keywords", "3 keywords", "4 keywords", "all"]
    assert [len(table.groups[name]) for name in table.groups] == [2, 2, 2, 2, 8]
    smaller = keyword_table(data, JUDGE, ["human"], limit=4)
    assert list(smaller.items) == list(table.items[:4])
    assert smaller.signature == table.signature
    assert keyword_table(data, JUDGE, ["human"], seed=1).signature != table.signature
    assert "cgmh models pull smollm2" in table.notes[0]
    assert not any("smollm2" in column.name for column in table.columns)


def test_what_people_wrote_covers_its_keywords_and_published_rows_are_marked(data: DataFolder) -> None:
    results = run(keyword_table(data, JUDGE, ["human"]))
    human, *published = results.rows
    coverage = human.cells["all"]["coverage"]
    assert coverage is not None
    assert coverage.value == 100
    assert human.cells["all"]["seconds"] is None
    assert [row.name for row in published] == ["CGMH (paper)", "GBS (paper)", "sep-B/F (paper)", "asyn-B/F (paper)"]
    printed = published[1].cells["4 keywords"][NLL]
    assert printed is not None
    assert printed.value == 9.63


def test_columns(data: DataFolder) -> None:
    columns = {column.name: column for column in keyword_table(data, JUDGE, ["human"]).columns}
    items = [KeywordSet(("house",), (), 1), KeywordSet(("car", "red"), (), 2)]
    texts = ["The house, the house was sold.", "The car was was red."]
    assert score(columns["coverage"], items, texts) == 100
    assert score(columns["coverage"], items, [texts[0], "The cart was red."]) == 50
    assert score(columns["length"], items, texts) == (6 + 5) / 2
    assert score(columns["repetition"], items, texts) == 100
    assert score(columns["repetition"], items, ["The house was sold.", "The car was red."]) == 0
    assert score(columns[NLL], items, texts) == pytest.approx(JUDGE.nll(texts).mean())
    # the house / house , / , the / the house / house was / was sold / sold . and the car / car was / was sold / sold .
    assert score(columns["distinct-2"], items, [texts[0], "The car was sold."]) == pytest.approx(100 * 8 / 11)


def test_commongen_is_scored_against_all_references(data: DataFolder) -> None:
    table = keyword_table(data, JUDGE, ["human"], which="commongen")
    columns = {column.name: column for column in table.columns}
    items = list(table.items)
    exact = [item.references[1] for item in items]
    assert score(columns["BLEU-4"], items, exact) == pytest.approx(100)
    assert score(columns["BLEU-4"], items, ["Nothing of this."] * 2) < 20
    assert score(columns["coverage"], items, [item.references[-1] for item in items]) == 100  # ran, slept: inflected
    bleu = run(table).rows[0].cells["all"]["BLEU-4"]
    assert bleu is not None
    assert bleu.value < 100  # people are not compared with themselves
    assert not table.published


def test_a_file_is_one_more_row(data: DataFolder, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("".join(f"Sentence {at}.\n" for at in range(8)))
    table = keyword_table(data, JUDGE, ["human"], limit=2, added=[("mine", file)])
    results = run(table)
    assert [row.name for row in results.rows][:2] == ["human", "mine"]
    assert [answer.text for answer in results.answers["mine"] if answer] == ["Sentence 0.", "Sentence 1."]


def test_ours_is_the_command_at_its_defaults() -> None:
    """The text is what `cgmh.keywords` gives as its best; a set alone gives the same as among others."""
    import cgmh

    settings = Settings(n=1, chains=4, steps=10)
    system = Ours(load_models(), settings)
    sets = [KeywordSet(("river",), (), 1), KeywordSet(("bank", "money"), (), 2)]
    answers = list(system.answer(sets))
    assert [answer.text for answer in answers] == [
        cgmh.keywords(item.keywords, 1, chains=4, steps=10).best.text for item in sets
    ]
    assert system.seconds(sets[0]) > 0
    assert system.signature.startswith("cgmh ")


def test_systems_that_cannot_run_say_what_they_need(data: DataFolder) -> None:
    with pytest.raises(BadInput, match="cgmh models pull gemma3-270m"):
        keyword_table(data, JUDGE, ["ours-big"])
    with pytest.raises(BadInput, match=r"give the `weights` that recipes/rivals/backward_forward\.py trains"):
        keyword_table(data, JUDGE, ["sep"], which="commongen")
    beside = keyword_table(data, JUDGE, ["sep", "human"], which="commongen")
    assert [system.name for system in beside.systems] == ["human"]
    assert beside.notes[0].startswith("sep is left out: ")


def test_recorded_answers_are_read_where_they_fit(
    data: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (item,) = keyword_table(data, JUDGE, ["human"], limit=1).items
    file = tmp_path / "sep.jsonl"
    file.write_text('{"run": {}}\n' + f'{{"key": "{key_of(item)}", "text": "Recorded."}}\n')
    monkeypatch.setattr(keywords, "shipped", lambda _, name: file if name == "sep" else None)
    results = run(keyword_table(data, JUDGE, ["sep", "human"]))
    assert results.answers["sep"][0] == Answer("Recorded.")
    assert results.rows[0].cells["all"][NLL] is None  # it cannot have several keywords
    file.write_text('{"key": "1: other words", "text": "Recorded."}\n')
    assert "another draw of keywords" in keyword_table(data, JUDGE, ["sep", "human"]).notes[0]


@pytest.mark.parametrize("name", [name for name in keywords.SYSTEMS if name not in ("ours-big", "sep", "asyn")])
def test_every_system_has_its_name(data: DataFolder, name: str) -> None:
    (system,) = keyword_table(data, JUDGE, [name]).systems
    assert system.name == name
    assert system.about


def test_people_and_keys() -> None:
    item = KeywordSet(("a", "b"), ("A b.", "B a."), 7)
    assert [answer.text for answer in Human().answer([item])] == ["A b."]
    assert key_of(item) == "7: a b"
    assert KeywordInput.defaults.n > 1  # the table asks for one
