"""Keywords: whole phrases between stop words, the best first."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.text.rake import STOP_WORDS, extract_keywords

QUESTION = "what is the best way to learn machine learning online with python ?".split()


def keywords(words: list[str], share: float) -> list[str]:
    return [words[at] for at in extract_keywords(words, share)]


def test_the_longest_phrase_comes_first() -> None:
    assert keywords(QUESTION, 0.3) == ["learn", "machine", "learning", "online"]
    assert keywords(QUESTION, 0.7) == ["best", "learn", "machine", "learning", "online"]
    assert keywords(QUESTION, 1.0) == ["best", "learn", "machine", "learning", "online", "python"]


def test_of_equals_the_earlier_is_taken() -> None:
    assert keywords("the river and the mountain".split(), 0.5) == ["river"]


def test_a_repeated_word_is_scored_over_all_its_places() -> None:
    # money: degree 1 + 2 over frequency 2, so "black money" scores 2 + 1.5, less than the 4 of "rupee notes".
    words = "is money the black money of the rupee notes".split()
    assert keywords(words, 0.1) == ["rupee", "notes"]
    assert keywords(words, 0.6) == ["black", "money", "rupee", "notes"]
    assert keywords("is money in the black money".split(), 0.1) == ["black", "money"]


def test_one_keyword_at_least_and_none_without_content() -> None:
    assert keywords(["the", "dog", "?"], 0.0) == ["dog"]
    assert keywords("what is it ?".split(), 1.0) == []
    assert keywords([], 1.0) == []


def test_stop_words_in_any_case_and_marks_part_phrases() -> None:
    assert keywords(["WHAT", "Is", "black", ",", "money"], 0.5) == ["black"]


@pytest.mark.parametrize("word", ["best", "money", "learn", "difference", "Trump"])
def test_words_that_stay_in_a_paraphrase_are_content(word: str) -> None:
    assert word not in STOP_WORDS


@given(st.lists(st.sampled_from("the of dog cat red ? , money".split()), max_size=15), st.floats(0, 1))
def test_a_larger_share_keeps_what_a_smaller_one_keeps(words: list[str], share: float) -> None:
    kept = extract_keywords(words, share)
    assert kept == sorted(set(kept))
    assert set(kept) <= set(extract_keywords(words, 1.0))
    content = [at for at, word in enumerate(words) if word not in "the of ? ,".split()]
    assert extract_keywords(words, 1.0) == content
    assert len(kept) >= share * len(content)
