"""Scores of paraphrases against hand-worked numbers; pairs read from good and bad files."""

from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.bleu import bleu
from cgmh.evaluation.paraphrases import (
    Pair,
    as_line,
    as_question,
    from_treebank,
    ibleu,
    measure,
    quotable,
    read_pairs,
    sources,
)
from cgmh.text.tokenizer import split


@pytest.mark.parametrize(("ref", "ori", "expected"), [(20, 60, 12), (30, 100, 17), (0, 0, 0), (0, 50, -5)])
def test_ibleu(ref: float, ori: float, expected: float) -> None:
    assert ibleu(ref, ori) == pytest.approx(expected)


def test_measure() -> None:
    pairs = [Pair("a b c d e", "a b c d f"), Pair("a b c d e", "v w x y z"), Pair("p q r s t u", "p q r s t v")]
    outputs = ["a b c d e", "a b c d e", "p q r s t v"]
    scores = measure(outputs, pairs)
    assert scores.num_pairs == 3
    assert scores.bleu_ref == bleu(outputs, [pair.reference for pair in pairs])
    assert scores.bleu_ori == bleu(outputs, [pair.source for pair in pairs])
    assert scores.ibleu == ibleu(scores.bleu_ref, scores.bleu_ori)
    assert scores.bleu_ref < scores.bleu_ori < 100
    assert scores.mean_length == pytest.approx(16 / 3)
    assert scores.copies == pytest.approx(2 / 3)
    assert scores.sentence_bleu_ori == pytest.approx((200 + bleu(["p q r s t v"], ["p q r s t u"])) / 3)
    assert "tok:none" in scores.signature


def test_questions_are_numbered_from_those_of_the_own_part() -> None:
    parts = {"test": [Pair("e", "f")], "train": [Pair("a", "b"), Pair("c", "d")], "val": [Pair("g", "h")]}
    assert "".join(quotable("test", parts)) == "efacbdgh"
    assert "".join(quotable("val", parts)) == "ghacbdef"


def test_copying_is_the_anchor() -> None:
    pairs = [Pair("a b c d e", "a b c d f"), Pair("p q r s", "s r q p")]
    scores = measure([pair.source for pair in pairs], pairs)
    assert scores.bleu_ori == pytest.approx(100)
    assert scores.copies == 1


def test_read_pairs(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(
        "how are you\thow do you do\nwho is it \t who 's there\r\nhow are you\twhat 's up\n", encoding="utf-8"
    )
    pairs = read_pairs(file)
    assert pairs[1] == Pair("who is it", "who 's there")
    assert [pair.reference for pair in pairs if pair.source == "how are you"] == ["how do you do", "what 's up"]
    assert sources(pairs) == ["how are you", "who is it"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\tb\nonly one\n", "line 2: 1 fields"),
        ("a\tb\tc\n", "line 1: 3 fields"),
        ("a\tb\n\tb\n", "line 2: the source is empty"),
        ("a\t \n", "line 1: the reference is empty"),
        ("", "empty"),
        ("a\tb\n\nc\td\n", "line 2"),
    ],
)
def test_bad_line_is_named(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=message) as caught:
        read_pairs(file)
    assert str(file) in str(caught.value)


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"missing\.tsv: cannot be read"):
        read_pairs(tmp_path / "missing.tsv")
    (tmp_path / "binary.tsv").write_bytes(b"\xff\xfe\t\x00")
    with pytest.raises(BadInput, match=r"binary\.tsv, line 1: not valid UTF-8"):
        read_pairs(tmp_path / "binary.tsv")


@pytest.mark.parametrize(
    ("answer", "source", "line"),
    [
        ("Why can't I see it?", "why ca n't i look at it", "why ca n't i see it"),
        ("Why can't I see it?", "why ca n't i look at it ?", "why ca n't i see it ?"),
        ("Is it? Why not?", "is it so ? why not", "is it ? why not"),
        ("Is India's flag new", "is the flag of india new", "is india 's flag new"),
        ("?", "who", ""),
        ("It is.", "it is", "it is ."),
    ],
)
def test_answer_as_a_line_like_its_source(answer: str, source: str, line: str) -> None:
    assert as_line(split(answer), source) == line


def test_line_comes_back_as_itself() -> None:
    line = "what 's the `` best '' way -lrb- if any -rrb- to see why they ca n't win"
    assert as_line(split(from_treebank(line) + " ?"), line) == line


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("why ca n't i see", "why can't i see ?"),
        ("why is it so ?", "why is it so ?"),
        ("`` is it so ? ''", '" is it so ? "'),
    ],
)
def test_judged_text_ends_with_a_mark(line: str, text: str) -> None:
    assert as_question(line) == text
