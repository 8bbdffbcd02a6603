"""Matrices of a transformer in int8, on processors with VNNI.

A row of a matrix has a scale of its own, and so has each vector that it is multiplied with, never one that depends on
the batch: whole numbers are summed exactly, so a vector has the same products whatever stands beside it.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...threads import second_thread, single_threaded
from ..word.layers import Int8Linear, int8_linears

_CHUNK = 8192  # rows of the table whose products are summed while they are in the cache


_FINER = 254  # what remains after rounding to 127 steps lies between -1/254 and 1/254


def _scaled(x: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors [T,K] between -1 and 1, and what they were divided by [T,1]."""
    scale = x.abs().amax(-1, keepdim=True).clamp_(min=1e-30)
    return x / scale, scale


def _rounded(x: Tensor) -> Tensor:
    """Vectors between -1 and 1 as the products have them."""
    return x.mul(127).round_().div_(127)


class Int8Matrix:
    """W [N,K] of int8 rows with a scale each.

    `fine` matrices read vectors in two parts, each in int8: 15 bits instead of 8, for twice the work.
    """

    def __init__(self, multiply: Int8Linear, *, fine: bool = False) -> None:
        self._multiply, self._fine = multiply, fine

    def __call__(self, x: Tensor) -> Tensor:
        """[T,N]: W x for vectors [T,K]."""
        x, scale = _scaled(x)
        if not self._fine:
            return self._multiply(x).mul_(scale)
        high = _rounded(x)
        products = self._multiply(torch.cat([high, (x - high) * _FINER]))  # [2T,N]
        return products[: len(x)].add_(products[len(x) :], alpha=1 / _FINER).mul_(scale)


class Int8Table:
    """The table of tokens [N,W]: input vectors, and log probabilities."""

    def __init__(self, weight: Tensor, scale: Tensor, columns: Tensor, common: Tensor | None = None) -> None:
        """`columns` [W] turn a row for outputs into an input vector; only the rows `common` are summed up, if given."""
        self._weight, self._scale, self._columns = weight, scale, columns
        if common is not None:
            weight, scale = weight[common], scale[common]
        chunks = zip(torch.split(weight, _CHUNK), torch.split(scale, _CHUNK), strict=True)
        self._chunks = int8_linears(list(chunks))

    def __getitem__(self, tokens: Tensor) -> Tensor:
        """[T,W] float32: the input vectors of tokens."""
        return self._rows(tokens) * self._columns

    def _rows(self, tokens: Tensor) -> Tensor:
        return self._weight[tokens].float() * self._scale[tokens][:, None]

    def log_total(self, hidden: Tensor) -> Tensor:
        """[T]: the logarithm of the sum of e^logit over the tokens, for each hidden state [T,W]."""
        x, scale = _scaled(hidden)
        other, half = second_thread(), len(self._chunks) // 2
        if other is None or half == 0:
            return torch.stack(_log_sums(self._chunks, x, scale)).logsumexp(0)
        promise = other.submit(_log_sums, self._chunks[:half], x, scale)
        with single_threaded():
            later = _log_sums(self._chunks[half:], x, scale)
        return torch.stack([*promise.result(), *later]).logsumexp(0)

    def all_logits(self, hidden: Tensor) -> Tensor:
        """[T,R]: the logits of the rows that are summed up."""
        x, scale = _scaled(hidden)
        return torch.cat([multiply(x) for multiply in self._chunks], -1).mul_(scale)

    def logits(self, hidden: Tensor, tokens: Tensor) -> Tensor:
        """[P]: the logit of each token after its hidden state [P,W], as `log_total` has it in its sum."""
        x, scale = _scaled(hidden)
        return ((_rounded(x) * scale).double() * self._rows(tokens).double()).sum(-1).float()


@torch.no_grad()
def _log_sums(chunks: Sequence[Int8Linear], x: Tensor, scale: Tensor) -> list[Tensor]:
    """[T] for each chunk of the table: the logarithm of its sum."""
    sums = []
    for multiply in chunks:
        logits = multiply(x).mul_(scale)  # [T,rows]
        highest = logits.amax(-1, keepdim=True)
        sums.append(logits.sub_(highest).exp_().sum(-1).log_().add_(highest[:, 0]))
    return sums
