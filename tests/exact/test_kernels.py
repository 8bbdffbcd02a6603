"""Every kernel leaves its target unchanged, exactly: the transition matrix comes out of the production step."""

import pytest
import torch

from enumeration import all_sentences, keys, transition_matrix, violations
from spaces import KERNELS, OUT, SPACES
from toys import FIRST

torch.set_num_threads(1)


@pytest.mark.parametrize(
    ("window", "beta"), [(None, 0.5), (None, 1.0), (None, 2.0), (0, 1.0), (1, 0.5), (1, 2.0), (2, 1.0)]
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_without_constraints(kernel: str, window: int | None, beta: float) -> None:
    space = SPACES["free"]()
    assert violations(KERNELS[kernel](space, window), space.states, beta) == []


@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("kernel", ["mixture", "gibbs mixture"])
@pytest.mark.parametrize("space", SPACES)
def test_exact_under_constraints(space: str, kernel: str, window: int | None) -> None:
    built = SPACES[space]()
    assert violations(KERNELS[kernel](built, window), built.states, 0.7) == []


@pytest.mark.parametrize("kernel", KERNELS)
def test_exact_with_soft_constraints(kernel: str) -> None:
    space = SPACES["soft"]()
    assert violations(KERNELS[kernel](space, 1), space.states, 1.3) == []


@pytest.mark.parametrize("space", SPACES)
def test_the_space_is_all_that_the_constraints_allow(space: str) -> None:
    """The constraints agree with predicates that know nothing of them, on every sentence of the words."""
    built = SPACES[space]()
    assert bool(built.target.possible(built.states).all())
    inputs = int(built.states.inputs.max()) + 1
    words = range(FIRST, built.model.num_words)  # of run-local words there may be more than a chain can reach
    everything = all_sentences(words, built.states.capacity, [lambda _: True] * inputs)
    allowed = keys(everything.select(built.target.possible(everything).nonzero()[:, 0]))
    assert set(allowed) == {key for key in keys(built.states) if max(key[1:]) < OUT}


def test_screening_costs_acceptance_but_not_exactness() -> None:
    """Delayed acceptance never accepts more (Christen and Fox 2005), so it must differ from the plain kernel."""
    space = SPACES["free"]()
    plain = transition_matrix(KERNELS["fill edits"](space, None), space.states, 1.0)
    screened = transition_matrix(KERNELS["fill edits"](space, 0), space.states, 1.0)
    stays = screened.diagonal() - plain.diagonal()
    assert stays.min() > -1e-12
    assert stays.max() > 1e-3
