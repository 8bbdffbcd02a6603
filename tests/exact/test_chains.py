"""The same chain, however it is run: in any batch, or resumed."""

import pytest
import torch

from cgmh.sampling import sample
from histories import SCHEDULE, STEPS, history, start_of
from spaces import KERNELS, SPACES

torch.set_num_threads(1)

CASES = [("three inputs", "mixture", 1), ("soft and hard", "mixture", 0), ("free", "gibbs mixture", None)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_row_alone_is_the_row_in_a_batch(case: tuple[str, str, int | None]) -> None:
    space = SPACES[case[0]]()
    kernel = KERNELS[case[1]](space, case[2])
    start = start_of(space)
    together = history(kernel, start)
    for row in (0, 5, 11):
        alone = history(kernel, start.select(torch.tensor([row])), chains=torch.tensor([row]))
        assert alone == {key: value for key, value in together.items() if key[0] == row}


def test_the_order_of_rows_does_not_matter() -> None:
    space = SPACES["three inputs"]()
    kernel = KERNELS["mixture"](space, 1)
    start, flip = start_of(space), torch.arange(12).flip(0)
    assert history(kernel, start.select(flip), chains=flip) == history(kernel, start)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("apart", [0, 5])
def test_resumed_is_uninterrupted(case: tuple[str, str, int | None], apart: int) -> None:
    """Sentences and clocks are enough to go on, also from clocks that differ."""
    space = SPACES[case[0]]()
    kernel = KERNELS[case[1]](space, case[2])
    whole = history(kernel, start_of(space))
    rounds = list(sample(kernel, start_of(space), STEPS, 5, SCHEDULE))
    late = torch.arange(12) % 2 == 1
    (clock, state, _), (clock_late, state_late, _) = rounds[6], rounds[6 + apart]
    clock = torch.where(late, clock_late, clock)
    rest = history(kernel, state_late.sentences.where(late, state.sentences), first_step=clock)
    assert len(rest) == 12 * (STEPS - 7) - 6 * apart
    assert rest == {(chain, step): value for (chain, step), value in whole.items() if step >= clock[chain]}


def test_chains_and_seeds_differ() -> None:
    space = SPACES["free"]()
    kernel = KERNELS["mixture"](space, None)
    start = space.states.select(torch.zeros(2, dtype=torch.int64))
    found = history(kernel, start)
    assert [found[0, step] for step in range(STEPS)] != [found[1, step] for step in range(STEPS)]
    assert history(kernel, start, seed=6) != found


def test_nothing_happens_past_the_end() -> None:
    space = SPACES["free"]()
    kernel = KERNELS["mixture"](space, None)
    start = start_of(space)
    assert list(sample(kernel, start, 0, 0)) == []
    assert list(sample(kernel, start, 4, 0, first_step=4)) == []
    clock, _, _ = list(sample(kernel, start, 4, 0, first_step=1))[-1]
    assert clock.tolist() == [4] * 12
