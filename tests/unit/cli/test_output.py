"""Edits, marked in their text and as a list."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.cli.output import bracketed, green, listed, marked, red_and_green
from cgmh.result import Edit
from cgmh.text.edits import TextEdit, apply_edits

WORDS = st.text("ab ,.", max_size=4)


def edit(text: str, start: int, end: int, replacement: str, kind: str = "word", probability: float = 0.5) -> Edit:
    return Edit(start, end, text[start:end], replacement, kind, probability)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text of pieces, some of which are replaced."""
    text, edits = "", []
    for piece, new in draw(st.lists(st.tuples(WORDS, st.none() | WORDS), max_size=6)):
        if new is not None:
            edits.append(Edit(len(text), len(text) + len(piece), piece, new, "word", 0.5))
        text += piece + "c"  # so that no two edits are at one place
    return text, edits


def made(text: str, edits: list[Edit]) -> str:
    return apply_edits(text, [TextEdit(one.start, one.end, one.original, one.replacement) for one in edits])


@given(edited(), st.randoms(use_true_random=False))
def test_marks_around_what_is_new_make_the_corrected_text(given: tuple[str, list[Edit]], chance: object) -> None:
    text, edits = given
    chance.shuffle(edits)  # type: ignore[attr-defined]
    assert marked(text, edits, lambda _, new: new) == made(text, edits)
    shown = marked(text, edits, bracketed)
    assert re.sub(r"\[-.*?-\]|\{\+|\+\}", "", shown) == made(text, edits)
    before = re.sub(r"\{\+.*?\+\}|\[-|-\]", "", shown)
    assert before.split() == text.split() or re.sub(r"\s", "", before) == re.sub(r"\s", "", text)


@pytest.mark.parametrize(
    ("text", "change", "brackets"),
    [
        ("the price rose", (4, 9, "prices"), "the [-price-]{+prices+} rose"),
        ("we happy", (3, 3, "are "), "we {+are+} happy"),
        ("we", (2, 2, " are"), "we {+are+}"),
        ("I like the cats", (7, 11, ""), "I like [-the -]cats"),
        ("tea and milk", (3, 7, ","), "tea[-and-]{+,+} milk"),
        ("as is", (0, 0, ""), "as is"),
    ],
)
def test_brackets_and_colours(text: str, change: tuple[int, int, str], brackets: str) -> None:
    one = edit(text, *change)
    assert marked(text, [one], bracketed) == brackets
    shown = marked(text, [one], red_and_green)
    assert re.sub(r"\x1b\[\d+m", "", shown) == re.sub(r"\[-|-\]|\{\+|\+\}", "", brackets)
    assert ("\x1b[31m" in shown) == ("[-" in brackets)
    assert ("\x1b[32m" in shown) == ("{+" in brackets)
    assert re.sub(r"\x1b\[\d+m", "", marked(text, [one], green)) == made(text, [one])


def test_the_list() -> None:
    text = "the price of a  house rose the"
    edits = [
        edit(text, 4, 9, "prices", "number", 0.934),
        edit(text, 13, 21, "an\nhouse", "determiner", 0.5),
        edit(text, 22, 22, "had ", "auxiliary", 0.97),
        edit(text, 26, 30, "", "determiner", 1.0),
    ]
    assert listed(edits) == [
        "price → prices       0.93  number",
        "a house → an house   0.50  determiner",
        "+ had                0.97  auxiliary",
        "- the                1.00  determiner",
    ]
    assert listed([]) == []
