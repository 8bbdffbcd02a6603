"""Training batches: sentences of one length together, so that nothing is padded."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor


class Sentences:
    """A stream of ids in which every sentence closes with the end mark, and where each sentence begins."""

    def __init__(self, stream: np.ndarray, end: int, longest: int, device: torch.device | str) -> None:
        ends = np.flatnonzero(stream == end)
        starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        lengths = ends - starts
        keep = (lengths > 0) & (lengths <= longest)
        self.starts, self.lengths = starts[keep], lengths[keep]
        self.ids = torch.from_numpy(stream.astype(np.int32)).to(device)

    def __len__(self) -> int:
        return len(self.starts)

    def batch(self, chosen: np.ndarray, length: int) -> Tensor:
        """Ids [T, N] of sentences of one length."""
        first = torch.from_numpy(self.starts[chosen]).to(self.ids.device)
        return self.ids[first[None] + torch.arange(length, device=self.ids.device)[:, None]].long()

    def by_length(self, words: int) -> Iterator[Tensor]:
        """Every sentence once, in batches of about `words` words."""
        for length in np.unique(self.lengths):
            rows = np.flatnonzero(self.lengths == length)
            step = max(1, words // int(length))
            for at in range(0, len(rows), step):
                yield self.batch(rows[at : at + step], int(length))


def epoch(parts: Sequence[Sentences], weights: Sequence[float], words: int, generator: np.random.Generator) -> Iterator[Tensor]:
    """One pass over weighted corpora in random order: a weight of 1.4 takes every sentence once and 40% of them twice."""
    corpus, chosen, lengths = [], [], []
    for number, (part, weight) in enumerate(zip(parts, weights, strict=True)):
        rows = np.concatenate(
            [np.arange(len(part))] * int(weight) + [np.flatnonzero(generator.random(len(part)) < weight - int(weight))]
        )
        corpus.append(np.full(len(rows), number, np.int8))
        chosen.append(rows)
        lengths.append(part.lengths[rows])
    corpora, rows, sizes = np.concatenate(corpus), np.concatenate(chosen), np.concatenate(lengths)
    order = np.lexsort((generator.random(len(sizes)), sizes))
    batches = []
    for length in np.unique(sizes):
        same = order[np.searchsorted(sizes[order], length) : np.searchsorted(sizes[order], length, side="right")]
        step = max(1, words // int(length))
        batches += [(int(length), same[at : at + step]) for at in range(0, len(same), step)]
    for number in generator.permutation(len(batches)):
        length, picked = batches[number]
        yield torch.cat(
            [parts[c].batch(rows[picked[corpora[picked] == c]], length) for c in np.unique(corpora[picked])], 1
        )
