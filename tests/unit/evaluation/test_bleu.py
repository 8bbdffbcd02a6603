"""BLEU against hand-worked numbers and, on any lines, against sacrebleu."""

import math

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.evaluation.bleu import bleu, bleu_counts, bleu_from_counts, sentence_bleu

LINES = st.lists(st.sampled_from("abcd"), min_size=0, max_size=7).map(" ".join)
REFERENCES = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7).map(" ".join)


def test_bleu_by_hand() -> None:
    # Matches of 1 to 4 words: 4 of 5, 3 of 4, 2 of 3, 1 of 2; as long as the reference, so no brevity penalty.
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert bleu(["a b c d e"], ["a b c d f"]) == pytest.approx(expected)


def test_bleu_of_a_short_output_is_cut() -> None:
    # Every n-gram matches; 5 words for 6 give exp(1 - 6/5).
    assert bleu(["a b c d e"], ["a b c d e f"]) == pytest.approx(100 * math.exp(1 - 6 / 5))


def test_bleu_is_that_of_the_corpus_and_no_mean() -> None:
    outputs, references = ["a b c d e", "a b c d e f g"], ["a b c d f", "a b c d e f g"]
    matches, totals = [4 + 7, 3 + 6, 2 + 5, 1 + 4], [5 + 7, 4 + 6, 3 + 5, 2 + 4]
    expected = 100 * math.prod(m / t for m, t in zip(matches, totals, strict=True)) ** (1 / 4)
    assert bleu(outputs, references) == pytest.approx(expected)
    assert bleu(outputs, references) != pytest.approx(sum(sentence_bleu(outputs, references)) / 2)


def test_tokens_are_compared_as_they_stand() -> None:
    # Another tokenizer would take "n't" or "u.s" apart and find matches in it.
    assert bleu(["why ca n't i see the u.s"], ["why ca n't i see the u.s"]) == pytest.approx(100)
    assert bleu(["u.s"], ["u s"]) == 0


def test_sentence_bleu_counts_the_orders_that_a_short_sentence_has() -> None:
    assert sentence_bleu(["a b", "a b c d e"], ["a b", "a b c d f"]) == pytest.approx(
        [100, bleu(["a b c d e"], ["a b c d f"])]
    )


@given(st.lists(st.tuples(LINES, REFERENCES), min_size=1, max_size=4))
def test_same_as_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    outputs, references = ([pair[at] for pair in pairs] for at in (0, 1))
    corpus = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(outputs, [references])
    assert bleu(outputs, references) == pytest.approx(corpus.score)
    single = sacrebleu.BLEU(tokenize="none", force=True, effective_order=True)
    expected = [single.sentence_score(one, [other]).score for one, other in pairs]
    assert sentence_bleu(outputs, references) == pytest.approx(expected)


@given(st.lists(st.tuples(LINES, REFERENCES, REFERENCES), min_size=1, max_size=4))
def test_same_as_sacrebleu_with_several_references(rows: list[tuple[str, str, str]]) -> None:
    outputs, first, second = ([row[at] for row in rows] for at in range(3))
    expected = sacrebleu.BLEU(tokenize="none", force=True).corpus_score(outputs, [first, second]).score
    counts = bleu_counts(outputs, list(zip(first, second, strict=True)))
    assert bleu_from_counts(counts.sum(0, keepdims=True)) == pytest.approx([expected])


def test_a_resampled_corpus_is_scored_by_its_sums() -> None:
    outputs = ["what is the best way to learn java", "how can i lose weight", "who are you now"]
    references = ["what 's the best way to learn java quickly", "how do i lose weight fast", "who am i"]
    counts = bleu_counts(outputs, [[line] for line in references])
    weights = np.array([[1, 1, 1], [2, 0, 1], [0, 3, 0]])
    expected = []
    for row in weights:
        drawn = [at for at, times in enumerate(row) for _ in range(times)]
        expected.append(bleu([outputs[at] for at in drawn], [references[at] for at in drawn]))
    assert bleu_from_counts(weights @ counts) == pytest.approx(expected)


@pytest.mark.parametrize(("outputs", "references"), [(["a"], []), ([], []), (["a", "b"], ["a"])])
def test_bleu_needs_as_many_references_and_at_least_one(outputs: list[str], references: list[str]) -> None:
    with pytest.raises(BadInput):
        bleu(outputs, references)
