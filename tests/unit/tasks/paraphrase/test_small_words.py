"""Small words that came or went."""

import pytest

from cgmh.tasks.paraphrase.small_words import SMALL_WORDS, SmallWords
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary

KNOWN = (
    "how what why can could should do does I you we learn it the best better more if because and ? How a in "
    "month week reduce lower increase this"
).split()
SOURCES = ("how can I learn it ?", "what should we do and why ?", "how can I reduce it in a month ?")


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("how can I learn it ?", {}),
        ("How could we learn it ?", {}),  # another casing, or a word of the same group
        ("how can you learn it ?", {"person": 2}),  # one lost, one won
        ("how should I learn it ?", {"modal": 1}),
        ("how do I learn it ?", {}),  # a modal may go
        ("what can I learn ?", {"question": 2}),
        ("can I learn it ?", {"question": 1}),
        ("how can I learn it best ?", {"degree": 1}),
        ("how can I learn this ?", {"pointer": 1}),
        ("how can I learn the better and more if I can ?", {"degree": 2, "link": 2, "person": 1, "modal": 1}),
    ],
)
def test_what_came_or_went(sentence: str, changed: dict[str, int]) -> None:
    lexicon = Lexicon(Vocabulary([*SPECIALS, *KNOWN]))
    small_words = SmallWords([[lexicon.add(word) for word in source.split()] for source in SOURCES], lexicon)
    ids = [lexicon.add(word) for word in sentence.split()]
    counted = small_words(Sentences.from_lists([ids], 20, [0]))
    assert {name: int(number) for name, number in counted.items() if number} == changed


def test_each_input_has_its_own_source() -> None:
    lexicon = Lexicon(Vocabulary([*SPECIALS, *KNOWN]))
    rows = [[lexicon.add(word) for word in source.split()] for source in SOURCES]
    small_words = SmallWords(rows, lexicon)
    counted = small_words(Sentences.from_lists([rows[1], rows[1]], 9, [0, 1]))
    assert counted["question"].tolist() == [3, 0]
    assert counted["link"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("how can I lower it in a month ?", {}),
        ("how can I increase it in a month ?", {"opposite": 1}),
        ("how can I reduce it in a week ?", {"unit": 2}),
    ],
)
def test_a_direction_and_a_unit(sentence: str, changed: dict[str, int]) -> None:
    lexicon = Lexicon(Vocabulary([*SPECIALS, *KNOWN]))
    small_words = SmallWords([[lexicon.add(word) for word in source.split()] for source in SOURCES], lexicon)
    counted = small_words(Sentences.from_lists([[lexicon.add(word) for word in sentence.split()]], 20, [2]))
    assert {name: int(number) for name, number in counted.items() if number} == changed


def test_no_word_is_in_two_groups() -> None:
    words = [word for groups in SMALL_WORDS.values() for group in groups for word in group.split()]
    assert len(words) == len(set(words))
