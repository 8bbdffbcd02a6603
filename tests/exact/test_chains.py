"""The same chain, however it is run: in any batch, ahead, dense, or resumed."""

import pytest
import torch

from cgmh.sampling import sample
from histories import SCHEDULE, STEPS, history, start_of
from spaces import KERNELS, SPACES

torch.set_num_threads(1)

CASES = [("three inputs", "mixture", 1), ("soft and hard", "mixture", 0), ("free", "gibbs mixture", None)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("prefetch", [2, 5])
def test_prefetch_is_the_same_chain(case: tuple[str, str, int | None], prefetch: int) -> None:
    space = SPACES[case[0]]()
    kernel = KERNELS[case[1]](space, case[2])
    plain = history(kernel, start_of(space))
    assert len(plain) == 12 * STEPS
    assert history(kernel, start_of(space), prefetch=prefetch) == plain


def test_prefetch_needs_fewer_rounds() -> None:
    space = SPACES["two words, no room"]()
    kernel = KERNELS["mixture"](space, None)
    rounds = [len(list(sample(kernel, start_of(space, 1), 200, 0, prefetch=k))) for k in (1, 8)]
    assert rounds[0] == 200
    assert rounds[1] < 100


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


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_dense_is_the_same_chain(case: tuple[str, str, int | None]) -> None:
    space = SPACES[case[0]]()
    kernel = KERNELS[case[1]](space, case[2])
    plain = history(kernel, start_of(space))
    kernel.dense = True
    assert history(kernel, start_of(space)) == plain


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("prefetch", [1, 4])
def test_resumed_is_uninterrupted(case: tuple[str, str, int | None], prefetch: int) -> None:
    """Sentences and clocks are enough to go on, also when prefetching left the clocks apart."""
    space = SPACES[case[0]]()
    kernel = KERNELS[case[1]](space, case[2])
    whole = history(kernel, start_of(space))
    rounds = sample(kernel, start_of(space), STEPS, 5, SCHEDULE, prefetch=prefetch)
    clock, state, _ = [next(rounds) for _ in range(7)][-1]
    if prefetch > 1:
        assert len(set(clock.tolist())) > 1
    for way in (1, 3):
        rest = history(kernel, state.sentences, first_step=clock, prefetch=way)
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
    for prefetch in (1, 3):
        assert list(sample(kernel, start, 0, 0, prefetch=prefetch)) == []
        assert list(sample(kernel, start, 4, 0, first_step=4, prefetch=prefetch)) == []
    clock, _, _ = list(sample(kernel, start, 4, 0, first_step=1))[-1]
    assert clock.tolist() == [4] * 12
