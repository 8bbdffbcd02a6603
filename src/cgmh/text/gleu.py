"""GLEU, which judges a correction by its n-grams (Napoles et al. 2015, as updated in 2016): counts and scores.

An n-gram of the hypothesis counts for it as often as the reference has it too, and against it where it was kept from
the source though the reference lacks it. All the rest is as in BLEU: n from 1 to 4, the geometric mean of the shares,
and a penalty for being shorter than the reference. Statistics of sentences add up to those of a corpus.

GLEU of a corpus with several references a sentence, as JFLEG is scored.

The references are drawn as by the authors' script under Python 3, so that figures can be compared to the last digit.
Published ones from Python 2 drew others: 40.54 instead of 40.47 for the untouched test set of JFLEG.
"""

import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import BadInput

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


DRAWS = 500
SEED_STEP = 101  # draw number j begins with the seed 101 j


def gleu(
    sources: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """GLEU of tokenised sentences in per cent; ``references[sentence]`` are what people made of it, at least one.

    Each draw takes one reference of every sentence at random and scores the corpus; the mean over the draws counts.
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
    found = [compare(before, after, ngrams(reference)) for reference in references]
    return np.array(found, dtype=np.int64).reshape(-1, NUM_STATISTICS)


def drawn_gleu(rows: Sequence[NDArray[np.int64]], draws: int = DRAWS, seed: int = 0) -> float:
    """GLEU in per cent of sentences given by their statistics with each reference, [A,10] for every sentence."""
    if not rows:
        raise BadInput("GLEU needs at least one sentence")
    if draws < 1:
        raise BadInput(f"{draws} draws of references; at least one is needed")
    sizes = [len(row) for row in rows]
    if not all(sizes):
        raise BadInput(f"sentence {sizes.index(0) + 1} has no reference; at least one is needed")
    chosen = _choices(tuple(sizes), draws, seed)  # [D,S]
    sums = np.zeros((draws, NUM_STATISTICS))  # [D,10]
    for annotator in range(max(sizes)):
        having = [at for at, size in enumerate(sizes) if size > annotator]
        table = np.stack([rows[at][annotator] for at in having]).astype(np.float64)  # [H,10]
        sums += (chosen[:, having] == annotator).astype(np.float64) @ table
    return float(score(sums).mean())


@lru_cache(maxsize=8)
def _choices(sizes: tuple[int, ...], draws: int, seed: int) -> NDArray[np.int16]:
    """[D,S]: the reference that each draw takes of every sentence; slow to make, the same for all corrections."""
    chosen = np.empty((draws, len(sizes)), dtype=np.int16)
    for draw in range(draws):
        chance = random.Random(SEED_STEP * (seed * draws + draw))  # noqa: S311
        chosen[draw] = [chance.randint(0, size - 1) for size in sizes]
    return chosen
