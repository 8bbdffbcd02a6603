"""Sentences as people type them, read as the correction task reads them."""

from collections.abc import Sequence
from itertools import pairwise

import torch

from cgmh.inputs import PROTECTED, SentenceInput
from cgmh.models.load import load_embedded
from cgmh.proposals.protocols import MOVES
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import Record, run
from cgmh.tasks import Correct, Problem
from cgmh.tasks.correct.confusions import Confusions, load_confusions
from cgmh.tasks.correct.costs import Costs
from cgmh.tasks.correct.source import Mending, read_mending
from cgmh.text.lexicon import Lexicon
from cgmh.text.passages import read_passage
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
)


def vocabulary() -> Vocabulary:
    return load_embedded().vocabulary


def known() -> Confusions:
    return load_confusions(vocabulary())


def inputs(*texts: str, protect: Sequence[str] = PROTECTED, paper: bool = False) -> list[SentenceInput]:
    """One input a sentence."""
    passages = [read_passage(text, vocabulary()) for text in texts]
    return [
        SentenceInput(passage, at, tuple(protect), paper)
        for passage in passages
        for at in range(len(passage.sentences))
    ]


def mendings(*texts: str, protect: Sequence[str] = PROTECTED) -> tuple[list[Mending], Lexicon]:
    lexicon = Lexicon(vocabulary())
    return [read_mending(input, lexicon, known()) for input in inputs(*texts, protect=protect)], lexicon


def pose(*texts: str, chains: int = 1, protect: Sequence[str] = PROTECTED) -> Problem:
    return Correct().pose(inputs(*texts, protect=protect), load_embedded(), chains, 0)


def walk(problem: Problem, chains: int, steps: int, beta: float = 1.0, seed: int = 0) -> Record:
    """The chains of a problem by the production kernel, every step recorded."""
    model = problem.model
    kernel = Kernel(problem.target, problem.proposal, model.window, trust=model.trust)  # type: ignore[union-attr]
    names = torch.arange(chains).repeat(len(problem.start) // chains)
    return run(kernel, problem.start, steps, seed, Constant(beta), names, refused=True)


def paths(problem: Problem, record: Record, number: int) -> list[list[tuple[str, ...]]]:
    """Where each chain of an input was before each step and after the last, by a plain walk through the record."""
    own = record.of(number)
    rows = (problem.start.inputs == number).nonzero()[:, 0]
    found = [[tuple(problem.lexicon.words(ids))] for ids in problem.start.select(rows).to_lists()]
    columns = (own.steps[name].tolist() for name in ("chain", "step", "changed", "move"))
    steps = sorted(zip(*columns, own.proposed.to_lists(), strict=True), key=lambda row: row[:2])
    for (chain, step, changed, move, ids), after in pairwise([*steps, (len(found), 0, False, 0, [])]):
        assert step == len(found[chain]) - 1
        assert move < len(MOVES)
        assert after[0] in (chain, chain + 1)
        found[chain].append(tuple(problem.lexicon.words(ids)) if changed else found[chain][-1])
    return found
