"""Correction through the library, on the embedded model."""

from dataclasses import replace
from typing import Any

import pytest
import torch

import cgmh
from cgmh import CorrectInput, correct_all
from cgmh.models.load import load_embedded
from cgmh.text.edits import splice
from cgmh.text.passages import read_passage
from cgmh.text.tokenizer import split

torch.set_num_threads(1)

QUICK: dict[str, Any] = {"chains": 2, "steps": 12}
FEW = replace(CorrectInput.defaults, **QUICK)


def check(result: cgmh.Result, text: str) -> None:
    """The edits lie within sentences and make the text; no other character is touched."""
    edits = result.edits or ()
    assert result.input == text
    assert result.best.text == splice(text, edits)
    sentences = read_passage(text, load_embedded().vocabulary).sentences
    for edit in (*edits, *result.doubtful):
        assert any(sentence.start <= edit.start <= edit.end <= sentence.end for sentence in sentences)
        assert 0 <= edit.probability <= 1


def test_several_sentences_are_put_back_in_place() -> None:
    text = "  1. He recieve a letter.\n\n*  She sees teh dog ,  and stay .\n---\n\t“Its a  dog”, he say. Fine!\n "
    result = cgmh.correct(text, **QUICK)
    check(result, text)
    first, gap, second, rule, third, end = result.best.text.split("\n")
    assert first.startswith("  1. He rec")
    assert second.startswith("*  She sees the dog")
    assert (gap, rule, end) == ("", "---", " ")
    assert third.startswith("\t“")
    assert third.endswith(" Fine!")
    first_spelt, *others = (edit.replacement for edit in result.edits or () if edit.kind == "spelling")
    assert first_spelt in ("receive", "received", "receives")
    assert others == ["the"]


def test_what_is_right_stays() -> None:
    texts = ["This is a good book.", "He was born in London."]
    for text, result in zip(texts, correct_all([CorrectInput(text) for text in texts], FEW), strict=True):
        assert result.best.text == text
        assert result.edits == ()


def test_tokenised_text_stays_tokenised() -> None:
    text = "They ca n't find teh house , do they ?"
    result = cgmh.correct(text, **QUICK)
    check(result, text)
    assert " ca n't " in result.best.text
    assert " the house " in result.best.text
    assert result.best.text.endswith(" ?")


def test_results_come_in_the_order_of_the_texts() -> None:
    """The first two sentences run in one batch with the third; each text gets its own."""
    texts = ["I recieve it. I beleive it.", "We recieve it."]
    one, other = correct_all([CorrectInput(text) for text in texts], FEW)
    check(one, texts[0])
    check(other, texts[1])
    assert one.best.text == "I receive it. I believe it."
    assert other.best.text == "We receive it."


MISTAKES = [
    ("He go to school every day.", "He goes to school every day."),
    ("She don't want to come with us.", "She doesn't want to come with us."),
    ("We was late again.", "We were late again."),
    ("She are happy.", "She is happy."),
    ("This books are mine.", "These books are mine."),
    ("I have three sister.", "I have three sisters."),
    ("I ate a apple this morning.", "I ate an apple this morning."),
    ("Tommorow I will go to the dentist.", "Tomorrow I will go to the dentist."),
]
NAMES = ["Bianchi", "Fournier", "Gauthier", "Chantal", "Mertens", "Jonhson"]


@pytest.fixture(scope="module")
def corrected() -> dict[str, cgmh.Result]:
    """What the default settings make of every text below, in one batch."""
    texts = [*(text for pair in MISTAKES for text in pair), *(f"{name} have two cat." for name in NAMES)]
    return dict(zip(texts, correct_all([CorrectInput(text) for text in texts]), strict=True))


@pytest.mark.parametrize(("typed", "meant"), MISTAKES)
def test_what_a_beginner_gets_wrong(typed: str, meant: str, corrected: dict[str, cgmh.Result]) -> None:
    assert corrected[typed].best.text == meant
    assert corrected[meant].edits == ()


@pytest.mark.parametrize("name", NAMES)
def test_names_stay(name: str, corrected: dict[str, cgmh.Result]) -> None:
    assert name in corrected[f"{name} have two cat."].best.text


def test_plain_strings_are_texts() -> None:
    texts = ["I recieve it.", "We met 300 peple."]
    mixed = list(cgmh.correct_all([texts[0], cgmh.CorrectInput(texts[1])], FEW))
    inputs = list(correct_all([CorrectInput(text) for text in texts], FEW))
    assert [result.to_dict() for result in mixed] == [result.to_dict() for result in inputs]
    assert mixed[0].best.text == "I receive it."
    with pytest.raises(cgmh.BadInput, match=r"a list of strings; for one, call `cgmh\.correct`"):
        cgmh.correct_all(texts[0], FEW)


def test_other_samples_have_what_stands_around_the_sentence() -> None:
    text = "  1. The tea price very high becuase war.\n"
    result = cgmh.correct(text, n=4, chains=6, steps=30, temperature=3.0)
    assert len(result) > 1
    for sentence in result:
        assert sentence.text.startswith("  1. ")
        assert sentence.text.endswith(".\n")
        assert list(sentence.words) == split(sentence.text.split("1. ")[1])  # the label belongs to no sentence
    assert len(set(result.texts)) == len(result)


def test_one_seed_one_answer() -> None:
    text = "he go to teh house ."
    one, other = (cgmh.correct(text, seed=3, **QUICK) for _ in range(2))
    assert one == other
    assert one.to_dict() == other.to_dict()  # the probabilities of the edits too
    assert "seed 3" in one.signature
    assert "chains 2 | steps 12 | temperature 1 | threshold 0.5" in one.signature


@cgmh.constraint(hard=True)
def no_the(words: list[str]) -> bool:
    return "the" not in words


def test_a_hard_constraint_holds_although_no_edit_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever replaces the word does so in some samples only; then a whole sample is taken."""
    monkeypatch.setattr("cgmh.session.SETTLING", 60)
    result = cgmh.correct("We saw the dog in the old town .", threshold=1.0, constraints=[no_the], chains=6, steps=20)
    assert "the" not in result.best.words
    assert any(edit.probability < 1 for edit in result.edits or ())


def test_a_big_model_has_its_say() -> None:
    text = "I recieve it."

    def insists(texts: list[str]) -> list[float]:
        return [0.0 if each == text else -1000.0 for each in texts]

    assert cgmh.correct(text, **QUICK).best.text == "I receive it."
    result = cgmh.correct(text, big=insists, **QUICK)
    assert (result.best.text, result.edits) == (text, ())
    assert "target insists" in result.signature


def test_the_search_of_the_paper() -> None:
    settings = replace(CorrectInput.paper_defaults, steps=6)
    (result,) = correct_all([CorrectInput("She go to Bob Smith .", paper=True)], settings)
    check(result, "She go to Bob Smith .")
    assert "the paper's search" in result.signature
    assert "chains 1 | steps 6 | temperature 1 | select last" in result.signature
    assert "Bob Smith" in result.best.text
    with pytest.raises(cgmh.BadInput, match="the paper's search is of the word model"):
        list(correct_all([CorrectInput("It is .", paper=True)], settings, big=lambda texts: [0.0] * len(texts)))


def test_what_cannot_be() -> None:
    for options, message in (
        ({"select": "first"}, "`select` first: this task takes one of threshold, consensus, best, last"),
        ({"use": "rerank"}, "`use` rerank: for this task a big model can only be the target"),
        ({"use": "target"}, "`use` target needs a big model"),
        ({"protect": "verbs"}, "`protect` verbs"),
        ({"threshold": 1.5}, "`threshold` 1.5 is out of range"),
        ({"constraints": [len]}, "`constraints` takes"),
    ):
        with pytest.raises(cgmh.BadInput, match=message):
            cgmh.correct("It is good.", **options, **QUICK)
    with pytest.raises(cgmh.BadInput, match="one text, a string"):
        cgmh.correct(["It is good."])  # type: ignore[arg-type]
    with pytest.raises(cgmh.BadInput, match="input 2: has control characters"):
        correct_all([CorrectInput("It is."), CorrectInput("It\x07 was.")])
    with pytest.raises(cgmh.BadInput, match=r"input 1: .*at most 120"):
        correct_all([CorrectInput("one " * 121)])
    with pytest.raises(cgmh.BadInput, match="protects the same kinds"):
        correct_all([CorrectInput("It is."), CorrectInput("It was.", ())], FEW)


def test_no_texts_no_results() -> None:
    assert list(correct_all([], FEW)) == []


def test_other_tasks_have_no_threshold() -> None:
    with pytest.raises(cgmh.BadInput, match="`select` threshold: this task takes one of best, likeliest, first, last"):
        cgmh.keywords(["river"], select="threshold")
