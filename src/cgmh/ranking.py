"""Which of the visited sentences to show.

A chain's states are samples of the target. `last` shows the chains' final states as they are; `best` looks through
everything that was visited for the sentences the model likes best, from the left, from the right and word by word;
`consensus` takes the samples that agree most with the others; `first` the sentences that were reached first, as the
paper's paraphrases were chosen. All but `last` choose; what they show are not samples.
`resample` turns samples of one distribution into samples of another, by weights.

From what the chains did to what the user sees.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from .draws import Draws
from .errors import BadModel
from .models.protocols import TextModel
from .models.word.recurrent import RecurrentModel
from .models.word.two_stage import log_readings
from .result import Result, Sentence, Step
from .sampling.runs import KINDS, Record
from .settings import Rule, Settings
from .tasks import Problem
from .text.gleu import compare, ngrams, score
from .text.sentences import Sentences
from .text.tokenizer import capitalize, first_word, join
from .threads import single_threaded
from .version import __version__

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
    forward, backward, fill = log_readings(sentences, model)
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


ASKED = 40  # sentences that a big model is asked about where a task ranks too
OWN = 0.3  # what the word model's own judgement counts beside the big model's log probability a word


class Answers:
    """The run of one input, the `number`-th of its problem, and what a big model says about it."""

    def __init__(
        self, problem: Problem, number: int, record: Record, settings: Settings, big: TextModel | None
    ) -> None:
        self.problem, self.number, self.record, self.settings, self.big = problem, number, record, settings, big
        self.steps = settings.num_steps(None if big is None else settings.use)
        self._log_big: dict[tuple[int, ...], float] = {}  # what it said, where it only ranks or weights

    def result(self, task: str, name: str) -> Result:
        visits, final = visited(self.record, self.steps)
        effective = None
        with torch.inference_mode():
            if self.big is not None and self.settings.use == "resample":
                chosen, effective = self._resampled(visits, self.big)
            else:
                visits, final = self._shown(visits), self._shown(final)
                if self.big is not None and all(visit.log_model == -torch.inf for visit in visits):
                    raise BadModel(f"{self.big.name}: thinks every sentence impossible; take another big model")
                alike = ALIKE if self.problem.answers is None else self.problem.answers.alike
                chosen = choose(self.settings.select, visits, final, self._fitness, self.settings.n, alike)
        return Result(
            name,
            tuple(map(self._sentence, chosen)),
            self.record.acceptance(),
            signature(task, self.problem.words, self.settings, self.big, self.problem.helper, self.problem.about),
            () if self.settings.trace == "none" else self._trace(chosen[0].chain),
            effective,
            self.record.exchange_rates(),
            {} if self.problem.answers is None else self.problem.answers.notes(self.number),
        )

    def _batch(self, visits: Sequence[Visit]) -> Sentences:
        capacity = max(len(visit.ids) for visit in visits) + 1
        return Sentences.from_lists([visit.ids for visit in visits], capacity, [self.number] * len(visits))

    def _shown(self, visits: list[Visit]) -> list[Visit]:
        """The visits that the task lets be answers; if it lets none, those it is least against."""
        if self.problem.answers is None:
            return visits
        objection = self.problem.answers.objection(self._batch(visits))  # [N]
        kept = (objection <= objection.min().clamp(min=0)).tolist()
        return [visit for visit, shown in zip(visits, kept, strict=True) if shown]

    def _fitness(self, pool: Sequence[Visit]) -> list[float]:
        """How good each sentence is, a word: the word model from all sides, the task's merit, a big model beside it."""
        with single_threaded():
            own = judge([visit.ids for visit in pool], self.problem.words)
        batch = self._batch(pool)
        merit = [0.0] * len(pool)
        if self.problem.answers is not None:
            merit = self.problem.answers.merit(batch).tolist()
        for wish in self.problem.wishes:
            wished = (wish.log_factor(batch) / (batch.lengths + LENGTH_OFFSET)).tolist()
            merit = [a + b for a, b in zip(merit, wished, strict=True)]
        if self.big is None:
            return [a + b for a, b in zip(own, merit, strict=True)]
        asked = list(range(len(pool)))
        if self.problem.answers is not None:  # a task that ranks by itself has the big model look at its best only
            asked = sorted(asked, key=lambda at: -own[at] - merit[at])[:ASKED]
        some = [pool[at] for at in asked]
        # As the target, the big model was asked by the chains already.
        target = self.settings.use == "target"
        theirs = [visit.log_model for visit in some] if target else self._ask(some, self.big).tolist()
        values = [-math.inf] * len(pool)
        for at, log in zip(asked, theirs, strict=True):
            values[at] = log / (len(pool[at].ids) + LENGTH_OFFSET) + OWN * own[at] + merit[at]
        return values

    def _resampled(self, visits: list[Visit], big: TextModel) -> tuple[list[Visit], float]:
        """Samples of the word model, drawn again by the ratio of the two models, both at the run's temperature."""
        ordered = sorted(visits, key=lambda visit: (visit.chain, visit.clock))  # whatever the shards were
        samples = self._shown(thinned(ordered, self.steps, max(1, POOL // self.settings.chains)))
        log_big = self._ask(samples, big)  # [N]
        if bool((log_big == -torch.inf).all()):
            raise BadModel(f"{big.name}: thinks every sample impossible; take another big model, or --use rerank")
        log_ratio = log_big - torch.tensor([visit.log_model for visit in samples], dtype=torch.float64)
        return resample(samples, log_ratio / self.settings.temperature, self.settings.n, self.settings.seed)

    def _ask(self, visits: Sequence[Visit], big: TextModel) -> Tensor:
        """[N] float64: the big model's log probability of each sentence."""
        distinct = list(dict.fromkeys(visit.ids for visit in visits))
        texts = [join(self.problem.lexicon.words(ids)) for ids in distinct]
        self._log_big = dict(zip(distinct, big.log_prob(texts).tolist(), strict=True))
        return torch.tensor([self._log_big[visit.ids] for visit in visits], dtype=torch.float64)

    def _sentence(self, visit: Visit) -> Sentence:
        text, words = self._written(visit.ids)
        numbers = {} if self.problem.answers is None else self.problem.answers.numbers(self._batch([visit]))
        return Sentence(
            text,
            tuple(words),
            -visit.log_model / (len(visit.ids) + 1),
            visit.log_target / self.settings.temperature,
            self._log_big.get(visit.ids),
            **{name: float(value) for name, value in numbers.items()},
        )

    def _written(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        """The text and the words as the user sees them."""
        words = self.problem.lexicon.words(ids)
        if self.problem.answers is not None:
            return self.problem.answers.write(self.number, words)
        text, at = join(words), first_word(words)
        if at >= 0:
            words[at] = capitalize(words[at])
        return text, words

    def _trace(self, chain: int) -> tuple[Step, ...]:
        """The recorded steps of one chain: that of the best sentence."""
        rows = (self.record.steps["chain"] == chain).nonzero()[:, 0]
        columns = (self.record.steps[name][rows].tolist() for name in ("step", "move", "log_ratio", "accepted"))
        texts = [self._written(ids)[0] for ids in self.record.proposed.select(rows).to_lists()]
        return tuple(
            Step(step, text, KINDS[move], log_ratio, accepted)
            for text, step, move, log_ratio, accepted in zip(texts, *columns, strict=True)
        )


def signature(
    task: str,
    words: RecurrentModel,
    settings: Settings,
    big: TextModel | None = None,
    helper: str = "",
    about: str = "",
) -> str:
    """One line that says how a result came about; `about` is what was asked beyond the inputs."""
    use = None if big is None else settings.use
    judge = "" if big is None else f" | {use} {big.name}"
    judge += f" | words also from {helper}" if helper else ""
    heat = f" | temper {settings.temper}" * (settings.temper > 1) + " | anneal" * settings.anneal
    asked = f" | {about}" if about else ""
    rule = f"threshold {settings.threshold:g}" if settings.select == "threshold" else f"select {settings.select}"
    return (
        f"cgmh {__version__} | task {task}{asked} | model {words.name}{judge} | chains {settings.chains} | "
        f"steps {settings.num_steps(use)} | temperature {settings.temperature:g}{heat} | {rule} | "
        f"seed {settings.seed} | torch {torch.__version__}"
    )


def visited(record: Record, steps: int) -> tuple[list[Visit], list[Visit]]:
    """Every sentence that a chain came to, its last one included; and the last ones alone."""
    taken = record.steps["changed"].nonzero()[:, 0]
    columns = {name: column[taken] for name, column in record.steps.items()}
    visits = _visits(record.proposed.select(taken), columns, columns["step"] + 1)
    final = _visits(record.final, record.finals, torch.full_like(record.finals["chain"], steps))
    return visits + final, final


def _visits(sentences: Sentences, columns: dict[str, Tensor], clock: Tensor) -> list[Visit]:
    numbers = (columns["log_target"], columns["log_model"], columns["chain"], clock)
    rows = zip(sentences.to_lists(), *(column.tolist() for column in numbers), strict=True)
    return [Visit(tuple(ids), *rest) for ids, *rest in rows]
