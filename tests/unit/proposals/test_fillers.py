"""Fills with a floor: the model's own, and Gibbs over the best words."""

import pytest
import torch

from cgmh.constraints import Forbids
from cgmh.draws import Draws
from cgmh.proposals import Filler, FillHead, GibbsOver, View
from cgmh.proposals import fillers as fillers_module
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from spaces import OUT, A, B, C, D
from toys import FIRST, ToyModel

MODEL = ToyModel(4, holes=1)  # A is never proposed by the model itself
WORDS = torch.arange(FIRST, FIRST + 4)
FLOOR = 0.2


def view(rows: int) -> View:
    sentences = Sentences.from_lists([[B, C, D]] * rows, 5)
    return View(sentences, MODEL.encode(sentences), torch.arange(rows), torch.full((rows,), 0.7, dtype=torch.float64))


def probabilities(filler: Filler, words: torch.Tensor = WORDS) -> list[float]:
    """Of each word in the place of C."""
    at = torch.ones(len(words), dtype=torch.int64)
    q: list[float] = filler.fill(view(len(words)), at, at + 1).log_prob(words).exp().tolist()
    return q


def fillers() -> dict[str, Filler]:
    target = Target(MODEL, [Forbids([[A, C]])])
    nothing = Target(MODEL, [Forbids([[A, B, C, D]])])
    return {
        "head": FillHead(MODEL, FLOOR),
        "gibbs": GibbsOver(MODEL, target, 3, FLOOR),
        "gibbs where nothing is possible": GibbsOver(MODEL, nothing, 3, FLOOR),
    }


@pytest.mark.parametrize("name", fillers())
def test_words_come_as_often_as_q_says(name: str) -> None:
    filler, rows = fillers()[name], torch.arange(5000)
    q = probabilities(filler)
    assert sum(q) == pytest.approx(1.0)
    assert min(q) >= FLOOR / 4 - 1e-12
    at = torch.ones_like(rows)
    chosen = filler.fill(view(len(rows)), at, at + 1).choose(Draws(0, rows, rows))
    shares = torch.bincount(chosen - FIRST, minlength=4) / len(rows)
    assert shares.tolist() == pytest.approx(q, abs=0.03)
    assert probabilities(filler, torch.tensor([0, OUT])) == [0.0, 0.0]  # a special and a run-local id


def test_the_floor_is_all_that_an_impossible_word_has() -> None:
    assert probabilities(fillers()["head"])[0] == pytest.approx(FLOOR / 4)
    q = probabilities(fillers()["gibbs"])
    assert (q[0], q[2]) == (pytest.approx(FLOOR / 4), pytest.approx(FLOOR / 4))
    assert probabilities(fillers()["gibbs where nothing is possible"]) == pytest.approx([0.25] * 4)


@pytest.mark.parametrize("floor", [0.0, 1.0, -0.1])
def test_a_floor_lies_between_0_and_1(floor: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        FillHead(MODEL, floor)


@pytest.mark.parametrize("most", [1, 100])
def test_what_is_known_of_a_gap_is_what_it_would_be_anew(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where sentences, inputs and temperatures differ in one thing alone, and where much was forgotten."""
    monkeypatch.setattr(fillers_module, "MAX_KNOWN", most)
    target = Target(MODEL, [Forbids([[A], [B]])])
    filler = GibbsOver(MODEL, target, 3, FLOOR)
    for _ in range(2):
        for ids, input, beta in (([B, C, D], 0, 0.7), ([B, C, C], 0, 0.7), ([B, C, D], 1, 0.7), ([B, C, D], 0, 2.0)):
            sentences = Sentences.from_lists([ids] * 4, 5, [input] * 4)
            betas = torch.full((4,), beta, dtype=torch.float64)
            asked = View(sentences, MODEL.encode(sentences), torch.arange(4), betas)
            at = torch.ones(4, dtype=torch.int64)
            known = filler.fill(asked, at, at + 1).log_prob(WORDS)
            anew = GibbsOver(MODEL, target, 3, FLOOR).fill(asked, at, at + 1).log_prob(WORDS)
            assert torch.equal(known, anew)


def test_a_gap_is_scored_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scored = []
    shares = GibbsOver._shares

    def counted(self: GibbsOver, asked: View, *gap: torch.Tensor) -> tuple[torch.Tensor, ...]:
        scored.append(len(asked.sentences))
        return shares(self, asked, *gap)

    monkeypatch.setattr(GibbsOver, "_shares", counted)
    filler = GibbsOver(MODEL, Target(MODEL), 3, FLOOR)
    first, second = torch.tensor([1, 1, 2]), torch.tensor([2, 1, 2])
    filler.fill(view(3), first, first + 1)
    filler.fill(view(3), second, second + 1)
    filler.fill(view(3), torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3]))
    assert scored == [2, 1]
