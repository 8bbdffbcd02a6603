"""Which of the sentences that chains visited are shown.

A chain's states are samples of the target. `last` shows the chains' final states as they are; `best` looks through
everything that was visited for the fittest; `likeliest` for the most probable per word, as the paper chose the
sentences of keywords; `consensus` takes the samples that agree most with the others; `first` the sentences that were
reached first, as the paper's paraphrases were chosen. All but `last` choose; what they show are not samples. Samples
can also be drawn again by weights.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from .draws import Draws
from .sampling.runs import Record
from .settings import Rule
from .text.sentences import Sentences

POOL_SIZE = 200  # sentences that are looked at closely
LENGTH_OFFSET = 1.0  # the end of a sentence counts as a word
MAX_IN_COMMON = 0.6  # the share of common words beyond which two answers count as the same
RESAMPLING = -1_000_000  # a step that no chain makes: the draws of resampling


@dataclass(frozen=True)
class Visit:
    """A sentence of one input, and the chain that came to it."""

    ids: tuple[int, ...]
    log_target: float  # untempered
    log_model: float
    chain: int
    clock: int = 0  # steps the chain had made when it came there


def visited(record: Record) -> tuple[list[Visit], list[Visit]]:
    """Every sentence that the chains of an input came to, the last ones included; and the last ones alone."""
    taken = record.steps["changed"].nonzero()[:, 0]
    columns = {name: column[taken] for name, column in record.steps.items()}
    visits = visits_of(record.proposed.select(taken), columns, columns["step"] + 1)
    final = visits_of(record.final, record.finals, record.finals["clock"])
    return visits + final, final


def visits_of(sentences: Sentences, columns: dict[str, Tensor], clock: Tensor) -> list[Visit]:
    numbers = (columns["log_target"], columns["log_model"], columns["chain"], clock)
    rows = zip(sentences.to_lists(), *(column.tolist() for column in numbers), strict=True)
    return [Visit(tuple(ids), *rest) for ids, *rest in rows]


def choose(
    rule: Rule,
    visits: Sequence[Visit],
    final: Sequence[Visit],
    fitness: Callable[[Sequence[Visit]], list[float]],
    n: int,
    max_in_common: float = MAX_IN_COMMON,
    given: Collection[int] = (),
    always: Collection[tuple[int, ...]] = (),
    min_different: int = 1,
    pool_size: int = POOL_SIZE,
    rough: Callable[[Sequence[Visit]], list[float]] | None = None,
) -> list[Visit]:
    """At most `n` distinct sentences, best first; `fitness` is asked about the `pool_size` best ones by a `rough`
    value, which is the log density per word if none is given, and about those of `always`.

    Sentences that have more than the share `max_in_common` of their words in common, or differ in fewer than
    `min_different`, count as the same; words that are `given`, because every answer must have them, do not count.
    """
    if rule == "last":
        return _distinct(final)[:n]  # in the order of the chains: samples, not the best of them
    if rule == "first":
        return _distinct(sorted(visits, key=lambda visit: (visit.clock, visit.chain)))[:n]
    if rule == "consensus":
        pool = _distinct(final)
        values = agreement([visit.ids for visit in pool])
    else:
        distinct = _distinct(visits)
        rated = dict(zip(distinct, rough(distinct) if rough else map(per_word, distinct), strict=True))
        ordered = sorted(distinct, key=rated.__getitem__, reverse=True)
        pool = ordered[:pool_size] + [visit for visit in ordered[pool_size:] if visit.ids in always]
        values = fitness(pool)
    order = sorted(range(len(pool)), key=lambda at: -values[at])
    return _different([pool[at] for at in order], n, max_in_common, given, min_different)


def per_word(visit: Visit) -> float:
    """The log density per word, the end of the sentence included."""
    return visit.log_target / (len(visit.ids) + LENGTH_OFFSET)


def agreement(sentences: Sequence[tuple[int, ...]]) -> list[float]:
    """Mean overlap (F1 of words and neighbouring pairs) of each sentence with the others."""
    bags = [Counter(ids) + Counter(pairwise(ids)) for ids in sentences]
    sizes = [sum(bag.values()) for bag in bags]
    totals = [0.0] * len(bags)
    for i, bag in enumerate(bags):
        for j in range(i):
            overlap = 2 * sum((bag & bags[j]).values()) / (sizes[i] + sizes[j])
            totals[i] += overlap
            totals[j] += overlap
    return [total / max(len(bags) - 1, 1) for total in totals]


def thinned(visits: Sequence[Visit], steps: int, num_times: int) -> list[Visit]:
    """Where each chain was at `num_times` even times of its second half, the end being the last."""
    num_times = max(1, min(num_times, steps // 2))
    times = [steps - number * (steps // 2) // num_times for number in range(num_times)]
    paths: dict[int, list[Visit]] = {}
    for visit in visits:
        paths.setdefault(visit.chain, []).append(visit)
    kept = []
    for path in paths.values():
        path.sort(key=lambda visit: visit.clock)
        clocks = [visit.clock for visit in path]
        kept += [path[at - 1] for time in times if (at := bisect_right(clocks, time))]
    return kept


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
    totals = torch.stack([log_weights[places].logsumexp(0) for places in numbers.values()])  # [D]
    # The largest of log weight + Gumbel noise is a draw by weight, the next one a draw from the rest.
    names = torch.arange(len(totals))
    noise = -(-Draws(seed, names, torch.full_like(names, RESAMPLING)).uniform("resample").log()).log()
    order = (totals + noise).argsort(descending=True)[: min(n, int((totals > -torch.inf).sum()))].tolist()
    firsts = [samples[places[0]] for places in numbers.values()]
    return [firsts[at] for at in order], float(effective)


def _distinct(visits: Sequence[Visit]) -> list[Visit]:
    first: dict[tuple[int, ...], Visit] = {}
    for visit in visits:
        first.setdefault(visit.ids, visit)
    return list(first.values())


def _different(
    ranked: Sequence[Visit], n: int, max_in_common: float, given: Collection[int], min_different: int
) -> list[Visit]:
    """The first `n` that differ clearly from those before; if there are too few, the next best fill up."""

    def is_like(one: Counter[int], other: Counter[int]) -> bool:
        longer, common = max(one.total(), other.total()), (one & other).total()
        return common > max_in_common * longer or longer - common < min_different

    chosen: list[tuple[Visit, Counter[int]]] = []
    passed: list[Visit] = []
    for visit in ranked:
        if len(chosen) == n:
            break
        words = Counter(id for id in visit.ids if id not in given)
        if any(is_like(words, other) for _, other in chosen):
            passed.append(visit)
        else:
            chosen.append((visit, words))
    return [visit for visit, _ in chosen] + passed[: n - len(chosen)]
