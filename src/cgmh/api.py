"""One composition behind every way to use the package: pose, sample, select."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NoReturn, TypeVar

import torch
from tqdm import tqdm

from .constraints import UserConstraint
from .errors import BadInput
from .models.load import AnyModel, as_model, as_models
from .models.protocols import ContextModel, TextModel
from .models.text.masked import MaskedModel, load_masked
from .models.word.recurrent import RecurrentModel
from .models.word.two_stage import TextTarget, TwoStageModel
from .proposals import MaskedFiller, WordEdits
from .ranking import Answers
from .result import Result, Score
from .sampling import Annealing, Constant, Kernel, Ladder
from .sampling.runs import Record, run
from .settings import CORRECTION_RULES, PARAPHRASE, SENTENCE_RULES, SETTLING, Rule, Settings, Use
from .target import Target
from .tasks import KeywordInput, Keywords, Paraphrase, ParaphraseInput, Problem, Task
from .tasks.correct.report import Corrected, Corrections
from .tasks.problem import SamplerModel
from .tasks.start import obeying_start
from .text.sentences import Sentences
from .text.tokenizer import split, truecase
from .threads import single_threaded

Input = TypeVar("Input")
ROWS, ROWS_ON_GPU = 512, 2048  # chains that run together
WINDOW = 1  # words after an edit that the first stage of delayed acceptance looks at
ANNEALED_FROM = 0.7  # times beta: where annealing begins; it ends after three quarters of the steps
MASKED_SHARE = 0.3  # of the steps, for a masked language model that proposes
LONGEST = 200  # words of a sentence to score


def solve(
    task: Task[Input],
    inputs: Sequence[Input],
    settings: Settings | None = None,
    *,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    masked: MaskedModel | str | Path | None = None,
    constraints: Sequence[UserConstraint] = (),
    progress: bool = False,
) -> Iterator[Result]:
    """The results of the inputs, in their order.

    Chains of several inputs run together; an input's result does not depend on the others. What a `big` model of texts
    does is `settings.use`: it is the `target` that the word model proposes to and screens for; or it weights
    the word model's samples, which are then drawn again (`resample`); or it ranks what they visited (`rerank`). A
    `masked` language model proposes words for a share of the edits; that changes how chains move, not what they sample.
    `constraints` of one's own are further factors of the target.
    """
    settings = settings or Settings()
    small, judge, use = as_models(model, big, settings.use)
    _check(settings, judge, use)
    rules = CORRECTION_RULES if task.name == "correct" else SENTENCE_RULES
    if settings.select not in rules:
        raise BadInput(f"--select {settings.select}: this task takes one of {', '.join(rules)}")
    bare = judge
    judge = _reading(judge, settings.context) if settings.context else judge
    steps = settings.num_steps(use)
    settings = replace(settings, steps=steps, use=use)
    target = judge if use == "target" else None
    filler = load_masked(masked) if isinstance(masked, str | Path) else masked
    task.check(inputs, small)
    rows = ROWS if small.device.type == "cpu" else ROWS_ON_GPU
    together = max(1, rows // (settings.chains * settings.temper))
    settling = SETTLING if target is not None and task.settles else 0
    total = len(inputs) * settings.chains * (steps + settling)
    bar = tqdm(total=total, unit="step", unit_scale=True, delay=2, disable=not progress, leave=False)
    with bar:
        for at in range(0, len(inputs), together):
            some = list(inputs[at : at + together])
            with single_threaded():
                walked: SamplerModel = small if target is None or task.settles else TextTarget(small, target)
                problem = _helped(task.pose(some, walked, settings.chains, settings.seed, at), filler)
                if constraints:
                    problem = _obeying(problem, constraints, settings, bar, at)
                if target is not None and task.settles:
                    plain = Settings(steps=SETTLING, chains=settings.chains, seed=(settings.seed + 1) % 2**62)
                    settled = _run(problem, plain, bar).final
                    posed = task.pose(some, TextTarget(small, target), settings.chains, settings.seed, at)
                    own = [own.bound(posed.lexicon) for own in constraints]
                    wishes = tuple(one for one in own if not one.hard)
                    goal = Target(posed.model, [*posed.target.constraints, *own])
                    start = settled.to(posed.start.device)
                    problem = replace(
                        _helped(posed, filler), target=goal, start=start, wishes=wishes, about=problem.about
                    )
                record = _run(problem, settings, bar)
            for number, input in enumerate(some):
                reader = judge
                if problem.answers is not None and use == "rerank" and settings.context:
                    with suppress(BadInput):  # too long a source: it reads the context alone
                        reader = _reading(bare, (*settings.context, *problem.answers.before(number)))
                kind = Corrected if isinstance(problem.answers, Corrections) else Answers
                answers = kind(problem, number, record.of(number), settings, reader)
                yield answers.result(task.name, str(input))


def _reading(model: TextModel | None, lines: Sequence[str]) -> TextModel | None:
    """The model after some lines, if it can read them."""
    with single_threaded():
        return model.after(lines) if isinstance(model, ContextModel) else model


def _check(settings: Settings, judge: TextModel | None, use: Use | None) -> None:
    if judge is not None and use != "target" and settings.select != "best":
        raise BadInput(f"--use {use} chooses by itself; leave out --select {settings.select}, or take --use target")
    if settings.anneal and (settings.select == "last" or (judge is not None and use == "resample")):
        raise BadInput("--anneal searches and gives no samples; leave it out, or choose another --select or --use")


def _helped(problem: Problem, masked: MaskedModel | None) -> Problem:
    """The problem, with a masked language model that proposes words beside the word model."""
    if masked is None:
        return problem
    edits = WordEdits(MaskedFiller(masked, problem.lexicon, problem.model))
    return replace(problem, proposal=problem.proposal.beside(edits, MASKED_SHARE), helper=masked.name)


def _obeying(
    problem: Problem, constraints: Sequence[UserConstraint], settings: Settings, bar: "tqdm[NoReturn]", first: int
) -> Problem:
    """The problem under a user's own constraints too.

    Where the start breaks a hard one, the chains walk under the other hard ones alone until they come by a sentence
    that obeys: a start is free.
    """
    if not all(isinstance(own, UserConstraint) for own in constraints):
        raise BadInput("constraints takes what @cgmh.constraint made of a function, not the function itself")
    bound = [own.bound(problem.lexicon) for own in constraints]
    target = Target(problem.model, [*problem.target.constraints, *bound])
    about = " | ".join(filter(None, [problem.about, f"constraints {', '.join(own.name for own in bound)}"]))
    problem = replace(problem, wishes=tuple(own for own in bound if not own.hard), about=about)
    if bool(target.possible(problem.start).all()):
        return replace(problem, target=target)
    walk = Settings(steps=SETTLING, chains=settings.chains, seed=(settings.seed + 2) % 2**62)
    loose = replace(problem, target=Target(problem.model, [own for own in problem.target.constraints if own.hard]))
    rules = Target(problem.model, [own for own in bound if own.hard])
    start = obeying_start(problem.start, rules, _run(loose, walk, bar), settings.chains, first)
    return replace(problem, target=target, start=start)


def _run(problem: Problem, settings: Settings, bar: "tqdm[NoReturn]") -> Record:
    """Run the chains of a problem from its start."""
    steps, beta = settings.num_steps(None), 1 / settings.temperature
    model = problem.model
    window, trust = (model.window, model.trust) if isinstance(model, TwoStageModel) else (WINDOW, 1.0)
    return run(
        Kernel(problem.target, problem.proposal, window, trust=trust, steepest=problem.steepest),
        problem.start,
        steps,
        settings.seed,
        Annealing(ANNEALED_FROM * beta, beta, steps * 3 // 4) if settings.anneal else Constant(beta),
        torch.arange(settings.chains).repeat(len(problem.start) // settings.chains),
        ladder=Ladder.geometric(settings.temper) if settings.temper > 1 else None,
        refused=settings.trace == "all",
        progress=bar.update,
    )


def keywords(
    words: Sequence[str],
    n: int = Settings.n,
    *,
    ordered: bool = False,
    inflect: bool = False,
    forbid: Sequence[str] = (),
    min_words: int = KeywordInput.min_words,
    max_words: int = KeywordInput.max_words,
    steps: int | None = Settings.steps,
    chains: int = Settings.chains,
    seed: int = Settings.seed,
    temperature: float = Settings.temperature,
    select: Rule = Settings.select,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = Settings.use,
    context: Sequence[str] = Settings.context,
    masked: MaskedModel | str | Path | None = None,
    temper: int = Settings.temper,
    anneal: bool = Settings.anneal,
    constraints: Sequence[UserConstraint] = (),
) -> Result:
    """Sentences that contain the words: ``cgmh.keywords(["lottery", "scholarships"]).texts``.

    With `big`, a stronger model of texts (``big="smollm2"``) ranks, weights or is the target: see `solve`.
    """
    if isinstance(words, str):
        raise BadInput(f"keywords takes a list of words: [{words!r}]")
    if isinstance(forbid, str):
        raise BadInput(f"forbid takes a list of words: [{forbid!r}]")
    if isinstance(context, str):
        raise BadInput(f"context takes a list of lines: [{context!r}]")
    input = KeywordInput(tuple(words), ordered, inflect, tuple(forbid), min_words, max_words)
    settings = Settings(
        n, steps, chains, seed, temperature, select, use=use, context=tuple(context), temper=temper, anneal=anneal
    )
    return next(solve(Keywords(), [input], settings, model=model, big=big, masked=masked, constraints=constraints))


def paraphrase(
    text: str,
    n: int = PARAPHRASE.n,
    *,
    match: Sequence[str] = ParaphraseInput.match,
    protect: Sequence[str] = ParaphraseInput.protect,
    max_overlap: float = ParaphraseInput.max_overlap,
    difference: float = ParaphraseInput.difference,
    start: str = ParaphraseInput.start,
    steps: int | None = PARAPHRASE.steps,
    chains: int = PARAPHRASE.chains,
    seed: int = PARAPHRASE.seed,
    temperature: float = PARAPHRASE.temperature,
    select: Rule = PARAPHRASE.select,
    anneal: bool = PARAPHRASE.anneal,
    model: AnyModel | None = None,
    big: AnyModel | None = None,
    use: Use | None = PARAPHRASE.use,
    constraints: Sequence[UserConstraint] = (),
) -> Result:
    """The sentence in other words: ``cgmh.paraphrase("what movie do you like most ?").texts``.

    `match` says what must stay of the meaning (kw, wva, wvm, st, cw, minilm, as NAME, NAME=LEAST or NAME:POWER),
    `protect` which facts (numbers, negation, names, quotes), `max_overlap` how much of the wording may stay (BLEU, in
    per cent).
    """
    if not isinstance(text, str):
        raise BadInput("paraphrase takes one sentence, a string; for several, call `cgmh.solve`")
    matched, protected = ((some,) if isinstance(some, str) else tuple(some or ()) for some in (match, protect))
    input = ParaphraseInput(text, matched, protected, max_overlap, difference, start)
    settings = replace(
        PARAPHRASE,
        n=n,
        steps=steps,
        chains=chains,
        seed=seed,
        temperature=temperature,
        select=select,
        use=use,
        anneal=anneal,
    )
    return next(solve(Paraphrase(), [input], settings, model=model, big=big, constraints=constraints))


def score(texts: Sequence[str], *, model: AnyModel | None = None) -> Iterator[Score]:
    """The log probability and perplexity of each text under the model, read as one sentence."""
    if isinstance(texts, str):
        raise BadInput(f"score takes a list of sentences: [{texts!r}]")
    opened = as_model(model, "float32")
    for at in range(0, len(texts), ROWS):
        some = texts[at : at + ROWS]
        words = [split(text) for text in some]
        for number, sentence in enumerate(words, start=at + 1):
            if not sentence:
                raise BadInput(f"sentence {number}: {texts[number - 1]!r} has no words")
            if len(sentence) > LONGEST:
                raise BadInput(f"sentence {number}: {len(sentence)} words; at most {LONGEST} can be scored")
        if isinstance(opened, RecurrentModel):
            known = opened.vocabulary
            words = [truecase(sentence, known.is_ordinary) for sentence in words]
            unknown = [tuple(word for word in sentence if word not in known.ids) for sentence in words]
            log_probs = _word_log_probs(opened, words)
        else:
            unknown = [()] * len(some)
            log_probs = opened.log_prob(some).tolist()
        for text, sentence, log_prob, strange in zip(some, words, log_probs, unknown, strict=True):
            yield Score(text, tuple(sentence), log_prob, _exp(-log_prob / (len(sentence) + 1)), strange)


def _exp(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _word_log_probs(model: RecurrentModel, words: Sequence[Sequence[str]]) -> list[float]:
    ids = [model.vocabulary.encode(sentence) for sentence in words]
    batch = Sentences.from_lists(ids, max(map(len, ids)) + 1, device=model.device)
    with torch.inference_mode(), single_threaded():
        found: list[float] = model.log_prob(model.encode(batch)).tolist()
    return found
