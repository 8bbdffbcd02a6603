"""Exchanges and tempered steps leave the product of the tempered targets unchanged, exactly."""

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
import torch

from cgmh.constraints import ContainsWords, Forbids
from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel, Ladder, TemperedKernel
from enumeration import all_sentences, target_distribution, transition_matrix
from replicas import LADDERS, OnTuples, Tuples, matrix_on_tuples, violations_on_tuples
from spaces import KERNELS, SPACES, UNEVEN, A, B, Favours, Space, word
from toys import FIRST, ToyModel

torch.set_num_threads(1)


def _tiny(*constraints: object, keeps: Callable[[list[int]], bool], num_words: int = 2, capacity: int = 3) -> Space:
    states = all_sentences(range(FIRST, FIRST + num_words), capacity, [keeps])
    return Space(ToyModel(num_words, seed=4), list(constraints), states, [])  # type: ignore[arg-type]


# Small enough for tuples of sentences, each a whole step with all its branches
TINY: dict[str, Callable[[], Space]] = {
    "free": lambda: _tiny(keeps=lambda _: True),
    "hard": lambda: _tiny(ContainsWords([[word(A)]]), keeps=lambda words: A in words),
    "soft": lambda: _tiny(Favours(), keeps=lambda _: True, num_words=3, capacity=2),
    "soft and hard": lambda: _tiny(
        ContainsWords([[word(A)]]),
        Forbids([[B]]),
        Favours(),
        keeps=lambda words: A in words and B not in words,
        num_words=3,
    ),
}


@pytest.mark.parametrize("space", ["soft and hard", "sentence-like, two inputs", "three inputs", "repeated"])
@pytest.mark.parametrize("ladder", ["two, near", "two, far"])
@pytest.mark.parametrize("beta", [0.7, 1.6])
def test_the_exchange_of_two_is_exact(space: str, ladder: str, beta: float) -> None:
    built = SPACES[space]()
    tempered = TemperedKernel(KERNELS["fill edits"](built, None), LADDERS[ladder])
    for levels in permutations(range(2)):
        assert violations_on_tuples(OnTuples(tempered, 1, levels, only_exchange=True), built.states, beta) == []


@pytest.mark.parametrize("space", TINY)
@pytest.mark.parametrize("ladder", ["three", "three, uneven", "four"])
@pytest.mark.parametrize("clock", [1, 2])
def test_the_exchange_of_more_is_exact_at_even_and_odd_pairs(space: str, ladder: str, clock: int) -> None:
    built = TINY[space]()
    tempered = TemperedKernel(KERNELS["fill edits"](built, None), LADDERS[ladder])
    for levels in list(permutations(range(len(LADDERS[ladder]))))[::5]:
        assert violations_on_tuples(OnTuples(tempered, clock, levels, only_exchange=True), built.states, 1.3) == []


def test_an_exchange_moves_where_it_should_and_only_when_due() -> None:
    """Otherwise a matrix that never exchanges would pass."""
    built = TINY["soft"]()
    tempered = TemperedKernel(KERNELS["fill edits"](built, None), LADDERS["three"])
    lists = Tuples.of(built.states, 3).to_lists()

    def moved(clock: int) -> set[tuple[bool, ...]]:
        matrix = matrix_on_tuples(OnTuples(tempered, clock, [2, 0, 1], only_exchange=True), built.states, 1.0)
        start, end = (matrix > 0).nonzero()
        return {
            tuple(a != b for a, b in zip(lists[one], lists[other], strict=True))
            for one, other in zip(start, end, strict=True)
        }

    assert moved(0) == {(False, False, False)}
    assert moved(1) == moved(3) == {(False, False, False), (True, True, False)}
    assert moved(2) == {(False, False, False), (False, True, True)}


def _whole(space: str, window: int | None) -> tuple[Space, Kernel]:
    built = TINY[space]()
    return built, Kernel(built.target, WordEdits(FillHead(built.model, floor=0.05), UNEVEN), window)


@pytest.mark.parametrize(("space", "window"), [("free", None), ("hard", 0), ("soft", None), ("soft and hard", 0)])
def test_a_whole_step_of_two_is_exact(space: str, window: int | None) -> None:
    """Every branch of both replicas' steps and of their exchange, together, wherever the replicas stand."""
    built, kernel = _whole(space, window)
    tempered = TemperedKernel(kernel, LADDERS["two, far"])
    for levels in permutations(range(2)):
        assert violations_on_tuples(OnTuples(tempered, 1, levels), built.states, 1.3) == []


def _on_tuples(matrices: list[np.ndarray]) -> np.ndarray:
    """The matrix of independent steps of the replicas, one a level."""
    whole = np.ones((1, 1))
    for matrix in matrices:
        whole = np.kron(whole, matrix)
    return whole


def test_a_whole_step_is_the_exchange_and_then_a_step_of_each_level() -> None:
    built, kernel = _whole("hard", 0)
    tempered = TemperedKernel(kernel, LADDERS["two, near"])
    steps = _on_tuples([transition_matrix(kernel, built.states, beta) for beta in (1.3, 1.3 * 0.8)])
    for levels in permutations(range(2)):
        whole, exchange = (
            matrix_on_tuples(OnTuples(tempered, 1, levels, only_exchange=only), built.states, 1.3)
            for only in (False, True)
        )
        assert np.abs(whole - exchange @ steps).max() < 1e-12


@pytest.mark.parametrize("proposal", ["edits and swaps", "gibbs"])
def test_a_whole_step_of_three_is_exact(proposal: str) -> None:
    built = _tiny(ContainsWords([[word(A)]]), Favours(), keeps=lambda w: A in w, num_words=3)
    made = {
        "edits and swaps": Mixture([(WordEdits(FillHead(built.model), UNEVEN), 0.7), (SwapBlocks(1), 0.3)]),
        "gibbs": WordEdits(GibbsOver(built.model, built.target, 2, floor=0.1), UNEVEN),
    }
    kernel, ladder, beta = Kernel(built.target, made[proposal], 1), LADDERS["three"], 1.4
    betas = [beta * share for share in ladder.shares]
    steps = _on_tuples([transition_matrix(kernel, built.states, some) for some in betas])
    pi = _on_tuples([target_distribution(kernel, built.states, some)[None] for some in betas])[0]

    def drift(ladder: Ladder, clock: int) -> float:
        exchange = OnTuples(TemperedKernel(kernel, ladder), clock, [1, 2, 0], only_exchange=True)
        return float(np.abs(pi @ matrix_on_tuples(exchange, built.states, beta) @ steps - pi).max())

    for clock in (1, 2):
        assert drift(ladder, clock) < 1e-12
        assert drift(Ladder((1.0, 0.7, 0.6)), clock) > 1e-6  # exchanged as if at other temperatures


def test_the_words_of_the_spaces() -> None:
    sizes = {name: len(build().states) for name, build in TINY.items()}
    assert sizes == {"free": 6, "hard": 4, "soft": 3, "soft and hard": 4}
    for build in TINY.values():
        assert bool(build().target.possible(build().states).all())
