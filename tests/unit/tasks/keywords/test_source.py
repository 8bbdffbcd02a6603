"""How keywords are read."""

import pytest

from cgmh.errors import BadInput, InfeasibleStart
from cgmh.inputs import KeywordInput
from cgmh.tasks.keywords.source import MAX_WORDS, KeywordSource, read_keywords
from cgmh.text.vocabulary import SPECIALS, Vocabulary

WORDS = "walk walks walked Walk the The THE dog Bob bob us US can't , . ! visit prime minister car auto".split()
SMALL = Vocabulary([*SPECIALS, *WORDS])


def read(*keywords: str, vocabulary: Vocabulary = SMALL, **asked: object) -> KeywordSource:
    return read_keywords(KeywordInput(keywords, **asked), vocabulary)  # type: ignore[arg-type]


def forms(*keywords: str, **asked: object) -> list[list[list[set[str]]]]:
    """Of each keyword the alternatives, of each alternative the places, of each place the forms."""
    return [
        [[set(place) for place in phrase] for phrase in phrases] for phrases in read(*keywords, **asked).requirements
    ]


@pytest.mark.parametrize(
    ("keyword", "places"),
    [
        ("the", [{"the", "The", "THE"}]),
        ("The", [{"The"}]),  # with capitals, exactly so
        ("BOB", [{"BOB"}]),
        ("walk", [{"walk", "Walk"}]),
        ("zorbling", [{"zorbling"}]),  # a word that the vocabulary lacks
        ("prime minister", [{"prime"}, {"minister"}]),
        ("can’t", [{"can't"}]),
        ("dog,", [{"dog"}, {","}]),
        ("C++", [{"C++"}]),  # as it was typed, where the parts would not come back so
    ],
)
def test_the_forms_of_a_keyword(keyword: str, places: list[set[str]]) -> None:
    assert forms(keyword) == [[places]]


def test_inflections_and_alternatives() -> None:
    assert forms("walk", inflect=True) == [[[{"walk", "Walk", "walks", "walked"}]]]
    assert forms("Walk", inflect=True) == [[[{"Walk"}]]]
    assert forms("car|prime minister", "dog") == [[[{"car"}], [{"prime"}, {"minister"}]], [[{"dog"}]]]


def test_forbidden_words_in_every_casing() -> None:
    source = read("dog", forbid=("The", "zorbling", "!"))
    assert set(source.forbidden) == {"The", "the", "THE", "zorbling", "!"}
    assert source.endings == ["."]  # of those that the vocabulary has
    assert forms("car|auto", forbid=("car",)) == [[[{"auto"}]]]
    assert forms("walk", inflect=True, forbid=("walks", "walk")) == [[[{"walked"}]]]


@pytest.mark.parametrize(
    ("keywords", "asked", "error", "message"),
    [
        ((), {}, BadInput, "no keywords; give at least one word"),
        (("",), {}, BadInput, "'' is not a keyword"),
        (("dog|",), {}, BadInput, r"'dog\|' is not a keyword"),
        (("\udcff",), {}, BadInput, "is not valid text; type it in UTF-8"),
        (("dog",), {"forbid": ("dog",)}, InfeasibleStart, "'dog' is both required and forbidden; drop one"),
        (("dog",), {"forbid": ("the car",)}, BadInput, "`forbid` takes one word at a time, not 'the car'"),
        (("dog",), {"forbid": (".", "!")}, InfeasibleStart, "every mark that can end a sentence is forbidden"),
        (("dog",), {"min_words": 5, "max_words": 4}, BadInput, "`min_words` 5 and `max_words` 4 must satisfy"),
        (("dog",), {"min_words": -1}, BadInput, "`min_words` -1"),
        (("dog",), {"max_words": MAX_WORDS + 1}, BadInput, f"1 <= max <= {MAX_WORDS}"),
        (("prime minister", "dog"), {"max_words": 2}, InfeasibleStart, "3 words, more than `max_words` 2; raise it"),
        (("dog,", *[","] * 10), {}, BadInput, "11 of the words and phrases have words in common; at most 10"),
        (("dog",) * (MAX_WORDS + 1), {"max_words": MAX_WORDS}, InfeasibleStart, "41 keywords; at most 40 fit"),
    ],
)
def test_keywords_that_cannot_be_answered(
    keywords: tuple[str, ...], asked: dict[str, object], error: type[BadInput], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        read(*keywords, **asked)
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


def test_the_shortest_alternative_decides_what_fits() -> None:
    assert read("prime minister|car", max_words=1).requirements
    assert read("dog", ",", ",", max_words=1).requirements  # marks are no words
