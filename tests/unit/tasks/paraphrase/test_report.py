"""What is shown of sampled paraphrases, and what goes along with them."""

import pytest
import torch

from cgmh.inputs import ParaphraseInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.ranking import Run
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import run
from cgmh.settings import Settings
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.text.sentences import Sentences

torch.set_num_threads(1)

TEXTS = ("Why do 3 people like to eat fish?", "it 's what ( they ) say")
BIG = FunctionModel(lambda texts: [0.0 for _ in texts], "big")


def pose(**asked: object) -> tuple[Problem, Paraphrases]:
    vocabulary = load_embedded().vocabulary
    inputs = [ParaphraseInput(text, **asked) for text in TEXTS]  # type: ignore[arg-type]
    sources = [source for input in inputs for source in Paraphrase().read(input, vocabulary)]
    problem = Paraphrase().pose(sources, Models(load_embedded()), 2, 0)
    assert isinstance(problem.report, Paraphrases)
    return problem, problem.report


def batch(problem: Problem, number: int, *texts: str) -> Sentences:
    rows = [[problem.lexicon.add(word) for word in text.split()] for text in texts]
    return Sentences.from_lists(rows, 20, [number] * len(rows))


SOURCE, CLOSE, FAR = "why do 3 people like to eat fish ?", "why do 3 people like to eat meat ?", "do we want 3 fish ?"


def test_figures_say_how_close_in_meaning_and_in_wording() -> None:
    problem, report = pose()
    figures = report.figures(batch(problem, 0, SOURCE, CLOSE, FAR))
    assert figures.keys() == {"similarity", "overlap"}
    similarity, overlap = figures["similarity"].tolist(), figures["overlap"].tolist()
    assert (similarity[0], overlap[0]) == (pytest.approx(1, abs=1e-4), pytest.approx(100))
    assert 100 > overlap[1] > overlap[2] > 0
    assert all(0.5 < value < 0.99 for value in similarity[1:])


def test_the_limit_of_an_input_is_its_own() -> None:
    vocabulary = load_embedded().vocabulary
    inputs = [ParaphraseInput(TEXTS[0], max_overlap=limit) for limit in (1, 100)]
    sources = [source for input in inputs for source in Paraphrase().read(input, vocabulary)]
    problem = Paraphrase().pose(sources, Models(load_embedded()), 1, 0)
    assert isinstance(problem.report, Paraphrases)
    strict, loose = (problem.report.objection(batch(problem, number, SOURCE, CLOSE)).tolist() for number in range(2))
    assert strict[0] == loose[0] == float("inf")  # the source is no paraphrase of itself
    assert strict[1] > 0 > loose[1]


def test_notes_and_lines_and_texts_are_those_of_the_input() -> None:
    _, report = pose(max_overlap=30)
    assert report.notes(0) == {"keywords": ["people"], "protected": ["3 people"], "max_overlap": 30}
    assert report.notes(1)["protected"] == ["(they)"]
    assert report.preceding(0) == ("Why do 3 people like to eat fish?",)
    assert report.write(0, ["we", "eat", "."]) == ("We eat.", ["We", "eat", "."])
    assert report.write(1, ["we", "'re", "what", "?"]) == ("we 're what", ["we", "'re", "what"])  # typed without a mark
    _, free = pose(protect=(), match=("none",))
    assert free.notes(0) == {"keywords": [], "protected": [], "max_overlap": ParaphraseInput.max_overlap}


def test_a_trace_begins_at_the_source_where_the_chains_do() -> None:
    for start, models, begins in (
        ("copy", Models(load_embedded()), True),
        ("copy", Models(load_embedded(), BIG, "rerank"), True),
        ("copy", Models(load_embedded(), BIG, "target"), False),  # they settled before
        ("random", Models(load_embedded()), False),
    ):
        problem, report = pose(start=start)
        settings = Settings(steps=1, chains=2)
        kernel = Kernel(problem.target, problem.moves(problem.target.model), 1)
        record = run(kernel, problem.start, 1, 0, Constant(1.0), torch.arange(2).repeat(2))
        one = Run("paraphrase", TEXTS[0], 0, record.of(0), problem.start, problem.target, settings, models)
        assert report.traced_from(one) == (TEXTS[0] if begins else None)
