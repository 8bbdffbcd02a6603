"""What belongs to a fact, by examples."""

import pytest

from cgmh.text.belonging import is_preposition, with_belongings
from cgmh.text.facts import Fact, find_facts
from cgmh.text.vocabulary import SPECIALS, Vocabulary

KNOWN = (
    "how do i go from to in of by with without about not don't never you the a an my two three 2 5 2016 % cats dogs "
    "years ago or more than at least up only gym like and see is it , . ? Paris Berlin India"
).split()
VOCABULARY = Vocabulary([*SPECIALS, *KNOWN])


@pytest.mark.parametrize(
    ("sentence", "belonging"),
    [
        ("how do i go from Paris to the Berlin ?", ["from Paris", "to the Berlin"]),
        ("is it in Paris ?", ["Paris"]),  # alone, it may change its preposition
        ("i go to Paris .", ["to Paris"]),  # unless that is a direction
        ("i see two cats and 5 dogs .", ["two cats", "5 dogs"]),
        ("i see at least 5 cats in 2016 .", ["at least 5 cats", "in 2016"]),
        ("is it up to 5 % or more ?", ["up to 5 % or more"]),
        ("two years ago i see more than 5 .", ["two years ago", "more than 5"]),
        ("is it 5 ?", ["5"]),
        ("i see only my 5 cats .", ["only my 5 cats"]),
        ("is it without a gym ?", ["without a gym"]),
        ("don't you like it ?", ["don't you like"]),
        ("is it not in India ?", ["not in India"]),  # a name, denied
        ("is it not ?", ["not"]),
        ("is it not , dogs ?", ["not"]),
        ("never see not .", ["never see", "not"]),
    ],
)
def test_what_belongs_to_facts(sentence: str, belonging: list[str]) -> None:
    words = sentence.split()
    facts = with_belongings(words, find_facts(words, VOCABULARY))
    assert [" ".join(words[fact.start : fact.end]) for fact in facts] == belonging


def test_each_stays_of_its_kind() -> None:
    words = "not in Paris , 2 cats , never like it .".split()
    assert [fact.kind for fact in with_belongings(words, find_facts(words, VOCABULARY))] == [
        "names",
        "numbers",
        "negation",
    ]


def test_no_word_belongs_to_two() -> None:
    words = "2 more than 5 cats .".split()
    facts = with_belongings(words, find_facts(words, VOCABULARY))
    assert facts == [Fact("numbers", 0, 2), Fact("numbers", 2, 5)]


def test_prepositions() -> None:
    assert is_preposition("from")
    assert not is_preposition("only")
