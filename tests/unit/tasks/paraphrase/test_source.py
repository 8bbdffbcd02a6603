"""A sentence is read with usual capitals and a mark at its end, and an answer is typed as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.inputs import ParaphraseInput
from cgmh.models.load import load_embedded
from cgmh.tasks.paraphrase.source import Style, read_sentence, read_source
from cgmh.text.tokenizer import split
from cgmh.text.vocabulary import SPECIALS, Vocabulary

KNOWN = (
    "what movie do you like most the river is wide and long why it so 's said he , . ? ! ( ) "
    "I Paris France Donald Trump iPhone"
).split()
VOCABULARY = Vocabulary([*SPECIALS, *KNOWN, "mark", "Mark"], names=["mark"])

ROUND_TRIPS = [
    ("what movie do you like most ?", "what movie do you like most ?", Style(True, True, False)),
    ("What movie do you like most?", "what movie do you like most ?", Style(False, False, False)),
    ("what movie do you like", "what movie do you like ?", Style(True, False, True)),
    ("The river is wide", "the river is wide .", Style(False, False, True)),
    ("the river is wide , and long", "the river is wide , and long .", Style(True, True, True)),
    ("The river is wide, and long!", "the river is wide , and long !", Style(False, False, False)),
    ("what 's the river ?", "what 's the river ?", Style(True, True, False)),
    ("what's the river?", "what 's the river ?", Style(True, False, False)),
    ("i like paris", "I like Paris .", Style(True, False, True)),
    ("why do you like donald trump ?", "why do you like Donald Trump ?", Style(True, True, False)),
    ("the iphone is so long .", "the iPhone is so long .", Style(True, True, False)),
    ("Mark said so.", "Mark said so .", Style(False, False, False)),  # "mark" is mostly a name
    ("He said quorates", "he said quorates .", Style(False, False, True)),  # a word of one's own stays
]


@pytest.mark.parametrize(("typed", "words", "style"), ROUND_TRIPS)
def test_an_answer_is_typed_as_the_input_was(typed: str, words: str, style: Style) -> None:
    read, read_style = read_sentence(typed, VOCABULARY)
    assert " ".join(read) == words
    assert read_style == style
    text, written = read_style.write(read)
    assert text == typed
    assert [word.lower() for word in written] == [word.lower() for word in split(typed)]


def test_another_sentence_in_the_same_style() -> None:
    words = ["Paris", "is", "the", "river", "'s", ",", "he", "said", "?"]
    assert Style(True, True, False).write(words)[0] == "paris is the river 's , he said ?"
    assert Style(False, False, False).write(words)[0] == "Paris is the river's, he said?"
    text, written = Style(False, False, True).write(["the", "river", "."])
    assert (text, written) == ("The river", ["The", "river"])
    assert Style(True, False, True).write(["the", "river"]) == ("the river", ["the", "river"])  # no mark to leave out
    assert words[0] == "Paris"  # the words that were given stay as they are


@pytest.mark.parametrize(
    ("text", "mark"),
    [("what is so long", "?"), ("do you like it", "?"), ("the river is long", "."), ("Is it so", "?")],
)
def test_a_missing_mark_is_that_of_a_question_or_of_a_statement(text: str, mark: str) -> None:
    words, style = read_sentence(text, VOCABULARY)
    assert words[-1] == mark
    assert style.open_end


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        (" \t\n ", "is empty"),
        ("\ufeff", "is empty"),
        ("?!", "has no words, only marks or numbers"),
        ("12 345 .", "has no words, only marks or numbers"),
        ("river ?", "has 1 word; give a sentence of at least 2"),
        ("what \x07 is it", "control characters"),
        ("what \ud800 is it", "control characters"),
        ("привет как дела", "few words that the model knows"),
        ("你好 世界", "few words that the model knows"),
        ("the " * 61, "has 61 words and marks; at most 60"),
    ],
)
def test_what_is_no_sentence_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_sentence(text, VOCABULARY)


def test_the_bounds_are_inclusive() -> None:
    words, _ = read_sentence("the " * 59 + ".", VOCABULARY)
    assert len(words) == 60
    assert len(read_sentence("the river", VOCABULARY)[0]) == 3


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    message = ""
    try:
        words, style = read_sentence(text, VOCABULARY)
    except BadInput as error:
        message = str(error)
    assert len(message.splitlines()) <= 1
    if not message:
        assert 2 <= len(words) <= 61
        assert style.write(words)[0]


def test_a_fact_that_the_user_frees_may_change() -> None:
    vocabulary = load_embedded().vocabulary
    text = "Who won against Brazil in 1998?"
    facts = [fact.kind for fact in read_source(ParaphraseInput(text), vocabulary).facts]
    freed = read_source(ParaphraseInput(text, free=("brazil",)), vocabulary)
    assert [*facts] == ["names", "numbers"]
    assert [fact.kind for fact in freed.facts] == ["numbers"]
    assert "free brazil" in freed.input.about
    with pytest.raises(BadInput, match="`free`"):
        read_source(ParaphraseInput(text, free=("Peru",)), vocabulary)
    with pytest.raises(BadInput, match=r"'brazil' is to stay .* and may change"):
        read_source(ParaphraseInput(text, keep=("Brazil",), free=("brazil",)), vocabulary)
