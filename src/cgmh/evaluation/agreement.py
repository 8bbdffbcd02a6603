"""What ratings say: means with intervals, how far raters agree, and whether two systems differ; over all inputs, and
for each group of them.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability; Fisher's randomisation test on paired differences;
Holm (1979) for several pairs.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .ratings import Ratings

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 10_000
EXACT = 14  # pairs up to which every choice of signs is tried
COVERED = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over inputs, with an interval of 95 per cent."""

    mean: float
    low: float
    high: float
    num_inputs: int


@dataclass(frozen=True)
class Comparison:
    """Two systems on the inputs that both were rated for: the mean difference, and how likely it is by chance."""

    question: str
    first: str
    second: str
    difference: float
    p: float
    p_holm: float  # the same, with the number of comparisons of the question accounted for
    num_inputs: int


@dataclass(frozen=True)
class Part:
    """The figures of all inputs, or of a group of them."""

    means: dict[str, dict[str, Mean | None]]  # by system and question
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True)
class Spread:
    """Mean standard deviations (n - 1), as the paper prints them beside its human scores; None if there are none."""

    raters: float | None  # of the scores that several raters gave one text: "intra-annotator"
    systems: float | None  # of the scores of one system over its inputs: "intra-model"


@dataclass(frozen=True)
class Report:
    """The tables of a study."""

    questions: tuple[str, ...]
    systems: tuple[str, ...]
    means: dict[str, dict[str, Mean | None]]  # by system and question
    agreement: dict[str, float | None]  # Krippendorff's alpha by question
    spread: dict[str, Spread]  # by question
    comparisons: tuple[Comparison, ...]
    groups: dict[str, Part]  # of inputs, where they have any
    raters: dict[str, int]  # clicks of each

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


Scores = Mapping[str, Mapping[str, float]]  # the mean over raters, by system and input


def report(ratings: Ratings, seed: int = 0) -> Report:
    """What the clicks so far come to."""
    clicks = ratings.clicks()
    raters: dict[str, int] = {}
    for rater, _, _ in clicks:
        raters[rater] = raters.get(rater, 0) + 1
    agreement: dict[str, float | None] = {}
    spread, of_question = dict[str, Spread](), dict[str, Scores]()
    for question in ratings.questions:
        of_item: dict[str, list[float]] = {}
        for (_, id, asked), score in clicks.items():
            if asked == question:
                of_item.setdefault(id, []).append(score)
        of_system: dict[str, dict[str, float]] = {system: {} for system in ratings.systems}
        for id, scores in of_item.items():
            for system in ratings.items[id].systems:
                of_system[system][ratings.items[id].input] = float(np.mean(scores))
        of_question[question] = of_system
        agreement[question] = alpha([scores for scores in of_item.values() if len(scores) > 1])
        own = [list(scored.values()) for scored in of_system.values()]
        spread[question] = Spread(mean_deviation(list(of_item.values())), mean_deviation(own))
    whole = _part(of_question, seed)
    groups = {}
    for group in ratings.groups:
        inputs = {item.input for item in ratings.items.values() if item.group == group}
        groups[group] = _part({question: _of(scores, inputs) for question, scores in of_question.items()}, seed)
    return Report(
        ratings.questions, tuple(ratings.systems), whole.means, agreement, spread, whole.comparisons, groups, raters
    )


def _of(scores: Scores, inputs: Collection[str]) -> Scores:
    """The scores of some inputs."""
    return {
        system: {input: score for input, score in scored.items() if input in inputs}
        for system, scored in scores.items()
    }


def _part(of_question: Mapping[str, Scores], seed: int) -> Part:
    means: dict[str, dict[str, Mean | None]] = {}
    comparisons: list[Comparison] = []
    for question, of_system in of_question.items():
        for system, scored in of_system.items():
            found = mean_of(list(scored.values()), seed) if scored else None
            means.setdefault(system, {})[question] = found
        comparisons += _compared(question, of_system, seed)
    return Part(means, tuple(comparisons))


def _compared(question: str, of_system: Scores, seed: int) -> list[Comparison]:
    found = []
    for first, second in combinations(of_system, 2):
        both = [input for input in of_system[first] if input in of_system[second]]
        differences = [of_system[first][input] - of_system[second][input] for input in both]
        if differences:
            found.append((first, second, float(np.mean(differences)), paired_p(differences, seed), len(both)))
    adjusted = holm([p for _, _, _, p, _ in found])
    return [
        Comparison(question, first, second, difference, p, p_holm, number)
        for (first, second, difference, p, number), p_holm in zip(found, adjusted, strict=True)
    ]


def mean_of(scores: Sequence[float], seed: int = 0) -> Mean:
    """The mean of scores of inputs, with a bootstrap interval over the inputs."""
    values = np.asarray(scores, dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(len(values), size=(RESAMPLES, len(values)))
    low, high = np.quantile(values[drawn].mean(1), [(1 - COVERED) / 2, (1 + COVERED) / 2])
    return Mean(float(values.mean()), float(low), float(high), len(values))


def paired_p(differences: Sequence[float], seed: int = 0) -> float:
    """How probable a mean difference as large as this is if each had either sign with the same chance (two-sided).

    Every choice of signs is tried for few differences; otherwise many random ones, the one at hand among them.
    """
    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]  # whatever its sign, a zero changes nothing
    if not len(values):
        return 1.0
    signs: NDArray[np.int64]
    if len(values) <= EXACT:
        signs = 1 - 2 * ((np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1)
    else:
        drawn = np.random.default_rng(seed).integers(2, size=(RESAMPLES, len(values)))
        signs = np.concatenate([np.ones((1, len(values)), dtype=np.int64), 1 - 2 * drawn])
    at_hand = abs(values.sum())
    return float((np.abs(signs @ values) >= at_hand - 1e-12).mean())


def holm(p_values: Sequence[float]) -> list[float]:
    """The same p-values for who makes all these comparisons at once."""
    order = sorted(range(len(p_values)), key=lambda at: p_values[at])
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, at in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[at]))
        adjusted[at] = largest
    return adjusted


def alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for numbers, of units that two or more raters scored: 1 is agreement, 0 chance.

    None where there are too few scores to tell, or all of them are the same.
    """
    scores = np.concatenate([np.asarray(unit, dtype=np.float64) for unit in units]) if units else np.zeros(0)
    if len(scores) < 4:
        return None
    # The mean squared difference of all pairs, from sums and sums of squares.
    expected = _spread(scores) / (len(scores) - 1)
    if expected == 0:
        return None
    observed = sum(_spread(np.asarray(unit, dtype=np.float64)) / (len(unit) - 1) for unit in units)
    return float(1 - observed / expected)


def mean_deviation(units: Sequence[Sequence[float]]) -> float | None:
    """The mean standard deviation within units of several scores; None where there are none."""
    deviations = [float(np.std(unit, ddof=1)) for unit in units if len(unit) > 1]
    return float(np.mean(deviations)) if deviations else None


def _spread(scores: "NDArray[np.float64]") -> float:
    """The sum of squared differences over all ordered pairs."""
    return float(2 * (len(scores) * (scores**2).sum() - scores.sum() ** 2))


def tables(found: Report) -> str:
    """The report as text: means by system, and by group as the paper has them; agreement; comparisons."""
    width = max(6, *(len(name) for name in [*found.systems, *found.groups]))

    def line(first: str, cells: Sequence[str]) -> str:
        return "  ".join([f"{first:{width}}", *(f"{cell:>22}" for cell in cells)]).rstrip()

    lines = [line("system", found.questions)]
    lines += [line(name, [_cell(found.means[name][of]) for of in found.questions]) for name in found.systems]
    for question in found.questions if found.groups else ():
        lines += ["", line(question, found.systems)]
        for group, part in found.groups.items():
            lines.append(line(group, [_cell(part.means[system][question]) for system in found.systems]))
    lines.append("")
    for question, value in found.agreement.items():
        shown = _figure(value, "–  (needs two raters, and scores that differ)")
        lines.append(f"agreement on {question} (Krippendorff's alpha): {shown}")
        spread = found.spread[question]
        lines.append(f"mean std of {question} between raters of a text: {_figure(spread.raters)}")
        lines.append(f"mean std of {question} within a system: {_figure(spread.systems)}")
    parts = [("", found.comparisons), *((f", {name}", part.comparisons) for name, part in found.groups.items())]
    lines += [""] if found.comparisons else []
    for group, comparisons in parts:
        for one in comparisons:
            numbers = f"{one.difference:+.3f}   p = {one.p:.4f}   Holm {one.p_holm:.4f}   ({one.num_inputs} inputs)"
            lines.append(f"{one.question:10}  {one.first} – {one.second}{group}: {numbers}")
    raters = ", ".join(f"{name} {number}" for name, number in found.raters.items()) or "none yet"
    return "\n".join([*lines, "", f"raters, with their clicks: {raters}"])


def _figure(value: float | None, nothing: str = "–") -> str:
    return nothing if value is None else f"{value:.3f}"


def _cell(mean: Mean | None) -> str:
    return "–" if mean is None else f"{mean.mean:.2f} [{mean.low:.2f}, {mean.high:.2f}]"
