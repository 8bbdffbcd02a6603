"""Which of the visited sentences to show.

A chain's states are samples of the target. `last` shows the chains' final states as they are; `best` looks through
everything that was visited for the sentences the model likes best, from the left, from the right and word by word;
`consensus` takes the samples that agree most with the others; `first` the sentences that were reached first, as the
paper's paraphrases were chosen. All but `last` choose; what they show are not samples.
`resample` turns samples of one distribution into samples of another, by weights.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from .draws import Draws
from .models.recurrent import RecurrentModel
from .models.sides import features
from .settings import Rule
from .text.gleu import compare, ngrams, score

POOL = 200  # sentences that are looked at closely
LENGTH_OFFSET = 1.0  # the end of a sentence counts as a word
# How the word model's three views count, and what is added to the number of words: chosen for agreement with a big
# model's ranking (benchmarks/ranking.py).
FORWARD, BACKWARD, FILL, OFFSET = 0.5, 0.5, 0.3, 3.0
RESAMPLING = -1_000_000  # a step that no chain makes: the draws of resampling
ALIKE = 0.6  # share of common words beyond which two answers count as the same


@dataclass(frozen=True)
class Visit:
    """A sentence of one input, and the chain that came by it."""

    ids: tuple[int, ...]
    log_target: float  # untempered
    log_model: float
    chain: int
    clock: int = 0  # steps the chain had made when it came there


Fitness = Callable[[Sequence[Visit]], list[float]]


def choose(
    rule: Rule, visits: Sequence[Visit], final: Sequence[Visit], fitness: Fitness, n: int, alike: float = ALIKE
) -> list[Visit]:
    """At most `n` distinct sentences, best first; `fitness` is asked about the most probable ones only.

    Sentences that have more than the share `alike` of their words in common count as the same.
    """
    if rule == "last":
        return _distinct(final)[:n]  # in the order of the chains: samples, not the best of them
    if rule == "first":
        return _distinct(sorted(visits, key=lambda visit: (visit.clock, visit.chain)))[:n]
    if rule == "consensus":
        pool = _distinct(final)
        agreement = consensus([visit.ids for visit in pool])
        order = sorted(range(len(pool)), key=lambda at: -agreement[at])
        return _different([pool[at] for at in order], n, alike)
    pool = sorted(_distinct(visits), key=lambda visit: -visit.log_target / (len(visit.ids) + LENGTH_OFFSET))[:POOL]
    values = fitness(pool)
    order = sorted(range(len(pool)), key=lambda at: -values[at])
    return _different([pool[at] for at in order], n, alike)


def resample(samples: Sequence[Visit], log_weights: Tensor, n: int, seed: int) -> tuple[list[Visit], float]:
    """Importance resampling: at most `n` distinct samples, drawn by weight without replacement, and how many
    independent ones all the samples are worth.

    `samples` repeat as often as the chains were there; `log_weights` [N] are log (wanted / sampled) density of each.
    As the number of samples grows, what is drawn first follows the wanted distribution.
    """
    log_weights = log_weights.double()
    effective = torch.exp(2 * log_weights.logsumexp(0) - (2 * log_weights).logsumexp(0))
    numbers: dict[tuple[int, ...], list[int]] = {}
    for at, visit in enumerate(samples):
        numbers.setdefault(visit.ids, []).append(at)
    totals = torch.stack([log_weights[some].logsumexp(0) for some in numbers.values()])  # [D]
    # The largest of log weight + Gumbel noise is a draw by weight, the next one a draw from the rest.
    names = torch.arange(len(totals))
    noise = -(-Draws(seed, names, torch.full_like(names, RESAMPLING)).uniform("resample").log()).log()
    order = (totals + noise).argsort(descending=True)[: min(n, int((totals > -torch.inf).sum()))].tolist()
    firsts = [samples[some[0]] for some in numbers.values()]
    return [firsts[at] for at in order], float(effective)


def judge(sentences: Sequence[tuple[int, ...]], model: RecurrentModel) -> list[float]:
    """How well the whole model likes each sentence, a word."""
    forward, backward, fill = features(sentences, model)
    lengths = torch.tensor(list(map(len, sentences)), device=model.device)
    return ((FORWARD * forward + BACKWARD * backward + FILL * fill) / (lengths + OFFSET)).tolist()


def thinned(visits: Sequence[Visit], steps: int, num_times: int) -> list[Visit]:
    """Where each chain was at `num_times` even times of its second half, the end being the last."""
    num_times = max(1, min(num_times, steps // 2))
    times = [steps - number * (steps // 2) // num_times for number in range(num_times)]
    paths: dict[int, list[Visit]] = {}
    for visit in visits:
        paths.setdefault(visit.chain, []).append(visit)
    found = []
    for path in paths.values():
        path.sort(key=lambda visit: visit.clock)
        clocks = [visit.clock for visit in path]
        found += [path[at - 1] for time in times if (at := bisect_right(clocks, time))]
    return found


def occupancy(
    visits: Sequence[Visit], starts: Sequence[tuple[int, ...]], steps: int, burn: int
) -> dict[tuple[int, ...], float]:
    """The share of the chains' time from step `burn` on that they spent at each sentence.

    `starts` are where the chains, numbered from 0, began; `visits` what they came to.
    """
    paths: list[list[tuple[int, tuple[int, ...]]]] = [[(0, start)] for start in starts]
    for visit in visits:
        paths[visit.chain].append((visit.clock, visit.ids))
    found: dict[tuple[int, ...], float] = {}
    total = len(starts) * (steps - burn)
    for path in paths:
        path.sort(key=lambda one: one[0])
        for (clock, ids), (until, _) in pairwise([*path, (steps, ())]):
            stayed = max(until, burn) - max(clock, burn)
            if stayed:
                found[ids] = found.get(ids, 0.0) + stayed / total
    return found


def expected_gleu(
    source: Sequence[int], samples: Sequence[tuple[int, ...]], shares: Sequence[float], most: int = 64
) -> list[float]:
    """The GLEU of each sample with the others for references, by their shares; the `most` first are looked at."""
    counted = [ngrams(ids) for ids in samples[:most]]
    before = ngrams(list(source))
    table = [[compare(before, one, other) for other in counted] for one in counted]
    weights = np.array(shares[:most])
    values: list[float] = (score(np.array(table), smooth=True) @ (weights / weights.sum())).tolist()
    return [*values, *[-1.0] * (len(samples) - len(values))]


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


def _different(ranked: Sequence[Visit], n: int, alike: float) -> list[Visit]:
    """The first `n` that differ clearly from those before; if there are too few, the next best fill up."""
    chosen: list[Visit] = []
    passed: list[Visit] = []
    for visit in ranked:
        if len(chosen) == n:
            break
        bag = Counter(visit.ids)
        if any(2 * sum((bag & Counter(c.ids)).values()) > 2 * alike * max(len(visit.ids), len(c.ids)) for c in chosen):
            passed.append(visit)
        else:
            chosen.append(visit)
    return chosen + passed[: n - len(chosen)]
