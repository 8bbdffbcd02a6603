"""GLEU of a corpus with several references a sentence, as JFLEG is scored.

The references are drawn as by the authors' script under Python 3, so that figures can be compared to the last digit.
Published ones from Python 2 drew others: 40.54 instead of 40.47 for the untouched test set of JFLEG.
"""

import random
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..text.gleu import NUM_STATISTICS, compare, ngrams, score

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
