"""Chains as they walk from a start: what they propose and accept, and where they stand after each step."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ..errors import BadInput
from ..inputs import KeywordInput, ParaphraseInput
from ..models.load import Models
from ..sampling import Constant
from ..sampling.runs import Record, run
from ..sampling.shards import Tick, stream_out
from ..tasks import Problem, task_of
from ..text.sentences import Sentences
from ..text.tokenizer import join
from ..threads import num_cores, one_core, single_threaded
from .experiment import Answer, Floats
from .rivals.paper_kernel import CANDIDATES, paper_kernel

CHAINS = {"paper": 1, "ours": 8}  # for each start; a step of the paper's costs as much as many of ours
TOGETHER = {"paper": 8, "ours": 16}  # starts that run together, in a process of their own


@dataclass(frozen=True)
class Start:
    """Where chains start, under which target, and how many steps they make; starts of a group have these in common."""

    group: str
    key: str
    input: KeywordInput | ParaphraseInput
    steps: int

    @property
    def text(self) -> str:
        return self.input.start if isinstance(self.input, KeywordInput) else self.input.text


@dataclass(frozen=True)
class Walker:
    """Chains of one of the kernels. The details of an answer have what they did, on average over its chains."""

    name: str
    models: Models
    seed: int = 0
    chains: int | None = None

    @property
    def about(self) -> str:
        if self.name == "paper":
            return f"Gibbs over the {CANDIDATES} best words, each scored in full; exact by its ratio"
        return "one word from the fill head, or a swap, with delayed acceptance"

    @property
    def signature(self) -> str:
        chains = self.chains or CHAINS[self.name]
        return f"{self.name} | model {self.models.words.name} | chains {chains} | temperature 1 | seed {self.seed}"

    def answer(self, items: Sequence[Start]) -> Iterator[Answer]:
        groups = [list(members) for _, members in groupby(items, key=lambda item: item.group)]
        together = TOGETHER[self.name]
        parts = [group[at : at + together] for group in groups for at in range(0, len(group), together)]

        def walk(part: Sequence[Start], _: Tick) -> list[Answer]:
            with one_core(), single_threaded():
                return list(self._walk(part))

        workers = num_cores() if self.models.words.device.type == "cpu" else 1
        with closing(stream_out(walk, walk, parts, workers)) as walked:
            for answers in walked:
                yield from answers

    def _walk(self, items: Sequence[Start]) -> Iterator[Answer]:
        began, steps, chains = time.perf_counter(), items[0].steps, self.chains or CHAINS[self.name]
        problem = posed(items, self.models, chains, self.seed)
        kernel = paper_kernel(problem) if self.name == "paper" else problem.kernel(problem.target)
        with torch.inference_mode():
            first = kernel.init(problem.start).log_factors.soft[:, 0]  # [B]
        names = torch.arange(chains).repeat(len(items))
        record = run(kernel, problem.start, steps, self.seed, Constant(1.0), names)
        after = _per_word(record.proposed, record.steps["log_model"])
        log_prob = curve(record, steps, chains, _per_word(problem.start, first), after)  # [B, steps + 1]
        starts, rows_of = problem.start.to_lists(), _rows(record, chains).tolist()
        far = [
            distance(starts[row], ids) / len(starts[row])
            for row, ids in zip(rows_of, record.proposed.to_lists(), strict=True)
        ]
        changed = curve(record, steps, chains, np.zeros(len(starts)), np.array(far))
        seconds = round((time.perf_counter() - began) / len(items), 4)
        for number in range(len(items)):
            own, rows = record.of(number), slice(number * chains, (number + 1) * chains)
            details: dict[str, Any] = dict(zip(("proposed", "accepted"), own.counts[0].tolist(), strict=True))
            details["moved"] = len(own.proposed)
            for name, values in (("log_prob", log_prob), ("changed", changed)):
                details[name] = values[rows].mean(0).round(4).tolist()
            yield Answer(join(problem.lexicon.words(own.final.to_lists()[0])), seconds, details)


def is_read(start: Start, models: Models) -> bool:
    """Whether the task takes the input of a start."""
    try:
        task_of(type(start.input)).read(start.input, models.words.vocabulary)
    except BadInput:
        return False
    return True


def posed(items: Sequence[Start], models: Models, chains: int, seed: int) -> Problem:
    """The problem of some starts under one target."""
    task = task_of(type(items[0].input))
    read = [source for item in items for source in task.read(item.input, models.words.vocabulary)]
    return task.pose(read, models, chains, seed)


def curve(record: Record, steps: int, chains: int, first: Floats, after: Floats) -> Floats:
    """[B, steps+1]: a value of each chain before its first and after each of its steps.

    `first` [B] is where it starts, `after` [N] what it becomes by each of the recorded changes.
    """
    values = np.full((len(first), steps + 1), np.nan)
    values[:, 0] = first
    values[_rows(record, chains), record.steps["step"].numpy() + 1] = after
    known = np.where(np.isnan(values), 0, np.arange(steps + 1))
    last: Floats = np.take_along_axis(values, np.maximum.accumulate(known, 1), 1)  # the last change up to each step
    return last


def _rows(record: Record, chains: int) -> NDArray[np.int64]:
    """[N]: the row of the start whose chain made each of the recorded changes."""
    rows: NDArray[np.int64] = (record.proposed.inputs * chains + record.steps["chain"]).numpy()
    return rows


def _per_word(sentences: Sentences, log_model: torch.Tensor) -> Floats:
    """[B]: the log probability per word, the end counting as one."""
    logs: Floats = (log_model.double().cpu() / (sentences.lengths.cpu() + 1)).numpy()
    return logs


def distance(first: Sequence[int], second: Sequence[int]) -> int:
    """The fewest words to insert, delete or replace."""
    row = list(range(len(second) + 1))
    for i, old in enumerate(first, start=1):
        diagonal, row[0] = row[0], i
        for j, new in enumerate(second, start=1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (old != new))
    return row[-1]
