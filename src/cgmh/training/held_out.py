"""Perplexities on text that was held out: of a network in training, and of a finished model as it runs.

A forward perplexity counts every word and every end mark, a backward one every word and every start mark, a fill
perplexity every word. A word outside the vocabulary counts as the unknown of its shape, in all three.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..models.network import Network
from ..models.recurrent import RecurrentModel
from ..sampling.runs import single_threaded
from ..text.sentences import Sentences
from .batches import Stream

PREDICTORS = ("forward", "backward", "fill")
_ANY_LENGTH = 10**9


@torch.no_grad()
def evaluate_network(network: Network, parts: Mapping[str, Stream], start: int, end: int) -> dict[str, Any]:
    """Perplexities of a network over all parts together, and under "corpora" of each."""

    def log_probs(ids: Tensor) -> Tensor:
        length, number = ids.shape
        size = ids.new_tensor([(length + 1) * number, (length + 1) * number, length * number])
        return -network.losses(ids, start, end).double() * size

    was_training = network.training
    network.eval()
    result = _perplexities({name: _total(part.by_length(16_384), log_probs) for name, part in parts.items()})
    network.train(was_training)
    return result


def evaluate_model(model: RecurrentModel, streams: Mapping[str, np.ndarray], words: int = 4096) -> dict[str, Any]:
    """Perplexities of a finished model over all streams together, and under "corpora" of each.

    The model computes as in sampling, with its stored weights and its own precision; `words` is the size of a batch.
    """

    @torch.no_grad()
    def log_probs(ids: Tensor) -> Tensor:
        length, number = ids.shape
        rows = torch.arange(number, device=ids.device)
        sentences = Sentences(ids.t().contiguous(), torch.full_like(rows, length), torch.zeros_like(rows))
        encoding = model.encode(sentences)
        backward = model.backward_log_prob(encoding)
        of, at = rows.repeat_interleave(length), torch.arange(length, device=ids.device).repeat(number)
        fill = model.fill_log_prob(encoding, of, at, at + 1, sentences.ids.flatten())
        return torch.stack([some.double().sum() for some in (model.log_prob(encoding), backward, fill)])

    parts = {name: Stream(ids, model.vocabulary.end, _ANY_LENGTH, model.device) for name, ids in streams.items()}
    with _batch_a_core(model.device) as each:
        return _perplexities({name: _total(part.by_length(words), log_probs, each) for name, part in parts.items()})


@contextmanager
def _batch_a_core(device: torch.device) -> Iterator[Callable[..., Iterable[Tensor]]]:
    """A `map` that gives each core a batch of its own; on a GPU, the plain one."""
    if device.type != "cpu":
        yield map
        return
    num_cores = min(torch.get_num_threads(), 8)
    with single_threaded(), ThreadPoolExecutor(num_cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield pool.map


def _total(
    batches: Iterable[Tensor],
    log_probs: Callable[[Tensor], Tensor],
    each: Callable[..., Iterable[Tensor]] = map,
) -> np.ndarray:
    """Log probabilities of the three predictors, and what each counts: [2, 3]."""
    some = list(batches)
    total = np.zeros((2, 3))
    for ids, found in zip(some, each(log_probs, some), strict=True):
        length, number = ids.shape
        total[0] += found.cpu().numpy()
        total[1] += np.array([length + 1, length + 1, length]) * number
    return total


def _perplexities(totals: Mapping[str, np.ndarray]) -> dict[str, Any]:
    def named(total: np.ndarray) -> dict[str, float]:
        values = np.exp(-total[0] / np.maximum(total[1], 1))
        return {name: round(float(value), 4) for name, value in zip(PREDICTORS, values, strict=True)}

    return {
        **named(np.sum(list(totals.values()), 0)),
        "corpora": {name: named(total) for name, total in totals.items()},
    }
