"""The paper's sampler for keywords: Gibbs over candidates that are scored in full; the likeliest visited sentence.

As in the paper, a chain starts from the keywords alone, replaces, inserts or deletes a word with a chance of a third
each, and makes 200 steps; of what it visits from step 100 on, the sentence of the lowest perplexity is the answer.
Steps that would remove a keyword are not tried. For a comparison at equal time it gets more chains, and as long as our
sampler takes for the same keywords.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import torch

from ...constraints import ContainsWords
from ...inputs import KeywordInput
from ...models.load import Models
from ...proposals import GibbsOver, WordEdits
from ...sampling import Constant, Kernel
from ...sampling.runs import Record, run
from ...target import Target
from ...tasks import Keywords, Problem
from ...tasks.keywords.starts import usual_form
from ...tasks.problem import Standing
from ...text.lexicon import Lexicon
from ...text.tokenizer import join
from ...threads import num_cores, single_threaded
from ..datasets import KeywordSet
from ..experiment import Answer

CANDIDATES = 100
STEPS, FROM_STEP = 200, 100
CHAINS = 16  # at equal time


@dataclass(frozen=True)
class PaperKernel:
    """A row of the keyword table. With `budget`, which gives the seconds for a set, time counts and not steps."""

    models: Models
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)  # of a `KeywordInput`
    temperature: float = 1.0
    budget: Callable[[KeywordSet], float] | None = None
    factor: float = 1.0  # times what `budget` gives
    steps: int = STEPS

    @property
    def name(self) -> str:
        return "paper" if self.budget is None else "paper-time"

    @property
    def about(self) -> str:
        kernel = f"the paper's kernel (Gibbs over {CANDIDATES} candidates) on {self.models.words.name}"
        if self.budget is None:
            return f"{kernel}, its settings: a chain of {self.steps} steps from the keywords, lowest perplexity"
        return f"{kernel}: {CHAINS} chains, {self.factor:g} times the time of ours for the same set, lowest perplexity"

    @property
    def signature(self) -> str:
        how = f"steps:{self.steps}" if self.budget is None else f"chains:{CHAINS}|time:{self.factor:g}"
        return (
            f"{self.name}|model:{self.models.words.name}|gibbs:{CANDIDATES}|{how}|temperature:{self.temperature:g}"
            f"|{'|'.join(f'{name}:{value}' for name, value in self.options.items())}|seed:{self.seed}"
        )

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer]:
        cores = num_cores()
        with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            if self.budget is None:  # a set on each core
                for at in range(0, len(items), cores):
                    part = items[at : at + cores]
                    began = time.perf_counter()
                    with single_threaded():
                        texts = list(pool.map(self._write, part))
                    seconds = (time.perf_counter() - began) / len(part)
                    yield from (Answer(text, seconds, {"steps": self.steps}) for text in texts)
                return
            for item in items:  # a part of the chains on each core
                allowed = self.factor * self.budget(item)
                began = time.perf_counter()
                with single_threaded():
                    text, steps = self._write_within(item, allowed, pool, cores)
                yield Answer(text, time.perf_counter() - began, {"steps": steps})

    def _write(self, item: KeywordSet) -> str:
        problem = self._pose(item, 1)
        beta = Constant(1 / self.temperature)
        record = run(paper_kernel(problem), problem.start, self.steps, self.seed, beta, torch.arange(1))
        return _likeliest(problem, [record], min(FROM_STEP, self.steps // 2))

    def _write_within(self, item: KeywordSet, seconds: float, pool: ThreadPoolExecutor, cores: int) -> tuple[str, int]:
        """The sentence, and the steps that all chains made for it within so many seconds."""
        problem = self._pose(item, CHAINS)
        kernel, beta = paper_kernel(problem), Constant(1 / self.temperature)
        ends = time.perf_counter() + seconds

        def part(names: torch.Tensor) -> tuple[list[Record], int]:
            """Run in stretches, each going on where the last one ended; the one that the end falls into counts."""
            state, records, steps, began = problem.start.select(names), list[Record](), 0, time.perf_counter()
            stretch = 1
            while stretch:
                records.append(run(kernel, state, stretch, self.seed + steps, beta, names))
                state, steps, now = records[-1].final, steps + stretch, time.perf_counter()
                stretch = max(1, int(0.5 * (ends - now) * steps / (now - began))) if now < ends else 0
            return records, steps * len(names)

        parts = list(pool.map(part, torch.arange(CHAINS).chunk(cores)))
        return _likeliest(problem, [each for records, _ in parts for each in records]), sum(steps for _, steps in parts)

    def _pose(self, item: KeywordSet, chains: int) -> Problem:
        """The problem with chains that start at the keywords and a mark."""
        (source,) = Keywords().read(KeywordInput(item.keywords, **self.options), self.models.words.vocabulary)
        lexicon = Lexicon(self.models.words.vocabulary)
        ids = [usual_form(place, lexicon) for phrases in source.bound(lexicon) for place in phrases[0]]
        start = [*ids, *map(lexicon.add, source.endings[:1])]
        return Keywords().pose([source], self.models, chains, self.seed, lexicon, [Standing([start] * chains)])


def paper_kernel(problem: Problem) -> Kernel:
    """The paper's kernel on a problem: replace, insert and delete in equal shares, by Gibbs over rescored words."""
    contains = next(each for each in problem.target.constraints if isinstance(each, ContainsWords))
    target = Target(problem.words, problem.target.constraints)
    filler = GibbsOver(problem.words, target, CANDIDATES, own=problem.own)
    return Kernel(target, WordEdits(filler, pinned=contains.pinned), window=None)


def _likeliest(problem: Problem, records: Sequence[Record], from_step: int = 0) -> str:
    """The visited sentence of the lowest perplexity."""
    visited = []
    for record in records:
        taken = record.steps["accepted"] & (record.steps["step"] >= from_step)
        for sentences, logs, kept in (
            (record.proposed, record.steps["log_model"], taken.tolist()),
            (record.final, record.finals["log_model"], [True] * len(record.final)),
        ):
            visited += [
                (log / (len(ids) + 1), ids)
                for ids, log, is_kept in zip(sentences.to_lists(), logs.tolist(), kept, strict=True)
                if is_kept
            ]
    return join(problem.lexicon.words(max(visited)[1]))
