"""Training batches: sentences of one length together, so that nothing is padded."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor


class Stream:
    """Ids in which every sentence closes with the end mark, and where the sentences of usable length begin."""

    def __init__(self, ids: np.ndarray, end: int, longest: int, device: torch.device | str) -> None:
        ends = np.flatnonzero(ids == end)
        starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        lengths = ends - starts
        keep = (lengths > 0) & (lengths <= longest)
        self.starts, self.lengths = starts[keep], lengths[keep]
        self.ids = torch.from_numpy(ids.astype(np.int32)).to(device)

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


class Epoch:
    """One pass over weighted corpora in random order: a weight of 1.4 takes each sentence once and 40% twice."""

    def __init__(
        self, parts: Sequence[Stream], weights: Sequence[float], words: int, generator: np.random.Generator
    ) -> None:
        chosen = []
        for part, weight in zip(parts, weights, strict=True):
            again = np.flatnonzero(generator.random(len(part)) < weight - int(weight))
            chosen.append(np.concatenate([np.arange(len(part))] * int(weight) + [again]))
        self._parts = parts
        self._corpora = np.concatenate([np.full(len(rows), at, np.int16) for at, rows in enumerate(chosen)])
        self._rows = np.concatenate(chosen)
        sizes = np.concatenate([part.lengths[rows] for part, rows in zip(parts, chosen, strict=True)])
        order = np.lexsort((generator.random(len(sizes)), sizes))
        lengths, counts = np.unique(sizes, return_counts=True)
        batches = []
        for length, same in zip(lengths.tolist(), np.split(order, np.cumsum(counts)[:-1]), strict=True):
            step = max(1, words // length)
            batches += [(length, same[at : at + step]) for at in range(0, len(same), step)]
        self._batches = [batches[number] for number in generator.permutation(len(batches))]

    def __len__(self) -> int:
        return len(self._batches)

    def batches(self, first: int = 0) -> Iterator[Tensor]:
        """Ids [T, N] of each batch, from the given one on."""
        for length, picked in self._batches[first:]:
            corpora, rows = self._corpora[picked], self._rows[picked]
            yield torch.cat([self._parts[at].batch(rows[corpora == at], length) for at in np.unique(corpora)], 1)
