"""What is printed: edits marked in their text and as a list, answers under headings, steps, messages."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.cli.input import Line
from cgmh.cli.output import Page, as_typed, bracketed, encodable, green, listed, marked, print_trace, red_and_green
from cgmh.result import Result, Sentence, Step
from cgmh.settings import Settings
from cgmh.text.edits import Edit, splice

WORDS = st.text("ab ,.", max_size=4)


def edit(text: str, start: int, end: int, replacement: str, kind: str = "word", probability: float = 0.5) -> Edit[str]:
    return Edit(start, end, text[start:end], replacement, kind, probability)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, list[Edit[str]]]:
    """A text of pieces, some of which are replaced."""
    text, edits = "", []
    for piece, new in draw(st.lists(st.tuples(WORDS, st.none() | WORDS), max_size=6)):
        if new is not None:
            edits.append(Edit(len(text), len(text) + len(piece), piece, new, "word", 0.5))
        text += piece + "c"  # so that no two edits are at one place
    return text, edits


@given(edited(), st.randoms(use_true_random=False))
def test_marks_around_what_is_new_make_the_corrected_text(given: tuple[str, list[Edit[str]]], chance: object) -> None:
    text, edits = given
    chance.shuffle(edits)  # type: ignore[attr-defined]
    assert marked(text, edits, lambda _, new: new) == splice(text, edits)
    shown = marked(text, edits, bracketed)
    assert re.sub(r"\[-.*?-\]|\{\+|\+\}", "", shown) == splice(text, edits)
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
    shown_edit = edit(text, *change)
    assert marked(text, [shown_edit], bracketed) == brackets
    shown = marked(text, [shown_edit], red_and_green)
    assert re.sub(r"\x1b\[\d+m", "", shown) == re.sub(r"\[-|-\]|\{\+|\+\}", "", brackets)
    assert ("\x1b[31m" in shown) == ("[-" in brackets)
    assert ("\x1b[32m" in shown) == ("{+" in brackets)
    assert re.sub(r"\x1b\[\d+m", "", marked(text, [shown_edit], green)) == splice(text, [shown_edit])


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


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("`max_words` 5 is too little; raise `max_words`", "--max-words 5 is too little; raise --max-words"),
        ("`n` 0 is out of range", "--n 0 is out of range"),
        ("see `cgmh models --help`", "see `cgmh models --help`"),  # no name of an argument
        ("nothing to change", "nothing to change"),
    ],
)
def test_names_of_arguments_are_options_of_the_command(message: str, typed: str) -> None:
    assert as_typed(message) == as_typed(ValueError(message)) == typed


def test_halves_of_characters_can_be_printed() -> None:
    assert encodable("a \udcff b") == "a ? b"
    assert encodable("a ß b") == "a ß b"


def result(name: str, *texts: str, **more: Any) -> Result:
    return Result(name, tuple(Sentence(text, (), 1.0, -1.0) for text in texts), {}, "", **more)


def test_answers_stand_under_headings_where_there_are_several(capsys: pytest.CaptureFixture[str]) -> None:
    for headings, shown in ((False, "a\nb\nc\n"), (True, "# one\na\nb\n\n# two\nc\n")):
        page = Page(headings=headings)
        page.print(Line("line 1", "one"), result("one", "a", "b"))
        page.print_refused(Line("line 2", "three"))  # nothing stands in its place
        page.print(Line("line 3", "two"), result("two", "c"))
        assert capsys.readouterr() == (shown, "")


def test_what_is_odd_about_answers_is_said_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    page = Page(headings=False)
    page.warn(Line("line 1", "one"), result("one", "a"))
    assert capsys.readouterr() == ("", "")
    page.warn(Line("line 1", "one"), result("one", "a", effective_samples=2.25))
    warning = "warning: one: these samples are worth 2.2 independent ones; raise --chains, or take --use target\n"
    assert capsys.readouterr() == ("", warning)
    assert page.is_short(result("one", "a"), Settings(n=2))
    assert not page.is_short(result("one", "a"), Settings(n=1))


def test_a_trace_is_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    steps = (
        Step(0, "We go.", "insert", 0.5, True),
        Step(3, "We stay.", "replace", -9.0, False),
        Step(4, "We can go.", "insert", 0.1, True),
        Step(7, "We can go.", "replace", 0.1, True),
    )
    print_trace(result("go", "We can go.", trace=steps, traced_from="Go."))
    assert (
        capsys.readouterr().out
        == """
 step     sentence    move
start     Go.
    0     We go.      insert We
    3  x  We stay.    replace go with stay
    4  *  We can go.  insert can
    7     We can go.  replace
"""
    )
    print_trace(result("go", "We can go.", trace=steps[:2]))  # where the chain began is not known
    assert capsys.readouterr().out.splitlines()[2:] == [
        "    0     We go.    insert",
        "    3  x  We stay.  replace go with stay",
    ]
