"""The network's parts as they run: linear maps in int8 or floating point, LSTM steps, the class-factored word table.

Int8 uses one fixed activation scale for each layer, never one that depends on the batch, so a chain's score does not
change with the chains beside it.
"""

import warnings
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from ...text.sentences import indices
from ...threads import second_thread
from .network import products_by_class

Linear = Callable[[Tensor], Tensor]  # [N, in] -> [N, out]
# Rows from which on a product is the same row by row, however many there are; fewer are summed up in another order.
# Of a matrix whose rows lie side by side in memory, and of one whose columns do; processors of several makers agree
# on no fewer than these. In double precision AMD's sum up the last rows in another order, however many there are.
FEW, FEW_OF_CLASS = 16 if torch.backends.cpu.get_cpu_capability() == "AVX512" else 4, 4
# Rows whose gates are worked out together on a CPU: those of more do not stay in its cache until they are used.
ROWS_OF_GATES = 64


def int8_is_fast() -> bool:
    """Whether this processor multiplies int8 faster than floats: x86 with AVX2."""
    return (
        hasattr(torch, "_make_per_channel_quantized_tensor")
        and hasattr(torch.ops.quantized, "linear_with_input_q_dq_qweight_dq_output_fp32")
        and torch.backends.cpu.get_cpu_capability().startswith("AVX")
        and "fbgemm" in torch.backends.quantized.supported_engines
    )


def has_vnni() -> bool:
    """Whether this processor sums products of int8 in 32 bits; others sum two of them in 16, which may overflow."""
    supported = getattr(torch.cpu, "_is_vnni_supported", getattr(torch.cpu, "_is_avx512_vnni_supported", None))
    return int8_is_fast() and supported is not None and bool(supported())


def widen(tensor: Tensor) -> Tensor:
    """Half precision to single, for sums of exponentials; single and double stay as they are."""
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


class Int8Linear:
    """W x + b with W in int8 and x, between -1 and 1, rounded to 255 levels.

    Without VNNI, W is the sum of two matrices of half its size, of which no two products overflow: twice the work, and
    the same sums.
    """

    def __init__(self, packed: Any, *, halved: bool) -> None:
        self._packed, self._halved = packed, halved
        operation = torch.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32.default
        # Without the look for tracers around each call, which takes as long as a product of one row.
        self._multiply = getattr(operation, "_op", operation)

    @classmethod
    def of(cls, weight: Tensor, scale: Tensor, bias: Tensor, *, halved: bool | None = None) -> "Int8Linear":
        halved = not has_vnni() if halved is None else halved
        bias = bias.float()
        if halved:
            half = weight >> 1
            weight, scale = torch.cat([half, weight - half]), torch.cat([scale, scale])
            bias = torch.cat([bias, torch.zeros_like(bias)])
        return cls(_packed(_quantised(weight, scale), bias), halved=halved)

    def __call__(self, x: Tensor) -> Tensor:
        products: Tensor = self._multiply(x, 1 / 127, 128, self._packed)
        return torch.add(*products.chunk(2, 1)) if self._halved else products


def _quantised(weight: Tensor, scale: Tensor) -> Tensor:
    zeros = torch.zeros(len(scale), dtype=torch.int64)
    with warnings.catch_warnings():  # a coming release drops these tensors; `int8_is_fast` is then false
        warnings.simplefilter("ignore", UserWarning)
        return torch._make_per_channel_quantized_tensor(weight, scale.double(), zeros, 0)  # noqa: SLF001


def _packed(quantised: Tensor, bias: Tensor) -> Any:
    """The rows in the order in which the processor reads them; most of the time that a matrix takes to load."""
    return torch.ops.quantized.linear_prepack(quantised, bias)


def int8_linears(parts: Sequence[tuple[Tensor, Tensor]]) -> list[Int8Linear]:
    """Several maps without bias, of rows and their scales, on a processor with VNNI; two threads pack them."""
    quantised = [_quantised(weight, scale) for weight, scale in parts]
    biases = [torch.zeros(len(scale)) for _, scale in parts]
    other, half = second_thread(), len(parts) // 2
    if other is None or half == 0:
        packed = [_packed(*part) for part in zip(quantised, biases, strict=True)]
    else:
        promises = [other.submit(_packed, *part) for part in zip(quantised[:half], biases[:half], strict=True)]
        later = [_packed(*part) for part in zip(quantised[half:], biases[half:], strict=True)]
        packed = [*(promise.result() for promise in promises), *later]
    return [Int8Linear(each, halved=False) for each in packed]


class Stack:
    """Layers of LSTM cells; the state of N rows is one tensor [N, 2·layers·H]: hidden states, top last, then cells."""

    def __init__(self, embed: Linear, inputs: Linear, maps: list[Linear], hidden: int) -> None:
        self._embed = embed  # ids to vectors
        self._inputs = inputs  # the part of the first layer that reads the word
        self._maps = maps  # first layer: reads its hidden state; others: the layer below and their own
        self.layers, self.hidden = len(maps), hidden
        self.width = 2 * self.layers * hidden

    def top(self, state: Tensor) -> Tensor:
        """The top hidden state [N, H]."""
        return state[..., (self.layers - 1) * self.hidden : self.layers * self.hidden]

    def start(self, mark: Tensor) -> Tensor:
        """The state [1, W] that has read a mark [1]."""
        fed = self._inputs(self._embed(mark))
        return self._step(fed, fed.new_zeros(1, self.width), fed.new_empty(1, self.width))

    def _step(self, fed: Tensor, state: Tensor, after: Tensor) -> Tensor:
        """Put the states after reading words, of which the first layer made `fed` [N, 4H], into `after` [N, W]."""
        if fed.is_cuda or len(fed) <= ROWS_OF_GATES:
            self._step_some(fed, state, after)
        else:
            for parts in zip(*(torch.split(each, ROWS_OF_GATES) for each in (fed, state, after)), strict=True):
                self._step_some(*parts)
        return after

    def _step_some(self, fed: Tensor, state: Tensor, after: Tensor) -> None:
        """The same, for as many rows as are worked out together."""
        before, following = state.chunk(2 * self.layers, 1), after.chunk(2 * self.layers, 1)
        for layer, multiply in enumerate(self._maps):
            # [N, 4H]: input, forget, output, candidate
            if layer:
                gates = multiply(torch.cat([following[layer - 1], before[layer]], 1))
            else:
                gates = multiply(before[layer].contiguous()).add_(fed)
            # tanh x is 2 sigmoid(2x) - 1, which takes a third of the time
            gates[:, 3 * self.hidden :].mul_(2)
            entered, kept, shown, fresh = gates.sigmoid_().chunk(4, 1)
            cell = following[self.layers + layer]
            fresh = torch.addcmul(entered.neg(), entered, fresh, value=2)
            torch.addcmul(fresh, kept, before[self.layers + layer], out=cell)
            torch.addcmul(shown.neg(), shown, cell.mul(2).sigmoid_(), value=2, out=following[layer])

    def unroll(
        self, words: Tensor, state: Tensor, steps: Tensor, origin: Tensor | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Read words[i, :steps[i]] from each state; nothing is padded.

        Rows of one `origin` [N] have the same state: the words that they begin with in common are read once. Returns
        the states after every word read [M, W], and for each its row and how many words came before it [M].
        """
        order = torch.argsort(steps, descending=True)
        running = torch.bincount(steps).tolist()  # rows that read exactly k words
        active = list(accumulate(reversed(running[1:])))[::-1]  # rows that read more than t words
        if not active:
            return state[:0], order[:0], order[:0]
        rows = torch.cat([order[:count] for count in active])  # [M]
        times = torch.repeat_interleave(torch.tensor(active, device=order.device))  # [M]
        # The part that needs no state is computed for all words at once, and once for each word: candidates of one
        # sentence have most of them in common.
        distinct, of = torch.unique(words[rows, times], return_inverse=True)
        fed = self._inputs(self._embed(distinct))
        if origin is not None:
            begun = order[: active[0]]
            return self._unroll_once(fed, of.split_with_sizes(active), state, begun, origin[begun]), rows, times
        state = state.index_select(0, order[: active[0]])
        states = state.new_empty(len(rows), self.width)
        for read, after in zip(of.split_with_sizes(active), states.split_with_sizes(active), strict=True):
            state = self._step(fed.index_select(0, read), state[: len(read)], after)
        return states, rows, times

    def _unroll_once(self, fed: Tensor, read: Sequence[Tensor], state: Tensor, rows: Tensor, origin: Tensor) -> Tensor:
        """[M, W]: the states after every word of `rows` [R] of `state`, of which those that begin alike have one.

        `read` has for each time the place in `fed` [D, 4H] of the word that each of the first so many rows reads.
        """
        node, first = _distinct(origin)  # of each row, which of the states it has [R]; of each state, one of its rows
        state = state.index_select(0, rows.index_select(0, first))
        states, places, number = [], [], 0
        for word in read:
            before = node[: len(word)]
            node, first = _distinct(before * len(fed) + word)
            after = state.new_empty(len(first), self.width)
            inputs = fed.index_select(0, word.index_select(0, first))
            state = self._step(inputs, state.index_select(0, before.index_select(0, first)), after)
            states.append(state)
            places.append(node + number)
            number += len(first)
        return torch.cat(states).index_select(0, torch.cat(places))


def _distinct(keys: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each key among the distinct ones [N], and a place of each of those [D]."""
    distinct, number = torch.unique(keys, return_inverse=True)
    return number, torch.empty_like(distinct).index_copy_(0, number, indices(len(keys), keys.device))


def _product_of_few(rows: Tensor, matrix: Tensor) -> Tensor:
    """[N, K]: the product of few rows [N, D] as that of more; otherwise a word would have another probability alone
    than beside others."""
    return torch.mm(torch.nn.functional.pad(rows, (0, 0, 0, FEW - len(rows))), matrix)[: len(rows)]


def float_linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """W x + b [N, out] in floating point; in single precision, each row is the same in any batch."""
    if len(x) < FEW:
        return torch.nn.functional.linear(torch.nn.functional.pad(x, (0, 0, 0, FEW - len(x))), weight, bias)[: len(x)]
    return torch.nn.functional.linear(x, weight, bias)


class WordTable:
    """Rows of the tied embedding, [C, S, D]: input vectors, and logits of the words of one class."""

    def __init__(self, table: Tensor, scale: Tensor | None, bias: Tensor, input_scale: Tensor) -> None:
        self.num_classes, self.class_size, _ = table.shape
        self.device = table.device
        self._flat = table.flatten(0, 1)
        self._of_class: list[Tensor | None] = [None] * self.num_classes
        self._table, self._scale, self._bias = table, scale, bias  # scale [C, S] when the table is int8
        self._input_scale = input_scale  # [D]
        self._dense: Tensor | None = None

    def embed(self, words: Tensor) -> Tensor:
        """Input vectors [N, D] of ids [N]."""
        rows = self._flat.index_select(0, words)
        if self._scale is None:
            return rows * self._input_scale
        return rows.float().mul_(self._scale.flatten().index_select(0, words)[:, None]).mul_(self._input_scale)

    def logits(self, query: Tensor, classes: Tensor) -> Tensor:
        """Logits [N, S] of the words of one class for each row."""
        if query.is_cuda:
            products, _, order, place = products_by_class(query, classes, self._table)
            result = products.new_empty(len(query), self.class_size)
            result[order] = products.flatten(0, 1)[place]
            return widen(result) + self._bias[classes]
        order = torch.argsort(classes)
        distinct, counts = torch.unique_consecutive(classes.index_select(0, order), return_counts=True)
        # A class that few rows ask about is given the last of them again, until they are not few any more.
        times = torch.ones_like(order)
        times[counts.cumsum(0) - 1] += (FEW_OF_CLASS - counts).clamp_(min=0)
        sizes, kind = counts.clamp(min=FEW_OF_CLASS).tolist(), query.dtype
        filled = query.index_select(0, order.repeat_interleave(times))
        products = query.new_empty(len(filled), self.class_size)
        parts = zip(filled.split_with_sizes(sizes), products.split_with_sizes(sizes), distinct.tolist(), strict=True)
        for part, product, number in parts:
            torch.mm(part, self._columns(number).to(kind), out=product)  # int8 is widened here, a class at a time
        place = torch.empty_like(order).index_copy_(0, order, times.cumsum(0) - 1)
        result = products.index_select(0, place)
        if self._scale is not None:
            result *= self._scale.index_select(0, classes)
        return result.add_(self._bias.index_select(0, classes))

    def _columns(self, number: int) -> Tensor:
        """[D, S]: the words of a class, column by column in memory, for few rows to be multiplied with."""
        columns = self._of_class[number]
        if columns is None:
            columns = self._of_class[number] = self._table[number].t().contiguous()
        return columns

    def all_logits(self, query: Tensor) -> Tensor:
        """Logits [N, C, S] of every word."""
        if self._dense is None:
            dense = self._table if self._scale is None else self._table.float() * self._scale[..., None]
            self._dense = dense.flatten(0, 1)
        multiply = _product_of_few if len(query) < FEW else torch.mm
        return multiply(query, self._dense.t()).view(len(query), self.num_classes, -1) + self._bias
