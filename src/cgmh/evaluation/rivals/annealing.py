"""Paraphrases by simulated annealing, after UPSA (Liu et al. 2020): a search, no sampling.

UPSA seeks the sentence with the highest product of fluency, closeness in meaning and difference in wording. It starts
at the source, proposes edits of single words, and cools down linearly, so that in the end only better sentences are
accepted; where it stands after the last step is the answer. The parts are ours: the language model, the edits, the
similarity of content words (to the power of 8, as that of keywords there) and of sentence vectors, and 1 - BLEU with
the source. Its temperatures divide values; ours divide their logarithms, from 1, where chains would sample the product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from ...errors import BadInput
from ...inputs import ParaphraseInput
from ...models.load import Models
from ...sampling import sample
from ...tasks import Paraphrase
from ...tasks.paraphrase.report import Paraphrases
from ...tasks.paraphrase.source import Source
from ...threads import single_threaded

STEPS = 100
PRODUCT = {"match": ("cw:8", "st:1"), "protect": (), "difference": 1.0}  # of a `ParaphraseInput`
TOGETHER = 128  # sources that are searched for at a time
COLDEST = 0.01  # the temperature that is not gone below: all but better sentences are refused


@dataclass(frozen=True)
class Cooling:
    """The temperature falls linearly from `start`, to 0 after `steps` steps; betas are one over it."""

    steps: int
    start: float = 1.0

    def __call__(self, clock: Tensor) -> Tensor:
        return 1 / (self.start * (1 - clock.double() / self.steps)).clamp(min=COLDEST)


def search(texts: Sequence[str], models: Models, *, steps: int = STEPS, seed: int = 0) -> Iterator[list[str] | None]:
    """The words of the answer to each text, in order; None for a text that cannot be read."""
    waiting = iter([_read(text, models) for text in texts])
    while batch := list(islice(waiting, TOGETHER)):
        sources = [source for source in batch if source is not None]
        with torch.inference_mode(), single_threaded():
            found = iter(_searched(sources, models, steps, seed) if sources else [])
        yield from (None if source is None else next(found) for source in batch)


def _read(text: str, models: Models) -> Source | None:
    try:
        return Paraphrase().read(ParaphraseInput(text, **PRODUCT), models.words.vocabulary)[0]  # type: ignore[arg-type]
    except BadInput:
        return None


def _searched(sources: Sequence[Source], models: Models, steps: int, seed: int) -> list[list[str]]:
    problem = Paraphrase().pose(sources, models, 1, seed)
    names = torch.zeros(len(sources), dtype=torch.int64)  # an answer is the same whatever else is searched for
    last = problem.start
    for _, state, _ in sample(problem.kernel(problem.target), problem.start, steps, seed, Cooling(steps), names):
        last = state.sentences
    report = problem.report
    assert isinstance(report, Paraphrases)  # noqa: S101 - for mypy
    return [report.write(at, problem.lexicon.words(ids))[1] for at, ids in enumerate(last.to_lists())]
