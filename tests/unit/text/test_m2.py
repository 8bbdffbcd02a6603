"""Blocks of M2: read, written, and made from edits of a text."""

import re

import pytest

from cgmh.errors import BadInput
from cgmh.tasks.correct.costs import COSTS
from cgmh.text.edits import Edit, splice
from cgmh.text.m2 import CATEGORIES, M2Edit, M2Sentence, are_tokenised, read_m2, to_m2, untouched
from cgmh.text.passages import Passage, read_passage
from cgmh.text.vocabulary import SPECIALS, Vocabulary

KNOWN = "he do like the price too high for us me ok it rains we this are dog a she say cat food see is late now".split()
VOCABULARY = Vocabulary([*SPECIALS, *KNOWN, *", . ! 's".split()])
TWO = """S he go to the school
A 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0
A 3 4|||U:DET||||||REQUIRED|||-NONE-|||0
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1

S fine
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

"""


def edits_of(text: str, *changes: tuple[str, str, str]) -> list[Edit[str]]:
    """Edits of what stands in brackets, which are not in the text: that, what stands instead, and the kind."""
    edits = []
    for marked, new, kind in changes:
        before, old, after = re.split(r"[\[\]]", marked)
        at = text.index(before + old + after) + len(before)
        edits.append(Edit(at, at + len(old), old, new, kind))
    return sorted(edits, key=lambda edit: (edit.start, edit.end))


def rows(passage: Passage, edits: list[Edit[str]]) -> list[list[str]]:
    """The lines of each block, without the fields that are always the same."""
    return [str(block).replace("|||REQUIRED|||-NONE-|||0", "").split("\n") for block in to_m2(passage, edits)]


def test_what_is_read_is_written() -> None:
    blocks = read_m2(TWO)
    assert "".join(f"{block}\n\n" for block in blocks) == TWO
    assert blocks[0].edits == {
        0: (M2Edit(1, 2, "R:VERB:SVA", ("goes",)), M2Edit(3, 4, "U:DET", ("",))),
        1: (),
    }
    assert blocks[0].corrected() == ("he", "goes", "to", "school")
    assert blocks[0].corrected(1) == blocks[0].tokens
    assert read_m2("S a b\r\nA 0 1|||R|||x||-NONE-|||REQUIRED|||-NONE-|||3\r\n")[0].edits == {
        3: (M2Edit(0, 1, "R", ("x", "")),)
    }
    assert read_m2("") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("A 0 1|||R|||x|||0", "gold, line 2: 4 fields, not 6"),
        ("A 0|||R|||x|||REQUIRED|||-NONE-|||0", "gold, line 2: '0' and '0': give the numbers"),
        ("A 0 1|||R|||x|||REQUIRED|||-NONE-|||me", "gold, line 2: '0 1' and 'me': give the numbers"),
        ("A 1 3|||R|||x|||REQUIRED|||-NONE-|||0", "gold, line 2: an edit of the tokens 1 to 3; the sentence has 2"),
        ("a line of text", "gold, line 2: begins with neither S nor A"),
    ],
)
def test_a_mistake_in_a_file_is_named(line: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        read_m2(f"S a b\n{line}\n", "gold")


def test_an_edit_before_any_sentence_is_a_mistake() -> None:
    with pytest.raises(BadInput, match="line 1: begins with neither"):
        read_m2("A 0 1|||R|||x|||REQUIRED|||-NONE-|||0")


def test_tokenised_text_keeps_its_tokens() -> None:
    text = "He do n't like  the price too high for the us ; e-mail me!? ok ."
    passage = read_passage(text, VOCABULARY)
    edits = edits_of(
        text,
        ("[do n't]", "does n't", "agreement"),
        ("[price]", "prices", "number"),
        ("price[] too", " are", "auxiliary"),
        ("for [the ]us", "", "determiner"),
    )
    (block,) = to_m2(passage, edits)
    assert list(block.tokens) == text.split()
    assert list(block.corrected()) == splice(text, edits).split()
    assert rows(passage, edits)[0][1:] == [
        "A 1 2|||R:VERB:SVA|||does",
        "A 5 6|||R:NOUN:NUM|||prices",
        "A 6 6|||M:VERB|||are",
        "A 9 10|||U:DET|||",
    ]


def test_a_tokenised_line_of_two_sentences_is_one_block() -> None:
    text = "1 . It rains . We stays ."
    passage = read_passage(text, VOCABULARY)
    assert len(passage.sentences) == 2
    edits = edits_of(text, ("We [stays]", "stay", "agreement"))
    assert rows(passage, edits) == [["S 1 . It rains . We stays .", "A 6 7|||R:VERB:SVA|||stay"]]
    assert rows(read_passage("1 . now we see it", VOCABULARY), [])[0][0] == "S 1 . now we see it"
    two = read_passage(f"{text}\nIt rains .", VOCABULARY)
    assert [block.tokens[0] for block in to_m2(two, edits)] == ["1", "It"]


def test_all_lines_together_say_whether_they_are_tokenised() -> None:
    assert are_tokenised(["It rains .", "4:they see it", "We stay . Mr. Dog , too."])
    assert not are_tokenised(["It rains.", "We stay , too.", "The end is here ... now"])
    assert not are_tokenised(["no marks", ""])
    text = "4:they see it"
    passage = read_passage(text, VOCABULARY)
    edits = edits_of(text, ("[they]", "They", "casing"), ("it[]", ".", "punctuation"))
    whole = to_m2(passage, edits, tokenised=True)
    assert [str(block).split("|||REQ")[0] for block in whole] == ["S 4:they see it\nA 0 1|||R:ORTH|||4:They"]
    assert [list(block.corrected()) for block in whole] == [splice(text, edits).split()]
    assert [block.tokens for block in to_m2(passage, edits)] == [("4", ":", "they", "see", "it")]


def test_plain_text_has_a_block_for_each_sentence() -> None:
    text = "- It’s a “apple”, she say. The cat's food (see 3)is late\tnow!"
    passage = read_passage(text, VOCABULARY)
    edits = edits_of(
        text, ("It’s [a]", "an", "agreement"), ("[say]", "says", "agreement"), ("late[]\tnow", ",", "comma")
    )
    assert rows(passage, edits) == [
        ["S It ’s a “ apple ” , she say .", "A 2 3|||R:DET|||an", "A 8 9|||R:VERB:SVA|||says"],
        ["S The cat 's food ( see 3 ) is late now !", "A 10 10|||M:PUNCT|||,"],
    ]


def test_edits_of_the_same_tokens_or_gap_are_one() -> None:
    text = "It rain today ."
    passage = read_passage(text, VOCABULARY)
    at = text.index(" today")
    tight = [Edit(3, 3, "", "b", "spelling"), Edit(5, 6, "i", "_", "spelling")]
    assert rows(passage, tight) == [["S It rain today .", "A 1 2|||R:SPELL|||bra_n"]]
    gap = [Edit(at, at, "", " a", "determiner"), Edit(at, at, "", " lot", "word")]
    assert rows(passage, gap) == [["S It rain today .", "A 2 2|||M:OTHER|||a lot"]]


def test_what_is_set_tight_to_a_token_changes_it() -> None:
    text = "It rain today ."
    passage = read_passage(text, VOCABULARY)
    assert rows(passage, [Edit(7, 7, "", "s", "agreement")])[0][1:] == ["A 1 2|||R:VERB:SVA|||rains"]
    assert rows(passage, [Edit(7, 8, " ", "", "joining")])[0][1:] == ["A 1 3|||R:ORTH|||raintoday"]
    assert rows(passage, [Edit(7, 8, " ", "  ", "word")])[0][1:] == ["A -1 -1|||noop|||-NONE-"]


def test_types_follow_the_words_where_these_say_more() -> None:
    text = "This are the dog tail ."
    passage = read_passage(text, VOCABULARY)
    edits = edits_of(
        text, ("[This]", "These", "agreement"), ("dog[]", " 's", "punctuation"), ("[tail]", "tails", "number")
    )
    assert [row.split("|||")[1] for row in rows(passage, edits)[0][1:]] == ["R:DET", "M:NOUN:POSS", "R:NOUN:NUM"]


def test_every_kind_has_a_category() -> None:
    kinds = {*COSTS.replace, *COSTS.insert, *COSTS.delete, "order"}
    assert kinds == set(CATEGORIES)


def test_text_without_a_sentence() -> None:
    for text, blocks in {"2.1 Results": [("2.1", "Results")], "": [], " \n ": []}.items():
        assert [block.tokens for block in to_m2(read_passage(text, VOCABULARY), [])] == blocks
        assert untouched(text) == [M2Sentence(tokens, {0: ()}) for tokens in blocks]
