"""Seeded mistakes in what a task builds: each leaves a part of the space out of reach, or the balance wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from cgmh.draws import Draws
from cgmh.proposals import Alternatives, FillHead, Group, Leap, SwapBlocks, variants
from cgmh.proposals.fillers import Floor
from cgmh.proposals.protocols import INSERT, Candidate, View
from cgmh.tasks import keywords
from enumeration import violations
from posed import CASES

torch.set_num_threads(1)

Seed = Callable[[pytest.MonkeyPatch], None]
APART = "one communicating class"


def _replaced(where: str, by: Any) -> Seed:
    return lambda monkeypatch: monkeypatch.setattr(where, by)


def _swaps_of(longest: int, task: str) -> Seed:
    return _replaced(f"cgmh.tasks.{task}.SwapBlocks", lambda _: SwapBlocks(longest))


def _no_own_words(where: str) -> Seed:
    return _replaced(where, lambda model, floor=0.01, own=(): FillHead(model, floor))  # noqa: ARG005


def _words_only(source: Any, requirements: Any, lexicon: Any) -> list[Group]:
    return [group for group in HONEST(source, requirements, lexicon) if all(len(some) == 1 for some in group.phrases)]


HONEST = keywords._exchanges
FAULTS: dict[str, tuple[str, Seed, str]] = {
    "keywords are never exchanged: casings": (
        "keywords: all casings, no room",
        _replaced("cgmh.tasks.keywords._exchanges", lambda *_: []),
        APART,
    ),
    "keywords are never exchanged: inflections": (
        "keywords: inflections, no room",
        _replaced("cgmh.tasks.keywords._exchanges", lambda *_: []),
        APART,
    ),
    "forms are exchanged, alternatives are not": (
        "keywords: one of two words",
        _replaced("cgmh.tasks.keywords.normalize", lambda phrases: tuple(map(tuple, phrases))),
        APART,
    ),
    "alternatives are exchanged if they are single words": (
        "keywords: phrases with unknown words",
        _replaced("cgmh.tasks.keywords._exchanges", _words_only),
        APART,
    ),
    "a shorter phrase is not filled up": (
        "keywords: unequal length, no room",
        _replaced("cgmh.tasks.keywords._filled_up", lambda *_: []),
        APART,
    ),
    "words change places one by one": ("keywords: phrases, no room", _swaps_of(1, "keywords"), APART),
    "at most three words change places": ("keywords: long phrases, no room", _swaps_of(3, "keywords"), APART),
    "unknown words never come": (
        "keywords: one of two unknown words",
        _no_own_words("cgmh.tasks.keywords.FillHead"),
        APART,
    ),
    "a constraint of one's own, without leaps": (
        "keywords: a constraint of one's own",
        _replaced("cgmh.tasks.problem.Leap", lambda edits, _: edits),
        APART,
    ),
    "names: at most three words change places": (
        "paraphrase: long names change places",
        _swaps_of(3, "paraphrase"),
        APART,
    ),
    "quotations: at most three words change places": (
        "paraphrase: quotations change places",
        _swaps_of(3, "paraphrase"),
        APART,
    ),
    "a name keeps its casing": (
        "paraphrase: the casing of a name",
        _replaced("cgmh.tasks.paraphrase.variants", lambda _: []),
        APART,
    ),
    "the words of a paraphrase never change places": (
        "paraphrase: numbers and negations",
        _replaced("cgmh.tasks.paraphrase.SwapBlocks", lambda longest: Alternatives([[] for _ in longest])),
        APART,
    ),
    "an unknown name never comes twice": (
        "correct: an unknown name",
        _no_own_words("cgmh.tasks.correct.FillHead"),
        APART,
    ),
    "an unknown word is proposed without a word about it in q": (
        "keywords: a known word or an unknown one",
        lambda monkeypatch: monkeypatch.setattr("cgmh.proposals.fillers.Floor.log_prob", _half_as_likely),
        "detailed balance",
    ),
    "a leap tells its way back wrong": (
        "keywords: a constraint of one's own",
        lambda monkeypatch: monkeypatch.setattr("cgmh.tasks.problem.Leap", OneWay),
        "detailed balance",
    ),
}

LOG_PROB = Floor.log_prob


def _half_as_likely(floor: Floor, word: torch.Tensor, inputs: torch.Tensor) -> torch.Tensor:
    return LOG_PROB(floor, word, inputs) - 0.7 * (word >= 16)


class OneWay(Leap):
    """Longer sentences say that the way back is likelier than it is."""

    def propose(self, draws: Draws, view: View) -> Candidate:
        candidate = super().propose(draws, view)
        return replace(candidate, log_reverse=candidate.log_reverse + 0.3 * (candidate.move == INSERT))


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_mistake_is_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case, seed, law = FAULTS[name]
    seed(monkeypatch)
    problem, target, states = CASES[case].posed(monkeypatch)
    found = violations(problem.kernel(target), states, 1.0)
    assert any(one.startswith(law) for one in found), found


def test_forms_alone_are_variants() -> None:
    """What the first faults take away."""
    assert variants([{1, 2}, {3}]) == [Group(((1,), (2,)), (1.0, 1.0), 1.0)]
