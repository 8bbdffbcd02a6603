"""The inputs of one task on their way through a run: read, pose, sample, report."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import torch
from tqdm import tqdm

from .arguments import items, shown
from .constraints import Claim, Constraint
from .constraints.protocols import bind, claims_of
from .draws import Seed, seed_of_each, seeds_of_chains
from .errors import BadInput, InfeasibleStart
from .models.load import AnyModel, Models, load_models
from .models.text.llama import LlamaModel
from .models.text.masked import MaskedModel
from .models.word.two_stage import TextTarget
from .ranking import Ranked, Run
from .remembered import ANSWERS
from .result import Result
from .sampling import Annealing, Constant, Ladder
from .sampling.runs import Record, num_workers, run, run_ahead
from .sampling.shards import Tick, can_fork, is_own, stream_out
from .settings import READINGS_OF_CHAIN, SETTLING, STEPS_PER_READING, Settings
from .target import Target
from .tasks import Problem, task_of
from .tasks.problem import for_chains
from .tasks.start import obeying_start, promising_starts, with_written
from .text.sentences import MAX_HELD, Sentences, by_length, rows_within
from .text.tokenizer import MAX_CHARACTERS, check_size
from .threads import one_core, single_threaded

ROWS, ROWS_ON_GPU = 512, 2048  # chains that run together, if their sentences are short
ROWS_OF_SOURCE = 12  # chains whose states take as much memory as what is looked up about an input
CHARACTERS, ROOM = 5, 8  # of a word; words more than in a text: an estimate, to run what is about as long together
ANNEALED_FROM = 0.7  # times beta: where annealing begins; it ends after three quarters of the steps
SEEKING = 180  # steps of chains that look for sentences that obey the user's own constraints
SOURCES_OF_WORKER = 4  # sources for each process from which on it takes whole ones
READ_AHEAD = 512  # inputs that are read before the first of them are sampled


class _Seeded(NamedTuple):
    """A source, and the seed of its chains."""

    source: Any
    seed: int


class Session:
    """Some inputs of one task with everything that their run needs: models resolved, settings checked."""

    def __init__(
        self,
        inputs: Iterable[Any],
        settings: Settings | None,
        model: AnyModel | None,
        big: AnyModel | None,
        masked: MaskedModel | str | Path | None,
        constraints: Sequence[Claim],
        seeds: Sequence[int] | None = None,
    ) -> None:
        """`seeds` has a seed for each input, in place of the one of the settings."""
        inputs = items("inputs", inputs, "inputs")
        kinds = {type(input) for input in inputs}
        if len(kinds) > 1:
            raise BadInput(f"one run takes inputs of one type, not {', '.join(sorted(k.__name__ for k in kinds))}")
        self.constraints = claims_of(constraints)
        # What is sampled for an input; a result where nothing needs to be.
        self.inputs, self._sources = inputs, dict[int, list[Any] | Result | BadInput]()
        if not inputs:
            return
        (kind,) = kinds
        self.task = task_of(kind)
        settings = kind.defaults if settings is None else settings
        if not isinstance(settings, Settings):
            raise BadInput(f"`settings` takes Settings, not {shown(settings)}")
        if settings.select not in kind.rules:
            raise BadInput(f"`select` {settings.select}: this task takes one of {', '.join(kind.rules)}")
        bare = load_models(model, big, settings.use, kind.uses, masked)
        # A budget of readings is for tasks whose usual target is a big model that goes on from settled starts.
        has_budget = self.task.settles and kind.uses[0] == "target"
        _check(settings, bare, has_budget=has_budget)
        self.models = bare.after(settings.context)
        readings = settings.budget if bare.use == "target" and has_budget else None
        steps = settings.num_steps
        self.settings = replace(settings, steps=settings.steps if readings else steps, readings=readings, use=bare.use)
        # With few readings, many chains would not get far.
        going = max(1, (readings or 0) // READINGS_OF_CHAIN)
        self.num_going = min(settings.chains, going) if readings else settings.chains
        self._seeds = [self.settings.seed] * len(inputs) if seeds is None else seeds
        self.is_interrupted = False
        self.settles = bare.use == "target" and self.task.settles
        self.task.check(inputs)

    def read(self, number: int) -> list[Any] | Result | BadInput:
        """What is sampled for an input, or what is wrong with it; read when it is first asked for."""
        if number not in self._sources:
            input = self.inputs[number]
            try:
                check_size(str(input), getattr(input, "max_characters", MAX_CHARACTERS))
                self._sources[number] = self.task.read(input, self.models.words.vocabulary)
            except BadInput as error:
                self._sources[number] = error
        return self._sources[number]

    def outcomes(self, *, progress: bool, salvage: bool = False) -> Iterator[Result | BadInput]:
        """The result of each input, or what is wrong with it.

        With `salvage`, an interruption of chains on a big target gives the results of what they have found so far,
        before it goes on.
        """
        if not self.inputs:
            return
        self._salvage = salvage
        settings, num_read = self.settings, 0
        each_costs = settings.readings  # what the bar counts: readings, or steps
        if each_costs is None:
            each_costs = settings.chains * (settings.num_steps + SETTLING * self.settles)
        unit = " steps" if settings.readings is None else " readings"
        with tqdm(total=0, unit=unit, unit_scale=True, delay=2, disable=not progress, leave=False) as bar:
            for first in range(0, len(self.inputs), READ_AHEAD):
                numbers = range(len(self.inputs))[first : first + READ_AHEAD]
                read = [self.read(number) for number in numbers]
                sources = [
                    _Seeded(source, self._seeds[number])
                    for number, each in zip(numbers, read, strict=True)
                    if isinstance(each, list)
                    for source in each
                ]
                num_read += len(sources)
                bar.total = (num_read + len(self.inputs) - (first + len(read))) * each_costs  # an unread: one
                results = self._recalled(sources, bar, each_costs)
                for each in read:
                    yield self.joined(each, list(islice(results, len(each)))) if isinstance(each, list) else each
                if self.is_interrupted:
                    raise KeyboardInterrupt

    def joined(self, sources: list[Any], parts: list[Result | BadInput]) -> Result | BadInput:
        """The result of an input from those of its sources, or the first of what was wrong with them."""
        errors = [part for part in parts if isinstance(part, BadInput)]
        return errors[0] if errors else self.task.join(sources, [part for part in parts if isinstance(part, Result)])

    def _recalled(
        self, sources: list["_Seeded"], bar: "tqdm[NoReturn]", each_costs: int
    ) -> Iterator[Result | BadInput]:
        """The result of each source, or what is wrong with it; what was answered before is not sampled again."""
        known: list[Result | None] = [None] * len(sources)
        if not self.constraints:  # of a user's own constraint nobody knows whether it is the same
            known = [ANSWERS.get(self.task, *self._asked(source), self.models) for source in sources]
        new = self._results([source for source, result in zip(sources, known, strict=True) if result is None], bar)
        for source, recalled in zip(sources, known, strict=True):
            if recalled is not None:
                bar.update(each_costs)
                yield recalled
                continue
            outcome = next(new)
            if isinstance(outcome, Result) and not self.constraints and not self.is_interrupted:
                ANSWERS.put(self.task, *self._asked(source), self.models, outcome)
            yield outcome

    def _asked(self, source: "_Seeded") -> tuple[Any, Settings]:
        """A source, and how it is sampled."""
        return source.source, replace(self.settings, seed=source.seed)

    def _results(self, sources: list["_Seeded"], bar: "tqdm[NoReturn]") -> Iterator[Result | BadInput]:
        """The result of each source, or what is wrong with it; what is about as long runs together."""

        def answer(part: list[_Seeded], tick: Tick) -> list[Result | BadInput]:
            return list(self._answered(part, tick))

        def answer_on_one_core(part: list[_Seeded], tick: Tick) -> list[Result | BadInput]:
            with one_core():
                return answer(part, tick)

        workers = self._num_workers(sources)
        windows = self._windows([len(str(each.source)) // CHARACTERS + ROOM for each in sources], workers)
        parts = [[sources[at] for at in places] for window in windows for places in window]
        with closing(stream_out(answer_on_one_core, answer, parts, workers, progress=bar.update)) as answers:
            for window in windows:
                results: dict[int, Result | BadInput] = {}
                for places in window:
                    results |= zip(places, next(answers), strict=True)
                    if self.is_interrupted:
                        break
                for at in sorted(at for places in window for at in places):
                    if at not in results:
                        raise KeyboardInterrupt
                    yield results[at]
                if self.is_interrupted:
                    raise KeyboardInterrupt

    def _num_workers(self, sources: list["_Seeded"]) -> int:
        """The processes that take sources from their posing to their report, all on one core each.

        That leaves no core waiting for another, as long as there are many; the chains of few are shared out instead.
        So are those on a big target that may be interrupted, which would lose what other processes have found.
        """
        words, text = self.models.words, self.models.text
        workers = num_workers(len(sources) * self.settings.chains, words.device)
        is_enough = workers > 1 and len(sources) >= workers * SOURCES_OF_WORKER
        # What an LLM of ours remembers changes nothing, so that it may be copied; on a GPU it may not.
        is_plain = isinstance(text, LlamaModel) and text.device.type == "cpu" and not self.settles and can_fork()
        can_copy = text is None or is_plain
        others = (self.task, words, self.models.masked, self.constraints, sources)
        return workers if is_enough and can_copy and is_own(others) else 1

    def _windows(self, lengths: Sequence[int], workers: int) -> list[list[list[int]]]:
        """The places of sources of such lengths: of those that are reported together, the parts that run together."""
        device, chains = self.models.words.device.type, self.settings.chains * self.settings.temper
        together = workers * max(1, (ROWS if device == "cpu" else ROWS_ON_GPU) // chains)
        most = rows_within(MAX_HELD, workers * max(chains, ROWS_OF_SOURCE), device)
        windows: list[list[list[int]]] = []
        # Where parts follow one another without a pause, small ones first: who waits, or interrupts, has some soon.
        first, size = 0, min(together, workers * SOURCES_OF_WORKER) if workers > 1 else together
        while first < len(lengths):
            own = lengths[first : first + size]
            # Long ones first: who takes the last part keeps the others waiting for a short time.
            parts = by_length(own, min(most, -(-len(own) * max(own) // workers)))[::-1]
            windows.append([[first + at for at in places] for places in parts])
            first, size = first + size, min(together, 2 * size)
        return windows

    def _answered(self, sources: list["_Seeded"], tick: Tick) -> Iterator[Result | BadInput]:
        """The same for sources that are sampled together; where some fail, the others run again without them."""
        try:
            with single_threaded():
                posed, seed = [each.source for each in sources], seed_of_each([each.seed for each in sources])
                problem = self.task.pose(posed, self.models, self.settings.chains, seed)
                problem = problem.chosen_by(self.settings.select)
                runs = self._runs(problem, sources, seed, tick)
        except InfeasibleStart as error:
            if not error.sources:
                raise
            rest = [source for at, source in enumerate(sources) if at not in error.sources]
            answers = self._answered(rest, tick) if rest else iter(())
            yield from (error if at in error.sources else next(answers) for at in range(len(sources)))
        else:
            yield from map(problem.report.result, runs)

    def _runs(self, problem: Problem, sources: Sequence["_Seeded"], seed: Seed, tick: Tick) -> list[Run]:
        """What the chains of each source did under the target of the problem and the user's own constraints."""
        claims = [bind(claim, problem.lexicon) for claim in self.constraints]
        start = self._start(problem, claims, seed, tick)
        target = Target(problem.target.model, [*problem.target.constraints, *claims])
        record = self._walk(problem, target, start, self.settings, seed, tick)
        self.is_interrupted = record.interrupted
        about = [
            problem.about,
            f"constraints {', '.join(claim.name for claim in claims)}" if claims else "",
            "interrupted" if record.interrupted else "",
        ]
        wishes = tuple(claim for claim in claims if not claim.hard)
        return [
            self.run_of(
                each.source,
                number,
                record.of(number),
                start.select((start.inputs == number).nonzero()[:, 0]).to("cpu"),
                target,
                " | ".join(filter(None, about)),
                wishes,
                each.seed,
            )
            for number, each in enumerate(sources)
        ]

    def run_of(
        self,
        source: Any,
        number: int,
        record: Record,
        start: Sentences,
        target: Target,
        about: str,
        wishes: tuple[Constraint, ...] = (),
        seed: int | None = None,
    ) -> Run:
        """What the chains of a source did, for its report; `seed` is theirs, if not that of the settings."""
        settings = self.settings if seed is None else replace(self.settings, seed=seed)
        return Run(self.task.name, str(source), number, record, start, target, settings, self.models, about, wishes)

    def _start(self, problem: Problem, claims: Sequence[Constraint], seed: Seed, tick: Tick) -> Sentences:
        """Where the chains start, which is free: it changes how soon they are good, not what they converge to.

        Where the task's start breaks a hard constraint of the user's, the chains walk under the other hard ones alone
        until they come to a sentence that obeys. Before a big target, they settle on the word model. Then all of them
        go on; or, if readings are counted, as many as `num_going`, from the most promising sentences visited. Some may
        begin at sentences that the big model wrote; reading those to choose among them is not counted.
        """
        start, own, chains = problem.start, problem.target.constraints, self.settings.chains
        model = for_chains(problem.words) if self.settles else problem.target.model
        target = Target(model, [*own, *claims])
        if claims and not bool(target.possible(start).all()):
            loose = Target(model, [constraint for constraint in own if constraint.hard])
            rules = Target(model, [claim for claim in claims if claim.hard])
            # From sentences that a search found, a chain hardly gets away.
            first = start if problem.grown is None else problem.grown()
            walked = self._walk(problem, loose, first, Settings(steps=SEEKING), (seed + 2) % 2**62, tick)
            start = obeying_start(start, rules, walked, chains)
        if self.settles:
            settled = self._walk(problem, target, start, Settings(steps=SETTLING), (seed + 1) % 2**62, tick)
            report = problem.report
            ranked = report if isinstance(report, Ranked) else Ranked(problem.lexicon, problem.words)
            if self.settings.readings is None:
                start = settled.final.to(start.device)
            else:
                start = promising_starts(start, settled, ranked, self.num_going)
            if problem.written is not None and self.models.text is not None:
                start = with_written(start, problem.written(), target, ranked, self.models.text)
        return start

    def _walk(
        self, problem: Problem, target: Target, start: Sentences, settings: Settings, seed: Seed, tick: Tick
    ) -> Record:
        """Run the chains from a start under a target; what they propose is up to the problem."""
        kernel, beta = problem.kernel(target, self.models.masked), 1 / settings.temperature
        num_sources = int(start.inputs.max()) + 1
        names = torch.arange(len(start) // num_sources).repeat(num_sources)
        seeds = seeds_of_chains(seed, len(start) // num_sources)
        steps, readings = settings.num_steps, None
        if settings.readings is not None:
            readings = _shares(settings.readings, self.num_going).repeat(num_sources)
            steps = settings.steps or STEPS_PER_READING * int(readings.max())
        schedule = Annealing(ANNEALED_FROM * beta, beta, steps * 3 // 4) if settings.anneal else Constant(beta)
        refused = settings.trace == "all"
        if isinstance(target.model, TextTarget) and settings.temper == 1:
            return run_ahead(
                kernel, start, steps, seeds, schedule, names, readings=readings, refused=refused,
                progress=tick, salvage=self._salvage,
            )  # fmt: skip
        counted = self.settings.readings is None  # otherwise the bar counts readings
        return run(
            kernel,
            start,
            steps,
            seeds,
            schedule,
            names,
            ladder=Ladder.geometric(settings.temper) if settings.temper > 1 else None,
            refused=refused,
            progress=tick if counted else lambda _: None,
        )


def _shares(readings: int, chains: int) -> torch.Tensor:
    """[chains]: how many of the readings each chain gets: the same number, the first ones one more if some are left."""
    each, left = divmod(readings, chains)
    return each + (torch.arange(chains) < left).long()


def _check(settings: Settings, models: Models, *, has_budget: bool) -> None:
    """Refuse settings that contradict each other."""
    if models.text is not None and models.use != "target" and settings.select != "best":
        raise BadInput(f"`use` {models.use} chooses by itself; leave out `select` {settings.select}, or `use` target")
    if settings.anneal and (settings.select == "last" or models.use == "resample"):
        raise BadInput("`anneal` searches and gives no samples; leave it out, or choose another `select` or `use`")
    if settings.readings is None:
        return
    if not has_budget:
        raise BadInput("`readings` are counted for keywords only; leave it out, and give `steps`")
    if models.use != "target":
        raise BadInput(
            "`readings` are those of a big model as the target; leave it out, or give a `big` one and `use` target"
        )
    if not settings.takes_readings:
        asked = "`select` last" if settings.select == "last" else "`anneal`" if settings.anneal else "`temper`"
        raise BadInput(
            f"`readings` cannot be counted beside {asked}, which takes equal steps of each chain: give `steps`"
        )
