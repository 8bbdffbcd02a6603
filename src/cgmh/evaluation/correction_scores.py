"""What corrections reach, for any number of times that each sentence counts, so that sentences can be resampled."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..text.gleu import drawn_statistics, reference_statistics, score
from ..text.m2 import M2Sentence
from .corrections import NUM_BINS, aligned, binned, judged, operations, read_edits
from .experiment import Floats, Measured, Sums, share
from .f_score import Counts, compared, corpus_counts, f_scores

MAX_REMEMBERED = 20_000  # sentences whose alignments are remembered
ROWS = 64  # resamples that are scored at a time
_aligned = lru_cache(MAX_REMEMBERED)(aligned)


@dataclass(frozen=True)
class DrawnGleu:
    """GLEU, the mean over draws of one reference for each sentence.

    Where sentences are resampled, so are the draws; where each counts once at most, every draw counts once. Rows of the
    same place take the same draws, in all systems.
    """

    statistics: Floats  # [N, D, 10]

    def score(self, weights: Floats) -> Floats:
        num_sentences, draws, size = self.statistics.shape
        flat = self.statistics.reshape(num_sentences, draws * size)
        drawn = np.random.default_rng(0).multinomial(draws, np.full(draws, 1 / draws), size=len(weights)) / draws
        drawn[weights.max(1) <= 1] = 1 / draws  # [R, D]
        parts = [
            score((weights[at : at + ROWS] @ flat).reshape(-1, draws, size)) * drawn[at : at + ROWS]
            for at in range(0, len(weights), ROWS)
        ]
        scores: Floats = np.concatenate(parts).sum(1)
        return scores


@dataclass(frozen=True)
class CorpusF:
    """F0.5 in per cent; the annotator of each sentence is the best one for the corpus so far, in every resample."""

    sums: Sequence[Sequence[Counts]]  # of each sentence, with each annotator

    def score(self, weights: Floats) -> Floats:
        return 100 * f_scores(corpus_counts(self.sums, weights)[0])


Texts = Sequence[str]
References = Sequence[Sequence[str]]
Score = Callable[[Texts, Texts, References], Measured]  # of sources and answers, with the references of each


def gleu_score(sources: Texts, answers: Texts, references: References) -> Measured:
    """GLEU of the answers, split at blanks."""
    rows = [
        reference_statistics(source.split(), answer.split(), [text.split() for text in texts])
        for source, answer, texts in zip(sources, answers, references, strict=True)
    ]
    return DrawnGleu(drawn_statistics(rows).astype(np.float64))


def f_score(sources: Texts, answers: Texts, references: References, *, max_match: bool = False) -> Measured:
    """F0.5 of the edits that alignments of sources with answers and with references show."""
    sums = []
    for source, answer, texts in zip(sources, answers, references, strict=True):
        ways = compared(_block(source, [answer]), _block(source, texts), max_match=max_match)
        sums.append([sum(way.values(), Counts()) for way in ways])
    return CorpusF(sums)


def edits_right(sources: Texts, answers: Texts, references: References) -> Measured:
    """The share of the operations on tokens, in per cent, that some reference has too."""
    counts = []
    for source, answer, texts in zip(sources, answers, references, strict=True):
        made = operations(source.split(), answer.split())
        wanted = [operations(source.split(), text.split()) for text in texts] if made else []
        right = sum(min(number, max(bag[step] for bag in wanted)) for step, number in made.items())
        counts.append([100 * right, made.total()])
    return Sums(np.array(counts, np.float64))


def num_edits(source: str, answer: str) -> int:
    """How many edits an alignment of a source with an answer shows."""
    return len(_block(source, [answer]).edits[0])


def calibration_score(sources: Texts, details: Sequence[Mapping[str, Any]], references: References) -> Measured:
    """The expected calibration error of all edits, made or doubtful (`edits` and `doubtful` of the details)."""
    counts = np.zeros((len(sources), NUM_BINS, 3))  # edits, those right, the sum of their probabilities
    for at, (source, own, texts) in enumerate(zip(sources, details, references, strict=True)):
        edits = read_edits([*own["edits"], *own["doubtful"]])
        (of_source,) = judged([edits], [source], [texts])
        for part in binned((edit.probability, is_right) for edit, is_right in of_source):
            row = [part.num_edits, part.num_found, part.num_edits * part.mean_probability]
            counts[at, round(part.low * NUM_BINS)] = row
    return Sums(counts.reshape(len(sources), -1), _calibration_error)


def _calibration_error(sums: Floats) -> Floats:
    number, found, probability = np.moveaxis(sums.reshape(-1, NUM_BINS, 3), -1, 0)  # [R, bins] each
    return share(np.stack([np.abs(found - probability).sum(1), number.sum(1)], 1))


def _block(source: str, texts: Sequence[str]) -> M2Sentence:
    return _aligned(source, tuple(texts))
