"""Products in int8: near the true ones, the same in every batch, and a sum over all tokens that fits them."""

import pytest
import torch
from torch import Tensor

from cgmh.models.text import int8
from cgmh.models.text.int8 import Int8Matrix, Int8Table
from cgmh.models.word.layers import has_vnni, int8_linears

pytestmark = pytest.mark.skipif(not has_vnni(), reason="this processor has no VNNI")


def rows(shape: tuple[int, int], seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Random int8 rows, their scales, and the values."""
    chance = torch.Generator().manual_seed(seed)
    weight = torch.randint(-127, 128, shape, generator=chance, dtype=torch.int8)
    scale = torch.rand(shape[0], generator=chance) / 100
    return weight, scale, weight.double() * scale[:, None].double()


@pytest.mark.parametrize(("fine", "tolerance"), [(False, 2e-2), (True, 1e-4)])
def test_products(fine: bool, tolerance: float) -> None:
    weight, scale, values = rows((40, 64))
    matrix = Int8Matrix(*int8_linears([(weight, scale)]), fine=fine)
    x = torch.randn(9, 64, generator=torch.Generator().manual_seed(1)) * torch.logspace(-3, 3, 9)[:, None]
    true = x.double() @ values.t()
    error = (matrix(x) - true).abs().amax(1) / true.abs().amax(1)
    assert float(error.max()) < tolerance
    assert float(error.min()) > tolerance / 1000  # it is rounded
    # A vector has the same products whatever stands beside it, to the last bit.
    assert torch.equal(matrix(x)[4:5], matrix(x[4:5]))
    assert torch.equal(matrix(torch.zeros(2, 64)), torch.zeros(2, 40))


def test_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(int8, "_CHUNK", 24)
    weight, scale, values = rows((100, 64))  # five chunks, the last one shorter
    columns = torch.logspace(-1, 1, 64)
    table = Int8Table(weight, scale, columns)
    some = torch.tensor([3, 99, 3])
    torch.testing.assert_close(table[some].double(), values[some] * columns, rtol=1e-5, atol=1e-6)
    hidden = torch.randn(7, 64, generator=torch.Generator().manual_seed(1))
    total = table.log_total(hidden)
    assert total.shape == (7,)
    torch.testing.assert_close(total.double(), (hidden.double() @ values.t()).logsumexp(-1), rtol=0, atol=0.05)
    assert torch.equal(table.log_total(hidden[2:3]), total[2:3])
    # The probabilities of all tokens sum to 1: each logit is the one that is in the sum.
    every = torch.arange(100)
    log_probs = table.logits(hidden[:1].expand(100, -1), every) - total[0]
    assert float(log_probs.exp().sum()) == pytest.approx(1, abs=1e-5)


def test_large_logits_do_not_overflow() -> None:
    weight, scale, values = rows((50, 64))
    hidden = 3000 * torch.ones(1, 64)
    total = Int8Table(weight, scale, torch.ones(64)).log_total(hidden)
    torch.testing.assert_close(total.double(), (hidden.double() @ values.t()).logsumexp(-1), rtol=1e-4, atol=0)
    assert float(total) > 1000
