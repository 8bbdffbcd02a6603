"""Edits of pasted text: each is listed, lies in the text as it was typed, and leaves everything else alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.text.edits import Edit, Words, splice, write_edits
from cgmh.text.passages import Passage, read_passage
from cgmh.text.tokenizer import UNSEEN, normalize
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from pasted import PAIRS, SCRAPS, WORDS

VOCABULARY = Vocabulary([*SPECIALS, *dict.fromkeys([*WORDS, "ok", "a", "it", "in", "number"])])


def read(text: str) -> Passage:
    return read_passage(text, VOCABULARY)


def write(text: str, *changes: tuple[int, int, str]) -> str:
    passage = read(text)
    words = passage.sentences[0].words
    edits = [Edit(start, end, words[start:end], tuple(new.split())) for start, end, new in changes]
    return splice(text, [edit for _, edit in write_edits(passage, 0, edits)])


@pytest.mark.parametrize(
    ("text", "changes", "corrected"),
    [
        ("It is the ﬁrst oﬃce.", [(1, 2, "was")], "It was the ﬁrst oﬃce."),
        ("It is the ﬁrst oﬃce.", [(4, 5, "floor")], "It is the ﬁrst floor."),
        ("ﬁrst it is ok.", [], "First it is ok."),
        ("It is ﬁrst.", [(0, 2, "")], "First."),
        ("ﬁrst it is ok.", [(0, 0, "so")], "So ﬁrst it is ok."),
        ("Ｉｔ ｉｓ ｏｋ．", [(1, 2, "was")], "Ｉｔ was ｏｋ．"),
        ("ｉｔ is", [], "Ｉｔ is"),
        ("It i\u00ads the of\u00adfice", [(2, 3, "an")], "It i\u00ads an of\u00adfice"),
        ("It i\u00ads the of\u00adfice", [(1, 2, "was")], "It was the of\u00adfice"),
        ("It is\u200b the\u00a0office", [(2, 3, "")], "It is\u200b\u00a0office"),
        ("It is\u200b, so", [(2, 2, "ok")], "It is ok\u200b, so"),
        ("It 👨\u200d👩 is a", [(2, 3, "are")], "It 👨\u200d👩 are a"),
        ("It is cafe\u0301 a", [(3, 4, "the")], "It is cafe\u0301 the"),
        ("It\u00a0is “ok” …", [(1, 2, "was")], "It\u00a0was “ok” …"),
        ("It donʼt go", [(1, 2, "can't")], "It can't go"),
        ("In the U.S… it is", [(2, 3, "office")], "In the office… it is"),
        ("In the U.S… it is", [(3, 4, ",")], "In the U.S, it is"),
    ],
)
def test_what_is_no_edit_stays_as_typed(text: str, changes: list[tuple[int, int, str]], corrected: str) -> None:
    assert write(text, *changes) == corrected


NEW = st.lists(st.sampled_from(["ok", "the", "can't", "prices", ",", "number"]), max_size=2).map(tuple)


@st.composite
def edits_of(draw: st.DrawFn, words: Words) -> list[Edit[Words]]:
    """Some edits of a sentence, in their order."""
    edits: list[Edit[Words]] = []
    at = 0
    for skipped, extent in draw(st.lists(st.tuples(st.sampled_from([0, 1, 1, 2]), st.integers(0, 2)), max_size=4)):
        at += skipped
        new = draw(NEW)
        if at + extent <= len(words) and (extent or new) and words[at : at + extent] != new:
            edits.append(Edit(at, at + extent, words[at : at + extent], new))
        at += extent
    return edits


def unseen(text: str) -> list[str]:
    return [c for c in text if c in UNSEEN]


def same_letters(edit: Edit[str]) -> bool:
    """Whether an edit changes the case of letters alone."""
    old, new = (normalize(text).casefold() for text in (edit.original, edit.replacement))
    return old == new and unseen(edit.original) == unseen(edit.replacement)


def check(text: str, data: st.DataObject) -> None:
    """Whatever is edited, what is written obeys."""
    passage = read(text)
    made: list[Edit[str]] = []
    for number, sentence in enumerate(passage.sentences):
        edits = data.draw(edits_of(sentence.words))
        written = write_edits(passage, number, edits)
        causes = [cause for cause, _ in written]
        assert all(cause is None or cause in edits for cause in causes)
        touched = {at for edit in edits for at in range(edit.start, edit.end)}
        if edits and edits[-1].end == len(sentence.words) - 1:
            touched.add(len(sentence.words) - 1)  # a stop that an abbreviation shares
        for at, (low, high) in enumerate(sentence.spans):
            inside = [edit for _, edit in written if edit.start < high and edit.end > low]
            if at not in touched and inside:  # a word that is kept changes its case, once
                (edit,) = inside
                assert (edit.start, edit.end) == (low, high)
                assert same_letters(edit)
        for _, edit in written:
            assert sentence.start <= edit.start <= edit.end <= sentence.end
            assert text[edit.start : edit.end] == edit.original != edit.replacement
            own = [span for span in sentence.spans if span[0] < edit.end and span[1] > edit.start] or [(edit.end, 0)]
            around = text[edit.start : own[0][0]] + text[max(own[0][0], own[-1][1]) : edit.end]
            assert same_letters(edit) or unseen(around) == unseen(edit.replacement)
        if not edits:
            assert len(written) <= 1
            assert all(same_letters(edit) for _, edit in written)
        made += [edit for _, edit in written]
    by_hand = text
    for edit in reversed(made):
        by_hand = by_hand[: edit.start] + edit.replacement + by_hand[edit.end :]
    assert splice(text, made) == by_hand
    if not made:
        assert by_hand == text


@settings(max_examples=400)
@given(SCRAPS, st.data())
def test_every_change_of_any_text_is_an_edit(text: str, data: st.DataObject) -> None:
    try:
        read(text)
    except BadInput:
        return
    check(text, data)


@settings(max_examples=400)
@given(PAIRS, st.data())
def test_every_change_of_pasted_text_is_an_edit(pair: tuple[str, str], data: st.DataObject) -> None:
    check(pair[1], data)


@settings(max_examples=200)
@given(PAIRS, st.data())
def test_what_is_pasted_is_edited_as_the_plain_text(pair: tuple[str, str], data: st.DataObject) -> None:
    plain, pasted = pair
    one, other = read(plain), read(pasted)
    for number, sentence in enumerate(one.sentences):
        edits = data.draw(edits_of(sentence.words))
        written = [[edit for _, edit in write_edits(passage, number, edits)] for passage in (one, other)]
        texts = [splice(text, edits) for text, edits in zip((plain, pasted), written, strict=True)]
        assert normalize(texts[1]).casefold() == normalize(texts[0]).casefold()
