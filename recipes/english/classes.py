"""Balanced word classes for the factored softmax: k-means with capacities on directional co-occurrence vectors."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.linalg import svds

from cgmh.text.tokenizer import truecase
from cgmh.text.vocabulary import Vocabulary

NUM_CONTEXTS, DIMENSIONS, SAMPLE_EVERY = 3000, 128, 3


def cooccurrence(files: Sequence[Path], vocabulary: Vocabulary) -> csr_matrix:
    """Counts of each word with the common words directly left, directly right, and two away on each side."""
    size, width = len(vocabulary), NUM_CONTEXTS
    total = csr_matrix((size, 4 * width), dtype=np.float32)
    for file in files:
        stream: list[int] = []
        with file.open(encoding="utf-8") as lines:
            for at, line in enumerate(lines):
                if at % SAMPLE_EVERY or line[0] == "H":
                    continue
                words = truecase(line[2:].rstrip("\n").split(" "), vocabulary.is_ordinary)
                stream += [vocabulary.start, *vocabulary.encode(words), vocabulary.end]
        sequence = np.array(stream, np.int32)
        rank = np.full(size, -1, np.int32)
        rank[:width] = np.arange(width)  # words come in order of frequency, specials first
        for block, (shift, sign) in enumerate(((1, -1), (1, 1), (2, -1), (2, 1))):
            centre, context = (sequence[shift:], sequence[:-shift]) if sign < 0 else (sequence[:-shift], sequence[shift:])
            columns = rank[context]
            keep = columns >= 0
            ones = np.ones(int(keep.sum()), np.float32)
            total = total + coo_matrix((ones, (centre[keep], columns[keep] + block * width)), (size, 4 * width)).tocsr()
    return total


def vectors(counts: csr_matrix) -> np.ndarray:
    """Positive pointwise mutual information (context counts smoothed), reduced by SVD, one unit row a word."""
    rows = np.asarray(counts.sum(1)).ravel() + 1.0
    columns = np.asarray(counts.sum(0)).ravel() ** 0.75 + 1.0
    table = counts.tocoo()
    value = np.log(table.data * columns.sum() / (rows[table.row] * columns[table.col]))
    keep = value > 0
    table = coo_matrix((value[keep].astype(np.float32), (table.row[keep], table.col[keep])), counts.shape).tocsr()
    left, scale, _ = svds(table, k=DIMENSIONS, random_state=0)
    found = left * np.sqrt(scale)
    return found / (np.linalg.norm(found, axis=1, keepdims=True) + 1e-6)


def balanced(points: np.ndarray, num_classes: int, class_size: int, rounds: int = 12) -> np.ndarray:
    """Class of each point; no class holds more than its size. Words with most to lose choose first."""
    generator = np.random.default_rng(0)
    centres = points[generator.choice(min(len(points), 8000), num_classes, replace=False)]
    choice = np.zeros(len(points), np.int64)
    for _ in range(rounds):
        closeness = points @ centres.T  # [V, C]
        best = np.sort(closeness, axis=1)[:, [-1, -8]]
        order = np.argsort(-(best[:, 0] - best[:, 1]))
        preferred = np.argsort(-closeness, axis=1).astype(np.int32)
        room = np.full(num_classes, class_size)
        for at in order:
            for wanted in preferred[at]:
                if room[wanted]:
                    room[wanted] -= 1
                    choice[at] = wanted
                    break
        for number in range(num_classes):
            centre = points[choice == number].mean(0)
            centres[number] = centre / (np.linalg.norm(centre) + 1e-6)
    return choice


def cluster(files: Sequence[Path], vocabulary: Vocabulary, num_classes: int, class_size: int) -> list[str]:
    """All words, grouped so that each run of `class_size` is one class, common words first in it."""
    choice = balanced(vectors(cooccurrence(files, vocabulary)), num_classes, class_size)
    order = np.lexsort((np.arange(len(vocabulary)), choice))
    return [vocabulary.words[at] for at in order]
