"""The default report of a run: how good the visited sentences are, and what to say about those that are shown.

The word model reads a sentence forward, backward and word by word; a text model, if there is one, as it stands.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from . import __version__
from .constraints import Constraint
from .errors import BadModel
from .models.load import Models
from .models.protocols import TextModel, ask
from .models.text.following import Following
from .models.word.recurrent import RecurrentModel
from .readings import Readings, read_words
from .result import Result, Sentence, Step
from .sampling.runs import KINDS, Record
from .selection import (
    LENGTH_OFFSET,
    MAX_IN_COMMON,
    POOL_SIZE,
    Visit,
    choose,
    per_word,
    resample,
    thinned,
    visited,
    visits_of,
)
from .settings import Rule, Settings
from .target import Target
from .text.lexicon import Lexicon
from .text.sentences import Sentences
from .text.tokenizer import capitalize, first_word, join

EARLY_POOL_SIZE = 40  # sentences that are looked at closely before the end, each time
READ_FOR_EACH = 16  # sentences that are looked at closely at least, for each answer that is asked for
NOT_ASKED = 1e6  # by how much sentences that a text model was not asked about come after the others


@dataclass(frozen=True)
class Run:
    """What the chains of one input did, and what was asked of them."""

    task: str
    input: str
    number: int  # of the input in its batch
    record: Record
    start: Sentences  # of the chains of this input, on the CPU
    target: Target  # what was sampled
    settings: Settings  # as they were resolved: `steps` or `readings` is a number
    models: Models  # a text model has read the context
    about: str = ""  # what was asked beyond the input itself, for the signature
    wishes: tuple[Constraint, ...] = ()  # the user's own soft constraints, which count in the ranking too
    known: dict[tuple[int, ...], float] = field(default_factory=dict)  # how good sentences are, once it is worked out

    @property
    def steps(self) -> int:
        return self.settings.num_steps

    def visits(self, *, with_starts: bool) -> tuple[list[Visit], list[Visit]]:
        """Every sentence that a chain came to, its last one included; and the last ones alone.

        With `with_starts`, sentences that chains started at count too, where they were recorded.
        """
        visits, final = visited(self.record)
        starts = self.record.starts if with_starts else {}
        return (visits_of(self.start, starts, starts["clock"]) if starts else []) + visits, final

    def batch(self, sentences: Sequence[Sequence[int]], device: torch.device | str = "cpu") -> Sentences:
        """Sentences as answers to this input."""
        capacity = max(map(len, sentences)) + 1
        return Sentences.from_lists(sentences, capacity, [self.number] * len(sentences), device=device)

    def trace(self, chain: int, write: Callable[[Sequence[int]], str]) -> tuple[Step, ...]:
        """The recorded steps of one chain, if they are asked for; `write` makes a text of a sentence."""
        if self.settings.trace == "none":
            return ()
        rows = (self.record.steps["chain"] == chain).nonzero()[:, 0]
        columns = (self.record.steps[name][rows].tolist() for name in ("step", "move", "log_ratio", "accepted"))
        texts = [write(ids) for ids in self.record.proposed.select(rows).to_lists()]
        return tuple(
            Step(step, text, KINDS[move], log_ratio, accepted)
            for text, step, move, log_ratio, accepted in zip(texts, *columns, strict=True)
        )

    def signature(self) -> str:
        return signature(self.task, self.models, self.settings, self.about)


def signature(task: str, models: Models, settings: Settings, about: str = "") -> str:
    """One line that says how a result came about; `about` is what was asked beyond the inputs."""
    text = models.text
    counts_steps = settings.readings is None or settings.steps is not None
    parts = [
        f"cgmh {__version__}",
        f"task {task}",
        about,
        f"model {models.words.name}",
        "" if text is None else f"{models.use} {text.name}",
        "" if models.masked is None else f"words also from {models.masked.name}",
        f"chains {settings.chains}",
        f"steps {settings.num_steps}" if counts_steps else "",
        "" if settings.readings is None else f"readings {settings.readings}",
        f"temperature {settings.temperature:g}",
        f"temper {settings.temper}" if settings.temper > 1 else "",
        "anneal" if settings.anneal else "",
        f"threshold {settings.threshold:g}" if settings.select == "threshold" else f"select {settings.select}",
        f"seed {settings.seed}",
        f"torch {torch.__version__}",
    ]
    return " | ".join(filter(None, parts))


class Ranked:
    """A report that ranks what was visited. A task overrides what it has to say about its own answers.

    Sentences are looked up by `sentences.inputs`, an input by its `number` in the batch.
    """

    max_in_common, min_different = MAX_IN_COMMON, 1  # how alike answers may be
    # What the word model's readings and the task's merit count beside the log probability per word of a text model:
    # one that ranks what others found, and one that is the target.
    beside_reader = beside_target = (0.3, 1.0)
    own_pool_size = POOL_SIZE  # sentences that the word model looks at closely, where it ranks alone
    num_asked: int | None = None  # the best so many are shown to a text model that ranks; None: all of the pool
    bar = -math.inf  # how good a sentence must be to be shown before the end

    def __init__(self, lexicon: Lexicon, words: RecurrentModel) -> None:
        self.lexicon, self.words = lexicon, words

    def result(self, run: Run) -> Result:
        """The answers to one input, best first."""
        run = replace(run, models=self._reading(run))
        reader = run.models.text
        visits, final = run.visits(with_starts=self._counts_starts(run))
        effective, log_text = None, dict[tuple[int, ...], float]()
        with torch.inference_mode():
            if reader is not None and run.models.use == "resample":
                chosen, effective, log_text = self._resampled(run, visits, reader)
            else:
                visits, final = self._shown(run, visits), self._shown(run, final)
                if reader is not None and all(visit.log_model == -torch.inf for visit in visits):
                    raise BadModel(f"{reader.name}: thinks every sentence impossible; take another big model")

                def fitness(pool: Sequence[Visit]) -> list[float]:
                    is_likeliest = run.settings.select == "likeliest"
                    return self.likeliness(run, pool) if is_likeliest else self._fitness(run, pool, log_text)

                visits = visits + self._searched(run)
                chosen = self._chosen(run, run.settings.select, visits, final, fitness, self._always(run))
        return Result(
            run.input,
            tuple(self._sentence(run, visit, log_text.get(visit.ids)) for visit in chosen),
            run.record.acceptance(),
            run.signature(),
            run.trace(chosen[0].chain, lambda ids: self.write(run.number, self.lexicon.words(ids))[0]),
            effective,
            run.record.exchange_rates(),
            self.notes(run.number),
            traced_from=self.traced_from(run) or self._searched_start(run, chosen[0].chain),
        )

    @torch.inference_mode()
    def so_far(self, run: Run) -> list[tuple[Sentence, bool]]:
        """What the best answers would be if the run ended now, and whether each is good enough to be shown already.

        No text model ranks yet, and fewer sentences are looked at than in the end.
        """
        visits = self._shown(run, run.visits(with_starts=self._counts_starts(run))[0])

        def fitness(pool: Sequence[Visit]) -> list[float]:
            return self._own_fitness(run, pool)

        chosen = self._chosen(run, "best", visits, (), fitness, self.always(run.number), EARLY_POOL_SIZE)
        objections = self.objection(run.batch([visit.ids for visit in chosen])).tolist()
        return [
            (self._sentence(run, visit, None), objection <= 0 and run.known[visit.ids] >= self.bar)
            for visit, objection in zip(chosen, objections, strict=True)
        ]

    def _chosen(
        self,
        run: Run,
        rule: Rule,
        visits: Sequence[Visit],
        final: Sequence[Visit],
        fitness: Callable[[Sequence[Visit]], list[float]],
        always: Collection[tuple[int, ...]],
        pool_size: int = POOL_SIZE,
    ) -> list[Visit]:
        """The sentences that are shown, as `choose` chooses them for the task."""
        n, given, rough = run.settings.n, self.given(run.number), None
        if rule == "best" and run.models.text is None and not run.wishes:
            pool_size, rough = min(pool_size, max(self.own_pool_size, READ_FOR_EACH * n)), partial(self.rough, run)
        how_different = self.max_in_common, given, always, self.min_different
        return choose(rule, visits, final, fitness, n, *how_different, pool_size=pool_size, rough=rough)

    def _searched(self, run: Run) -> list[Visit]:
        """Sentences that no chain came to, but a search did, and which may be answers where the word model ranks."""
        found = self.found(run.number) if run.settings.select == "best" and run.models.text is None else ()
        if not found:
            return []
        batch = run.batch([ids for ids, _ in found], self.words.device)
        rows = run.target.possible(batch).nonzero()[:, 0]  # the user may have rules of their own
        if not len(rows):
            return []
        batch = batch.select(rows)
        log_model = self.words.log_prob(self.words.encode(batch))
        log_target = run.target.soft_factors(log_model, batch).sum(-1)
        values = zip(rows.tolist(), log_target.tolist(), log_model.tolist(), strict=True)
        return [Visit(found[row][0], log_pi, log_prob, found[row][1]) for row, log_pi, log_prob in values]

    def _searched_start(self, run: Run, chain: int) -> str | None:
        """The text of the sentence at which a chain started, if it may be an answer and steps are traced."""
        if run.settings.trace == "none" or run.models.use == "target" or not self._counts_starts(run):
            return None
        return self.write(run.number, self.lexicon.words(run.start.to_lists()[chain]))[0]

    def _counts_starts(self, run: Run) -> bool:
        """Whether the sentences that chains started at may be answers: a search, or chains that settled, found them."""
        chooses = run.settings.select in ("best", "likeliest")
        return run.models.use == "target" or (chooses and self.finds_starts(run.number))

    def _always(self, run: Run) -> Collection[tuple[int, ...]]:
        """Sentences that are looked at closely; who wants the likeliest one searched for the starts, and not only by
        the probability from left to right, by which chains may have seen many that are better."""
        always = self.always(run.number)
        if run.settings.select != "likeliest" or not self._counts_starts(run):
            return always
        return {*always, *map(tuple, run.start.to_lists())}

    def finds_starts(self, number: int) -> bool:
        """Whether the chains of an input start at sentences that were searched for."""
        return False

    def rough(self, run: Run, visits: Sequence[Visit]) -> list[float]:
        """How good sentences are as far as it is known before they are looked at closely."""
        return [per_word(visit) for visit in visits]

    def found(self, number: int) -> Sequence[tuple[tuple[int, ...], int]]:
        """Sentences for an input that searches found beside the starts of chains, and the chain of each search."""
        return ()

    def likeliness(self, run: Run, pool: Sequence[Visit]) -> list[float]:
        """How probable each sentence is, per word, for who wants the likeliest one."""
        return [per_word(visit) for visit in pool]

    def always(self, number: int) -> Collection[tuple[int, ...]]:
        """Sentences that are looked at closely wherever they were visited, however improbable they are."""
        return ()

    def objection(self, sentences: Sentences) -> Tensor:
        """[B]: what speaks against showing a sampled sentence; nothing if it is 0 or less."""
        return torch.zeros(len(sentences), dtype=torch.float64)

    def merit(self, sentences: Sentences, readings: Readings) -> Tensor:
        """[B]: what counts beside fluency when answers are ranked."""
        return torch.zeros(len(sentences), dtype=torch.float64)

    def given(self, number: int) -> Collection[int]:
        """Words that every answer has because they were asked for; how answers differ lies in the others."""
        return ()

    def figures(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each: figures that go along with an answer."""
        return {}

    def preceding(self, number: int) -> tuple[str, ...]:
        """Lines that a text model reads just before it ranks an answer."""
        return ()

    def notes(self, number: int) -> dict[str, Any]:
        """What goes along with the result."""
        return {}

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """The text and the words of an answer, as the user sees them."""
        text, at = join(words), first_word(words)
        if at >= 0:
            words[at] = capitalize(words[at])
        return text, words

    def traced_from(self, run: Run) -> str | None:
        """The text at which the traced chain began, if it is one that the user knows."""
        return None

    def _reading(self, run: Run) -> Models:
        """The models; a text model that ranks reads the lines that precede an answer after its context."""
        models, lines = run.models, self.preceding(run.number)
        if lines and models.text is not None and models.use == "rerank" and models.bare is not None:
            return replace(models, text=Following(models.text, lines))
        return models

    def _shown(self, run: Run, visits: list[Visit]) -> list[Visit]:
        """The visits that may be answers; if none may, those that least speaks against."""
        objection = self.objection(run.batch([visit.ids for visit in visits]))  # [N]
        kept = (objection <= objection.min().clamp(min=0)).tolist()
        return [visit for visit, shown in zip(visits, kept, strict=True) if shown]

    def _fitness(self, run: Run, pool: Sequence[Visit], log_text: dict[tuple[int, ...], float]) -> list[float]:
        """How good each sentence is, per word: by the word model's readings, the task's merit, and a text model.

        What the text model was asked about is put into `log_text`.
        """
        reader = run.models.text
        if reader is None:
            return self._own_fitness(run, pool)
        own, merit = self._own_values(run, pool)
        values = [fluent + bonus for fluent, bonus in zip(own, merit, strict=True)]
        asked = list(range(len(pool)))
        if self.num_asked is not None:
            asked = sorted(asked, key=lambda at: -values[at])[: self.num_asked]
        is_target = run.models.use == "target"
        if not is_target:  # as the target, it was asked by the chains already
            log_text |= self._ask([pool[at] for at in asked], reader)
        ranked = [value - NOT_ASKED for value in values]
        for at in asked:
            log_prob = pool[at].log_model if is_target else log_text[pool[at].ids]
            each = log_prob / (len(pool[at].ids) + LENGTH_OFFSET)
            ranked[at] = self._beside(each, own[at], merit[at], is_target=is_target)
        return ranked

    def _own_fitness(self, run: Run, pool: Sequence[Visit]) -> list[float]:
        """The same without a text model; what was worked out before is known."""
        new = [visit for visit in pool if visit.ids not in run.known]
        for visit, *values in zip(new, *self._own_values(run, new), strict=True):
            run.known[visit.ids] = sum(values)
        return [run.known[visit.ids] for visit in pool]

    def rated(self, sentences: Sentences, reader: TextModel | None = None) -> list[float]:
        """[B]: how good each sentence is, per word, without the user's wishes; by the word model, or beside another."""
        fluent, merit = self._values(sentences)
        both = list(zip(fluent, merit.tolist(), strict=True))
        if reader is None:
            return [own + bonus for own, bonus in both]
        log_text = ask(reader, [join(self.lexicon.words(ids)) for ids in sentences.to_lists()])
        each = (log_text / (sentences.lengths.cpu() + LENGTH_OFFSET)).tolist()
        return [self._beside(value, own, bonus) for value, (own, bonus) in zip(each, both, strict=True)]

    def _beside(self, log_text: float, own: float, merit: float, *, is_target: bool = False) -> float:
        """A text model's log probability per word, the word model's readings, and the task's merit, as they count."""
        own_weight, merit_weight = self.beside_target if is_target else self.beside_reader
        return log_text + own_weight * own + merit_weight * merit

    def _values(self, sentences: Sentences) -> tuple[list[float], Tensor]:
        """[B] each: the word model's readings, and the task's merit."""
        readings = read_words(list(map(tuple, sentences.to_lists())), self.words)
        return readings.fluency(), self.merit(sentences, readings)

    def _own_values(self, run: Run, pool: Sequence[Visit]) -> tuple[list[float], list[float]]:
        """Of each sentence: the word model's readings, and the task's merit with the user's wishes."""
        if not pool:
            return [], []
        batch = run.batch([visit.ids for visit in pool])
        fluent, merit = self._values(batch)
        for wish in run.wishes:
            merit = merit + wish.log_factor(batch) / (batch.lengths + LENGTH_OFFSET)
        return fluent, merit.tolist()

    def _resampled(
        self, run: Run, visits: list[Visit], reader: TextModel
    ) -> tuple[list[Visit], float, dict[tuple[int, ...], float]]:
        """Samples of the word model, drawn again by the ratio of the two models, both at the run's temperature."""
        ordered = sorted(visits, key=lambda visit: (visit.chain, visit.clock))  # whatever the shards were
        samples = self._shown(run, thinned(ordered, run.steps, max(1, POOL_SIZE // run.settings.chains)))
        log_text = self._ask(samples, reader)
        if all(log_prob == -math.inf for log_prob in log_text.values()):
            raise BadModel(f"{reader.name}: thinks every sample impossible; take another big model, or `use` rerank")
        gains = [log_text[visit.ids] - visit.log_model for visit in samples]
        log_ratio = torch.tensor(gains, dtype=torch.float64) / run.settings.temperature
        chosen, effective = resample(samples, log_ratio, run.settings.n, run.settings.seed)
        return chosen, effective, log_text

    def _ask(self, visits: Sequence[Visit], reader: TextModel) -> dict[tuple[int, ...], float]:
        """The text model's log probability of each distinct sentence."""
        distinct = list(dict.fromkeys(visit.ids for visit in visits))
        texts = [join(self.lexicon.words(ids)) for ids in distinct]
        return dict(zip(distinct, ask(reader, texts).tolist(), strict=True))

    def _sentence(self, run: Run, visit: Visit, log_text: float | None) -> Sentence:
        text, words = self.write(run.number, self.lexicon.words(visit.ids))
        figures = self.figures(run.batch([visit.ids]))
        return Sentence(
            text,
            tuple(words),
            -visit.log_model / (len(visit.ids) + 1),
            visit.log_target / run.settings.temperature,
            log_text,
            **{name: float(value) for name, value in figures.items()},
        )
