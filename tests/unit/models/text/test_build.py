"""Stored matrices as numbers, against the `gguf` package; and networks that the tensors do not make."""

from dataclasses import replace

import gguf
import numpy as np
import pytest
import torch
from gguf import GGMLQuantizationType as Kind
from torch import Tensor

from cgmh.models.text.build import build_network, dequantized
from llama_toys import CONFIG, random_tensors, toy_llama

ROWS, COLUMNS = 6, 96
CPU = torch.device("cpu")


def stored(kind: Kind) -> tuple[dict[str, Tensor], Tensor]:
    """A random matrix as the `gguf` package packs it, its bytes in our three tensors, and what they stand for."""
    matrix = np.random.default_rng(0).normal(0.3, 1, (ROWS, COLUMNS)).astype(np.float32)
    packed = gguf.quants.quantize(matrix, kind)
    values = torch.from_numpy(gguf.quants.dequantize(packed, kind))
    blocks = packed.reshape(ROWS, COLUMNS // 32, -1)
    scale = torch.from_numpy(blocks[..., :2].copy().view(np.float16)[..., 0])
    if kind == Kind.Q8_0:
        return {"m": torch.from_numpy(blocks[..., 2:].copy().view(np.int8)), "m.scale": scale}, values
    offset = torch.from_numpy(blocks[..., 2:4].copy().view(np.float16)[..., 0])
    return {"m": torch.from_numpy(blocks[..., 4:].copy()), "m.scale": scale, "m.offset": offset}, values


@pytest.mark.parametrize("kind", [Kind.Q4_1, Kind.Q8_0])
def test_blocks_have_the_values_of_the_gguf_package(kind: Kind) -> None:
    tensors, values = stored(kind)
    matrix = dequantized(tensors, "m")
    assert matrix.shape == (ROWS, COLUMNS)
    torch.testing.assert_close(matrix, values, rtol=0, atol=1e-6)
    # Negative control: blocks, halves and scales in another order are other numbers.
    assert not torch.allclose(dequantized({**tensors, "m": tensors["m"].flip(-1)}, "m"), values, atol=0.1)
    assert not torch.allclose(dequantized({**tensors, "m.scale": tensors["m.scale"].flip(-1)}, "m"), values, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_plain_matrices_are_as_they_are(dtype: torch.dtype) -> None:
    matrix = torch.randn(3, 5).to(dtype)
    assert torch.equal(dequantized({"m": matrix}, "m"), matrix.float())


@pytest.mark.parametrize("name", sorted(random_tensors()))
def test_every_tensor_is_needed_and_counts(name: str) -> None:
    tensors = random_tensors()
    other = toy_llama(tensors={**tensors, name: tensors[name] + 0.1}).log_prob(["The cat sat."])
    assert not torch.allclose(other, toy_llama(tensors=tensors).log_prob(["The cat sat."]), rtol=0, atol=1e-6)
    del tensors[name]
    with pytest.raises(KeyError, match=name):
        build_network(CONFIG, tensors, CPU, torch.float32)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"width": 64}, "q"), ({"kv_heads": 1}, "k"), ({"hidden": 40}, "gate"), ({"num_tokens": 5}, "table"),
     ({"layers": 3}, r"layers\.2\.q")],
)  # fmt: skip
def test_a_matrix_of_another_shape_is_named(change: dict[str, int], name: str) -> None:
    with pytest.raises(KeyError, match=name):
        build_network(replace(CONFIG, **change), random_tensors(), CPU, torch.float32)
