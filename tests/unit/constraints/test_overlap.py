"""Overlap is sentence BLEU as sacrebleu counts it; Differs makes a factor of the rest."""

import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cgmh.constraints import Differs, Overlap
from cgmh.constraints.overlap import MIN_DIFFERENCE
from cgmh.laws import check_constraint
from cgmh.text.sentences import Sentences
from meanings import NUM_IDS, OUT, A, B, C, D, bleu, classes

torch.set_num_threads(1)


def overlap(source: list[int], *lists: list[int], capacity: int = 0) -> list[float]:
    capacity = capacity or max(map(len, lists)) + 1
    return Overlap([source], classes())(Sentences.from_lists(lists, capacity)).tolist()


def test_by_hand() -> None:
    source = [A, B, C, A]
    assert overlap(source, source, [OUT, D], [], [D]) == pytest.approx([1, 0, 0, 0])
    # A B C: precisions 3/3, 2/2, 1/1 and no 4-gram, so order 3; one word short: exp(1 - 4/3)
    assert overlap(source, [A, B, C]) == pytest.approx([math.exp(-1 / 3)])
    # A OUT OUT OUT: 1/4, then nothing of 3, 2 and 1: 1/2, 1/4 and 1/8 of a match
    assert overlap(source, [A, OUT, OUT, OUT]) == pytest.approx([(1 / 4 * 1 / 6 * 1 / 8 * 1 / 8) ** 0.25])
    # A three times, of which the source has two: 2/3; and smoothed 1/2 of 2 and 1/4 of 1; one word short
    assert overlap(source, [A, A, A]) == pytest.approx([(2 / 3 * 1 / 4 * 1 / 4) ** (1 / 3) * math.exp(-1 / 3)])


def test_the_closing_mark_does_not_count() -> None:
    assert overlap([A, B, C, B, D], [A, B, C, B, D], [A, B, C, B]) == pytest.approx([1, 1])
    assert overlap([A, B, C, B], [A, B, C, B, D]) == pytest.approx([1])
    inside = overlap([A, D, B, C, D], [A, D, B, C, D], [A, B, C, D, D])  # but inside a sentence it is a word
    assert inside[0] == pytest.approx(1)
    assert inside[1] == pytest.approx(bleu([A, D, B, C], [A, B, C, D, D]))


def test_casings_are_one_word() -> None:
    same = classes()
    same[OUT] = A
    assert float(Overlap([[A, B, C, B]], same)(Sentences.from_lists([[OUT, B, C, B]], 5))) == pytest.approx(1)
    assert overlap([A, B, C, B], [OUT, B, C, B])[0] < 0.9


@pytest.mark.parametrize("source", [[A], [A, B, D], [A, A, A], [C, A, B, A, B, C], [A, D, D], [D]], ids=str)
def test_agrees_with_sacrebleu_on_every_short_sentence(source: list[int]) -> None:
    lists = [list(some) for length in range(6) for some in itertools.product((A, B, D, OUT), repeat=length)]
    expected = [bleu(source, words) for words in lists]
    assert overlap(source, *lists) == pytest.approx(expected, abs=1e-9)


WORDS = st.lists(st.integers(0, NUM_IDS - 1), max_size=30)


@settings(max_examples=150)
@given(sources=st.lists(WORDS, min_size=1, max_size=3), lists=st.lists(WORDS, min_size=1, max_size=6), data=st.data())
def test_agrees_with_sacrebleu(sources: list[list[int]], lists: list[list[int]], data: st.DataObject) -> None:
    """Also on sentences that are edits of a source, which share long runs of words with it."""
    for source in sources:
        cut = data.draw(st.integers(0, len(source)))
        lists = [*lists, source[:cut] + source[cut + 1 :], source[cut:] + source[:cut]]
    inputs = [data.draw(st.integers(0, len(sources) - 1)) for _ in lists]
    sentences = Sentences.from_lists(lists, 31, inputs)
    built = Overlap(sources, classes())
    expected = [bleu(sources[input], words) for words, input in zip(lists, inputs, strict=True)]
    assert built(sentences).tolist() == pytest.approx(expected, abs=1e-9)
    check_constraint(Differs(built, 2.5), sentences)


@pytest.mark.parametrize("capacity", [1, 2, 3, 4])
def test_arrays_shorter_than_the_longest_run(capacity: int) -> None:
    assert overlap([A, B, C, A], [A], capacity=capacity) == pytest.approx([math.exp(-3)])


def test_sixty_different_words_are_told_apart() -> None:
    source = list(range(100, 160))
    lists = [source, [*source[:30], *source[31:]], source[::-1]]
    found = Overlap([source], torch.arange(160))(Sentences.from_lists(lists, 61)).tolist()
    assert found == pytest.approx([bleu(source, words) for words in lists], abs=1e-9)
    assert found[2] == pytest.approx((1 * (1 / 2 / 59) * (1 / 4 / 58) * (1 / 8 / 57)) ** 0.25)


def test_the_difference_is_a_finite_factor() -> None:
    built = Overlap([[A, B, C, B]], classes())
    sentences = Sentences.from_lists([[A, B, C, B], [OUT], [A, B, C]], 5)
    differs = Differs(built, 3.0)
    assert not differs.hard
    factor = differs.log_factor(sentences).tolist()
    assert factor == pytest.approx([3 * math.log(MIN_DIFFERENCE), 0.0, 3 * math.log(1 - math.exp(-1 / 3))])
    check_constraint(differs, sentences)
    assert Differs(built, 0.0).log_factor(sentences).tolist() == [0.0, 0.0, 0.0]
