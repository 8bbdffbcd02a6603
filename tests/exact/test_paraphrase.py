"""The constraints of a paraphrase in the target: exact under the task's own kernels, and what plain arithmetic says."""

import math
from collections.abc import Callable

import pytest
import torch

from cgmh.constraints import ContainsWords, Overlap, Weighted
from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel
from cgmh.target import Target
from enumeration import keys, transition_matrix, violations
from meanings import bleu, by_hand, tables, toy_encoder
from spaces import KERNELS, SOURCES, SPACES, A, B, C, D, Space

torch.set_num_threads(1)


def plain_kernel(space: Space, window: int | None) -> Kernel:
    """As the task steps: edits that leave pinned words alone, and swaps of blocks."""
    contains = next(some for some in space.constraints if isinstance(some, ContainsWords))
    edits = WordEdits(FillHead(space.model), pinned=contains.pinned)
    return Kernel(space.target, Mixture([(edits, 0.92), (SwapBlocks(3), 0.08)]), window)


def gibbs_kernel(space: Space, window: int | None) -> Kernel:
    """The paper's edits, pinned too; the swaps keep tight spaces in one piece."""
    contains = next(some for some in space.constraints if isinstance(some, ContainsWords))
    edits = WordEdits(GibbsOver(space.model, space.target, 3), pinned=contains.pinned)
    return Kernel(space.target, Mixture([(edits, 0.9), (SwapBlocks(2), 0.1)]), window)


TASK = {"plain": plain_kernel, "gibbs": gibbs_kernel}


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("kernel", TASK)
def test_the_task_is_exact(kernel: str, window: int | None, beta: float) -> None:
    space = SPACES["paraphrase, two inputs"]()
    assert violations(TASK[kernel](space, window), space.states, beta) == []


@pytest.mark.parametrize("space", ["paraphrase, two inputs", "close, two inputs", "of one's own"])
def test_every_soft_factor_matters(space: str) -> None:
    """Without any one of them the same sentences are visited in other proportions: the matrix is another one."""
    built = SPACES[space]()
    whole = transition_matrix(KERNELS["mixture"](built, None), built.states, 1.0)
    soft = [some for some in built.constraints if not some.hard]
    assert len(soft) >= 2
    for left_out in soft:
        fewer = Space(
            built.model, [some for some in built.constraints if some is not left_out], built.states, built.groups
        )
        assert abs(transition_matrix(KERNELS["mixture"](fewer, None), built.states, 1.0) - whole).max() > 1e-3


def soft_by_hand(space: str, input: int, words: list[int]) -> float:
    """The sum of the soft factors, from their definitions."""
    source = SOURCES[input]
    different = math.log(max(0.02, 1 - bleu(source, words)))
    if space == "close, two inputs":
        kept = {0: sum(some in words for some in (A, B)) / 2, 1: float(C in words)}[input]
        parts = [(by_hand("wvm", source, words), 2.0), (by_hand("cw", source, words), 3.0), (kept, 1.0)]
        return sum(power * math.log(max(0.01, value)) for value, power in parts) + different
    rows, encoder = tables()[0], toy_encoder()
    own, other = (encoder(rows[torch.tensor([some])])[0] for some in (source, words))
    return 2 * math.log(max(0.01, float(own @ other))) + 1.5 * different


def off_by(space: str, built: Space) -> float:
    """How far the soft factors are from plain arithmetic, over all sentences."""
    no_model = torch.zeros(len(built.states), dtype=torch.float64)
    found = built.target.soft_factors(no_model, built.states).sum(-1).tolist()
    expected = [soft_by_hand(space, input, list(words)) for input, *words in keys(built.states)]
    assert max(expected) - min(expected) > 2
    return max(abs(a - b) for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("space", ["paraphrase, two inputs", "close, two inputs"])
def test_the_soft_factors_are_what_plain_arithmetic_says(space: str) -> None:
    assert off_by(space, SPACES[space]()) < 1e-4  # similarities are rounded to the sixth digit


def _of_the_first_input(built: Space) -> None:
    for some in built.constraints:
        if isinstance(some, Weighted):
            similarity = some._similarity
            some._similarity = lambda sentences, own=similarity: own(  # type: ignore[misc,assignment]
                type(sentences)(sentences.ids, sentences.lengths, torch.zeros_like(sentences.inputs))
            )


def _with_the_mark(built: Space) -> None:
    built.constraints[-1]._overlap = Overlap(SOURCES, torch.arange(22))  # type: ignore[attr-defined]


def _without_the_order(built: Space) -> None:
    overlap = built.constraints[-1]._overlap  # type: ignore[attr-defined]
    overlap._tables.at(torch.device("cpu"))["grams"][overlap._tables.at(torch.device("cpu"))["grams"] % 4 > 0] = -1


@pytest.mark.parametrize("mistake", [_of_the_first_input, _with_the_mark, _without_the_order])
@pytest.mark.parametrize("space", ["paraphrase, two inputs", "close, two inputs"])
def test_mistakes_in_a_soft_factor_are_seen(space: str, mistake: Callable[[Space], None]) -> None:
    built = SPACES[space]()
    mistake(built)
    assert off_by(space, built) > 0.01


def test_pinned_words_are_those_of_the_keywords() -> None:
    space = SPACES["paraphrase, two inputs"]()
    contains = space.constraints[0]
    assert isinstance(contains, ContainsWords)
    states = space.states
    for (input, *words), pinned in zip(keys(states), contains.pinned(states).tolist(), strict=True):
        keyword = (A, C)[input]
        alone = words.count(keyword) == 1
        assert [at for at, one in enumerate(pinned) if one] == ([words.index(keyword)] if alone else [])


def test_a_sentence_that_breaks_what_must_stay_is_impossible() -> None:
    space = SPACES["paraphrase, two inputs"]()
    target: Target = space.target
    broken = {
        "contains": [C, B, D], "length": [A, C, D], "ending": [A, B, D, B],
    }  # fmt: skip
    for name, words in broken.items():
        sentences = type(space.states).from_lists([words], 5)
        assert not bool(target.possible(sentences).any())
        assert name in target.broken(sentences)
