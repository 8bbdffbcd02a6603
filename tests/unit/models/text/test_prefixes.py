"""Texts that were read: found by what they begin with, the ones of use last kept."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from cgmh.models.text.prefixes import ReadText, ReadTexts, num_common

TOKENS = st.lists(st.integers(0, 2), min_size=1, max_size=6).map(tuple)


def read(tokens: tuple[int, ...]) -> ReadText:
    length = len(tokens)
    return ReadText(tokens, torch.zeros(1, length, 2, 1, 1), torch.zeros(length, 1), torch.zeros(length))


@given(st.lists(TOKENS, max_size=8), TOKENS)
def test_the_one_that_begins_most_alike_is_found(texts: list[tuple[int, ...]], wanted: tuple[int, ...]) -> None:
    kept = ReadTexts(1000)
    for text in texts:
        kept.keep(read(text))
    found, known = kept.find(wanted)
    assert known == max((num_common(text, wanted) for text in texts), default=0)
    assert (found is None) == (known == 0)
    assert found is None or found.tokens[:known] == wanted[:known]


def test_those_of_use_last_stay() -> None:
    kept = ReadTexts(5)
    for text in ((1, 1), (2, 2), (1, 1)):
        kept.keep(read(text))
    assert kept.find((1, 3))[1] == 1  # so that (2, 2) is the one that goes
    kept.keep(read((3, 3)))
    assert [kept.find(text)[1] for text in ((1, 1), (2, 2), (3, 3))] == [2, 0, 2]
    kept.keep(read((4,) * 6))  # too long by itself: nothing stays
    assert [kept.find(text)[1] for text in ((1, 1), (3, 3), (4, 4))] == [0, 0, 0]


def test_none_are_kept_where_there_is_no_room() -> None:
    kept = ReadTexts(0)
    kept.keep(read((1, 2)))
    assert kept.find((1, 2)) == (None, 0)
