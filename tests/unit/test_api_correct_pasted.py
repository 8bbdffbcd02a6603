"""Correction of pasted text on the embedded model: as the plain text is corrected, with every change in the list."""

from dataclasses import replace
from random import Random

import pytest
import torch

import cgmh
from cgmh import CorrectInput, correct_all
from cgmh.text.tokenizer import normalize
from pasted import disguise

torch.set_num_threads(1)

FEW = replace(CorrectInput.defaults, chains=2, steps=12)
OFFICE = "The office on the first floor makes a difference."  # which is right
TEXTS = (
    OFFICE,
    "He recieve a letter from the office, but he don't read it!",
    "She go to the café every day... and 👨\u200d👩\u200d👧 stay in 12 offices.",
    "First we was late. Then the staff find teh first flat on the fifth floor.",
    "the x² is 3.5% more then ½ of it, I think",
    "INTRODUCTION\n\n1. They ca n't find teh first file , do they ?\n* * *\n",
)


def changed(result: cgmh.Result) -> list[tuple[str, str]]:
    return [(normalize(edit.original).lower(), normalize(edit.replacement).lower()) for edit in result.edits or ()]


@pytest.fixture(scope="module")
def corrected() -> dict[str, cgmh.Result]:
    """Each text, and each of them pasted in two ways, in one batch."""
    pasted = [disguise(text, Random(seed)) for text in TEXTS for seed in range(2)]
    texts = [*TEXTS, *pasted, "The oﬃce on the ﬁrst ﬂoor makes a diﬀerence."]
    return dict(zip(texts, correct_all(texts, FEW), strict=True))


def test_every_change_is_an_edit(corrected: dict[str, cgmh.Result]) -> None:
    assert len(corrected) == 3 * len(TEXTS) + 1
    for text, result in corrected.items():
        assert result.input == text
        changes = text
        for edit in reversed(result.edits or ()):
            assert text[edit.start : edit.end] == edit.original != edit.replacement
            changes = changes[: edit.start] + edit.replacement + changes[edit.end :]
        assert result.best.text == changes
        for edit in result.doubtful:
            assert text[edit.start : edit.end] == edit.original


@pytest.mark.parametrize("text", TEXTS)
def test_pasted_text_is_corrected_as_the_plain_one(text: str, corrected: dict[str, cgmh.Result]) -> None:
    plain = corrected[text]
    for seed in range(2):
        pasted = corrected[disguise(text, Random(seed))]
        assert changed(pasted) == changed(plain)
        assert normalize(pasted.best.text).casefold() == normalize(plain.best.text).casefold()
        assert [edit.probability for edit in pasted.edits or ()] == [edit.probability for edit in plain.edits or ()]


def test_something_is_changed(corrected: dict[str, cgmh.Result]) -> None:
    assert [bool(corrected[text].edits) for text in TEXTS] == [False, True, True, True, True, True]
    last = corrected[TEXTS[-1]].best.text
    assert last.startswith("INTRODUCTION\n\n1. They ca n't find the ")
    assert last.endswith("\n* * *\n")


def test_ligatures_are_no_mistakes(corrected: dict[str, cgmh.Result]) -> None:
    text = "The oﬃce on the ﬁrst ﬂoor makes a diﬀerence."
    assert corrected[text].edits == ()
    assert corrected[text].best.text == text
    assert corrected[text].best.words == corrected[OFFICE].best.words


def test_lines_of_an_essay_that_are_no_sentences_come_back() -> None:
    lines = ["Introduction", "", "1.", "* * *", "We recieve it.", "2.1 Results"]
    results = list(correct_all(lines, FEW))
    assert [result.best.text for result in results] == [*lines[:4], "We receive it.", lines[5]]
    assert [len(result.edits or ()) for result in results] == [0, 0, 0, 0, 1, 0]
    essay = "\r\n".join(lines)
    assert cgmh.correct(essay, chains=2, steps=12).best.text == essay.replace("recieve", "receive")
    assert cgmh.correct("").best.text == ""


def test_other_tasks_read_pasted_words() -> None:
    plain, pasted = (cgmh.keywords([word], 2, chains=4, steps=10) for word in ("first", "ﬁ\u00adrst"))
    assert pasted.texts == plain.texts
    plain, pasted = (
        cgmh.paraphrase(text, 2, chains=4, steps=10)
        for text in ("how do I find the first office ?", "how do I\u00a0ﬁnd the ﬁrst\u200b oﬃce ？")
    )
    assert pasted.texts == plain.texts
    one, other = cgmh.score(["The first office.", "Ｔｈｅ ﬁrst\u00a0oﬃce."])
    assert (other.log_prob, other.words, other.unknown) == (one.log_prob, one.words, ())
