"""Soft constraints that are asked in the first stage of delayed acceptance change the way there, not the target."""

import pytest
import torch

from cgmh.proposals import Mixture, SwapBlocks
from cgmh.sampling import Kernel
from cgmh.target import Target
from enumeration import target_distribution, transition_matrix, violations
from histories import history, start_of
from spaces import SPACES, Early, Favours, Space, fill_edits

torch.set_num_threads(1)

SCREENS = "soft that screens"
SPACES_THAT_SCREEN = [SCREENS, "channel, two inputs"]


class Late(Early):
    """The same factor, asked about survivors only."""

    screens = False


def kernel(space: Space, window: int | None = 1, trust: float = 1.0) -> Kernel:
    proposal = Mixture([(fill_edits(space), 0.8), (SwapBlocks(2), 0.2)])
    return Kernel(space.target, proposal, window, trust=trust)


@pytest.mark.parametrize("space", SPACES_THAT_SCREEN)
@pytest.mark.parametrize(("window", "trust", "beta"), [(1, 1.0, 0.7), (1, 0.5, 1.6), (0, 1.3, 1.0)])
def test_exact(space: str, window: int, trust: float, beta: float) -> None:
    built = SPACES[space]()
    assert violations(kernel(built, window, trust), built.states, beta) == []


def test_the_screen_is_asked_and_the_target_stays() -> None:
    """Whether a constraint screens is seen in the steps, in neither the target nor steps of one stage."""
    early, late = SPACES[SCREENS](), SPACES[SCREENS]()
    late.constraints[-1] = Late()
    pis = [target_distribution(kernel(space), space.states, 0.7) for space in (early, late)]
    assert abs(pis[0] - pis[1]).max() < 1e-15
    for window, differs in ((1, True), (None, False)):
        matrices = [transition_matrix(kernel(space, window), space.states, 0.7) for space in (early, late)]
        assert (abs(matrices[0] - matrices[1]).max() > 1e-3) == differs


def test_the_gain_is_that_of_those_that_screen() -> None:
    space = SPACES[SCREENS]()
    states, other = space.states, space.states.select(torch.arange(len(space.states)).flip(0))
    soft = space.target.soft_factors(torch.full((len(states),), 7.0), states)
    expected = Early().log_factor(other) - Early().log_factor(states)
    torch.testing.assert_close(space.target.screened_gain(other, soft), expected, rtol=0, atol=1e-12)
    twice = Target(space.model, [Early(), Favours(), Early()])
    soft = twice.soft_factors(torch.full((len(states),), 7.0), states)
    torch.testing.assert_close(twice.screened_gain(other, soft), 2 * expected, rtol=0, atol=1e-12)
    assert Target(space.model, [Favours()]).screened_gain(other, soft) == 0.0


def test_a_row_alone_is_the_row_in_a_batch() -> None:
    space = SPACES[SCREENS]()
    start, five = start_of(space), torch.tensor([5])
    plain = history(kernel(space), start)
    alone = history(kernel(space), start.select(five), chains=five)
    assert alone == {key: value for key, value in plain.items() if key[0] == 5}
    assert len({str(sentence) for sentence, *_ in plain.values()}) > 10
