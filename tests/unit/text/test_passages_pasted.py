"""Pasted text is read as the plain text is, and each word knows the characters that were typed for it."""

import pytest
from hypothesis import given, settings

from cgmh.errors import BadInput
from cgmh.text.passages import Passage, read_passage
from cgmh.text.tokenizer import normalize
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from pasted import PAIRS, SCRAPS, WORDS

VOCABULARY = Vocabulary([*SPECIALS, *dict.fromkeys([*WORDS, "ok", "a", "it", "in", "number"])])


def read(text: str) -> Passage:
    return read_passage(text, VOCABULARY)


def pieces(text: str) -> list[tuple[str, str]]:
    """Each word beside what was typed for it."""
    passage = read(text)
    return [
        (word, text[start:end])
        for sentence in passage.sentences
        for word, (start, end) in zip(sentence.words, sentence.spans, strict=True)
    ]


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("It oﬃce ﬁrst", [("it", "It"), ("office", "oﬃce"), ("first", "ﬁrst")]),
        ("It ｉｓ\u3000ｏｋ！", [("it", "It"), ("is", "ｉｓ"), ("ok", "ｏｋ"), ("!", "！")]),
        ("It i\u00ads\u00ad o\u200bk\u200b.", [("it", "It"), ("is", "i\u00ads"), ("ok", "o\u200bk"), (".", ".")]),
        ("\ufeffIt is\u200d ok", [("it", "It"), ("is", "is\u200d"), ("ok", "ok")]),
        ("It 👨\u200d👩 is", [("it", "It"), ("👨\u200d👩", "👨\u200d👩"), ("is", "is")]),
        ("It is \uf0b7 ok", [("it", "It"), ("is", "is"), ("\uf0b7", "\uf0b7"), ("ok", "ok")]),
        ("Go U.S… it is", [("go", "Go"), ("U.S.", "U.S"), ("...", "…"), ("it", "it"), ("is", "is")]),
    ],
)  # fmt: skip
def test_a_word_and_what_was_typed_for_it(text: str, read_as: list[tuple[str, str]]) -> None:
    assert pieces(text) == read_as


@pytest.mark.parametrize(
    "line",
    [
        "", " \t", "1.", "12 . 3 !", "* * *", "---", "!!! ...", "\u00ad", "\u200b", "2019",
        "Introduction", "introduction",
        "1. Introduction", "2.1 Results", "III", "(Abstract)", "Conclusions:", "Chapter 3", "• Recieve", "👍", "\uf0b7",
    ],
)  # fmt: skip
def test_a_line_without_a_sentence_is_left_alone(line: str) -> None:
    assert read(line).sentences == ()
    text = f"{line}\nIt is ok.\n{line}"
    (sentence,) = read(text).sentences
    assert text[sentence.start : sentence.end] == "It is ok."


@pytest.mark.parametrize("bullet", ["\uf0b7 ", "▪\u00a0", "●\t", "‣ ", "– ", "\u200e• "])
def test_bullets_belong_to_no_sentence(bullet: str) -> None:
    text = f"{bullet}It is ok."
    (sentence,) = read(text).sentences
    assert text[sentence.start : sentence.end] == "It is ok."
    assert sentence.words[0] == "it"


@pytest.mark.parametrize("line", ["ok.", "Ok!", "It is", "go ok", "1. It is", "so..."])
def test_a_short_sentence_is_one(line: str) -> None:
    assert len(read(line).sentences) == 1


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028"])
def test_lines_and_pages_end_sentences(end: str) -> None:
    text = f"It is ok{end}It is so"
    assert [text[sentence.start : sentence.end] for sentence in read(text).sentences] == ["It is ok", "It is so"]


@settings(max_examples=200)
@given(PAIRS)
def test_what_is_pasted_is_read_as_the_plain_text(pair: tuple[str, str]) -> None:
    plain, pasted = pair
    expected, found = read(plain).sentences, read(pasted).sentences
    assert [sentence.words for sentence in found] == [sentence.words for sentence in expected]
    assert [(s.spaced, s.upper) for s in found] == [(s.spaced, s.upper) for s in expected]
    for one, other in zip(expected, found, strict=True):
        for (low, high), (start, end) in zip(one.spans, other.spans, strict=True):
            assert normalize(pasted[start:end]).replace("...", "..") == normalize(plain[low:high]).replace("...", "..")


@settings(max_examples=300)
@given(SCRAPS)
def test_spans_follow_one_another_within_the_text(text: str) -> None:
    try:
        passage = read(text)
    except BadInput:
        return
    end = 0
    for sentence in passage.sentences:
        assert sentence.start == sentence.spans[0][0]
        assert sentence.end == sentence.spans[-1][1]
        for low, high in sentence.spans:
            assert end <= low <= high <= len(text)
            end = high
