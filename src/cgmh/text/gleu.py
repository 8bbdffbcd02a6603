"""GLEU, a score of corrections by their n-grams (Napoles et al. 2015, as updated in 2016).

An n-gram of the hypothesis counts for it as often as the reference has it too, and against it where it was kept from
the source though the reference lacks it. All the rest is as in BLEU: n from 1 to 4, the geometric mean of the shares,
and a penalty for being shorter than the reference. Statistics of sentences add up to those of a corpus.

Where a sentence has several references, as in JFLEG, they are drawn as by the authors' script under Python 3, so that
figures can be compared to the last digit. Published figures from Python 2 drew other references: 40.54 instead of 40.47
for the untouched test set of JFLEG.
"""

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import BadInput

MAX_ORDER = 4  # the length of the longest n-grams
NUM_STATISTICS = 2 + 2 * MAX_ORDER
DRAWS = 500
SEED_STEP = 101  # draw number j begins with the seed 101 j


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of a sentence, all orders together: counted once, compared often."""

    length: int
    counts: Counter[tuple[Hashable, ...]]


def ngrams(tokens: Sequence[Hashable]) -> Ngrams:
    """The n-grams of a sentence of words, or of the ids of words."""
    orders = range(1, MAX_ORDER + 1)
    grams = [tuple(tokens[at : at + order]) for order in orders for at in range(len(tokens) + 1 - order)]
    return Ngrams(len(tokens), Counter(grams))


def compare(source: Ngrams, hypothesis: Ngrams, reference: Ngrams) -> tuple[int, ...]:
    """The statistics of a sentence: the lengths of hypothesis and reference, then two numbers for each order.

    These are the n-grams that count and the n-grams that there are. An order in which more counts against the
    hypothesis than for it has 0, in each sentence by itself.
    """
    counted = [0] * MAX_ORDER
    for gram, count in hypothesis.counts.items():
        if gram in reference.counts:
            counted[len(gram) - 1] += min(count, reference.counts[gram])
        elif gram in source.counts:
            counted[len(gram) - 1] -= min(count, source.counts[gram])
    statistics = [hypothesis.length, reference.length]
    for order, number in enumerate(counted, start=1):
        statistics += [max(number, 0), max(hypothesis.length + 1 - order, 0)]
    return tuple(statistics)


def score(statistics: ArrayLike, *, smooth: bool = False) -> NDArray[np.float64]:
    """GLEU in per cent [...] of statistics [..., 10], those of a sentence or their sums over a corpus.

    It is 0 where an order has no n-gram that counts. To `smooth`, each order is given one more n-gram, which counts: so
    sentences that match in short n-grams only are told apart, and those of fewer than four tokens have a score.
    """
    sums = np.asarray(statistics, dtype=np.float64)  # [..., 10]
    length, wanted = sums[..., 0], sums[..., 1]
    counted, total = sums[..., 2::2] + smooth, np.maximum(sums[..., 3::2] + smooth, 1)  # [..., 4]
    # Nothing that counts has the logarithm -inf and the score 0; so has nothing at all where something is wanted.
    with np.errstate(divide="ignore", invalid="ignore"):
        log_brevity = np.minimum(0, 1 - np.where(wanted > 0, wanted / length, 0))  # [...]
        percent: NDArray[np.float64] = 100 * np.exp(np.log(counted / total).mean(-1) + log_brevity)
    return percent


def gleu(
    sources: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """GLEU of tokenised sentences in per cent; ``references[sentence]`` are what people made of it, at least one.

    Each draw takes one reference of every sentence at random and scores the corpus; the result is the mean over the
    draws.
    """
    if not len(sources) == len(hypotheses) == len(references):
        raise BadInput(
            f"{len(sources)} sources, {len(hypotheses)} corrections and references of {len(references)} sentences; "
            "give one of each for every sentence"
        )
    rows = [reference_statistics(*sentence) for sentence in zip(sources, hypotheses, references, strict=True)]
    return drawn_gleu(rows, draws, seed)


def reference_statistics(
    source: Sequence[str], hypothesis: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.int64]:
    """[A,10]: the statistics of a correction with each of the references, for a search to keep."""
    before, after = ngrams(source), ngrams(hypothesis)
    rows = [compare(before, after, ngrams(reference)) for reference in references]
    return np.array(rows, dtype=np.int64).reshape(-1, NUM_STATISTICS)


def drawn_gleu(rows: Sequence[NDArray[np.int64]], draws: int = DRAWS, seed: int = 0) -> float:
    """GLEU in per cent of sentences given by their statistics with each reference, [A,10] for every sentence."""
    return float(score(drawn_statistics(rows, draws, seed).sum(0)).mean())


def drawn_statistics(rows: Sequence[NDArray[np.int64]], draws: int = DRAWS, seed: int = 0) -> NDArray[np.int64]:
    """[S,D,10]: the statistics of each sentence with the reference that each draw takes."""
    if not rows:
        raise BadInput("GLEU needs at least one sentence")
    if draws < 1:
        raise BadInput(f"{draws} draws of references; at least one is needed")
    sizes = [len(row) for row in rows]
    if not all(sizes):
        raise BadInput(f"sentence {sizes.index(0) + 1} has no reference; at least one is needed")
    chosen = _choices(tuple(sizes), draws, seed)  # [D,S]
    return np.stack([row[chosen[:, at]] for at, row in enumerate(rows)])


@lru_cache(maxsize=8)
def _choices(sizes: tuple[int, ...], draws: int, seed: int) -> NDArray[np.int16]:
    """[D,S]: the reference that each draw takes of every sentence; slow to make, the same for all corrections."""
    chosen = np.empty((draws, len(sizes)), dtype=np.int16)
    for draw in range(draws):
        generator = random.Random(SEED_STEP * (seed * draws + draw))  # noqa: S311
        chosen[draw] = [generator.randint(0, size - 1) for size in sizes]
    return chosen
