"""One composition behind every way to use the package: read, pose, sample, report."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import torch
from tqdm import tqdm

from .arguments import items, listed, shown, strings
from .constraints import Claim, Constraint
from .constraints.protocols import bind, claims_of
from .errors import BadInput, InfeasibleStart
from .inputs import CorrectInput, KeywordInput, ParaphraseInput
from .models.load import AnyModel, Models, as_model, load_models
from .models.protocols import ask
from .models.text.masked import MaskedModel
from .models.word.recurrent import RecurrentModel
from .ranking import Run
from .result import Result, Score
from .sampling import Annealing, Constant, Ladder
from .sampling.runs import Record, run
from .settings import SETTLING, Rule, Settings, Use
from .target import Target
from .tasks import Problem, task_of
from .tasks.start import obeying_start
from .text.sentences import MAX_HELD, Sentences, by_length, rows_within
from .text.tokenizer import MAX_CHARACTERS, check_size, split, truecase
from .threads import single_threaded

ROWS, ROWS_ON_GPU = 512, 2048  # chains that run together, if their sentences are short
ROWS_OF_SOURCE = 12  # chains whose states take as much memory as what is looked up about an input
CHARACTERS, ROOM = 5, 8  # of a word; words more than in a text: an estimate, to run what is about as long together
ANNEALED_FROM = 0.7  # times beta: where annealing begins; it ends after three quarters of the steps
READ_AHEAD = 512  # inputs that are read before the first of them are sampled
MAX_SCORED_WORDS = 200  # of a sentence to score


def solve(
    inputs: Iterable[Any],
    settings: Settings | None = None,
    *rest: Any,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    masked: MaskedModel | str | Path | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The results of the inputs, in their order. The type of the inputs tells the task.

    Chains of several inputs run together; an input's result does not depend on the others. What a `big` model of texts
    does is `settings.use`: it is the `target` that the word model proposes to and screens for; or it weights the word
    model's samples, which are then drawn again (`resample`); or it ranks what they visited (`rerank`). A `masked`
    language model proposes words for a share of the edits; that changes how chains move, not what they sample.
    `constraints` of one's own are further factors of the target.

    An input that cannot be read raises `BadInput` before anything is sampled, one for which no start is found when its
    turn comes; `solve_each` goes on without them.
    """
    if hasattr(inputs, "pose"):  # a task
        warnings.warn("solve(task, inputs) is now solve(inputs)", DeprecationWarning, stacklevel=2)
        inputs, settings = settings, rest[0] if rest else None  # type: ignore[assignment]
    session = _Session(inputs, settings, model, big, masked, constraints)
    list(_raise_first(map(session.read, range(len(session.inputs)))))
    return _raise_first(session.outcomes(progress=progress))


def solve_each(
    inputs: Iterable[Any],
    settings: Settings | None = None,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    masked: MaskedModel | str | Path | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
) -> Iterator[Result | BadInput]:
    """As `solve`; what is wrong with an input that cannot be answered comes in place of its result."""
    return _Session(inputs, settings, model, big, masked, constraints).outcomes(progress=progress)


class _Session:
    """Some inputs of one task with everything that their run needs: models resolved, settings checked."""

    def __init__(
        self,
        inputs: Iterable[Any],
        settings: Settings | None,
        model: AnyModel | None,
        big: AnyModel | None,
        masked: MaskedModel | str | Path | None,
        constraints: Sequence[Claim],
    ) -> None:
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
        _check(settings, bare)
        self.models = bare.after(settings.context)
        self.settings = replace(settings, steps=settings.num_steps(with_big=bare.text is not None), use=bare.use)
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

    def outcomes(self, *, progress: bool) -> Iterator[Result | BadInput]:
        """The result of each input, or what is wrong with it."""
        if not self.inputs:
            return
        num_read, steps = 0, self.settings.chains * (self.settings.num_steps(with_big=False) + SETTLING * self.settles)
        with tqdm(total=0, unit="step", unit_scale=True, delay=2, disable=not progress, leave=False) as bar:
            for first in range(0, len(self.inputs), READ_AHEAD):
                read = [self.read(number) for number in range(len(self.inputs))[first : first + READ_AHEAD]]
                sources = [source for each in read if isinstance(each, list) for source in each]
                num_read += len(sources)
                bar.total = (num_read + len(self.inputs) - (first + len(read))) * steps  # an unread one counts as one
                results = self._results(sources, bar)
                for each in read:
                    yield self._joined(each, list(islice(results, len(each)))) if isinstance(each, list) else each

    def _joined(self, sources: list[Any], parts: list[Result | BadInput]) -> Result | BadInput:
        errors = [part for part in parts if isinstance(part, BadInput)]
        return errors[0] if errors else self.task.join(sources, [part for part in parts if isinstance(part, Result)])

    def _results(self, sources: list[Any], bar: "tqdm[NoReturn]") -> Iterator[Result | BadInput]:
        """The result of each source, or what is wrong with it; what is about as long runs together."""
        device, chains = self.models.words.device.type, self.settings.chains * self.settings.temper
        together = max(1, (ROWS if device == "cpu" else ROWS_ON_GPU) // chains)
        for first in range(0, len(sources), together):
            batch = sources[first : first + together]
            lengths = [len(str(source)) // CHARACTERS + ROOM for source in batch]
            results: dict[int, Result | BadInput] = {}
            for places in by_length(lengths, rows_within(MAX_HELD, max(chains, ROWS_OF_SOURCE), device)):
                results |= zip(places, self._answered([batch[at] for at in places], bar), strict=True)
            yield from (results[at] for at in range(len(batch)))

    def _answered(self, sources: list[Any], bar: "tqdm[NoReturn]") -> Iterator[Result | BadInput]:
        """The same for sources that are sampled together; where some fail, the others run again without them."""
        try:
            with single_threaded():
                problem = self.task.pose(sources, self.models, self.settings.chains, self.settings.seed)
                runs = self._runs(problem, sources, bar)
        except InfeasibleStart as error:
            if not error.sources:
                raise
            rest = [source for at, source in enumerate(sources) if at not in error.sources]
            answers = self._answered(rest, bar) if rest else iter(())
            yield from (error if at in error.sources else next(answers) for at in range(len(sources)))
        else:
            yield from map(problem.report.result, runs)

    def _runs(self, problem: Problem, sources: Sequence[Any], bar: "tqdm[NoReturn]") -> list[Run]:
        """What the chains of each source did under the target of the problem and the user's own constraints."""
        claims = [bind(claim, problem.lexicon) for claim in self.constraints]
        about = [problem.about, f"constraints {', '.join(claim.name for claim in claims)}" if claims else ""]
        start = self._start(problem, claims, bar)
        target = Target(problem.target.model, [*problem.target.constraints, *claims])
        record = self._walk(problem, target, start, self.settings, bar)
        return [
            Run(
                self.task.name,
                str(source),
                number,
                record.of(number),
                start.select((start.inputs == number).nonzero()[:, 0]).to("cpu"),
                target,
                self.settings,
                self.models,
                " | ".join(filter(None, about)),
                tuple(claim for claim in claims if not claim.hard),
            )
            for number, source in enumerate(sources)
        ]

    def _start(self, problem: Problem, claims: Sequence[Constraint], bar: "tqdm[NoReturn]") -> Sentences:
        """Where the chains start, which is free: it changes how soon they are good, not what they converge to.

        Where the task's start breaks a hard constraint of the user's, the chains walk under the other hard ones alone
        until they come to a sentence that obeys. Before a big target, they settle on the word model.
        """
        start, own, chains, seed = problem.start, problem.target.constraints, self.settings.chains, self.settings.seed
        model = problem.words if self.settles else problem.target.model
        target = Target(model, [*own, *claims])
        if claims and not bool(target.possible(start).all()):
            walk = Settings(steps=SETTLING, chains=chains, seed=(seed + 2) % 2**62)
            loose = Target(model, [constraint for constraint in own if constraint.hard])
            rules = Target(model, [claim for claim in claims if claim.hard])
            start = obeying_start(start, rules, self._walk(problem, loose, start, walk, bar), chains)
        if self.settles:
            settling = Settings(steps=SETTLING, chains=chains, seed=(seed + 1) % 2**62)
            start = self._walk(problem, target, start, settling, bar).final.to(start.device)
        return start

    def _walk(
        self, problem: Problem, target: Target, start: Sentences, settings: Settings, bar: "tqdm[NoReturn]"
    ) -> Record:
        """Run the chains from a start under a target; what they propose is up to the problem."""
        steps, beta = settings.num_steps(with_big=False), 1 / settings.temperature
        return run(
            problem.kernel(target, self.models.masked),
            start,
            steps,
            settings.seed,
            Annealing(ANNEALED_FROM * beta, beta, steps * 3 // 4) if settings.anneal else Constant(beta),
            torch.arange(settings.chains).repeat(len(start) // settings.chains),
            ladder=Ladder.geometric(settings.temper) if settings.temper > 1 else None,
            refused=settings.trace == "all",
            progress=bar.update,
        )


def _raise_first(outcomes: Iterable[Any]) -> Iterator[Any]:
    """The outcomes, up to an input that cannot be answered: that is raised, with its number."""
    for number, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome, BadInput):
            raise type(outcome)(f"input {number}: {outcome}") from outcome.__cause__
        yield outcome


def _check(settings: Settings, models: Models) -> None:
    """Refuse settings that contradict each other."""
    if models.text is not None and models.use != "target" and settings.select != "best":
        raise BadInput(f"`use` {models.use} chooses by itself; leave out `select` {settings.select}, or `use` target")
    if settings.anneal and (settings.select == "last" or models.use == "resample"):
        raise BadInput("`anneal` searches and gives no samples; leave it out, or choose another `select` or `use`")


def keywords(
    words: Sequence[str],
    n: int = KeywordInput.defaults.n,
    *,
    ordered: bool = False,
    inflect: bool = False,
    forbid: Sequence[str] = (),
    min_words: int = KeywordInput.min_words,
    max_words: int = KeywordInput.max_words,
    steps: int | None = KeywordInput.defaults.steps,
    chains: int = KeywordInput.defaults.chains,
    seed: int = KeywordInput.defaults.seed,
    temperature: float = KeywordInput.defaults.temperature,
    select: Rule = KeywordInput.defaults.select,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = KeywordInput.defaults.use,
    context: Sequence[str] = KeywordInput.defaults.context,
    masked: MaskedModel | str | Path | None = None,
    temper: int = KeywordInput.defaults.temper,
    anneal: bool = KeywordInput.defaults.anneal,
    constraints: Sequence[Claim] = (),
) -> Result:
    """Sentences that contain the words: ``cgmh.keywords(["lottery", "scholarships"]).texts``.

    With `big`, a stronger model of texts (``big="smollm2"``) ranks, weights or is the target: see `solve`.
    """
    input = KeywordInput(strings("words", words), ordered, inflect, strings("forbid", forbid), min_words, max_words)
    settings = Settings(
        n, steps, chains, seed, temperature, select, use=use, context=strings("context", context), temper=temper,
        anneal=anneal,
    )  # fmt: skip
    return next(solve([input], settings, model=model, big=big, masked=masked, constraints=constraints))


def paraphrase(
    text: str,
    n: int = ParaphraseInput.defaults.n,
    *,
    match: str | Sequence[str] = ParaphraseInput.match,
    protect: str | Sequence[str] = ParaphraseInput.protect,
    max_overlap: float = ParaphraseInput.max_overlap,
    difference: float = ParaphraseInput.difference,
    start: str = ParaphraseInput.start,
    keep: str | Sequence[str] = ParaphraseInput.keep,
    steps: int | None = ParaphraseInput.defaults.steps,
    chains: int = ParaphraseInput.defaults.chains,
    seed: int = ParaphraseInput.defaults.seed,
    temperature: float = ParaphraseInput.defaults.temperature,
    select: Rule = ParaphraseInput.defaults.select,
    anneal: bool = ParaphraseInput.defaults.anneal,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = ParaphraseInput.defaults.use,
    constraints: Sequence[Claim] = (),
) -> Result:
    """The sentence in other words: ``cgmh.paraphrase("what movie do you like most ?").texts``.

    `match` (NAME, NAME=LEAST or NAME:POWER) says what must stay of the meaning, `protect` which facts, and whether
    in their places, `keep` which words, `max_overlap` how much of the wording (BLEU, in per cent).
    """
    if not isinstance(text, str):
        raise BadInput("paraphrase takes one sentence, a string; for several, call `cgmh.solve`")
    kept = (listed("match", match), listed("protect", protect), max_overlap, difference, start, listed("keep", keep))
    input = ParaphraseInput(text, *kept)
    settings = replace(
        ParaphraseInput.defaults, n=n, steps=steps, chains=chains, seed=seed, temperature=temperature, select=select,
        use=use, anneal=anneal,
    )  # fmt: skip
    return next(solve([input], settings, model=model, big=big, constraints=constraints))


def correct(
    text: str,
    *,
    threshold: float = CorrectInput.defaults.threshold,
    select: Rule = CorrectInput.defaults.select,
    protect: str | Sequence[str] = CorrectInput.protect,
    n: int = CorrectInput.defaults.n,
    steps: int | None = CorrectInput.defaults.steps,
    chains: int = CorrectInput.defaults.chains,
    seed: int = CorrectInput.defaults.seed,
    temperature: float = CorrectInput.defaults.temperature,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = CorrectInput.defaults.use,
    constraints: Sequence[Claim] = (),
) -> Result:
    """The text without its mistakes: ``cgmh.correct("i has two apple.").best.text``; `edits` says what was changed.

    The probability of an edit is the share of the samples that contain it. Edits from `threshold` on are made, unless
    `select` says otherwise: consensus, best (the most probable sentence visited) or last.
    """
    if not isinstance(text, str):
        raise BadInput("correct takes one text, a string; for several, call `cgmh.correct_all`")
    settings = replace(
        CorrectInput.defaults, n=n, steps=steps, chains=chains, seed=seed, temperature=temperature, select=select,
        use=use, threshold=threshold,
    )  # fmt: skip
    input = CorrectInput(text, listed("protect", protect))
    return next(correct_all([input], settings, model=model, big=big, constraints=constraints))


def correct_all(
    inputs: Sequence[CorrectInput | str],
    settings: Settings = CorrectInput.defaults,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    constraints: Sequence[Claim] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The corrections of texts, in their order; sentences of several texts are sampled together.

    A `CorrectInput` says of its text what is left alone; a string is a text as `correct` takes it.
    """
    if isinstance(inputs, str):
        raise BadInput("correct_all takes several texts, a list of strings; for one, call `cgmh.correct`")
    texts = items("inputs", inputs, "texts")
    asked = [CorrectInput(input) if isinstance(input, str) else input for input in texts]
    return solve(asked, settings, model=model, big=big, constraints=constraints, progress=progress)


def score(texts: Sequence[str], *, model: AnyModel | None = None) -> Iterator[Score]:
    """The log probability and perplexity of each text under the model, read as one sentence."""
    texts = strings("texts", texts)
    opened = as_model(model, "float32")
    for at in range(0, len(texts), ROWS):
        batch = texts[at : at + ROWS]
        words = []
        for number, text in enumerate(batch, start=at + 1):
            check_size(text, of=f"sentence {number} ")
            words.append(sentence := split(text))
            if not sentence:
                raise BadInput(f"sentence {number}: {texts[number - 1]!r} has no words")
            if len(sentence) > MAX_SCORED_WORDS:
                raise BadInput(f"sentence {number}: {len(sentence)} words; at most {MAX_SCORED_WORDS} can be scored")
        if isinstance(opened, RecurrentModel):
            known = opened.vocabulary
            words = [truecase(sentence, known.is_ordinary) for sentence in words]
            unknown = [tuple(word for word in sentence if word not in known.ids) for sentence in words]
            with torch.inference_mode(), single_threaded():
                log_probs = opened.log_probs([known.encode(sentence) for sentence in words])
        else:
            unknown = [()] * len(batch)
            log_probs = ask(opened, batch).tolist()
        for text, sentence, log_prob, strange in zip(batch, words, log_probs, unknown, strict=True):
            yield Score.of(text, sentence, log_prob, strange)
