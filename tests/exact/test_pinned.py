"""Edits that leave pinned words alone: exact, because the editable words are counted in both sentences."""

import pytest

from cgmh.constraints import ContainsWords
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.proposals.protocols import Proposal
from cgmh.sampling import Kernel
from cgmh.target import Target
from enumeration import all_sentences, violations
from toys import FIRST, ToyModel, variant_moves

A, B, C, D = range(FIRST, FIRST + 4)
REQUIREMENTS = {
    "one word": [[[{A}]]],
    "two words": [[[{A}]], [[{B}]]],
    "a repeated word": [[[{A}]], [[{A}]]],
    "alternatives": [[[{A}], [{B}]]],
    "a phrase": [[[{A}, {B}]]],
    "a word and a phrase": [[[{A}, {B}]], [[{C}]]],
    "entangled": [[[{A}, {B}]], [[{A}]]],
    "phrases that overlap": [[[{A}, {B}], [{B}, {A}], [{A}, {C}]]],
}


def _holds(requirements: list[list[list[set[int]]]], ordered: bool) -> ContainsWords:
    return ContainsWords([requirements], ordered=ordered)


@pytest.mark.parametrize("name", REQUIREMENTS)
@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("ordered", [False, True])
def test_exact(name: str, window: int | None, ordered: bool) -> None:
    model = ToyModel(4)
    contains = _holds(REQUIREMENTS[name], ordered)
    target = Target(model, [contains])
    listed = all_sentences(range(FIRST, FIRST + 4), 5)
    states = listed.select(target.possible(listed).nonzero()[:, 0])
    components: list[tuple[Proposal, float]] = [
        (WordEdits(FillHead(model), (1.0, 2.0, 1.5), contains.pinned), 0.8),
        (SwapBlocks(2), 0.1),
        (variant_moves([[{A, B}]]), 0.1),
    ]
    assert violations(Kernel(target, Mixture(components), window), states, 0.8) == []


def test_forgetting_to_count_the_words_after_the_edit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ToyModel(4)
    contains = _holds(REQUIREMENTS["two words"], ordered=False)
    target = Target(model, [contains])
    listed = all_sentences(range(FIRST, FIRST + 4), 5)
    states = listed.select(target.possible(listed).nonzero()[:, 0])
    edits = WordEdits(FillHead(model), pinned=contains.pinned)
    honest = edits._editable
    first = True

    def forgetful(sentences):  # type: ignore[no-untyped-def]
        nonlocal first
        mask, count = honest(sentences)
        first = not first
        return (mask, sentences.lengths) if first else (mask, count)

    monkeypatch.setattr(edits, "_editable", forgetful)
    assert any("balance" in found for found in violations(Kernel(target, edits), states, 0.8))
