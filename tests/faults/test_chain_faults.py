"""Seeded mistakes in how chains are run; comparing whole histories must catch every one."""

import pytest
import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.sampling import Kernel, sample
from histories import SCHEDULE, STEPS, history, start_of
from spaces import SPACES, fill_edits
from toys import ToyEncoding, ToyModel, ToyPending

torch.set_num_threads(1)


def test_draws_that_depend_on_the_row_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = Draws.ahead
    monkeypatch.setattr(Draws, "ahead", lambda self, steps, *rest: right(self, steps + torch.arange(len(steps)), *rest))
    space = SPACES["free"]()
    kernel = Kernel(space.target, fill_edits(space))
    alone = history(kernel, start_of(space).select(torch.tensor([5])), chains=torch.tensor([5]))
    assert alone != {key: value for key, value in history(kernel, start_of(space)).items() if key[0] == 5}


def test_an_encoding_that_is_not_kept_up_to_date_is_caught() -> None:
    class Stale(ToyModel):
        def commit(self, encoding: ToyEncoding, pending: ToyPending, accepted: Tensor) -> None:
            """Nothing is written."""

    space = SPACES["free"]()
    space.model = Stale(4)
    kernel = Kernel(space.target, fill_edits(space), window=0)
    whole = history(kernel, start_of(space))
    rounds = sample(kernel, start_of(space), STEPS, 5, SCHEDULE)
    clock, state, _ = [next(rounds) for _ in range(20)][-1]
    rest = history(kernel, state.sentences, first_step=clock)
    assert rest != {(chain, step): value for (chain, step), value in whole.items() if step >= 20}
