"""The parts of the running network against plain computations."""

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear

from cgmh.models.load import load_embedded
from cgmh.models.word import layers
from cgmh.models.word.checkpoint import quantise
from cgmh.models.word.layers import Int8Linear, Stack, WordTable, has_vnni, int8_is_fast, widen

WIDTH, HIDDEN, LAYERS = 5, 4, 2


@pytest.fixture
def chance() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def stack(chance: torch.Generator) -> Stack:
    def matrix(rows: int, columns: int) -> Tensor:
        return torch.randn(rows, columns, generator=chance, dtype=torch.float64)

    table = matrix(10, WIDTH)
    inputs = partial(linear, weight=matrix(4 * HIDDEN, WIDTH))
    maps = [partial(linear, weight=matrix(4 * HIDDEN, HIDDEN * (2 if layer else 1))) for layer in range(LAYERS)]
    return Stack(lambda words: table[words], inputs, maps, HIDDEN)


def test_half_precision_is_widened() -> None:
    given = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
    assert [widen(torch.zeros(1, dtype=dtype)).dtype for dtype in given] == [torch.float32] * 3 + [torch.float64]


def test_words_are_read_one_after_another_whatever_the_others_read(stack: Stack, chance: torch.Generator) -> None:
    words = torch.randint(0, 10, (4, 6), generator=chance)
    start = torch.randn(4, stack.width, generator=chance, dtype=torch.float64)
    steps = torch.tensor([3, 0, 6, 1])
    states, rows, times = stack.unroll(words, start, steps)
    assert sorted(zip(rows.tolist(), times.tolist(), strict=True)) == [
        (row, time) for row in range(4) for time in range(int(steps[row]))
    ]
    for row in range(4):
        state = start[row : row + 1]
        for time in range(int(steps[row])):
            state, _, _ = stack.unroll(words[row : row + 1, time : time + 1], state, torch.tensor([1]))
            seen = states[(rows == row) & (times == time)]
            torch.testing.assert_close(seen, state)


def test_what_rows_begin_with_in_common_is_read_once(
    stack: Stack, chance: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = torch.tensor([[1, 2, 3, 4], [1, 2, 5, 0], [1, 2, 3, 9], [1, 2, 3, 4], [6, 0, 0, 0], [1, 2, 0, 0]])
    steps, origin = torch.tensor([4, 3, 4, 3, 0, 2]), torch.tensor([0, 0, 0, 0, 0, 1])
    two = torch.randn(2, stack.width, generator=chance, dtype=torch.float64)
    expected = stack.unroll(words, two[origin], steps)
    step, num_rows = stack._step, list[int]()
    monkeypatch.setattr(stack, "_step", lambda *given: num_rows.append(len(given[0])) or step(*given))
    for found, wanted in zip(stack.unroll(words, two[origin], steps, origin), expected, strict=True):
        torch.testing.assert_close(found, wanted)
    assert num_rows == [2, 2, 2, 2]  # [1 | 1], [1 2 | 1 2], [1 2 3, 1 2 5], [1 2 3 4, 1 2 3 9]


def test_nothing_to_read(stack: Stack) -> None:
    states, rows, times = stack.unroll(
        torch.zeros(2, 3, dtype=torch.int64), torch.zeros(2, stack.width), torch.zeros(2).long()
    )
    assert (len(states), len(rows), len(times)) == (0, 0, 0)


def test_the_first_state_has_read_the_mark(stack: Stack) -> None:
    mark = torch.tensor([7])
    read, _, _ = stack.unroll(mark[None], torch.zeros(1, stack.width, dtype=torch.float64), torch.tensor([1]))
    torch.testing.assert_close(stack.start(mark), read)


def test_gates_may_be_worked_out_in_parts(
    stack: Stack, chance: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = torch.randint(0, 10, (7, 3), generator=chance)
    start = torch.randn(7, stack.width, generator=chance, dtype=torch.float64)
    given = words, start, torch.tensor([3, 1, 2, 3, 3, 0, 3])
    whole = stack.unroll(*given)
    monkeypatch.setattr(layers, "ROWS_OF_GATES", 2)
    for found, wanted in zip(stack.unroll(*given), whole, strict=True):
        torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("rounded", [False, True])
def test_logits_of_one_class_are_those_of_all(rounded: bool, chance: torch.Generator) -> None:
    words, bias = torch.randn(12, WIDTH, generator=chance), torch.randn(3, 4, generator=chance)
    scale = None
    if rounded:
        words, scale = quantise(words)
        scale = scale.view(3, 4)
    table = WordTable(words.view(3, 4, WIDTH), scale, bias, torch.ones(WIDTH))
    query, classes = torch.randn(7, WIDTH, generator=chance), torch.tensor([2, 0, 2, 1, 0, 0, 2])
    expected = table.all_logits(query)[torch.arange(7), classes]
    torch.testing.assert_close(table.logits(query, classes), expected)
    torch.testing.assert_close(
        expected, (table.embed(torch.arange(12)).view(3, 4, -1)[classes] @ query[..., None])[..., 0] + bias[classes]
    )


needs_int8 = pytest.mark.skipif(not int8_is_fast(), reason="this processor has no fast int8")
HALVED = [True, pytest.param(False, marks=pytest.mark.skipif(not has_vnni(), reason="this processor has no VNNI"))]


@needs_int8
@pytest.mark.parametrize("halved", HALVED)
def test_int8_does_not_depend_on_the_batch(halved: bool, chance: torch.Generator) -> None:
    weight, scale = quantise(torch.randn(6, WIDTH, generator=chance))
    multiply = Int8Linear.of(weight, scale, torch.randn(6, generator=chance), halved=halved)
    x = torch.rand(50, WIDTH, generator=chance) * 2 - 1
    alone = torch.cat([multiply(row[None]) for row in x])
    assert torch.equal(multiply(x), alone)
    expected = linear(x, weight * scale[:, None], multiply(torch.zeros(1, WIDTH))[0])
    torch.testing.assert_close(alone, expected, rtol=0, atol=0.05)


@needs_int8
@pytest.mark.parametrize("halved", HALVED)
def test_int8_sums_are_exact(halved: bool, chance: torch.Generator) -> None:
    """The largest weights and vectors too, whose products overflow 16 bits."""
    weight = torch.randint(-127, 128, (8, 64), generator=chance, dtype=torch.int8)
    weight[0], weight[1], weight[2, ::2] = 127, -127, 127
    steps = torch.randint(-127, 128, (30, 64), generator=chance)
    steps[0], steps[1] = 127, -127
    bias = torch.arange(8.0)
    products = Int8Linear.of(weight, torch.ones(8), bias, halved=halved)(steps / 127)
    expected = (steps @ weight.long().t()).double() / 127 + bias
    torch.testing.assert_close(products.double(), expected, rtol=1e-5, atol=1e-3)


def test_a_word_has_one_probability_however_many_stand_beside_it() -> None:
    """To the last bit, for the shipped network: an answer of a server must not depend on who else asks."""
    forward = load_embedded()._forward.predictor
    rows, width = 120, load_embedded()._forward.stack.hidden
    states = torch.rand(rows, width, generator=torch.Generator().manual_seed(0)) * 2 - 1
    words = torch.arange(rows) % 3 * 196 + torch.arange(rows)
    together = forward.log_prob(states, words)
    for size in (1, 2, 3, 4, 5, 9, 17, 33, 50):
        parts = zip(states.split(size), words.split(size), strict=True)
        apart = torch.cat([forward.log_prob(*part) for part in parts])
        assert torch.equal(apart, together), size
