"""Which of the visited sentences to show.

A chain's states are samples of the target. `last` shows the chains' final states as they are; `best` looks through
everything that was visited for the sentences the model likes best, from the left, from the right and word by word;
`consensus` takes the samples that agree most with the others. `best` and `consensus` choose; they are not samples.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from .models.recurrent import RecurrentModel
from .settings import Rule
from .text.sentences import Sentences

POOL = 200  # sentences that are looked at closely
LENGTH_OFFSET = 1.0  # added to the number of words: long and short sentences then compare fairly
ALIKE = 0.6  # share of common words beyond which two answers count as the same


@dataclass(frozen=True)
class Visit:
    """A sentence of one input, and the chain that came by it."""

    ids: tuple[int, ...]
    log_target: float  # untempered
    log_model: float
    chain: int


def choose(rule: Rule, visits: Sequence[Visit], final: Sequence[Visit], model: RecurrentModel, n: int) -> list[Visit]:
    """At most `n` distinct sentences, best first."""
    if rule == "last":
        return _distinct(final)[:n]  # in the order of the chains: samples, not the best of them
    if rule == "consensus":
        pool = _distinct(final)
        agreement = consensus([visit.ids for visit in pool])
        order = sorted(range(len(pool)), key=lambda at: -agreement[at])
        return _different([pool[at] for at in order], n)
    pool = sorted(_distinct(visits), key=lambda visit: -visit.log_target / (len(visit.ids) + LENGTH_OFFSET))[:POOL]
    fitness = judge([visit.ids for visit in pool], model)
    order = sorted(range(len(pool)), key=lambda at: -fitness[at])
    return _different([pool[at] for at in order], n)


def judge(sentences: Sequence[tuple[int, ...]], model: RecurrentModel) -> list[float]:
    """How well the whole model likes each sentence, a word: forward, backward and fill log probabilities together."""
    batch = Sentences.from_lists(sentences, max(map(len, sentences)) + 1, device=model.device)
    encoding = model.encode(batch)
    forward, backward = model.log_prob(encoding), model.backward_log_prob(encoding)
    rows, at = batch.present.nonzero(as_tuple=True)
    filled = model.fill(encoding, rows, at, at + 1).log_prob(batch.ids[rows, at]).clamp(min=-20)
    fill = torch.zeros_like(forward).index_add_(0, rows, filled)
    size = batch.lengths + LENGTH_OFFSET
    return ((0.5 * forward + 0.5 * backward + fill) / size).tolist()


def consensus(sentences: Sequence[tuple[int, ...]]) -> list[float]:
    """Mean overlap (F1 of words and neighbouring pairs) of each sentence with the others."""
    bags = [Counter(some) + Counter(pairwise(some)) for some in sentences]
    sizes = [sum(bag.values()) for bag in bags]
    totals = [0.0] * len(bags)
    for i, one in enumerate(bags):
        for j in range(i):
            overlap = 2 * sum((one & bags[j]).values()) / (sizes[i] + sizes[j])
            totals[i] += overlap
            totals[j] += overlap
    return [total / max(len(bags) - 1, 1) for total in totals]


def _distinct(visits: Sequence[Visit]) -> list[Visit]:
    first: dict[tuple[int, ...], Visit] = {}
    for visit in visits:
        first.setdefault(visit.ids, visit)
    return list(first.values())


def _different(ranked: Sequence[Visit], n: int) -> list[Visit]:
    """The first `n` that differ clearly from those before; if there are too few, the next best fill up."""
    chosen: list[Visit] = []
    passed: list[Visit] = []
    for visit in ranked:
        if len(chosen) == n:
            break
        bag = Counter(visit.ids)
        if any(2 * sum((bag & Counter(c.ids)).values()) > 2 * ALIKE * max(len(visit.ids), len(c.ids)) for c in chosen):
            passed.append(visit)
        else:
            chosen.append(visit)
    return chosen + passed[: n - len(chosen)]
