"""The figure of the initial state: how soon chains forget where they began (paper, Section 4.4).

Chains start at a question, at copies with 5% or 10% of the words replaced by random ones, or with all of them; keywords
and the mark at the end stay, the target allows nothing else. The target is the paper's (KW hard, WVM soft), the
proposal our default one, the temperature 1. Every few steps the sentences where the chains stand are scored, all chains
and pairs pooled: samples on their way, nothing is selected.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle

import numpy as np
import torch

from ...errors import BadInput
from ...inputs import CORRUPTED, ParaphraseInput
from ...models.load import Models
from ...sampling import Constant, State
from ...sampling import sample as run_chains
from ...tasks import Paraphrase, Problem
from ...tasks.paraphrase.report import Paraphrases
from ...threads import single_threaded
from ..bleu import SIGNATURE, bleu_counts, bleu_from_counts
from ..datasets import sample
from ..experiment import Answer, Column, Experiment, Floats, Measured, Results, Sums, mean_of, mean_seconds
from ..folder import DataFolder, Split, file_hash
from ..paraphrases import Pair, as_line, from_treebank, read_pairs
from ..plots import empty_drawing, to_svg
from ..report import Figure

SYSTEMS = tuple(CORRUPTED)
TOGETHER = 16  # questions whose chains run together
ALL = "all"


@dataclass(frozen=True)
class Question:
    """A question with all the paraphrases of it that somebody wrote; tokenised."""

    source: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Starting:
    """Chains that begin at one of `CORRUPTED`. An answer has their lines and nats per word at each `every` steps."""

    name: str
    models: Models
    seed: int = 0
    chains: int = 8
    steps: int = 100
    every: int = 10

    @property
    def about(self) -> str:
        share = CORRUPTED[self.name]
        return f"{share:.0%} of the words are random at the start" if share else "chains start at the source itself"

    @property
    def signature(self) -> str:
        asked = _input("", self.name).about
        return (
            f"{asked} | model {self.models.words.name} | chains {self.chains} | steps {self.steps}, every {self.every} "
            f"| temperature 1 | seed {self.seed}"
        )

    def answer(self, items: Sequence[Question]) -> Iterator[Answer]:
        for at in range(0, len(items), TOGETHER):
            yield from self._walk(items[at : at + TOGETHER])

    def _walk(self, items: Sequence[Question]) -> Iterator[Answer]:
        began, vocabulary = time.perf_counter(), self.models.words.vocabulary
        read = [source for item in items for source in Paraphrase().read(_input(item.source, self.name), vocabulary)]
        points = []
        with torch.inference_mode(), single_threaded():
            problem = Paraphrase().pose(read, self.models, self.chains, self.seed)
            points = [read_off(problem, state, items) for state in self._states(problem)]
        seconds = round((time.perf_counter() - began) / len(items), 4)
        for number in range(len(items)):
            rows = slice(number * self.chains, (number + 1) * self.chains)
            lines = [lines[rows] for lines, _ in points]
            nats = [np.round(values[rows], 4).tolist() for _, values in points]
            yield Answer(lines[-1][0], seconds, {"lines": lines, "nats": nats})

    def _states(self, problem: Problem) -> Iterator[State]:
        """The states of the chains at the start and after every so many steps."""
        kernel = problem.kernel(problem.target)
        chains = torch.arange(self.chains).repeat(len(problem.start) // self.chains)
        yield kernel.init(problem.start)
        following = run_chains(kernel, problem.start, self.steps, self.seed, Constant(1.0), chains=chains)
        for number, (_, state, _) in enumerate(following, 1):
            if number % self.every == 0:
                yield state


def _input(source: str, start: str) -> ParaphraseInput:
    """The paper's target, stepped by the default proposal."""
    return ParaphraseInput(from_treebank(source), **{**ParaphraseInput.paper, "gibbs": False, "start": start})


def read_off(problem: Problem, state: State, items: Sequence[Question]) -> tuple[list[str], Floats]:
    """Where the chains stand, written like the sources, and what the word model says of it."""
    assert isinstance(problem.report, Paraphrases)  # noqa: S101
    lines = []
    for input, ids in zip(state.sentences.inputs.tolist(), state.sentences.to_lists(), strict=True):
        _, words = problem.report.write(input, problem.lexicon.words(ids))
        lines.append(as_line(words, items[input].source))
    nats = -state.log_factors.soft[:, 0] / (state.sentences.lengths + 1)  # [B]
    return lines, nats.double().numpy()


def questions(pairs: Sequence[Pair], models: Models) -> tuple[list[Question], int]:
    """The questions of the pairs that are not refused, as too long or too strange, and how many are."""
    references: dict[str, list[str]] = {}
    for pair in pairs:
        references.setdefault(pair.source, []).append(pair.reference)
    kept = []
    for source, texts in references.items():
        try:
            Paraphrase().read(_input(source, "copy"), models.words.vocabulary)
            kept.append(Question(source, tuple(texts)))
        except BadInput:
            continue
    return kept, len(references) - len(kept)


def make_experiment(
    data: DataFolder, systems: Sequence[Starting], models: Models, *, split: Split = "test", limit: int | None = 100
) -> Experiment[Question]:
    """The curves of the starts; `limit` is of pairs, several of which may have the same source."""
    file = data.file("quora", split)
    items, num_refused = questions(sample(read_pairs(file), limit), models)
    notes = ["figures are of all chains after their last step; nothing is selected"]
    if num_refused:
        notes.append(f"{num_refused} questions were refused and are left out")
    return Experiment(
        "initial-state",
        items,
        lambda item: f"{item.source} ({len(item.references)})",
        systems,
        COLUMNS,
        {ALL: range(len(items))},
        f"initial-state | quora {file.name} sha256:{file_hash(file)} | {SIGNATURE}",
        baseline="copy",
        show=lambda item: item.source,
        notes=notes,
    )


def bleu_sums(items: Sequence[Question], answers: Sequence[Answer], point: int, *, to_source: bool) -> Sums:
    """BLEU of where the chains stand at a point of the curve: with what people wrote, or with the source itself."""
    rows = []
    for item, answer in zip(items, answers, strict=True):
        others = [item.source if to_source else text for text in item.references]
        pairs = [(line, [other]) for other in others for line in answer.details["lines"][point]]
        lines, references = zip(*pairs, strict=True)
        rows.append(bleu_counts(lines, references).sum(0))
    return Sums(np.stack(rows), bleu_from_counts)


def nats(items: Sequence[Question], answers: Sequence[Answer], point: int) -> Sums:  # noqa: ARG001
    """Nats per word of where the chains stand at a point of the curve."""
    return mean_of([float(np.mean(answer.details["nats"][point])) for answer in answers])


Measure = Callable[[Sequence[Question], Sequence[Answer], int], Sums]
CURVES: dict[str, Measure] = {
    "BLEU-ref": partial(bleu_sums, to_source=False),
    "BLEU-ori": partial(bleu_sums, to_source=True),
    "nats per word": nats,
}


def _at(measure: Measure, point: int) -> Callable[[Sequence[Question], Sequence[Answer]], Measured]:
    return lambda items, answers: measure(items, answers, point)


COLUMNS: Sequence[Column[Question]] = (
    Column("BLEU-ref", "higher", _at(CURVES["BLEU-ref"], -1), "with what people wrote"),
    Column("BLEU-ori", "lower", _at(CURVES["BLEU-ori"], -1), "with the source"),
    Column("nats per word", "lower", _at(nats, -1), "by the model that was sampled"),
    Column("nats at the start", "", _at(nats, 0), "the same before the first step"),
    Column("seconds", "lower", mean_seconds, "for all chains of a question", 3),
)


def curves(results: Results[Question]) -> dict[str, dict[str, list[float]]]:
    """By measure and start: its value at the start, and after every so many steps."""
    items, once = results.experiment.items, np.ones((1, len(results.experiment.items)))
    found: dict[str, dict[str, list[float]]] = {name: {} for name in CURVES}
    for system, given in results.answers.items():
        answers = [answer for answer in given if answer is not None]
        for name, measure in CURVES.items():
            points = range(len(answers[0].details["lines"]))
            found[name][system] = [float(measure(items, answers, at).score(once)[0]) for at in points]
    return found


def figures(results: Results[Question]) -> list[Figure]:
    """BLEU with what people wrote, and fluency, over the steps."""
    drawing = empty_drawing(7.2, 2.8)
    by_measure = curves(results)
    every = {system.name: system.every for system in results.experiment.systems if isinstance(system, Starting)}
    for axes, name in zip(drawing.subplots(1, 2), ("BLEU-ref", "nats per word"), strict=True):
        for (system, values), line in zip(by_measure[name].items(), cycle(("-", "--", "-.", ":"))):
            axes.plot([at * every[system] for at in range(len(values))], values, line, label=system)
        axes.set(xlabel="steps", ylabel=name)
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    axes.legend(title="start")
    return [Figure("From corrupted starts", to_svg(drawing), "Samples on their way, all chains and pairs pooled.")]


def curve_table(results: Results[Question]) -> str:
    """A row for each number of steps, a column for each start."""
    every = next(system.every for system in results.experiment.systems if isinstance(system, Starting))
    blocks = []
    for name, by_start in curves(results).items():
        lines = [f"{name:>13}" + "".join(f"{start:>11}" for start in by_start)]
        rows = zip(*by_start.values(), strict=True)
        lines += [f"{at * every:13}" + "".join(f"{value:11.2f}" for value in row) for at, row in enumerate(rows)]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
