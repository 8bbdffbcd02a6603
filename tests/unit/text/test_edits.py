"""Changes of words become edits of the text, and what no change touches stays as typed."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgmh.text.edits import Change, TextEdit, apply_edits, write_changes
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


def write(text: str, *changes: tuple[int, int, str], sentence: int = 0) -> tuple[str, list[tuple[str, str]]]:
    """The corrected text, and of each edit the original and the replacement."""
    found = [Change(start, end, tuple(words.split())) for start, end, words in changes]
    edits = [edit for _, edit in write_changes(read(text), sentence, found)]
    return apply_edits(text, edits), [(edit.original, edit.replacement) for edit in edits]


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
            "In the world oil price very high right now .",
            [(4, 5, "prices"), (5, 5, "are")],
            "In the world oil prices are very high right now .",
            [("price", "prices"), ("", " are")],
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
def test_changes_as_edits(
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
    insertion = Change(0, 0, ("the",))
    causes = [cause for cause, _ in write_changes(read("Price is high"), 0, [insertion])]
    assert causes == [insertion, insertion]
    found = write_changes(read("price is high"), 0, [Change(1, 2, ("are",))])
    assert [cause for cause, _ in found] == [None, Change(1, 2, ("are",))]
    found = write_changes(read('price" is high'), 0, [Change(0, 0, ('"',))])
    assert [cause for cause, _ in found] == [Change(0, 0, ('"',)), None]


def test_another_sentence_of_the_passage() -> None:
    assert write("It is ok.  he have a car.\n", (1, 2, "has"), sentence=0)[0] == "It has ok.  he have a car.\n"
    text = "It is ok.\nhe have a car.\n"
    assert write(text, (1, 2, "has"), sentence=1)[0] == "It is ok.\nHe has a car.\n"


@pytest.mark.parametrize(
    "changes", [[(1, 2, "a"), (0, 1, "a")], [(0, 2, "a"), (1, 3, "a")], [(2, 9, "a")], [(-1, 0, "a")]]
)
def test_changes_out_of_order_are_refused(changes: list[tuple[int, int, str]]) -> None:
    with pytest.raises(ValueError, match="in order"):
        write("They go now.", *changes)


@pytest.mark.parametrize(
    "edits",
    [
        [TextEdit(0, 4, "They", "We"), TextEdit(3, 5, "y ", "")],
        [TextEdit(0, 4, "they", "We")],
        [TextEdit(7, 9, "", "")],
        [TextEdit(-2, 0, "", "")],
        [TextEdit(3, 2, "", "")],
    ],
)
def test_edits_that_do_not_go_together_are_refused(edits: list[TextEdit]) -> None:
    with pytest.raises(ValueError, match="overlaps another or is not of this text"):
        apply_edits("They go", edits)


@st.composite
def changed_sentences(draw: st.DrawFn) -> tuple[str, list[Change]]:
    """A sentence, plain or tokenised, and changes of its words, some side by side."""
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
    new = st.lists(st.sampled_from(ORDINARY), max_size=2).map(tuple)
    changes: list[Change] = []
    at = 0
    for skipped, extent in draw(st.lists(st.tuples(st.sampled_from([0, 0, 1, 3]), st.integers(0, 2)), max_size=5)):
        at += skipped
        change = Change(at, at + extent, draw(new))
        if change.end < num_words and (extent or change.words):
            changes.append(change)
        at += extent
    return text, changes


def changed(words: Sequence[str], changes: Sequence[Change]) -> list[str]:
    found = list(words)
    for change in reversed(changes):
        found[change.start : change.end] = change.words
    return found


@given(changed_sentences())
def test_the_corrected_text_has_the_changed_words(case: tuple[str, list[Change]]) -> None:
    text, changes = case
    passage = read(text)
    (sentence,) = passage.sentences
    found = write_changes(passage, 0, changes)
    corrected = apply_edits(text, [edit for _, edit in found])
    words = changed(sentence.words, changes)
    assume(first_word(words) == 0)  # no mark left over in front
    assert words_of(corrected) == [" ".join(words)]
    assert corrected[0].isupper()
    assert corrected == corrected.strip()
    assert all(cause in changes or (cause is None and edit.start == 0) for cause, edit in found)
    assert all(edit.original != edit.replacement for _, edit in found)


@given(changed_sentences())
def test_words_that_no_change_touches_stay(case: tuple[str, list[Change]]) -> None:
    text, changes = case
    passage = read(text)
    (sentence,) = passage.sentences
    edits = [edit for _, edit in write_changes(passage, 0, changes)]
    touched = {at for change in changes for at in range(change.start, change.end)}
    for at, (low, high) in enumerate(sentence.spans):
        if at not in touched:
            inside = [edit for edit in edits if edit.start < high and edit.end > low]
            assert all((edit.start, edit.end) == (low, high) for edit in inside)
            assert all(edit.original.lower() == edit.replacement.lower() for edit in inside)
    for at in range(1, len(sentence.spans)):  # and so do the blanks between two of them
        gap = (sentence.spans[at - 1][1], sentence.spans[at][0])
        between = any(change.start <= at <= change.end for change in changes)
        if not between and at not in touched and at - 1 not in touched:
            assert not any(edit.start < gap[1] and edit.end > gap[0] for edit in edits)


@given(changed_sentences())
def test_pure_replacements_carry_no_blanks_and_no_blank_is_doubled(case: tuple[str, list[Change]]) -> None:
    text, changes = case
    text = " ".join(text.split())
    passage = read(text)
    found = write_changes(passage, 0, changes)
    assert "  " not in apply_edits(text, [edit for _, edit in found])
    for cause, edit in found:
        one = cause is None or (cause.end - cause.start == 1 and len(cause.words) == 1)
        if one and edit.original.isalpha() and edit.replacement.strip().isalpha():
            assert edit.replacement == edit.replacement.strip()


@given(st.lists(st.sampled_from([*ORDINARY, "Paris", ","]), max_size=8), st.sampled_from([" ", "  ", "\t"]))
def test_without_changes_a_capitalised_sentence_stays(words: list[str], blank: str) -> None:
    assert write_changes(read(blank.join(["They", *words])), 0, []) == []
