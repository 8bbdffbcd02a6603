"""The sets and systems of the table of corrections."""

from pathlib import Path

import pytest
import torch

from cgmh.errors import BadInput
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.tables.correction import PEOPLE, Corrector, correctors, make_experiment, read_set

LINES = {
    "source": ["he go .", "she stay ."],
    "ref0": ["He goes .", "She stays ."],
    "ref1": ["He went .", "She stays ."],
}


@pytest.fixture
def data(tmp_path: Path) -> DataFolder:
    for name, lines in LINES.items():
        for file in (tmp_path / "own" / name, tmp_path / f"mine.{'src' if name == 'source' else name}"):
            file.parent.mkdir(exist_ok=True)
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return DataFolder(tmp_path)


@pytest.mark.parametrize("name", ["own", "mine"])
def test_a_set_of_ones_own(data: DataFolder, name: str) -> None:
    title, corrections, contents = read_set(data, name, None)
    assert (title, corrections.sources) == (name, LINES["source"])
    (data.root / ("own/ref1" if name == "own" else "mine.ref1")).write_text("He left .\nShe stays .\n")
    assert read_set(data, name, None)[2] != contents  # other contents are other data


def test_sets_that_are_not_there(data: DataFolder) -> None:
    with pytest.raises(BadInput, match="no such file; the set jfleg"):
        read_set(data, "jfleg", "dev")
    with pytest.raises(BadInput, match="development part only"):
        read_set(data, "fce", "test")
    with pytest.raises(BadInput, match="of a set of your own"):
        read_set(data, "own", "dev")


def test_the_items_of_the_table(data: DataFolder) -> None:
    systems = correctors(["source", "spellcheck"])
    experiment = make_experiment(*read_set(data, "own", None), systems, num_people=3)
    assert [item.key for item in experiment.items[:2]] == ["1", "2"]
    assert len(experiment.groups[PEOPLE]) == 3
    assert any("without a spell-checked file" in note for note in experiment.notes)


@pytest.mark.parametrize(("title", "shown"), [("jfleg test", True), ("jfleg dev", False), ("own", False)])
def test_figures_that_were_printed_are_of_one_part(data: DataFolder, title: str, shown: bool) -> None:
    _, corrections, contents = read_set(data, "own", None)
    experiment = make_experiment(title, corrections, contents, correctors(["source"]))
    figures = {row.name: row.figures for row in experiment.published}
    assert figures.get("NRL") == ({title: {"GLEU": 53.98}} if shown else None)
    assert bool(figures) == shown


def test_systems_by_name() -> None:
    paper, ours, big = correctors(["paper", "ours"], big=["models/mine"], steps=7, chains=3, threshold=0.0)
    assert isinstance(paper, Corrector)
    assert isinstance(ours, Corrector)
    assert isinstance(big, Corrector)
    assert (paper.paper, paper.settings.steps, paper.settings.chains) == (True, 7, 1)
    assert (ours.settings.steps, ours.settings.chains, ours.settings.threshold) == (7, 3, 0.0)
    assert (big.name, big.big) == ("ours+mine", "models/mine")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there() -> None:
    with pytest.raises(BadInput, match="no GPU"):
        correctors(["ours"], device="cuda")
