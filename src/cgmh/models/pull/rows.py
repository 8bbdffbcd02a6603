"""A network in int8, for processors with VNNI: each row of a matrix in int8 with a scale of its own.

What a matrix multiplies is rounded to int8 too, with one scale for a whole vector, so a few large channels would leave
little for the others. Before rounding, each channel is therefore divided by a factor, and the column of the matrix that
reads it multiplied by the same: the network stays what it is. The factors are powers of two, found by reading plain
sentences, and go where they cost nothing: into norms, and into the rows of the matrix that writes the channel.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..text.build import COMMON, build_network
from ..text.transformer import Layer, Layout, LlamaConfig, LlamaNetwork

# Everyday English, in which the size of the channels is seen. Changing them changes the weights of every model pulled.
SENTENCES = (
    "The train was late for the meeting, so we took a taxi to the station.",
    "She bought three apples, a loaf of bread and some milk at the market yesterday.",
    "What time does the museum open on Sundays?",
    "My brother's old car broke down on the way home from work.",
    "According to the report, prices rose by 4.5 percent in the second quarter of 2019.",
    "He said that he would call me back, but he never did.",
    "The children were playing in the garden when it suddenly began to rain.",
    "Scientists in London have discovered a new way to store energy.",
    "I don't think this is a good idea at all!",
    "How can I learn to play the guitar without a teacher?",
)


class _Watched:
    """A matrix that remembers how large the channels were that it was multiplied with.

    The first token of a text does not count: its activations are a thousand times those of the others (attention is
    parked there), and it is never read in int8.
    """

    def __init__(self, weight: Tensor) -> None:
        self.weight, self._squares = weight, torch.zeros(weight.shape[1])

    def __call__(self, x: Tensor) -> Tensor:
        self.see(x)
        return x @ self.weight.t()

    def see(self, x: Tensor) -> None:
        """Channels [T,K] of the tokens of a text."""
        self._squares += x[1:].square().sum(0)

    def factors(self) -> Tensor:
        """[K]: what channels are divided by, a power of two: vectors and rows come to share the unevenness."""
        channels, columns = self._squares.clamp(min=1e-9), self.weight.square().sum(0).clamp(min=1e-9)
        even = (channels / channels.mean() / columns * columns.mean()) ** 0.25
        return torch.exp2(even.log2().round())


def int8_rows(arrays: dict[str, Any], network: dict[str, Any], texts: Sequence[Sequence[int]]) -> dict[str, Any]:
    """The tensors of `build_int8_network`, from those of `build_network` and the tokens of texts to look at."""
    config = LlamaConfig(**network)
    tensors = {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}  # copies, to be written to
    plain = build_network(config, tensors, torch.device("cpu"), torch.float32)
    assert isinstance(plain.table, Tensor)  # noqa: S101 - in float32 it is
    names = ("qkv", "out", "gate_up", "down")
    watched = [{name: _Watched(getattr(layer, name)) for name in names} for layer in plain.layers]
    table = _Watched(plain.table)
    watching = [Layer(**(vars(layer) | parts)) for layer, parts in zip(plain.layers, watched, strict=True)]
    network_of_them = LlamaNetwork(config, plain.table, plain.norm, watching)
    with torch.no_grad():
        for text in texts:
            ids = torch.tensor(list(text))
            layout = Layout.of(ids.new_zeros(1), ids.new_full((1,), len(ids)), 0, len(ids))
            table.see(network_of_them.read(ids, layout, lambda _, pairs: pairs[None]))
    rounded: dict[str, Tensor] = {}
    columns = table.factors()
    rounded |= _rounded("table", plain.table * columns) | {"table.columns": 1 / columns, "norm": plain.norm / columns}
    # The first token of every text is read here, in full precision.
    first = plain.preamble(texts[0][:1])
    rounded["first.hidden"], pairs = first.hidden / columns, first.pairs.clone()  # [layers,1,2,kv,D]
    for number, (layer, parts) in enumerate(zip(plain.layers, watched, strict=True)):
        values = _value_factors(config, parts["out"].factors())
        pairs[number, :, 1] /= values
        tensors = _layer(layer, parts, values)
        rounded |= {f"layers.{number}.{name}": tensor for name, tensor in tensors.items()}
    rounded["first.pairs"] = pairs
    if COMMON in arrays:
        rounded[COMMON] = torch.from_numpy(arrays[COMMON])
    return {name: tensor.contiguous().numpy() for name, tensor in rounded.items()}


def _value_factors(config: LlamaConfig, factors: Tensor) -> Tensor:
    """[kv,D]: all heads of a group [heads D] see the same values, so they share factors."""
    return factors.view(config.kv_heads, -1, config.head_width).amax(1)


def _layer(layer: Layer, parts: dict[str, _Watched], values: Tensor) -> dict[str, Tensor]:
    """The tensors of a layer, its channels made alike; `values` [kv,D] are the factors of the heads' values."""
    factors = {name: matrix.factors() for name, matrix in parts.items()}
    group = len(factors["out"]) // values.numel()
    factors["out"] = values[:, None].expand(-1, group, -1).flatten()
    written = {"qkv": values.flatten(), "gate_up": factors["down"]}  # by the last rows of these
    tensors = {name: vector for name, vector in vars(layer).items() if isinstance(vector, Tensor) and vector.ndim == 1}
    tensors["attention_norm"] = layer.attention_norm / factors["qkv"]
    tensors["feed_norm"] = layer.feed_norm / factors["gate_up"]
    for name, matrix in parts.items():
        even = matrix.weight * factors[name]
        if name in written:
            even[-len(written[name]) :] /= written[name][:, None]
        tensors |= _rounded(name, even)
    return tensors


def _rounded(name: str, matrix: Tensor) -> dict[str, Tensor]:
    scale = matrix.abs().amax(1).clamp(min=1e-30) / 127  # [N]
    return {name: (matrix / scale[:, None]).round().to(torch.int8), f"{name}.scale": scale}
