"""What counts beside fluency in the ranking of paraphrases, on the embedded vectors."""

import math

import pytest
import torch

from cgmh.inputs import ParaphraseInput
from cgmh.models.load import Models, load_embedded
from cgmh.readings import Readings
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.merit import MERIT, SIMILARITIES, USUAL_OVERLAP
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.text.sentences import Sentences

torch.set_num_threads(1)

SOURCE = "how can I learn to play the guitar at home ?"


def posed(source: str = SOURCE) -> tuple[Problem, Paraphrases]:
    sources = Paraphrase().read(ParaphraseInput(source), load_embedded().vocabulary)
    problem = Paraphrase().pose(sources, Models(load_embedded()), 1, 0)
    assert isinstance(problem.report, Paraphrases)
    return problem, problem.report


def features(*texts: str, source: str = SOURCE) -> dict[str, list[float]]:
    problem, report = posed(source)
    return {name: column.tolist() for name, column in report.weighs.features(batch(problem, *texts)).items()}


def batch(problem: Problem, *texts: str) -> Sentences:
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    return Sentences.from_lists(rows, max(map(len, rows)) + 1)


def test_nothing_is_lost_or_changed_in_the_source_itself() -> None:
    of_source = features(SOURCE)
    assert of_source.pop("overlap") == [pytest.approx(USUAL_OVERLAP - 1)]
    assert all(value == pytest.approx(0, abs=1e-4) for (value,) in of_source.values()), of_source


def test_content_that_is_lost_or_added() -> None:
    lost, added, near = 0, 1, 2
    some = features(
        "how can I learn to play at home ?",
        "how can I learn to play the guitar at home with elephants ?",
        "how can I learn to play the piano at home ?",
    )
    assert some["lost"][lost] < some["lost"][near] < some["lost"][added] == 0
    assert some["added"][added] < some["added"][near] < some["added"][lost] == 0


def test_longer_is_worse() -> None:
    some = features(
        "how can I learn to play the old guitar at home ?",
        "how can I learn the guitar at home ?",  # what is left out may be missed
        "what is the best way to learn to play the guitar at home ?",
        SOURCE,
    )
    assert some["length"] == pytest.approx([-1 / 11, 0, -3 / 11, 0])


def test_flaws_that_the_source_lacks() -> None:
    assert features("how can I learn to play a guitar guitar at home ?", SOURCE)["flaws"] == [-2, 0]
    assert features("how do I learn to play the guitar at home ?", "how I learn to play the guitar at home ?")[
        "flaws"
    ] == [0, -1]
    drone = "how much weight can the drone carry ?"
    assert features("how much weight the drone can carry ?", drone, source=drone)["flaws"] == [-1, 0]


def test_the_merit_is_the_weighted_sum() -> None:
    problem, report = posed()
    candidate = batch(problem, "why should you play the guitar at home ?")
    columns = report.weighs.features(candidate)
    assert columns.keys() == MERIT.keys()
    wanted = sum(weight * float(columns[name]) for name, weight in MERIT.items())
    assert float(report.merit(candidate, Readings([], [], []))) == pytest.approx(wanted)
    similarity = float(report.figures(candidate)["similarity"])
    assert "st" in SIMILARITIES
    assert float(columns["st"]) == pytest.approx(math.log(similarity), abs=1e-6)
