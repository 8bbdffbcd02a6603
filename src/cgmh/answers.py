"""From what the chains did to what the user sees."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .errors import BadModel
from .models.protocols import TextModel
from .models.recurrent import RecurrentModel
from .result import Result, Sentence, Step
from .sampling.runs import KINDS, Record, single_threaded
from .selection import ALIKE, LENGTH_OFFSET, POOL, Visit, choose, judge, resample, thinned
from .settings import Settings
from .tasks import Problem
from .text.sentences import Sentences
from .text.tokenizer import capitalize, first_word, join
from .version import __version__

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
