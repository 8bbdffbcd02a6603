"""GLEU, which judges a correction by its n-grams (Napoles et al. 2015, as updated in 2016): counts and scores.

An n-gram of the hypothesis counts for it as often as the reference has it too, and against it where it was kept from
the source though the reference lacks it. All the rest is as in BLEU: n from 1 to 4, the geometric mean of the shares,
and a penalty for being shorter than the reference. Statistics of sentences add up to those of a corpus.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

ORDERS = 4  # n-grams of one to so many tokens
NUM_STATISTICS = 2 + 2 * ORDERS


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of a sentence, all orders together: counted once, compared often."""

    length: int
    counts: Counter[tuple[Hashable, ...]]


def ngrams(tokens: Sequence[Hashable]) -> Ngrams:
    """The n-grams of a sentence of words, or of the ids of words."""
    some = [tuple(tokens[at : at + order]) for order in range(1, ORDERS + 1) for at in range(len(tokens) + 1 - order)]
    return Ngrams(len(tokens), Counter(some))


def compare(source: Ngrams, hypothesis: Ngrams, reference: Ngrams) -> tuple[int, ...]:
    """What GLEU sums up: lengths of hypothesis and reference; for each order the n-grams that count, and all of them.

    An order in which more counts against the hypothesis than for it has 0, in each sentence by itself.
    """
    counted = [0] * ORDERS
    for gram, count in hypothesis.counts.items():
        if gram in reference.counts:
            counted[len(gram) - 1] += min(count, reference.counts[gram])
        elif gram in source.counts:
            counted[len(gram) - 1] -= min(count, source.counts[gram])
    found = [hypothesis.length, reference.length]
    for order, number in enumerate(counted, start=1):
        found += [max(number, 0), max(hypothesis.length + 1 - order, 0)]
    return tuple(found)


def statistics(
    source: Sequence[Hashable], hypothesis: Sequence[Hashable], reference: Sequence[Hashable]
) -> tuple[int, ...]:
    """The same for sentences whose n-grams have not been counted."""
    return compare(ngrams(source), ngrams(hypothesis), ngrams(reference))


def score(statistics: ArrayLike, *, smooth: bool = False) -> NDArray[np.float64]:
    """GLEU in per cent [...] of statistics [..., 10], which are summed over a corpus or those of a sentence.

    It is 0 where an order has no n-gram that counts. To `smooth`, each order is given one more n-gram, which counts: so
    sentences that match in short n-grams only are told apart, and those of fewer than four tokens have a score.
    """
    sums = np.asarray(statistics, dtype=np.float64)  # [..., 10]
    length, wanted = sums[..., 0], sums[..., 1]
    counted, total = sums[..., 2::2] + smooth, np.maximum(sums[..., 3::2] + smooth, 1)  # [..., 4]
    # Nothing that counts has the logarithm -inf and the score 0; so has nothing at all where something is wanted.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_brevity = np.minimum(0, 1 - np.where(wanted > 0, wanted / length, 0))  # [...]
        found: NDArray[np.float64] = 100 * np.exp(np.log(counted / total).mean(-1) + log_brevity)
    return found


def sentence_gleu(source: Sequence[Hashable], hypothesis: Sequence[Hashable], reference: Sequence[Hashable]) -> float:
    """GLEU of one sentence with one reference in per cent, smoothed as `score` does."""
    return float(score(statistics(source, hypothesis, reference), smooth=True))
