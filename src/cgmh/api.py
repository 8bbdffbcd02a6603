"""One composition behind every way to use the package: pose, sample, select."""

import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, TypeVar

import torch
from tqdm import tqdm

from .errors import BadInput
from .models.checkpoint import load_model
from .models.recurrent import RecurrentModel
from .proposals import MOVES
from .result import Result, Sentence, Step
from .sampling import Constant, Kernel, sample
from .selection import RULES, Rule, Visit, choose
from .tasks import KeywordInput, Keywords, Problem, Task
from .text.sentences import Sentences
from .text.tokenizer import capitalize, first_word, join, split, truecase

Input = TypeVar("Input")
ROWS = 256  # chains that run together
WINDOW = 2  # words after an edit that the first stage of delayed acceptance looks at
LONGEST = 1000  # words of a sentence to score


@dataclass(frozen=True)
class Settings:
    """How a run samples and what it shows. The defaults give five good sentences in a few seconds on two cores."""

    n: int = 5
    steps: int = 120
    chains: int = 64
    seed: int = 0
    temperature: float = 0.8
    select: Rule = "best"
    trace: Literal["none", "accepted", "all"] = "none"

    def __post_init__(self) -> None:
        for name, low, high in (("n", 1, 1000), ("steps", 1, 10**7), ("chains", 1, 65536), ("seed", 0, 2**62), ("temperature", 0.05, 20.0)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise BadInput(f"--{name} {value} is out of range: it must lie between {low} and {high}")
        if self.select not in RULES:
            raise BadInput(f"--select {self.select}: choose one of {', '.join(RULES)}")


@lru_cache(maxsize=2)
def embedded_model(directory: str | None = None, device: str = "cpu") -> RecurrentModel:
    """A model that stays loaded: the embedded English one, or that of a directory."""
    return load_model(directory, device)


def solve(
    task: Task[Input],
    inputs: Sequence[Input],
    settings: Settings | None = None,
    *,
    model: RecurrentModel | str | Path | None = None,
    progress: bool = False,
) -> Iterator[Result]:
    """The results of the inputs, in their order. Chains of several inputs run together, those of one input in any batch alike."""
    settings = settings or Settings()
    loaded = model if isinstance(model, RecurrentModel) else embedded_model(None if model is None else str(model))
    together = max(1, ROWS // settings.chains)
    total = len(inputs) * settings.chains * settings.steps
    with tqdm(total=total, unit="step", unit_scale=True, delay=2, disable=not progress, leave=False) as bar:
        for at in range(0, len(inputs), together):
            some = list(inputs[at : at + together])
            problem = task.pose(some, loaded, settings.chains, settings.seed)
            runs = _sample(problem, settings, bar)
            for number, input in enumerate(some):
                yield _result(task, str(input), problem, [run.of(number) for run in runs], settings)


def keywords(
    words: Sequence[str],
    n: int = 5,
    *,
    ordered: bool = False,
    inflect: bool = False,
    forbid: Sequence[str] = (),
    min_words: int = 0,
    max_words: int = 20,
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
    input = KeywordInput(tuple(words), ordered, inflect, tuple(forbid), min_words, max_words)
    settings = Settings(n, steps, chains, seed, temperature, select)
    return next(solve(Keywords(), [input], settings, model=model))


@dataclass
class _Run:
    """What a shard of chains left behind, one entry a recorded step."""

    sentences: Sentences  # proposed and taken; with a full trace, every proposal
    columns: dict[str, torch.Tensor]
    final: Sentences
    log_final: torch.Tensor
    moves: torch.Tensor  # [inputs, 2, moves]: proposed, accepted
    first_row: int

    def of(self, number: int) -> "_Run":
        """The part of one input."""
        rows = (self.sentences.inputs == number).nonzero()[:, 0]
        last = (self.final.inputs == number).nonzero()[:, 0]
        columns = {name: column[rows] for name, column in self.columns.items()}
        return _Run(self.sentences.select(rows), columns, self.final.select(last), self.log_final[last], self.moves[number], self.first_row)


def _sample(problem: Problem, settings: Settings, bar: "tqdm[None]") -> list[_Run]:
    """Run the chains, one single-threaded shard a core; a chain does not depend on its shard."""
    number = len(problem.start)
    shards = 1 if problem.model.device.type != "cpu" else min(os.cpu_count() or 1, max(1, number // 16))
    bounds = [round(number * k / shards) for k in range(shards + 1)]
    before = torch.get_num_threads()
    try:
        if shards == 1:
            return [_run(problem, settings, 0, number, bar)]
        with ThreadPoolExecutor(shards, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            jobs = [pool.submit(_run, problem, settings, low, high, bar) for low, high in zip(bounds, bounds[1:], strict=False)]
            return [job.result() for job in jobs]
    finally:
        torch.set_num_threads(before)


@torch.inference_mode()
def _run(problem: Problem, settings: Settings, low: int, high: int, bar: "tqdm[None]") -> _Run:
    kernel = Kernel(problem.target, problem.proposal, window=WINDOW)
    start = problem.start.select(torch.arange(low, high, device=problem.start.device))
    chains = torch.arange(low, high) % settings.chains
    recorded = []
    num_inputs = int(problem.start.inputs.max()) + 1
    moves = torch.zeros(num_inputs * 2 * len(MOVES), device=start.device)
    state = None
    for _, state, info in sample(kernel, start, settings.steps, settings.seed, Constant(1 / settings.temperature), chains=chains):
        cell = (info.sentences.inputs * 2) * len(MOVES) + info.move
        moves.index_add_(0, cell, torch.ones_like(cell, dtype=moves.dtype))
        moves.index_add_(0, cell + len(MOVES), info.accepted.to(moves.dtype))
        rows = slice(None) if settings.trace == "all" else info.changed.nonzero()[:, 0]
        proposed = info.candidate.sentences
        recorded.append(
            (proposed.ids[rows].to(torch.int32), proposed.lengths[rows], proposed.inputs[rows], info.chain[rows] + low,
             info.step[rows], info.move[rows], info.log_ratio[rows], info.accepted[rows], info.log_target[rows])
        )  # fmt: skip
        bar.update(high - low)
    assert state is not None
    ids, lengths, owners, *rest = (torch.cat(column).cpu() for column in zip(*recorded, strict=True))
    columns = dict(zip(("chain", "step", "move", "log_ratio", "accepted", "log_target"), rest, strict=True))
    log_final = state.log_factors.total(1.0).cpu()
    return _Run(Sentences(ids, lengths, owners), columns, state.sentences.to("cpu"), log_final, moves.view(num_inputs, 2, -1).cpu(), low)


def _result(task: Task[Input], name: str, problem: Problem, runs: list[_Run], settings: Settings) -> Result:
    visits, final = [], []
    for run in runs:
        taken = run.columns["accepted"].tolist()
        for ids, log_target, chain, step, kept in zip(
            run.sentences.to_lists(), run.columns["log_target"].tolist(), run.columns["chain"].tolist(), run.columns["step"].tolist(), taken, strict=True
        ):  # fmt: skip
            if kept:
                visits.append(Visit(tuple(ids), log_target, chain, step))
        for ids, log_target in zip(run.final.to_lists(), run.log_final.tolist(), strict=True):
            final.append(Visit(tuple(ids), log_target, -1, settings.steps))
    chosen = choose(settings.select, [*visits, *final], final, problem.model, settings.n)
    proposed, accepted = sum(run.moves for run in runs)
    rates = {move: None if not p else a / p for move, p, a in zip(MOVES, proposed.tolist(), accepted.tolist(), strict=True)}
    sentences = tuple(_sentence(problem, visit, settings) for visit in chosen)
    trace = () if settings.trace == "none" else _trace(problem, runs, chosen[0])
    return Result(name, sentences, rates, signature(task.name, problem, settings), trace)


def _sentence(problem: Problem, visit: Visit, settings: Settings) -> Sentence:
    words = problem.lexicon.words(visit.ids)
    text, at = join(words), first_word(words)
    if at >= 0:
        words[at] = capitalize(words[at])
    nll = -visit.log_target / (len(words) + 1)
    return Sentence(text, tuple(words), nll, visit.log_target / settings.temperature)


def _trace(problem: Problem, runs: list[_Run], best: Visit) -> tuple[Step, ...]:
    """The steps of the chain that first reached the best sentence."""
    found = []
    for run in runs:
        rows = (run.columns["chain"] == max(best.chain, 0)).nonzero()[:, 0]
        some = {name: column[rows].tolist() for name, column in run.columns.items()}
        for at, ids in enumerate(run.sentences.select(rows).to_lists()):
            text = join(problem.lexicon.words(ids))
            found.append(Step(some["step"][at], text, MOVES[some["move"][at]], some["log_ratio"][at], bool(some["accepted"][at])))
    return tuple(found)


def signature(task: str, problem: Problem, settings: Settings) -> str:
    """One line that says how the result came about."""
    from . import __version__

    return (
        f"cgmh {__version__} | task {task} | model {problem.model.name} | chains {settings.chains} | steps {settings.steps} | "
        f"temperature {settings.temperature:g} | select {settings.select} | seed {settings.seed} | torch {torch.__version__}"
    )


@dataclass(frozen=True)
class Score:
    """How probable a sentence is; the perplexity is a word's, the end of the sentence counting as one."""

    text: str
    words: tuple[str, ...]
    log_prob: float
    perplexity: float
    unknown: tuple[str, ...]

    def to_dict(self) -> dict[str, object]:
        return {
            "text": self.text,
            "words": list(self.words),
            "log_prob": round(self.log_prob, 4),
            "perplexity": round(self.perplexity, 3),
            "unknown": list(self.unknown),
        }


@torch.inference_mode()
def score(texts: Sequence[str], *, model: RecurrentModel | str | Path | None = None) -> Iterator[Score]:
    """The log probability and perplexity of each text under the model, read as one sentence."""
    loaded = model if isinstance(model, RecurrentModel) else embedded_model(None if model is None else str(model))
    vocabulary = loaded.vocabulary
    for at in range(0, len(texts), ROWS):
        some = texts[at : at + ROWS]
        words = [truecase(split(text), vocabulary.is_ordinary) for text in some]
        for number, sentence in enumerate(words):
            if not sentence:
                raise BadInput(f"sentence {at + number + 1}: {some[number]!r} has no words")
            if len(sentence) > LONGEST:
                raise BadInput(f"sentence {at + number + 1}: {len(sentence)} words; at most {LONGEST} can be scored")
        batch = Sentences.from_lists([vocabulary.encode(w) for w in words], max(map(len, words)) + 1, device=loaded.device)
        log_probs = loaded.log_prob(loaded.encode(batch)).tolist()
        for text, sentence, log_prob in zip(some, words, log_probs, strict=True):
            unknown = tuple(word for word in sentence if word not in vocabulary.ids)
            yield Score(text, tuple(sentence), log_prob, math.exp(-log_prob / (len(sentence) + 1)), unknown)
