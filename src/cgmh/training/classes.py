"""Balanced word classes for the factored softmax: k-means with capacities on directional co-occurrence vectors."""

from collections.abc import Iterable, Iterator
from itertools import count, islice

import numpy as np
import torch

from ..text.vocabulary import Vocabulary

NUM_CONTEXTS, DIMENSIONS, ROUNDS = 3000, 128, 12
PIECE = 4_000_000  # ids counted at once
_NEIGHBOURS = ((1, -1), (1, 1), (2, -1), (2, 1))  # distance and side of the words that count as contexts


def cluster(streams: Iterable[np.ndarray], vocabulary: Vocabulary, num_classes: int, class_size: int) -> list[str]:
    """All words, grouped so that each run of `class_size` is one class, common words first in it.

    The words of `vocabulary` come in order of frequency, specials first; in a stream every sentence closes with the
    end mark. Room that is left in a class is taken by fillers, specials that never occur.
    """
    if num_classes * class_size < len(vocabulary):
        raise ValueError(f"{len(vocabulary)} words do not fit {num_classes} classes of {class_size}")
    keys, counts = cooccurrence(streams, vocabulary)
    choice = balanced(vectors(keys, counts, len(vocabulary)), num_classes, class_size)
    words: list[str] = []
    fillers = (f"<filler-{number}>" for number in count(1))
    for number in range(num_classes):
        members = [vocabulary.words[at] for at in np.flatnonzero(choice == number)]
        words += [*members, *islice(fillers, class_size - len(members))]
    return words


def cooccurrence(streams: Iterable[np.ndarray], vocabulary: Vocabulary) -> tuple[np.ndarray, np.ndarray]:
    """How often each word stands next to, and two away from, the common words: sparse keys and their counts.

    The key of word w and context c at neighbour k is (w · 4 + k) · width + c, width being the number of contexts.
    """
    width = min(NUM_CONTEXTS, len(vocabulary))
    keys, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for stream in streams:
        for piece in _pieces(stream, vocabulary):
            for number, (distance, side) in enumerate(_NEIGHBOURS):
                later, earlier = piece[distance:], piece[:-distance]
                centre, context = (later, earlier) if side < 0 else (earlier, later)
                keep = context < width
                distinct, times = np.unique((centre[keep] * 4 + number) * width + context[keep], return_counts=True)
                keys.append(distinct)
                counts.append(times)
    joined = np.concatenate(keys)
    order = np.argsort(joined, kind="stable")
    first = np.flatnonzero(np.diff(joined[order], prepend=-1))
    return joined[order][first], np.add.reduceat(np.concatenate(counts)[order], first) if len(first) else first


def _pieces(stream: np.ndarray, vocabulary: Vocabulary) -> Iterator[np.ndarray]:
    """Parts of a stream, with a start mark before each sentence."""
    for at in range(0, len(stream), PIECE):
        piece = stream[at : at + PIECE].astype(np.int64)
        ends = piece == vocabulary.end
        marked = np.repeat(piece, 1 + ends)
        marked[np.flatnonzero(ends) + np.arange(1, ends.sum() + 1)] = vocabulary.start
        yield np.concatenate([[vocabulary.start], marked])


def vectors(keys: np.ndarray, counts: np.ndarray, num_words: int) -> np.ndarray:
    """[V, D]: a unit vector for each word, its positive pointwise mutual information with the contexts after an SVD.

    The counts of the contexts are smoothed.
    """
    width = 4 * min(NUM_CONTEXTS, num_words)
    row, column = np.divmod(keys, width)
    of_row = np.bincount(row, counts, num_words) + 1.0
    of_column = np.bincount(column, counts, width) ** 0.75 + 1.0
    value = np.log(counts * of_column.sum() / (of_row[row] * of_column[column]))
    keep = value > 0
    places = torch.from_numpy(np.stack([row[keep], column[keep]]))
    table = torch.sparse_coo_tensor(
        places, torch.from_numpy(value[keep].astype(np.float32)), (num_words, width), check_invariants=False
    ).coalesce()
    left, scale = _singular(table, min(DIMENSIONS, num_words))
    rows = (left * scale.sqrt()).numpy()
    return np.asarray(rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-6))


def _singular(table: torch.Tensor, rank: int, blocks: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    """The leading left singular vectors [V, rank] and values [rank], by block Krylov iteration from a fixed start."""
    turned = table.t().coalesce()
    size = min(rank // 2 + 1, *table.shape)
    start = torch.randn(table.shape[1], size, generator=torch.Generator().manual_seed(0))
    block = torch.linalg.qr(torch.sparse.mm(table, start)).Q  # [V, size]
    krylov = [block]
    for _ in range(blocks - 1):
        block = torch.linalg.qr(torch.sparse.mm(table, torch.sparse.mm(turned, block))).Q
        krylov.append(block)
    basis = torch.linalg.qr(torch.cat(krylov, 1)).Q  # [V, up to blocks · size]
    inner = torch.linalg.svd(torch.sparse.mm(turned, basis).t(), full_matrices=False)
    return (basis @ inner.U)[:, :rank], inner.S[:rank]


def balanced(points: np.ndarray, num_classes: int, class_size: int) -> np.ndarray:
    """The class of each point [V]; no class holds more than `class_size`. Words with most to lose choose first."""
    generator = np.random.default_rng(0)
    # Common words come first; they make the better first centres.
    first = generator.choice(min(len(points), max(8000, num_classes)), min(num_classes, len(points)), replace=False)
    centres = np.zeros((num_classes, points.shape[1]), points.dtype)
    centres[: len(first)] = points[first]
    choice = np.zeros(len(points), np.int64)
    for _ in range(ROUNDS):
        closeness = points @ centres.T  # [V, C]
        eighth = np.partition(closeness, -min(8, num_classes), axis=1)[:, -min(8, num_classes)]
        order = np.argsort(eighth - closeness.max(1), kind="stable")
        choice = assign(closeness, order, class_size)
        sums = np.zeros_like(centres)
        np.add.at(sums, choice, points)
        centres = sums / (np.linalg.norm(sums, axis=1, keepdims=True) + 1e-6)
    return choice


def assign(closeness: np.ndarray, order: np.ndarray, class_size: int) -> np.ndarray:
    """Each word's closest class that has room when its turn in `order` comes: [V]."""
    closeness = closeness.copy()
    choice = np.empty(len(closeness), np.int64)
    room = np.full(closeness.shape[1], class_size)
    for word in order:
        choice[word] = chosen = closeness[word].argmax()
        room[chosen] -= 1
        if not room[chosen]:
            closeness[:, chosen] = -np.inf
    return choice
