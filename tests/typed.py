"""Sentences as people type them, read as the correction task reads them."""

from collections.abc import Sequence
from itertools import pairwise

import torch

from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.word.two_stage import TwoStageModel
from cgmh.proposals.protocols import MOVES
from cgmh.ranking import Run
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import Record, run
from cgmh.settings import Settings
from cgmh.tasks import Correct, Problem
from cgmh.tasks.correct.confusions import Confusions, load_confusions
from cgmh.tasks.correct.costs import Costs
from cgmh.tasks.correct.source import CorrectionSource, TypedSentence
from cgmh.text.lexicon import Lexicon
from cgmh.text.vocabulary import Vocabulary

REPLACED = (
    "casing", "spelling", "real word", "agreement", "number", "tense", "inflection", "derivation", "determiner",
    "preposition", "auxiliary", "pronoun", "linking", "punctuation", "splitting", "joining", "word",
)  # fmt: skip
COUNTED = ("determiner", "preposition", "auxiliary", "pronoun", "linking", "comma", "punctuation", "word")
# Every kind has a price of its own, so that none can stand for another.
PRICES = Costs(
    replace={kind: 1.0 + at for at, kind in enumerate(REPLACED)},
    insert={kind: 21.0 + at for at, kind in enumerate(COUNTED)},
    delete={kind: 31.0 + at for at, kind in enumerate(COUNTED)},
    letter=0.25,
    order=20.5,
    first=0.125,
    strange=42.0,
    dropped=43.0,
    comma=0.5,
)


def vocabulary() -> Vocabulary:
    return load_embedded().vocabulary


def known() -> Confusions:
    return load_confusions(vocabulary())


def typed_sentences(
    *texts: str, protect: Sequence[str] = CorrectInput.protect, paper: bool = False
) -> list[TypedSentence]:
    """The sentences of the texts, one after another."""
    inputs = [CorrectInput(text, tuple(protect), paper) for text in texts]
    return [sentence for input in inputs for sentence in Correct().read(input, vocabulary())]


def read_sources(*texts: str, protect: Sequence[str] = CorrectInput.protect) -> tuple[list[CorrectionSource], Lexicon]:
    lexicon = Lexicon(vocabulary())
    sentences = typed_sentences(*texts, protect=protect)
    return [CorrectionSource.read(sentence, lexicon, known()) for sentence in sentences], lexicon


def pose(*texts: str, chains: int = 1, protect: Sequence[str] = CorrectInput.protect) -> Problem:
    return Correct().pose(typed_sentences(*texts, protect=protect), Models(load_embedded()), chains, 0)


def walk(problem: Problem, chains: int, steps: int, beta: float = 1.0, seed: int = 0) -> Record:
    """The chains of a problem by the production kernel, every step recorded."""
    model = problem.target.model
    assert isinstance(model, TwoStageModel)
    kernel = Kernel(problem.target, problem.moves(model), model.window, trust=model.trust)
    names = torch.arange(chains).repeat(len(problem.start) // chains)
    return run(kernel, problem.start, steps, seed, Constant(beta), names, refused=True)


def run_of(problem: Problem, record: Record, number: int, settings: Settings, text: str = "") -> Run:
    """What a report is told about one input of a recorded walk."""
    start = problem.start.select((problem.start.inputs == number).nonzero()[:, 0])
    models = Models(load_embedded())
    return Run("correct", text, number, record.of(number), start, problem.target, settings, models, problem.about)


def paths(problem: Problem, record: Record, number: int) -> list[list[tuple[str, ...]]]:
    """Where each chain of an input was before each step and after the last, by a plain walk through the record."""
    own = record.of(number)
    rows = (problem.start.inputs == number).nonzero()[:, 0]
    walked = [[tuple(problem.lexicon.words(ids))] for ids in problem.start.select(rows).to_lists()]
    columns = (own.steps[name].tolist() for name in ("chain", "step", "changed", "move"))
    steps = sorted(zip(*columns, own.proposed.to_lists(), strict=True), key=lambda row: row[:2])
    for (chain, step, changed, move, ids), after in pairwise([*steps, (len(walked), 0, False, 0, [])]):
        assert step == len(walked[chain]) - 1
        assert move < len(MOVES)
        assert after[0] in (chain, chain + 1)
        walked[chain].append(tuple(problem.lexicon.words(ids)) if changed else walked[chain][-1])
    return walked
