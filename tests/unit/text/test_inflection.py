"""A keyword and its other forms."""

import subprocess
import sys

import pytest

from cgmh.text.inflection import inflection_kinds, inflections


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("run", "run runs ran running"),
        ("ran", "run runs ran running"),
        ("lottery", "lottery lotteries"),
        ("lotteries", "lottery lotteries"),
        ("children", "child children"),
        ("taught", "teach teaches taught teaching"),
        ("good", "good better best"),
        ("was", "be am is are was were being been"),
        ("leaves", "leaf leaves leave left leaving"),
        ("saw", "see sees seen seeing saw saws sawed"),
    ],
)
def test_forms_of_a_word(word: str, forms: str) -> None:
    assert inflections(word) >= set(forms.split())


@pytest.mark.parametrize(
    ("kind", "pairs"),
    [
        ("agreement", "has have, is are, am is, was were, does do, feels feel, comes come, puts put"),
        ("number", "apple apples, price prices, child children, childrens children, website websites, go goes"),
        ("tense", "is was, are were, has had, goes went, walk walked, came comes, felt feel"),
        (
            "inflection",
            "go gone, went gone, eat eating, broke broken, be is, learned learnt, good better, put putting, goed went",
        ),
    ],
)
def test_what_tells_two_forms_apart(kind: str, pairs: str) -> None:
    for pair in pairs.split(", "):
        one, other = pair.split()
        assert inflection_kinds(one, lambda _: True)[other] == kind, pair


def test_a_word_has_no_forms_of_other_words() -> None:
    assert inflections("teacher") == {"teacher", "teachers"}
    assert "run" not in inflections("runner")


def test_forms_are_in_lower_case() -> None:
    assert inflections("Run") == inflections("RUN") == inflections("run")


@pytest.mark.parametrize(
    "word", ["BMW", "Zürich", "👍🏽", "RTX-4090", "blorf", "don't", "", "prime minister", "\ud800", "123"]
)
def test_an_unknown_word_is_its_only_form(word: str) -> None:
    assert inflections(word) == {word.lower()}


def test_rules_guess_only_known_forms() -> None:
    vocabulary = {"website", "websites", "blog", "blogs", "blogged", "blogging", "la", "las"}
    assert inflections("website", vocabulary.__contains__) == {"website", "websites"}
    assert inflections("websites", vocabulary.__contains__) == {"website", "websites"}
    assert inflections("blogs", vocabulary.__contains__) == {"blog", "blogs", "blogged", "blogging"}
    assert inflections("blorf", vocabulary.__contains__) == {"blorf"}
    assert inflections("la", vocabulary.__contains__) == {"la"}


@pytest.mark.parametrize("word", ["BMW", "Zürich", "👍🏽", "RTX-4090", "", "ßßß", "日本語", "\ud800", "x" * 300])
def test_guessing_bears_any_string(word: str) -> None:
    assert inflections(word, set().__contains__) == {word.lower()}


def test_the_dictionary_is_loaded_when_it_is_needed() -> None:
    code = "import sys, cgmh.text.inflection; sys.exit('lemminflect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("word", ["the", "but", "her", "his", "she", "with"])
def test_words_of_the_closed_classes_have_one_form(word: str) -> None:
    assert inflections(word, lambda _: True) == {word}
