"""The table of acceptance rates: how often each move is taken, and how soon chains come where they should.

Chains start at bare keywords, or at a sentence to paraphrase under the paper's targets, and sample at temperature 1.
Both kernels have the same target, which they sample exactly. *Fluent*: the log probability per word, the mean over all
chains, has come 95% of the way from the start to where it settles, which is its mean over the last quarter of the
steps. *Changed*: the distance in words from the source, on average over the chains, over the words of the source.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ...errors import InfeasibleStart
from ...inputs import KeywordInput, ParaphraseInput
from ...models.load import Models
from ...proposals.protocols import DELETE, INSERT, MOVES, REPLACE
from ..datasets import keyword_sets, sample
from ..experiment import (
    Answer,
    Column,
    Experiment,
    Floats,
    Measured,
    OnlyOf,
    Published,
    Results,
    Sums,
    mean_seconds,
)
from ..folder import DataFolder, Split, file_hash
from ..paraphrases import from_treebank, read_pairs, sources
from ..plots import empty_drawing, to_svg
from ..report import Figure
from ..walks import Start, Walker, is_read, posed

SYSTEMS = ("paper", "ours")
KEYWORDS = "keywords"
MATCHES = {"paraphrase, no matching": (), "paraphrase, KW": ("kw",), "paraphrase, KW+WVM": ("kw", "wvm:1")}
STEPS = {KEYWORDS: 200, **dict.fromkeys(MATCHES, 100)}
COVERED, PARTS = 0.95, 4  # of the way to where chains settle, which is their mean over the last of so many parts
CHANGED = 0.2
EDITS = (REPLACE, INSERT, DELETE)
PUBLISHED = {
    KEYWORDS: {"steps to fluent": 150.0},
    "paraphrase, no matching": {"replace %": 100.0, "insert %": 9.2, "delete %": 5.1, "all %": 32.9},
    "paraphrase, KW": {"replace %": 100.0, "insert %": 8.0, "delete %": 4.4, "all %": 32.5},
    "paraphrase, KW+WVM": {"replace %": 100.0, "insert %": 10.8, "delete %": 2.9, "all %": 32.7},
}


def make_starts(
    data: DataFolder, groups: Sequence[str], number: int, split: Split, steps: int | None = None
) -> list[Start]:
    """So many starts in each of the groups; those of the paraphrases are the same sentences under other targets."""
    starts = []
    if KEYWORDS in groups:
        for each in keyword_sets(data.file("news"), number):
            input = KeywordInput(each.keywords, start=f"{' '.join(each.keywords)} .")
            starts.append(Start(KEYWORDS, f"keywords {each.line}", input, steps or STEPS[KEYWORDS]))
    wanted = [group for group in groups if group != KEYWORDS]
    if wanted:
        texts = sample(sources(read_pairs(data.file("quora", split))), number)
        for group in wanted:
            asked = ParaphraseInput.paper | {"match": MATCHES[group], "gibbs": False}
            for text in texts:
                input_ = ParaphraseInput(from_treebank(text), **asked)
                starts.append(Start(group, f"{group}: {text}", input_, steps or STEPS[group]))
    return starts


def possible(starts: Sequence[Start], models: Models) -> list[Start]:
    """The starts that are not refused: too long, too strange, or not allowed by their own target."""
    kept = []
    for _, members in groupby(starts, key=lambda start: start.group):
        group = [start for start in members if is_read(start, models)]
        while group:
            try:
                posed(group, models, 1, 0)
                break
            except InfeasibleStart as error:
                if not error.sources:
                    raise
                group = [start for at, start in enumerate(group) if at not in error.sources]
        kept += group
    return kept


def make_experiment(
    data: DataFolder,
    walkers: Sequence[Walker],
    models: Models,
    *,
    groups: Sequence[str] = tuple(STEPS),
    limit: int = 100,
    split: Split = "test",
    steps: int | None = None,
) -> Experiment[Start]:
    """The table; `limit` starts in all, as many in each group."""
    asked = make_starts(data, groups, max(1, limit // len(groups)), split, steps)
    items = possible(asked, models)
    members = {group: [at for at, item in enumerate(items) if item.group == group] for group in groups}
    files = [data.file("news")] if KEYWORDS in groups else []
    files += [data.file("quora", split)] if len(groups) > len(files) else []
    made = "+".join(f"{steps or STEPS[group]}" for group in groups)
    notes = [
        f"fluent: the log probability per word has come {COVERED:.0%} of the way from the start to where it settles",
        "changed: the distance in words from the source, over its words; no figure: not within the steps made",
        "both kernels sample the same target at temperature 1; drawing the word that stands there counts as accepted",
    ]
    if len(items) < len(asked):
        notes.append(f"{len(asked) - len(items)} starts were refused and are left out")
    return Experiment(
        "acceptance",
        items,
        lambda item: item.key,
        walkers,
        COLUMNS,
        members,
        f"acceptance | {' '.join(f'{file.name}:{file_hash(file)}' for file in files)} | steps {made}",
        [Published("CGMH", {group: PUBLISHED[group] for group in groups}, "printed by the paper; about 150 steps")],
        show=lambda item: item.text,
        notes=notes,
    )


@dataclass(frozen=True)
class StepsTo:
    """The first step after which the mean of the curves is where it should be; no number where it never is."""

    curves: Floats  # [N, steps + 1]
    wanted: Callable[[Floats], Floats]  # [R, steps + 1] -> [R]

    def score(self, weights: Floats) -> Floats:
        means = weights @ self.curves / weights.sum(1, keepdims=True)  # [R, steps + 1]
        there = means >= self.wanted(means)[:, None] - 1e-9
        return np.where(there.any(1), there.argmax(1), np.nan)


def settled(means: Floats) -> Floats:
    """[R]: the mean over the last quarter of the steps."""
    levels: Floats = means[:, -max(1, means.shape[1] // PARTS) :].mean(1)
    return levels


def fluent(means: Floats) -> Floats:
    """[R]: what counts as fluent: most of the way from the start to where the curve settles."""
    return means[:, 0] + COVERED * (settled(means) - means[:, 0])


def _accepted(moves: Sequence[int]) -> Callable[[Sequence[Start], Sequence[Answer]], Measured]:
    """The share of the proposals of some moves that were accepted, in per cent."""

    def measure(items: Sequence[Start], answers: Sequence[Answer]) -> Measured:  # noqa: ARG001
        counts = [
            [100 * sum(answer.details["accepted"][move] for move in moves), _proposed(answer, moves)]
            for answer in answers
        ]
        return Sums(np.array(counts, np.float64))

    return measure


def _proposed(answer: Answer, moves: Sequence[int]) -> int:
    return sum(answer.details["proposed"][move] for move in moves)


def _moved(items: Sequence[Start], answers: Sequence[Answer]) -> Measured:  # noqa: ARG001
    every = range(len(MOVES))
    return Sums(np.array([[100 * each.details["moved"], _proposed(each, every)] for each in answers], np.float64))


def _of_group(
    name: str, keywords: bool, measure: Callable[[Floats], Measured]
) -> Callable[[Sequence[Start], Sequence[Answer]], Measured | None]:
    """A figure of the curves of keywords, or of paraphrases."""

    def measured(items: Sequence[Start], answers: Sequence[Answer]) -> Measured | None:
        members = [at for at, item in enumerate(items) if (item.group == KEYWORDS) == keywords]
        curves = np.array([answers[at].details[name] for at in members], np.float64)
        return OnlyOf(members, measure(curves)) if members else None

    return measured


@dataclass(frozen=True)
class Level:
    """Where the mean of the curves settles, times -1."""

    curves: Floats  # [N, steps + 1]

    def score(self, weights: Floats) -> Floats:
        return -settled(weights @ self.curves / weights.sum(1, keepdims=True))


COLUMNS: Sequence[Column[Start]] = (
    *(Column(f"{MOVES[move]} %", "higher", _accepted([move]), digits=1) for move in EDITS),
    Column("all %", "higher", _accepted(EDITS), "of the three moves together", 1),
    Column("moved %", "higher", _moved, "steps of any move that led to another sentence", 1),
    Column("steps to fluent", "lower", _of_group("log_prob", True, lambda curves: StepsTo(curves, fluent)), digits=0),
    Column("settles at", "lower", _of_group("log_prob", True, Level), "nats per word in the last quarter of the steps"),
    Column(
        "steps to 20% changed", "lower",
        _of_group("changed", False, lambda curves: StepsTo(curves, lambda means: np.full(len(means), CHANGED))),
        digits=0,
    ),
    Column("seconds", "lower", mean_seconds, "for all chains of a start", 3),
)  # fmt: skip


def figures(results: Results[Start]) -> list[Figure]:
    """The mean curves of each kernel over the steps."""
    experiment, drawn = results.experiment, []
    for group, members in experiment.groups.items():
        name = "log_prob" if group == KEYWORDS else "changed"
        drawing = empty_drawing(6.0, 3.2)
        axes = drawing.subplots()
        for (system, answers), line in zip(results.answers.items(), ("-", "--"), strict=False):
            own = [answer.details[name] for at in members if (answer := answers[at]) is not None]
            axes.plot(np.mean(own, axis=0), line, label=system)
        axes.set(xlabel="steps", ylabel="log probability per word" if name == "log_prob" else "share of words changed")
        if name == "changed":
            axes.axhline(CHANGED, color="gray", linewidth=0.8)
        axes.grid(alpha=0.3)
        axes.legend()
        drawn.append(Figure(f"{axes.get_ylabel()}: {group}", to_svg(drawing), f"Means over {len(members)} starts."))
    return drawn
