"""Variants read from text, and answers to pairs that share a source."""

import pytest

from cgmh.errors import BadInput
from cgmh.evaluation.paraphrases import Question
from cgmh.evaluation.rivals.paraphrasers import IS_REFERENCE, Annealed, Fixed, read_variant
from cgmh.inputs import ParaphraseInput

QUESTIONS = [
    Question("how do i learn to swim", "how can i swim", 1),
    Question("what is the best way to cook rice", "how should i cook rice", 2),
    Question("how do i learn to swim", "what is the best way to learn swimming", 3),
]


def test_a_variant_has_the_options_it_names() -> None:
    row = read_variant("far-off: max_overlap=40 match=kw,st:20 protect=none steps=160 temperature=0.5 anneal=yes", 7)
    assert (row.name, row.about[:16]) == ("far-off", "cgmh with max_ov")
    assert row.asked == ParaphraseInput("", match=("kw", "st:20"), protect=(), max_overlap=40.0)
    assert (row.settings.steps, row.settings.temperature, row.settings.anneal) == (160, 0.5, True)
    assert row.settings.seed == 7
    assert row.settings.chains == ParaphraseInput.defaults.chains


def test_a_variant_of_the_paper() -> None:
    row = read_variant("slow: preset=paper gibbs=no match=none big=gemma3-270m")
    assert row.asked == ParaphraseInput("", **{**ParaphraseInput.paper, "gibbs": False, "match": ("none",)})
    assert row.settings == ParaphraseInput.paper_defaults
    assert row.big == "gemma3-270m"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps=3", "give NAME: OPTION=VALUE"),
        ("a: steps", "steps is no OPTION=VALUE"),
        ("a: step=3", "no option step; there are match"),
        ("a: steps=many", "steps is a number, not many"),
        ("a: anneal=perhaps", "anneal is yes or no, not perhaps"),
        ("a: preset=mine", "the only one is paper"),
        ("a: match=nothing", "`match` nothing"),
        ("a: chains=0", "`chains`"),
    ],
)
def test_a_variant_that_cannot_be_read_is_told(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_variant(text)


def test_what_people_wrote_is_marked() -> None:
    people = Fixed("people", "", lambda item: item.reference, is_reference=True)
    assert [answer.text for answer in people.answer(QUESTIONS)] == [item.reference for item in QUESTIONS]
    assert all(answer.details[IS_REFERENCE] for answer in people.answer(QUESTIONS))


def test_a_source_is_answered_once() -> None:
    row = read_variant("quick: chains=4 steps=20 n=2")
    first, second, third = row.answer(QUESTIONS)
    assert first is third
    assert first.text not in (QUESTIONS[0].source, second.text)
    assert first.seconds is not None
    assert first.details["overlap"] < 100
    assert next(row.answer(QUESTIONS[2:])).text == first.text
    assert "chains 4 | steps 20" in row.signature


def test_annealing_is_a_row() -> None:
    row = Annealed(seed=3)
    first, second, third = row.answer(QUESTIONS)
    assert first is third
    assert second.text.split()
    assert "anneal" in row.signature
    assert "seed 3" in row.signature


def test_a_source_that_is_refused_stands_for_itself() -> None:
    strange = Question("word " * 300, "a", 1)
    (answer,) = read_variant("quick: chains=2 steps=2").answer([strange])
    assert answer.text == strange.source
    assert "words" in answer.details["refused"]
