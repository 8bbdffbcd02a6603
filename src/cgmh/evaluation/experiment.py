"""An experiment: systems that answer the same items, and columns that measure what they answered.

A table of the paper is an `Experiment`, and a compared system is anything with the attributes of a `System`. Figures
come with bootstrap intervals over the items; the difference of a row from the `baseline` is resampled with the same
items in both rows.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from ..errors import BadInput
from .journal import Journal

Item = TypeVar("Item")
Answered = TypeVar("Answered", contravariant=True)
Floats = NDArray[np.float64]

RESAMPLES = 1000
COVERED = 0.95
ANSWERS = "answers"  # the folder of the journals, one for each system


@dataclass(frozen=True)
class Answer:
    """What one system made of one item."""

    text: str
    seconds: float | None = None  # of work; None for rows that were not made here
    details: Mapping[str, Any] = field(default_factory=dict)  # JSON: what a column needs beside the text


class System(Protocol[Answered]):
    """What is compared: a row of the table."""

    @property
    def name(self) -> str:
        """As in --systems."""

    @property
    def about(self) -> str:
        """A line for the legend of the report."""

    @property
    def signature(self) -> str:
        """What another run must share to give the same answers: model, settings, seed, or the hash of a file."""

    def answer(self, items: Sequence[Answered]) -> Iterator[Answer | None]:
        """The answers in order, as they come; None where the system has none to such an item."""


class Measured(Protocol):
    """A figure of one row, for any number of times that each item counts."""

    def score(self, weights: Floats) -> Floats:
        """[R, N] how often each item counts -> [R]."""


def share(sums: Floats) -> Floats:
    """[R]: the first of the sums [R, 2] over the second; no number where there is nothing to share."""
    some = sums[:, 1] > 0
    shares: Floats = np.where(some, sums[:, 0] / np.where(some, sums[:, 1], 1), np.nan)
    return shares


@dataclass(frozen=True)
class Sums:
    """A figure that is a function of sums over the items: a mean, a share, BLEU of a corpus."""

    counts: Floats  # [N, S]
    ratio: Callable[[Floats], Floats] = share  # [R, S] -> [R]

    def score(self, weights: Floats) -> Floats:
        return self.ratio(weights @ self.counts)


@dataclass(frozen=True)
class OnlyOf:
    """A figure of some of the items; where none of them counts, there is none."""

    members: Sequence[int]
    measured: Measured

    def score(self, weights: Floats) -> Floats:
        own = weights[:, list(self.members)]
        counts = own.sum(1) > 0
        scores = np.full(len(weights), np.nan)
        if counts.any():
            scores[counts] = self.measured.score(own[counts])
        return scores


def mean_of(values: Sequence[float] | Floats, scale: float = 1.0) -> Sums:
    """The mean of a value for each item, times `scale`: 100 makes a share one of 100."""
    column = np.asarray(values, np.float64) * scale
    return Sums(np.stack([column, np.ones(len(column))], 1))


@dataclass(frozen=True)
class Column(Generic[Item]):
    """One figure of the table. `measure` gives None for a row that has no such figure."""

    name: str
    better: Literal["lower", "higher", ""]
    measure: Callable[[Sequence[Item], Sequence[Answer]], Measured | None]
    about: str = ""
    digits: int = 2
    interval: bool = True  # False for what repeated items would bias, as a count of distinct things


def mean_seconds(items: Sequence[Any], answers: Sequence[Answer]) -> Measured | None:  # noqa: ARG001
    """The time for an item, where all of them were timed: a column of every table."""
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    return mean_of(seconds) if seconds and len(seconds) == len(answers) else None


@dataclass(frozen=True)
class Published:
    """A row of figures that others printed, by group and column; it is marked, for it was measured otherwise."""

    name: str
    figures: Mapping[str, Mapping[str, float]]
    about: str


@dataclass(frozen=True)
class Experiment(Generic[Item]):
    """A table to be made."""

    name: str
    items: Sequence[Item]
    key: Callable[[Item], str]  # tells an item from all others of the data; a journal has the answers by it
    systems: Sequence[System[Item]]
    columns: Sequence[Column[Item]]
    groups: Mapping[str, Sequence[int]]  # items that have figures of their own, by their numbers: "1 keyword"
    signature: str  # data and settings that all systems share; the limit is no part of it
    published: Sequence[Published] = ()
    baseline: str = "ours"
    show: Callable[[Item], str] | None = None  # the item as a reader sees it; its key unless given
    notes: Sequence[str] = ()  # what a reader of the table has to know

    def shown(self, item: Item) -> str:
        return self.show(item) if self.show else self.key(item)


@dataclass(frozen=True)
class Cell:
    """A figure with its interval of 95 per cent, where it has one."""

    value: float
    low: float | None = None
    high: float | None = None


Cells = dict[str, dict[str, Cell | None]]  # by group and column


@dataclass(frozen=True)
class Row:
    """The figures of one system, and how far they are from those of the baseline."""

    name: str
    about: str
    signature: str
    cells: Cells
    differences: Cells = field(default_factory=dict)
    is_published: bool = False


@dataclass(frozen=True)
class Results(Generic[Item]):
    """What came of an experiment: the answers of every system, None where it had none, and the rows of the table."""

    experiment: Experiment[Item]
    answers: Mapping[str, Sequence[Answer | None]]
    rows: Sequence[Row]
    seconds: float  # of this run, resumed parts not counted


def run(experiment: Experiment[Item], folder: Path | None = None, *, progress: bool = False) -> Results[Item]:
    """Let every system answer every item, and measure the answers.

    Answers are written into journals below the `folder` as they come. A run that is started again with the same folder
    goes on with them: also with more items, or with further systems.
    """
    _check(experiment)
    began = time.perf_counter()
    journals = {system.name: _journal(experiment, system, folder) for system in experiment.systems}
    answers = {
        system.name: _answers(experiment, system, journals[system.name], progress=progress)
        for system in experiment.systems
    }
    rows = _rows(experiment, answers, progress=progress)
    return Results(experiment, answers, rows, time.perf_counter() - began)


def _check(experiment: Experiment[Item]) -> None:
    if not experiment.items:
        raise BadInput(f"{experiment.name}: no items; give a larger `limit` or other data")
    for what, names in (
        ("key", [experiment.key(item) for item in experiment.items]),
        ("system", [system.name for system in experiment.systems] + [row.name for row in experiment.published]),
    ):
        twice = sorted({name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else ())
        if twice:
            raise BadInput(f"{experiment.name}: the {what} {twice[0]} comes twice; give each another name")


def _journal(experiment: Experiment[Item], system: System[Item], folder: Path | None) -> Journal | None:
    """The journal of a system; a folder with another run is refused before anything is answered."""
    if folder is None:
        return None
    head = {"table": experiment.name, "data": experiment.signature, "system": system.name, "settings": system.signature}
    advice = "give another `out`, or delete the file to make it anew"
    return Journal(folder / ANSWERS / f"{system.name}.jsonl", head, resume=True, advice=advice)


def _answers(
    experiment: Experiment[Item], system: System[Item], journal: Journal | None, *, progress: bool
) -> list[Answer | None]:
    done = {} if journal is None else {key: _read(record) for key, record in journal.records.items()}
    waiting = [item for item in experiment.items if experiment.key(item) not in done]
    total = len(experiment.items)
    with tqdm(
        total=total, initial=total - len(waiting), desc=system.name, unit="item", disable=not progress, leave=False
    ) as bar:
        outcomes = system.answer(waiting) if waiting else iter(())
        for number, item in enumerate(waiting):
            answer = next(outcomes, _MISSING)
            if answer is _MISSING:
                raise BadInput(f"{system.name}: {number} answers to {len(waiting)} items; a system gives one to each")
            assert answer is None or isinstance(answer, Answer)  # noqa: S101 - for mypy
            key = experiment.key(item)
            if journal is not None:
                journal.add(key, _record(answer))
            done[key] = answer
            bar.update()
    return [done[experiment.key(item)] for item in experiment.items]


_MISSING = object()


def _record(answer: Answer | None) -> dict[str, Any]:
    if answer is None:
        return {"text": None}
    return {"text": answer.text, "seconds": answer.seconds, "details": dict(answer.details)}


def _read(record: Mapping[str, Any]) -> Answer | None:
    if record["text"] is None:
        return None
    return Answer(record["text"], record.get("seconds"), record.get("details") or {})


def _rows(experiment: Experiment[Item], answers: Mapping[str, Sequence[Answer | None]], *, progress: bool) -> list[Row]:
    """The figures of all systems, on the same resampled items, and those that were published."""
    weights = {name: _weights(len(experiment.items), members) for name, members in experiment.groups.items()}
    rows, of_baseline = [], dict[tuple[str, str], Floats]()
    systems = sorted(experiment.systems, key=lambda system: system.name != experiment.baseline)  # it is needed first
    for system in tqdm(systems, desc="measuring", unit="row", disable=not progress, leave=False):
        scores = _scores(experiment, answers[system.name], weights)
        if system.name == experiment.baseline:
            of_baseline = scores
        cells: Cells = {name: dict.fromkeys(column.name for column in experiment.columns) for name in weights}
        differences: Cells = {name: {} for name in weights}
        for column in experiment.columns:
            for name in weights:
                score, other = scores.get((name, column.name)), of_baseline.get((name, column.name))
                if score is not None:
                    cells[name][column.name] = _cell(score, has_interval=column.interval)
                if score is not None and other is not None and system.name != experiment.baseline:
                    differences[name][column.name] = _cell(score - other, has_interval=column.interval)
        rows.append(Row(system.name, system.about, system.signature, cells, differences))
    order = [system.name for system in experiment.systems]
    rows.sort(key=lambda row: order.index(row.name))
    return rows + [_published(row) for row in experiment.published]


def _weights(num_items: int, members: Sequence[int]) -> Floats:
    """[1 + R, N]: each member of a group once; then as often as it is drawn."""
    drawn = np.zeros((1 + RESAMPLES, num_items))
    drawn[0, list(members)] = 1
    number = len(members)
    if number:
        draws = np.random.default_rng(0).multinomial(number, np.full(number, 1 / number), size=RESAMPLES)
        drawn[1:, list(members)] = draws
    return drawn


def _scores(
    experiment: Experiment[Item], answers: Sequence[Answer | None], weights: Mapping[str, Floats]
) -> dict[tuple[str, str], Floats]:
    """[1 + R] by group and column, where the system has answered the whole group and has such a figure."""
    answered = [at for at, answer in enumerate(answers) if answer is not None]
    if not answered:
        return {}
    items = [experiment.items[at] for at in answered]
    given = [answer for answer in answers if answer is not None]
    silent = np.array([answer is None for answer in answers])
    found = {}
    for column in experiment.columns:
        measured = column.measure(items, given)
        if measured is None:
            continue
        for name, drawn in weights.items():
            if drawn[0].any() and not drawn[0, silent].any():
                rows = drawn if column.interval else drawn[:1]
                found[name, column.name] = measured.score(rows[:, answered])
    return found


def _cell(scores: Floats, *, has_interval: bool) -> Cell | None:
    if not np.isfinite(scores[0]):
        return None
    if not has_interval:
        return Cell(float(scores[0]))
    resampled = scores[1:][np.isfinite(scores[1:])]
    if not len(resampled):
        return Cell(float(scores[0]))
    low, high = np.quantile(resampled, [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return Cell(float(scores[0]), float(low), float(high))


def _published(row: Published) -> Row:
    cells: Cells = {
        group: {name: Cell(value) for name, value in figures.items()} for group, figures in row.figures.items()
    }
    return Row(row.name, row.about, "published", cells, is_published=True)
