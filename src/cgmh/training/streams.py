"""Encoded sentences in batches of one length, so that nothing is padded: to train on, and to measure perplexity on.

A forward perplexity counts every word and every end mark, a backward one every word and every start mark, a fill
perplexity every word. A word outside the vocabulary counts as the unknown of its shape, in all three.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..models.word.network import Network
from ..models.word.recurrent import RecurrentModel
from ..text.sentences import Sentences
from ..threads import single_threaded

PREDICTORS = ("forward", "backward", "fill")
_ANY_LENGTH = 10**9


class Stream:
    """Ids in which every sentence closes with the end mark, and where those of at most `longest` words begin."""

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
        for length, rows in _by_length(self.lengths, np.arange(len(self)), words):
            yield self.batch(rows, length)


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
        batches = list(_by_length(sizes, generator.random(len(sizes)).argsort(kind="stable"), words))
        self._batches = [batches[number] for number in generator.permutation(len(batches))]

    def __len__(self) -> int:
        return len(self._batches)

    def batches(self, first: int = 0) -> Iterator[Tensor]:
        """Ids [T, N] of each batch, from the given one on."""
        for length, picked in self._batches[first:]:
            corpora, rows = self._corpora[picked], self._rows[picked]
            yield torch.cat([self._parts[at].batch(rows[corpora == at], length) for at in np.unique(corpora)], 1)


def _by_length(lengths: np.ndarray, order: np.ndarray, words: int) -> Iterator[tuple[int, np.ndarray]]:
    """Sentences in batches of one length and about `words` words: the length, and the places, taken in this order."""
    ordered = lengths[order]
    for length in np.unique(lengths).tolist():
        same = order[ordered == length]
        step = max(1, words // length)
        yield from ((length, same[at : at + step]) for at in range(0, len(same), step))


@torch.no_grad()
def evaluate_network(network: Network, parts: Mapping[str, Stream], start: int, end: int) -> dict[str, Any]:
    """Perplexities of a network in training over all parts together, and under "corpora" of each."""

    def log_probs(ids: Tensor) -> Tensor:
        return -network.losses(ids, start, end).double() * ids.new_tensor(_num_predicted(ids))

    was_training = network.training
    network.eval()
    result = _perplexities(parts, 16_384, log_probs)
    network.train(was_training)
    return result


def evaluate_model(model: RecurrentModel, streams: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Perplexities of a finished model over all streams together, and under "corpora" of each.

    The model computes as in sampling, with its stored weights and its own precision.
    """

    @torch.no_grad()
    def log_probs(ids: Tensor) -> Tensor:
        length, number = ids.shape
        rows = torch.arange(number, device=ids.device)
        sentences = Sentences(ids.t().contiguous(), torch.full_like(rows, length), torch.zeros_like(rows))
        encoding = model.encode(sentences)
        of, at = rows.repeat_interleave(length), torch.arange(length, device=ids.device).repeat(number)
        fill = model.fill_log_prob(encoding, of, at, at + 1, sentences.ids.flatten())
        forward, backward = model.log_prob(encoding), model.backward_log_prob(encoding)
        return torch.stack([log_prob.double().sum() for log_prob in (forward, backward, fill)])

    parts = {name: Stream(ids, model.vocabulary.end, _ANY_LENGTH, model.device) for name, ids in streams.items()}
    if model.device.type != "cpu":
        return _perplexities(parts, 4096, log_probs)
    num_cores = min(torch.get_num_threads(), 8)  # each has a batch of its own
    with single_threaded(), ThreadPoolExecutor(num_cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        return _perplexities(parts, 4096, log_probs, pool.map)


def _num_predicted(ids: Tensor) -> list[int]:
    """How many words and marks of a batch [T, N] each predictor predicts."""
    length, number = ids.shape
    return [(length + 1) * number, (length + 1) * number, length * number]


def _perplexities(
    parts: Mapping[str, Stream],
    words: int,
    log_probs: Callable[[Tensor], Tensor],
    each: Callable[..., Iterable[Tensor]] = map,
) -> dict[str, Any]:
    """What `log_probs`, the sums [3] of the predictors over a batch of about `words` words, come to."""

    def named(total: np.ndarray) -> dict[str, float]:
        values = np.exp(-total[0] / np.maximum(total[1], 1))
        return {name: round(float(value), 4) for name, value in zip(PREDICTORS, values, strict=True)}

    totals = {name: np.zeros((2, 3)) for name in parts}  # log probabilities, and how many words and marks they are of
    for name, part in parts.items():
        batches = list(part.by_length(words))
        for ids, sums in zip(batches, each(log_probs, batches), strict=True):
            totals[name] += np.stack([sums.cpu().numpy(), _num_predicted(ids)])
    corpora = {name: named(total) for name, total in totals.items()}
    return {**named(np.sum(list(totals.values()), 0)), "corpora": corpora}
