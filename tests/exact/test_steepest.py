"""A bound on how steep a step may fall makes a kernel a search: the chains no longer sample the target."""

import numpy as np
import pytest
import torch

from enumeration import target_distribution, transition_matrix, violations
from phrases import GROUPS, correcting_kernel
from spaces import SPACES

torch.set_num_threads(1)

BETA = 0.7


@pytest.mark.parametrize("window", [None, 1])
def test_a_steepest_step_is_no_sampling(window: int | None) -> None:
    """What would have to go down again does not: neither balance nor the target itself survives."""
    space = SPACES["channel, two inputs"]()
    kernel = correcting_kernel(space, GROUPS["half of them each"], window)
    assert violations(kernel, space.states, BETA) == []
    kernel.steepest = 0.5
    found = [one.partition(":")[0] for one in violations(kernel, space.states, BETA)]
    assert "detailed balance" in found
    assert "pi P = pi" in found
    assert "rows sum to 1" not in found


def test_only_steps_of_the_model_that_fall_too_steeply_are_refused() -> None:
    space = SPACES["channel, two inputs"]()
    kernel = correcting_kernel(space, GROUPS["half of them each"], None)
    free = transition_matrix(kernel, space.states, BETA)
    kernel.steepest = 0.5
    bound = transition_matrix(kernel, space.states, BETA)
    log_model = space.model.log_prob(space.model.encode(space.states)).double().numpy()  # [S]
    falls = log_model[None, :] < log_model[:, None] - 0.5  # [S,S]: from row to column
    between = ~np.eye(len(free), dtype=bool)
    assert np.all(bound[falls] == 0)
    assert np.any(free[falls & between] > 0)
    assert np.abs(bound - free)[~falls & between].max() < 1e-12
    kernel.steepest = 1e6
    assert np.abs(transition_matrix(kernel, space.states, BETA) - free).max() < 1e-12


def test_in_the_long_run_it_prefers_what_is_probable() -> None:
    space = SPACES["channel, two inputs"]()
    kernel = correcting_kernel(space, GROUPS["half of them each"], None)
    pi = target_distribution(kernel, space.states, BETA)
    kernel.steepest = 0.5
    later = np.linalg.matrix_power(transition_matrix(kernel, space.states, BETA), 4096)
    likeliest = pi.argmax()
    same = space.states.inputs.numpy() == int(space.states.inputs[likeliest])
    assert 0.5 * np.abs(pi @ later - pi).sum() > 0.1  # total variation, of a number of inputs
    assert (pi @ later)[likeliest] / (pi @ later)[same].sum() > pi[likeliest]
