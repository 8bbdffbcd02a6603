"""Where chains start when the start breaks a constraint of the user's own."""

import pytest
import torch

from cgmh.constraints import EndsWith, Forbids
from cgmh.errors import InfeasibleStart
from cgmh.sampling import Constant
from cgmh.sampling.runs import Record, run
from cgmh.target import Target
from cgmh.tasks.start import obeying_start
from cgmh.text.sentences import Sentences
from spaces import KERNELS, SPACES, A, B, C, D

torch.set_num_threads(1)

START = Sentences.from_lists([[A], [A], [B, A], [C]], 4, [0, 0, 1, 1])  # two chains for each input


def walked(steps: int = 40) -> tuple[Record, Target]:
    space = SPACES["free"]()
    kernel = KERNELS["swap"](space, None)
    return run(kernel, START, steps, 3, Constant(0.5), torch.tensor([0, 1, 0, 1])), space.target


def test_rows_that_obey_stay_and_the_others_take_what_a_chain_of_their_input_came_by() -> None:
    record, target = walked()
    tighter = Target(target.model, [Forbids([[A], [B]]), EndsWith([{B, C, D}, {C, A}])])
    start = obeying_start(START, tighter, record, 2)
    assert bool(tighter.possible(start).all())
    assert start.to_lists()[3] == [C]  # it was all right
    assert (start.inputs.tolist(), start.capacity) == (START.inputs.tolist(), START.capacity)
    changed = record.proposed.select(record.steps["changed"].nonzero()[:, 0])
    seen = set(zip(changed.inputs.tolist(), map(tuple, changed.to_lists()), strict=True))
    for row in (0, 1, 2):
        assert (int(START.inputs[row]), tuple(start.to_lists()[row])) in seen


def test_chains_of_an_input_start_apart_where_they_can() -> None:
    record, target = walked()
    start = obeying_start(START, Target(target.model, [Forbids([[A], []])]), record, 2)
    assert start.to_lists()[0] != start.to_lists()[1]
    assert start.to_lists()[2:] == START.to_lists()[2:]


def test_a_start_that_obeys_is_left_alone() -> None:
    record, target = walked(1)
    assert obeying_start(START, target, record, 2).to_lists() == START.to_lists()


def test_what_nobody_came_by_is_said_with_the_numbers_of_the_sources() -> None:
    record, target = walked()
    impossible = Target(target.model, [Forbids([[], [A, B, C, D]])])
    with pytest.raises(InfeasibleStart, match=r"^no sentence was found that satisfies forbids; loosen it") as one:
        obeying_start(START, impossible, record, 2)
    assert one.value.sources == {1}
    nothing = Target(target.model, [Forbids([[A, B, C, D], [A, B, C, D]])])
    with pytest.raises(InfeasibleStart) as all_of_them:
        obeying_start(START, nothing, record, 2)
    assert all_of_them.value.sources == {0, 1}


def test_a_sentence_of_another_input_does_not_do() -> None:
    """Only input 0 comes by sentences without A and C."""
    record, target = walked()
    own = record.of(0)
    with pytest.raises(InfeasibleStart) as caught:
        obeying_start(START, Target(target.model, [Forbids([[A], [A, C]])]), own, 2)
    assert caught.value.sources == {1}


def test_the_start_of_another_chain_does_where_nobody_came_by_anything() -> None:
    record, target = walked()
    start = obeying_start(START, Target(target.model, [Forbids([[], [A]])]), record.of(0), 2)
    assert start.to_lists()[2:] == [[C], [C]]
