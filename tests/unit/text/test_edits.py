"""Edits of texts, words and ids are alike; edits of words are written as edits of the text, and nothing else moves."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgmh.text.edits import Edit, Ids, Words, splice, write_edits
from cgmh.text.passages import Passage, read_passage
from cgmh.text.tokenizer import capitalize, first_word, split
from cgmh.text.vocabulary import SPECIALS, Vocabulary

ORDINARY = (
    "the a price prices is are high very oil world two apple apples has have but because we they find it do does go "
    "said ok he she left can not don't can't they're won't and so new car your like live in now"
).split()
KNOWN = [*ORDINARY, ".", ",", "?", "!", "'s", '"', "(", ")", "I", "Paris", "iPhone", "U.S.", "i", "mark", "Mark"]
VOCABULARY = Vocabulary([*SPECIALS, *dict.fromkeys(KNOWN)], names=["mark", "i"])


def read(text: str) -> Passage:
    return read_passage(text, VOCABULARY)


def words_of(text: str) -> list[str]:
    return [" ".join(sentence.words) for sentence in read(text).sentences]


def edits_of(words: Sequence[str], *changes: tuple[int, int, str]) -> list[Edit[Words]]:
    return [Edit(start, end, tuple(words[start:end]), tuple(new.split())) for start, end, new in changes]


def write(text: str, *changes: tuple[int, int, str], sentence: int = 0) -> tuple[str, list[tuple[str, str]]]:
    """The corrected text, and of each edit the original and the replacement."""
    passage = read(text)
    written = write_edits(passage, sentence, edits_of(passage.sentences[sentence].words, *changes))
    edits = [edit for _, edit in written]
    return splice(text, edits), [(edit.original, edit.replacement) for edit in edits]


@pytest.mark.parametrize(
    ("text", "changes", "corrected", "edits"),
    [
        (
            "i has two apple.",
            [(0, 1, "I"), (1, 2, "have"), (3, 4, "apples")],
            "I have two apples.",
            [("i", "I"), ("has", "have"), ("apple", "apples")],
        ),
        (
            "They said the apple very new so now .",
            [(3, 4, "apples"), (4, 4, "are")],
            "They said the apples are very new so now .",
            [("apple", "apples"), ("", " are")],
        ),
        ("They go", [(2, 2, ".")], "They go.", [("", ".")]),
        ("They go ,  so", [(4, 4, ".")], "They go ,  so .", [("", " .")]),
        ("But they go.", [(1, 1, ",")], "But, they go.", [("", ",")]),
        ("They, so go.", [(1, 2, "")], "They so go.", [(",", "")]),
        ("They go and left.", [(2, 3, ",")], "They go, left.", [(" and", ",")]),
        ("They go, left.", [(2, 3, "and")], "They go and left.", [(",", " and")]),
        ("They go now.", [(2, 3, "")], "They go.", [(" now", "")]),
        ("They go now", [(2, 3, "")], "They go", [(" now", "")]),
        ("They so go.", [(1, 2, "")], "They go.", [(" so", "")]),
        ("They go.", [(1, 1, "( so )")], "They (so) go.", [("", " (so)")]),
        ("They go.", [(1, 2, '" go "')], 'They "go".', [("go", '"go"')]),
        ("They (go).", [(2, 2, "so")], "They (so go).", [("", "so ")]),
        ("They ,go, so.", [(1, 1, "so")], "They so,go, so.", [("", "so")]),  # other gaps stay as typed
        ("They, go.", [(1, 1, "so"), (1, 2, "")], "They so go.", [("", " so "), (", ", "")]),
        ("They go.", [(0, 0, "we"), (0, 1, "")], "We go.", [("", "We "), ("They ", "")]),
        ("They go,so.", [(3, 4, "but")], "They go,but.", [("so", "but")]),
        ("They ,go, so.", [(0, 1, "we")], "We ,go, so.", [("They", "We")]),
        ("They ca n't go .", [(1, 2, "don't")], "They do n't go .", [("ca n't", "do n't")]),
        ("They go .", [(1, 1, "can't")], "They ca n't go .", [("", " ca n't")]),
        ("They can go .", [(1, 2, "cannot")], "They cannot go .", [("can", "cannot")]),
        ("They're ok and don't go !", [(3, 4, "can't")], "They're ok and can't go !", [("don't", "can't")]),
        ("It’s ok, they dont go.", [(5, 6, "don't")], "It’s ok, they don’t go.", [("dont", "don’t")]),
        ("THE PRICE IS HIGH", [(1, 1, "new"), (4, 4, "!")], "THE NEW PRICE IS HIGH!", [("", " NEW"), ("", "!")]),
        ("We live in the U.S.", [(5, 5, "now")], "We live in the U.S. now.", [("", " now.")]),
        ("We live in the U.S.", [(4, 5, "car")], "We live in the car.", [("U.S.", "car.")]),
        ("We live in the U.S.", [(5, 6, "!")], "We live in the U.S.!", [("", "!")]),
        ("We live in the U.S.", [(5, 6, "")], "We live in the U.S.", []),
        ("We live in the car.", [(4, 5, "U.S.")], "We live in the U.S.", [("car.", "U.S.")]),
        ("We live in the U.S. now.", [(5, 6, "")], "We live in the U.S.", [(" now.", "")]),
        ("We live in the U.S. now .", [(5, 6, "")], "We live in the U.S. .", [(" now", "")]),
    ],
)
def test_edits_of_words_as_edits_of_the_text(
    text: str, changes: list[tuple[int, int, str]], corrected: str, edits: list[tuple[str, str]]
) -> None:
    assert write(text, *changes) == (corrected, edits)


@pytest.mark.parametrize(
    ("text", "changes", "corrected", "edits"),
    [
        ("because it is so", [], "Because it is so", [("because", "Because")]),
        ("“it is so", [], "“It is so", [("it", "It")]),
        ("iPhone prices", [], "iPhone prices", []),
        ("www.prices.org is ok", [], "www.prices.org is ok", []),
        ("do n't go .", [], "Do n't go .", [("do n't", "Do n't")]),
        ("Price is high", [(0, 0, "the")], "The price is high", [("", "The "), ("Price", "price")]),
        ("Paris is high", [(0, 0, "but")], "But Paris is high", [("", "But ")]),
        ("price is high", [(0, 0, "the")], "The price is high", [("", "The ")]),
        ("But price is high", [(0, 1, "")], "Price is high", [("But ", ""), ("price", "Price")]),
        ("Price is high", [(0, 1, "prices")], "Prices is high", [("Price", "Prices")]),
        ("Price is high", [(0, 0, "the"), (0, 1, "prices")], "The prices is high", [("", "The "), ("Price", "prices")]),
        ("Price is high", [(0, 1, "price")], "Price is high", []),
        ("Price is high", [(0, 1, "the price")], "The price is high", [("Price", "The price")]),
    ],
)
def test_the_sentence_capital(
    text: str, changes: list[tuple[int, int, str]], corrected: str, edits: list[tuple[str, str]]
) -> None:
    assert write(text, *changes) == (corrected, edits)


def test_each_edit_names_its_cause() -> None:
    insertion, agreement, mark = Edit(0, 0, (), ("the",)), Edit(1, 2, ("is",), ("are",)), Edit(0, 0, (), ('"',))

    def causes(text: str, edit: Edit[Words]) -> list[Edit[Words] | None]:
        return [cause for cause, _ in write_edits(read(text), 0, [edit])]

    assert causes("Price is high", insertion) == [insertion, insertion]
    assert causes("price is high", agreement) == [None, agreement]
    assert causes('price" is high', mark) == [mark, None]


def test_another_sentence_of_the_passage() -> None:
    assert write("It is ok.  he have a car.\n", (1, 2, "has"), sentence=0)[0] == "It has ok.  he have a car.\n"
    text = "It is ok.\nhe have a car.\n"
    assert write(text, (1, 2, "has"), sentence=1)[0] == "It is ok.\nHe has a car.\n"


@pytest.mark.parametrize(
    "changes", [[(1, 2, "a"), (0, 1, "a")], [(0, 2, "a"), (1, 3, "a")], [(2, 9, "a")], [(-1, 0, "a")]]
)
def test_edits_out_of_order_are_refused(changes: list[tuple[int, int, str]]) -> None:
    with pytest.raises(ValueError, match="in order"):
        write("They go now.", *changes)


@pytest.mark.parametrize(
    "edits",
    [
        [Edit(0, 4, "They", "We"), Edit(3, 5, "y ", "")],
        [Edit(0, 4, "they", "We")],
        [Edit(7, 9, "", "")],
        [Edit(-2, 0, "", "")],
        [Edit(3, 2, "", "")],
    ],
)
def test_edits_that_do_not_go_together_are_refused(edits: list[Edit[str]]) -> None:
    with pytest.raises(ValueError, match="overlaps another or is not of this source"):
        splice("They go", edits)


@st.composite
def edited_sentences(draw: st.DrawFn) -> tuple[str, list[Edit[Words]]]:
    """A sentence, plain or tokenised, and edits of its words, some side by side."""
    words = draw(st.lists(st.sampled_from(ORDINARY), min_size=2, max_size=8))
    spaced = draw(st.booleans())
    if draw(st.booleans()):
        words[0] = capitalize(words[0])
    text = words[0]
    for word in words[1:]:
        comma = draw(st.sampled_from(["", "", "", " ," if spaced else ","]))
        text += comma + draw(st.sampled_from([" ", " ", " ", "  "])) + word
    text += draw(st.sampled_from([" .", " ?"] if spaced else [".", "!", ""]))
    num_words = len(split(text))
    (sentence,) = read(text).sentences
    new = st.lists(st.sampled_from(ORDINARY), max_size=2).map(" ".join)
    changes: list[tuple[int, int, str]] = []
    at = 0
    for skipped, extent in draw(st.lists(st.tuples(st.sampled_from([0, 0, 1, 3]), st.integers(0, 2)), max_size=5)):
        at += skipped
        replacement = draw(new)
        if at + extent < num_words and (extent or replacement):
            changes.append((at, at + extent, replacement))
        at += extent
    return text, edits_of(sentence.words, *changes)


def edited(words: Sequence[str], edits: Sequence[Edit[Words]]) -> list[str]:
    """By hand, from right to left."""
    changed = list(words)
    for edit in reversed(edits):
        changed[edit.start : edit.end] = edit.replacement
    return changed


@given(edited_sentences())
def test_the_corrected_text_has_the_edited_words(case: tuple[str, list[Edit[Words]]]) -> None:
    text, edits = case
    passage = read(text)
    (sentence,) = passage.sentences
    written = write_edits(passage, 0, edits)
    corrected = splice(text, [edit for _, edit in written])
    words = edited(sentence.words, edits)
    assume(first_word(words) == 0)  # no mark left over in front
    assume(len([word for word in words if word != ","]) > 1)  # one word alone would be read as a heading
    assert words_of(corrected) == [" ".join(words)]
    assert corrected[0].isupper()
    assert corrected == corrected.strip()
    assert all(cause in edits or (cause is None and edit.start == 0) for cause, edit in written)
    assert all(edit.original != edit.replacement for _, edit in written)


@given(edited_sentences())
def test_words_that_no_edit_touches_stay(case: tuple[str, list[Edit[Words]]]) -> None:
    text, edits = case
    passage = read(text)
    (sentence,) = passage.sentences
    written = [edit for _, edit in write_edits(passage, 0, edits)]
    touched = {at for edit in edits for at in range(edit.start, edit.end)}
    for at, (low, high) in enumerate(sentence.spans):
        if at not in touched:
            inside = [edit for edit in written if edit.start < high and edit.end > low]
            assert all((edit.start, edit.end) == (low, high) for edit in inside)
            assert all(edit.original.lower() == edit.replacement.lower() for edit in inside)
    for at in range(1, len(sentence.spans)):  # and so do the blanks between two of them
        gap = (sentence.spans[at - 1][1], sentence.spans[at][0])
        between = any(edit.start <= at <= edit.end for edit in edits)
        if not between and at not in touched and at - 1 not in touched:
            assert not any(edit.start < gap[1] and edit.end > gap[0] for edit in written)


@given(edited_sentences())
def test_pure_replacements_carry_no_blanks_and_no_blank_is_doubled(case: tuple[str, list[Edit[Words]]]) -> None:
    text, edits = case
    text = " ".join(text.split())
    passage = read(text)
    written = write_edits(passage, 0, edits)
    assert "  " not in splice(text, [edit for _, edit in written])
    for cause, edit in written:
        one = cause is None or (cause.end - cause.start == 1 and len(cause.replacement) == 1)
        if one and edit.original.isalpha() and edit.replacement.strip().isalpha():
            assert edit.replacement == edit.replacement.strip()


@given(st.lists(st.sampled_from([*ORDINARY, "Paris", ","]), max_size=8), st.sampled_from([" ", "  ", "\t"]))
def test_without_edits_a_capitalised_sentence_stays(words: list[str], blank: str) -> None:
    assert write_edits(read(blank.join(["They", *words, "."])), 0, []) == []


SOURCE: Ids = tuple(range(5))


@st.composite
def edits_of_ids(draw: st.DrawFn) -> Edit[Ids]:
    start = draw(st.integers(0, 5))
    end = draw(st.integers(start, min(start + 2, 5)))
    return Edit(start, end, SOURCE[start:end], tuple(draw(st.lists(st.integers(10, 20), max_size=2))))


@given(one=edits_of_ids(), other=edits_of_ids())
def test_edits_that_do_not_overlap_are_both_made(one: Edit[Ids], other: Edit[Ids]) -> None:
    assert one.overlaps(other) == other.overlaps(one)
    if one.overlaps(other):
        return
    both = splice(SOURCE, [one, other])
    assert both == splice(SOURCE, [other, one])
    left = [word for at, word in enumerate(SOURCE) if not any(edit.start <= at < edit.end for edit in (one, other))]
    assert sorted(both) == sorted([*left, *one.replacement, *other.replacement])


def test_an_edit_overlaps_what_changes_the_same_words_or_the_same_gap() -> None:
    inserted, replaced, deleted = Edit(1, 1, "", "x"), Edit(1, 2, "b", "x"), Edit(0, 2, "ab", "")
    assert inserted.overlaps(Edit(1, 1, "", "y"))
    assert replaced.overlaps(deleted)
    assert inserted.overlaps(deleted)  # into what is gone
    assert not inserted.overlaps(replaced)
    assert not inserted.overlaps(Edit(2, 3, "c", ""))


@given(first=edits_of_ids(), second=edits_of_ids())
def test_edits_of_texts_words_and_ids_are_spliced_alike(first: Edit[Ids], second: Edit[Ids]) -> None:
    """A text whose letters stand for the ids, and a sentence whose words do."""

    def as_text(ids: Ids) -> str:
        return "".join(chr(ord("a") + id) for id in ids)

    def as_words(ids: Ids) -> Words:
        return tuple(f"word {id}" for id in ids)

    edits = [first, second]
    of_text = [Edit(edit.start, edit.end, as_text(edit.original), as_text(edit.replacement)) for edit in edits]
    of_words = [Edit(edit.start, edit.end, as_words(edit.original), as_words(edit.replacement)) for edit in edits]
    apart = not first.overlaps(second)
    assert apart != of_text[0].overlaps(of_text[1])
    assert apart != of_words[0].overlaps(of_words[1])
    changed = splice(SOURCE, edits[: 1 + apart])
    assert splice(as_text(SOURCE), of_text[: 1 + apart]) == as_text(changed)
    assert splice(as_words(SOURCE), of_words[: 1 + apart]) == as_words(changed)


@pytest.mark.parametrize("source", ["ab", ("a", "b"), (1, 2)])
def test_an_edit_of_another_source_is_refused_whatever_it_is_of(source: str | Words | Ids) -> None:
    with pytest.raises(ValueError, match="the edit at 0 overlaps another or is not of this source"):
        splice(source, [Edit(0, 1, source[1:], source[:0])])
    assert splice(source, [Edit(0, 1, source[:1], source[:0])]) == source[1:]
    assert splice(source[:0], []) == source[:0]


def test_the_same_change_is_the_same_edit_whatever_is_said_of_it() -> None:
    edit = Edit(3, 5, "go", "goes", "agreement", 2 / 3)
    assert edit == Edit(3, 5, "go", "goes", "word", 0.1)
    assert len({edit, Edit(3, 5, "go", "goes")}) == 1
    assert edit != Edit(3, 5, "go", "went", "agreement", 2 / 3)


def test_an_edit_as_json() -> None:
    assert Edit(3, 5, "go", "goes", "agreement", 2 / 3, 1 / 3).to_dict() == {
        "start": 3, "end": 5, "original": "go", "replacement": "goes", "kind": "agreement", "probability": 0.6667,
        "share": 0.3333,
    }  # fmt: skip
