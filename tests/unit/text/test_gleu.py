"""GLEU: numbers worked by hand, the draws of references, and what holds for all sentences."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.text.gleu import compare, drawn_gleu, gleu, ngrams, reference_statistics, score

SOURCE, HYPOTHESIS, REFERENCE = "a b c d e".split(), "a b x d e".split(), "a b x d f".split()
tokens = st.lists(st.sampled_from("a b c d e f".split()), min_size=1, max_size=9)


def statistics(source: list[str], hypothesis: list[str], reference: list[str]) -> tuple[int, ...]:
    return compare(ngrams(source), ngrams(hypothesis), ngrams(reference))


def smoothed(source: list[str], hypothesis: list[str], reference: list[str]) -> float:
    """The score of one sentence as the choice of a consensus sees it."""
    return float(score(statistics(source, hypothesis, reference), smooth=True))


def test_statistics_worked_by_hand() -> None:
    # 1: a b x d are in the reference, e was kept from the source: 4 - 1.   2: ab bx xd, less de: 3 - 1.
    # 3: abx bxd; xde was not in the source.   4: abxd.
    assert statistics(SOURCE, HYPOTHESIS, REFERENCE) == (5, 5, 3, 5, 2, 4, 2, 3, 1, 2)


def test_score_worked_by_hand() -> None:
    assert gleu([SOURCE], [HYPOTHESIS], [[REFERENCE]]) == pytest.approx(100 * 0.1**0.25)  # 3/5 2/4 2/3 1/2
    expected = 100 * (4 / 6 * 3 / 5 * 3 / 4 * 2 / 3) ** 0.25
    assert smoothed(SOURCE, HYPOTHESIS, REFERENCE) == pytest.approx(expected)


def test_shorter_than_the_reference_costs_longer_does_not() -> None:
    short, long = "a b c d".split(), "a b c d e f".split()
    assert gleu([["z"]], [short], [[long]]) == pytest.approx(100 * math.exp(1 - 6 / 4))
    assert gleu([["z"]], [long], [[short]]) == pytest.approx(100 * (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25)


def test_ngrams_are_counted_no_more_often_than_they_are_there() -> None:
    assert statistics(["a"], ["b", "b", "b"], ["b", "b"])[2:4] == (2, 3)
    assert statistics(["a"], ["b", "a", "a", "b"], ["b", "b"])[2:4] == (1, 4)  # the source had one a to keep


def test_order_that_counts_against_has_zero_in_its_own_sentence() -> None:
    assert statistics(["a", "b"], ["a", "b"], ["c", "d"])[2:6] == (0, 2, 0, 1)


def test_words_keep_their_casing() -> None:
    assert statistics(["he"], ["he"], ["He"])[2] == 0


def test_statistics_add_up_over_the_corpus() -> None:
    corpus = [(SOURCE, HYPOTHESIS, REFERENCE), (["a", "b"], ["a", "c"], ["a", "c"])]
    sums = np.sum([statistics(*sentence) for sentence in corpus], axis=0)
    assert sums.tolist() == [7, 7, 5, 7, 3, 5, 2, 3, 1, 2]
    sources, hypotheses, references = zip(*corpus, strict=True)
    whole = gleu(sources, hypotheses, [[reference] for reference in references])
    assert whole == pytest.approx(100 * (5 / 7 * 3 / 5 * 2 / 3 * 1 / 2) ** 0.25) == pytest.approx(float(score(sums)))


def test_draws_are_those_of_the_script_of_the_authors() -> None:
    other = "a b c g h".split()
    sentences = [
        (SOURCE, HYPOTHESIS, [REFERENCE, SOURCE, HYPOTHESIS]),
        (SOURCE, other, [other, HYPOTHESIS, REFERENCE]),
        (other, SOURCE, [SOURCE, other, HYPOTHESIS]),
    ]
    scores = []
    for draw in range(7):
        random.seed(draw * 101)
        chosen = [random.randint(0, 2) for _ in sentences]
        picked = [statistics(s, h, refs[at]) for (s, h, refs), at in zip(sentences, chosen, strict=True)]
        scores.append(float(score(np.sum(picked, axis=0))))
    assert len(set(scores)) > 1
    columns = [list(column) for column in zip(*sentences, strict=True)]
    assert gleu(*columns, draws=7) == pytest.approx(np.mean(scores))
    assert gleu(*columns, draws=7) != gleu(*columns, draws=7, seed=1)


def test_sentences_may_have_different_numbers_of_references() -> None:
    rows = [
        reference_statistics(SOURCE, HYPOTHESIS, [REFERENCE]),
        reference_statistics(SOURCE, REFERENCE, [REFERENCE, REFERENCE, REFERENCE]),
    ]
    once = [reference_statistics(SOURCE, HYPOTHESIS, [REFERENCE]), reference_statistics(SOURCE, REFERENCE, [REFERENCE])]
    assert drawn_gleu(rows, 20) == pytest.approx(drawn_gleu(once, 20))


def test_every_reference_is_drawn_alike() -> None:
    right, wrong = "p q r s".split(), "a b c d".split()
    rows = [reference_statistics(["z"], right, [right, wrong, wrong, wrong])] * 40
    # A corpus of equal sentences scores the share of draws that took the right one, up to Monte Carlo error.
    assert drawn_gleu(rows, 500) == pytest.approx(25, abs=1.5)


@given(st.lists(st.tuples(tokens, tokens), min_size=1, max_size=4))
def test_what_the_reference_says_scores_full(corpus: list[tuple[list[str], list[str]]]) -> None:
    sources, wanted = zip(*corpus, strict=True)
    assume(any(len(reference) >= 4 for reference in wanted))
    assert gleu(sources, wanted, [[reference] for reference in wanted], draws=3) == pytest.approx(100)
    assert all(smoothed(source, same, same) == pytest.approx(100) for source, same in corpus)


@given(tokens, tokens)
def test_fixing_an_error_beats_a_wrong_try_and_that_beats_copying_it(left: list[str], right: list[str]) -> None:
    source, reference, other = [*left, "bad", *right], [*left, "good", *right], [*left, "new", *right]
    copied, tried, fixed = (smoothed(source, hypothesis, reference) for hypothesis in (source, other, reference))
    assert copied < tried < fixed


@given(tokens, tokens, tokens)
def test_scores_are_shares(source: list[str], hypothesis: list[str], reference: list[str]) -> None:
    assert 0 <= float(score(statistics(source, hypothesis, reference))) <= 100 + 1e-9
    assert 0 < smoothed(source, hypothesis, reference) <= 100 + 1e-9
    # Source n-grams only ever count against what kept them.
    free = smoothed(["nothing"], hypothesis, reference)
    assert smoothed(source, hypothesis, reference) <= free + 1e-9


def test_empty_sentences_have_a_score_too() -> None:
    assert smoothed(["a"], [], ["a"]) == 0
    assert smoothed(["a"], [], []) == pytest.approx(100)
    assert gleu([SOURCE, []], [REFERENCE, []], [[REFERENCE], [[]]]) == pytest.approx(100)


def test_mistakes_are_told() -> None:
    with pytest.raises(BadInput, match="2 sources, 1 corrections and references of 2 sentences"):
        gleu([["a"], ["b"]], [["a"]], [[["a"]], [["b"]]])
    with pytest.raises(BadInput, match="at least one sentence"):
        gleu([], [], [])
    with pytest.raises(BadInput, match="sentence 2 has no reference"):
        gleu([["a"], ["b"]], [["a"], ["b"]], [[["a"]], []])
    with pytest.raises(BadInput, match="0 draws"):
        gleu([["a"]], [["a"]], [[["a"]]], draws=0)
