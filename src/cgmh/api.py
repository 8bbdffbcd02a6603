"""One composition behind every way to use the package: pose, sample, select."""

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import torch
from tqdm import tqdm

from .errors import BadInput
from .models.checkpoint import load_model
from .models.recurrent import RecurrentModel
from .proposals import MOVES
from .result import Result, Score, Sentence, Step
from .sampling import Constant, Kernel
from .sampling.runs import Record, run, single_threaded
from .selection import Visit, choose
from .settings import Rule, Settings
from .tasks import KeywordInput, Keywords, Problem, Task
from .text.sentences import Sentences
from .text.tokenizer import capitalize, first_word, join, split, truecase
from .version import __version__

Input = TypeVar("Input")
ROWS = 256  # chains that run together
WINDOW = 1  # words after an edit that the first stage of delayed acceptance looks at
LONGEST = 200  # words of a sentence to score


def as_model(model: RecurrentModel | str | Path | None) -> RecurrentModel:
    """A model as it is, that of a directory, or the embedded English one; the last two stay loaded."""
    return model if isinstance(model, RecurrentModel) else _loaded(None if model is None else str(model))


@lru_cache(maxsize=2)
def _loaded(directory: str | None) -> RecurrentModel:
    return load_model(directory)


def solve(
    task: Task[Input],
    inputs: Sequence[Input],
    settings: Settings | None = None,
    *,
    model: RecurrentModel | str | Path | None = None,
    progress: bool = False,
) -> Iterator[Result]:
    """The results of the inputs, in their order.

    Chains of several inputs run together; an input's result does not depend on the others.
    """
    settings = settings or Settings()
    loaded = as_model(model)
    task.check(inputs, loaded)
    together = max(1, ROWS // settings.chains)
    total = len(inputs) * settings.chains * settings.steps
    bar = tqdm(total=total, unit="step", unit_scale=True, delay=2, disable=not progress, leave=False)
    with bar:
        for at in range(0, len(inputs), together):
            some = list(inputs[at : at + together])
            with single_threaded():
                problem = task.pose(some, loaded, settings.chains, settings.seed, at)
                record = run(
                    Kernel(problem.target, problem.proposal, window=WINDOW),
                    problem.start,
                    settings.steps,
                    settings.seed,
                    Constant(1 / settings.temperature),
                    torch.arange(settings.chains).repeat(len(some)),
                    refused=settings.trace == "all",
                    progress=bar.update,
                )
                results = [
                    _result(task.name, str(input), problem, record.of(number), settings)
                    for number, input in enumerate(some)
                ]
            yield from results


def keywords(
    words: Sequence[str],
    n: int = Settings.n,
    *,
    ordered: bool = False,
    inflect: bool = False,
    forbid: Sequence[str] = (),
    min_words: int = KeywordInput.min_words,
    max_words: int = KeywordInput.max_words,
    steps: int = Settings.steps,
    chains: int = Settings.chains,
    seed: int = Settings.seed,
    temperature: float = Settings.temperature,
    select: Rule = Settings.select,
    model: RecurrentModel | str | Path | None = None,
) -> Result:
    """Sentences that contain the words: ``cgmh.keywords(["lottery", "scholarships"]).texts``."""
    if isinstance(words, str):
        raise BadInput(f"keywords takes a list of words: [{words!r}]")
    if isinstance(forbid, str):
        raise BadInput(f"forbid takes a list of words: [{forbid!r}]")
    input = KeywordInput(tuple(words), ordered, inflect, tuple(forbid), min_words, max_words)
    return next(solve(Keywords(), [input], Settings(n, steps, chains, seed, temperature, select), model=model))


def _result(task: str, name: str, problem: Problem, record: Record, settings: Settings) -> Result:
    taken = record.steps["changed"].nonzero()[:, 0]
    visits = _visits(record.proposed.select(taken), {name: column[taken] for name, column in record.steps.items()})
    final = _visits(record.final, record.finals)
    with torch.inference_mode():
        chosen = choose(settings.select, [*visits, *final], final, problem.model, settings.n)
    sentences = tuple(_sentence(problem, visit, settings.temperature) for visit in chosen)
    trace = () if settings.trace == "none" else _trace(problem, record, chosen[0].chain)
    return Result(name, sentences, record.acceptance(), signature(task, problem.model, settings), trace)


def _visits(sentences: Sentences, columns: dict[str, torch.Tensor]) -> list[Visit]:
    rows = zip(
        sentences.to_lists(), *(columns[name].tolist() for name in ("log_target", "log_model", "chain")), strict=True
    )
    return [Visit(tuple(ids), log_target, log_model, chain) for ids, log_target, log_model, chain in rows]


def _sentence(problem: Problem, visit: Visit, temperature: float) -> Sentence:
    words = problem.lexicon.words(visit.ids)
    text, at = join(words), first_word(words)
    if at >= 0:
        words[at] = capitalize(words[at])
    return Sentence(text, tuple(words), -visit.log_model / (len(words) + 1), visit.log_target / temperature)


def _trace(problem: Problem, record: Record, chain: int) -> tuple[Step, ...]:
    """The recorded steps of one chain: that of the best sentence."""
    rows = (record.steps["chain"] == chain).nonzero()[:, 0]
    columns = (record.steps[name][rows].tolist() for name in ("step", "move", "log_ratio", "accepted"))
    return tuple(
        Step(step, join(problem.lexicon.words(ids)), MOVES[move], log_ratio, accepted)
        for ids, step, move, log_ratio, accepted in zip(record.proposed.select(rows).to_lists(), *columns, strict=True)
    )


def signature(task: str, model: RecurrentModel, settings: Settings) -> str:
    """One line that says how the result came about."""
    return (
        f"cgmh {__version__} | task {task} | model {model.name} | chains {settings.chains} | steps {settings.steps} | "
        f"temperature {settings.temperature:g} | select {settings.select} | seed {settings.seed} | "
        f"torch {torch.__version__}"
    )


def score(texts: Sequence[str], *, model: RecurrentModel | str | Path | None = None) -> Iterator[Score]:
    """The log probability and perplexity of each text under the model, read as one sentence."""
    if isinstance(texts, str):
        raise BadInput(f"score takes a list of sentences: [{texts!r}]")
    loaded = as_model(model)
    vocabulary = loaded.vocabulary
    for at in range(0, len(texts), ROWS):
        some = texts[at : at + ROWS]
        words = [truecase(split(text), vocabulary.is_ordinary) for text in some]
        for number, sentence in enumerate(words, start=at + 1):
            if not sentence:
                raise BadInput(f"sentence {number}: {texts[number - 1]!r} has no words")
            if len(sentence) > LONGEST:
                raise BadInput(f"sentence {number}: {len(sentence)} words; at most {LONGEST} can be scored")
        ids = [vocabulary.encode(sentence) for sentence in words]
        batch = Sentences.from_lists(ids, max(map(len, ids)) + 1, device=loaded.device)
        with torch.inference_mode(), single_threaded():
            log_probs = loaded.log_prob(loaded.encode(batch)).tolist()
        for text, sentence, log_prob in zip(some, words, log_probs, strict=True):
            unknown = tuple(word for word in sentence if word not in vocabulary.ids)
            yield Score(text, tuple(sentence), log_prob, math.exp(-log_prob / (len(sentence) + 1)), unknown)
