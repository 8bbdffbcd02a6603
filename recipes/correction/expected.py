"""Costs and weights of the readings under which the candidates of sentences have the highest expected GLEU.

With the log of a candidate's probability linear in costs and weights, the expectation over the candidates of a sentence
is smooth, and so its maximum is found in seconds. Near what is put out now, the GLEU of a corpus is nearly linear in
the n-grams of each sentence: what a candidate adds to it is its worth. A right sentence that is changed costs `strict`,
and each number is pulled towards what it was before.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from cgmh.text.gleu import score

Vector = NDArray[np.float64]
# Candidates that the visits hardly hold are judged by too few: what makes them does not become cheaper.
RARE = ("replace.word", "insert.word", "delete.word", "insert.pronoun", "insert.linking", "strange", "dropped")
LEAST = 0.4  # what is left at least of any other cost before
ROUNDS = 4  # of holding numbers at their least and finding the others anew
STEPS = 150


@dataclass(frozen=True)
class Candidates:
    """All candidates of all sentences, one sentence after the other."""

    readings: Vector  # [N,R]
    paid: Vector  # [N,K]: how often each cost is paid
    rest: Vector  # [N]: costs that are not fitted
    owner: NDArray[np.int64]  # [N]: the sentence, from 0 on without gaps
    worth: Vector  # [N]: what it adds to the worth of all


def gleu_worth(statistics: Sequence[Vector], chosen: Sequence[int]) -> list[Vector]:
    """[C] each: the GLEU, in per cent of one sentence, that a candidate of each sentence adds to what its source has.

    `statistics` are those of each candidate, a mean over the references, [C,10]; the source comes first. `chosen` is
    which of them is put out now.
    """
    if not statistics:
        return []
    now = np.sum([each[at] for each, at in zip(statistics, chosen, strict=True)], 0)
    now[2:] = np.maximum(now[2:], 1)  # a corpus of a few sentences may have no n-gram that counts
    brevity = now[1] / now[0] ** 2 if now[0] < now[1] else 0.0
    worths = []
    for each in statistics:
        precision = (each[:, 2::2] / now[2::2] - each[:, 3::2] / now[3::2]).mean(1)
        worth = (precision + brevity * each[:, 0]) * float(score(now)) * len(statistics)
        worths.append(worth - worth[0])
    return worths


def lows(before: Mapping[str, float], shrink: float) -> Vector:
    """[K]: the least that each cost may become, if all are multiplied by `shrink` in the end."""
    return np.array([cost / shrink if name in RARE else LEAST * cost for name, cost in before.items()])


def fit(candidates: Candidates, weights: Vector, costs: Vector, least: Vector, pull: float) -> tuple[Vector, Vector]:
    """The weights [R] and costs [K] of the highest expected worth, near those before; no cost below `least` [K]."""
    features = np.concatenate([candidates.readings, -candidates.paid], 1)
    low = np.concatenate([np.zeros(len(weights)), least])
    before = np.maximum(np.concatenate([weights, costs]), low)
    scale = np.concatenate([np.full(len(weights), 0.1), 0.5 + 0.3 * costs])
    found, held = before.copy(), np.zeros(len(before), dtype=bool)
    for _ in range(ROUNDS):
        free = ~held
        fixed = features[:, held] @ low[held] - candidates.rest
        found[held] = low[held]
        found[free] = _unbounded(candidates, features[:, free], fixed, before[free], scale[free], pull)
        below = free & (found < low)
        if not below.any():
            break
        held |= below
    found = np.maximum(found, low)
    return found[: len(weights)], found[len(weights) :]


def _unbounded(
    candidates: Candidates, features: Vector, fixed: Vector, before: Vector, scale: Vector, pull: float
) -> Vector:
    owner, worth = torch.from_numpy(candidates.owner), torch.from_numpy(candidates.worth)
    inputs, base, start = (torch.from_numpy(each) for each in (features, fixed, before))
    values, width = start.clone().requires_grad_(), torch.from_numpy(scale)
    num_sentences = int(owner.max()) + 1
    search = torch.optim.LBFGS([values], max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        search.zero_grad()
        log_weight = base + inputs @ values
        highest = torch.full((num_sentences,), -torch.inf, dtype=torch.float64)
        highest = highest.scatter_reduce(0, owner, log_weight.detach(), "amax")
        weight = torch.exp(log_weight - highest[owner])
        total = torch.zeros(num_sentences, dtype=torch.float64).index_add(0, owner, weight)
        lost = pull * (((values - start) / width) ** 2).sum() - (worth * weight / total[owner]).sum()
        lost.backward()  # type: ignore[no-untyped-call]
        return lost

    search.step(loss)  # type: ignore[no-untyped-call]
    return values.detach().numpy()
