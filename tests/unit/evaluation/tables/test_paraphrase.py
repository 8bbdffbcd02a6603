"""The table of paraphrases: its rows and figures on pairs of our own, and rows read from files."""

from dataclasses import replace
from pathlib import Path

import pytest

from cgmh.cli.evaluate import paraphrase as command
from cgmh.errors import BadInput
from cgmh.evaluation.bleu import bleu
from cgmh.evaluation.experiment import Cell, run
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.judges import NgramJudge
from cgmh.evaluation.paraphrases import as_question, ibleu, read_questions
from cgmh.evaluation.tables.paraphrase import GROUP, SYSTEMS, Asked, paraphrase_table

PAIRS = [
    ("how do i learn to swim in 10 days", "can i learn to swim in 10 days"),
    ("why is the sky not green", "why is the sky blue"),
    ("how do i learn to swim in 10 days", "what is the best way to swim"),
]
RECORDED = ["how can i learn to swim in 12 days", "why is the sky not red", "how can i learn to swim in 12 days"]
JUDGE = NgramJudge.train([as_question(line) for pair in PAIRS for line in pair] * 2)


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    (tmp_path / "quora").mkdir()
    lines = "".join(f"{source}\t{reference}\n" for source, reference in PAIRS)
    (tmp_path / "quora" / "val.tsv").write_text(lines, encoding="utf-8")
    (tmp_path / "seq2seq-77k.val.txt").write_text("".join(f"{line}\n" for line in RECORDED), encoding="utf-8")
    return DataFolder(tmp_path)


def figures(folder: DataFolder, asked: Asked) -> dict[str, dict[str, Cell | None]]:
    results = run(paraphrase_table(folder, replace(asked, split="dev", recorded=folder.root), JUDGE))
    return {row.name: row.cells[GROUP] for row in results.rows}


def value(cell: Cell | None) -> float:
    assert cell is not None
    return cell.value


def test_the_command_has_the_systems_of_the_table() -> None:
    assert command.SYSTEMS == SYSTEMS


def test_the_figures_of_rows_that_are_known(folder: DataFolder) -> None:
    rows = figures(folder, Asked(["copy", "people", "seq2seq-77k"]))
    sources, references = zip(*PAIRS, strict=True)
    copy, people, trained = (rows[name] for name in ("copy", "people", "seq2seq-77k"))
    assert value(copy["BLEU-ori"]) == pytest.approx(100)
    assert value(copy["BLEU-ref"]) == pytest.approx(bleu(sources, references))
    assert value(copy["copies"]) == 100
    assert value(copy["facts kept"]) == 100
    assert people["BLEU-ref"] is None
    assert people["iBLEU"] is None
    assert value(people["BLEU-ori"]) == pytest.approx(bleu(references, sources))
    assert value(people["facts kept"]) == pytest.approx(100 / 3)  # of 10, not, 10: the first
    assert value(people["copies"]) == 0
    both = bleu(RECORDED, references), bleu(RECORDED, sources)
    assert value(trained["iBLEU"]) == pytest.approx(ibleu(*both))
    assert value(trained["facts kept"]) == pytest.approx(100 / 3)  # 12 for 10, twice; not
    assert value(trained["tokens"]) == pytest.approx((9 + 6 + 9) / 3)
    assert trained["seconds"] is None
    assert value(trained["NLL"]) == pytest.approx(JUDGE.nll([as_question(line) for line in RECORDED]).mean())


def test_the_rows_of_the_paper_are_published(folder: DataFolder) -> None:
    rows = figures(folder, Asked(["copy"]))
    assert value(rows["CGMH KW+WVM (paper)"]["BLEU-ref"]) == 20.89
    assert "BLEU-ori" not in rows["VAE-SVG 100k (paper)"]


def test_rows_that_sample_differ_in_what_they_match(folder: DataFolder) -> None:
    asked = Asked(["paper-none", "paper-kw+wvm", "upsa"], variants=["quick: chains=4 steps=10"])
    results = run(paraphrase_table(folder, replace(asked, split="dev"), JUDGE))
    signatures = {row.name: row.signature for row in results.rows}
    assert "match none" in signatures["paper-none"]
    assert "match kw+wvm:1" in signatures["paper-kw+wvm"]
    assert not any("the paper's kernel" in signature for signature in signatures.values())
    for answers in results.answers.values():
        assert len(answers) == len(PAIRS)
        assert answers[0] == answers[2]


def test_the_kernel_of_the_paper_is_asked_for(folder: DataFolder) -> None:
    experiment = paraphrase_table(folder, Asked(["paper-kw"], "dev", gibbs=True), JUDGE)
    assert "the paper's kernel" in experiment.systems[0].signature


def test_a_rival_without_outputs_is_skipped_or_refused(folder: DataFolder) -> None:
    asked = Asked(["copy", "seq2seq-77k", "vae"], "dev", recorded=folder.root)
    with pytest.raises(BadInput, match=r"vae\.val\.txt: no such file.*recipes/rivals/paraphrase.py"):
        paraphrase_table(folder, asked, JUDGE)
    experiment = paraphrase_table(folder, replace(asked, skip_missing=True), JUDGE)
    assert [system.name for system in experiment.systems] == ["copy", "seq2seq-77k"]
    assert any("vae" in note and "val.tsv" in note for note in experiment.notes)


def test_outputs_of_other_data_are_refused(folder: DataFolder) -> None:
    (folder.root / "vae.val.txt").write_text("one line\n")
    with pytest.raises(BadInput, match="1 lines for 3 items"):
        paraphrase_table(folder, Asked(["vae"], "dev", recorded=folder.root), JUDGE)


def test_outputs_may_refer_to_questions_of_all_parts(folder: DataFolder) -> None:
    asked = Asked(["vae"], "dev", recorded=folder.root)
    (folder.root / "vae.val.txt").write_text("=4\n=6\nwhy =9:1-3\n")
    for part in ("train", "test"):
        with pytest.raises(BadInput, match=rf"vae\.val\.txt, line 1: .*{part}\.tsv: no such file; the set quora"):
            paraphrase_table(folder, asked, JUDGE)
        (folder.root / "quora" / f"{part}.tsv").write_text(f"is this {part}\twhat is this {part}\n")
    (system,) = paraphrase_table(folder, asked, JUDGE).systems
    texts = [answer.text for answer in system.answer(read_questions(folder.file("quora", "dev"))) if answer]
    assert texts == [PAIRS[1][1], "is this train", "why is this"]


def test_an_unknown_system_is_refused(folder: DataFolder) -> None:
    with pytest.raises(BadInput, match="not a system of this table"):
        paraphrase_table(folder, Asked(["nothing"], "dev"), JUDGE)
