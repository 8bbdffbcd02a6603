"""Stored blocks as numbers, scales and offsets, against the `gguf` package."""

import gguf
import numpy as np
import pytest
from gguf import GGMLQuantizationType as Kind

from cgmh.models.pull.blocks import blocks_of
from cgmh.models.pull.gguf import GgufTensor

ROWS, COLUMNS = 6, 512


def random_tensor(kind: Kind) -> tuple[GgufTensor, np.ndarray]:
    """Any bytes are values, if the halves among them are finite: the tensor, and the values by the `gguf` package."""
    block, size = gguf.GGML_QUANT_SIZES[kind]
    data = np.random.default_rng(0).integers(0, 256, (ROWS, COLUMNS // block, size), dtype=np.uint8)
    halves = {Kind.Q4_1: (0, 2), Kind.Q5_0: (0,), Kind.Q8_0: (0,), Kind.Q4_K: (0, 2), Kind.Q6_K: (208,)}[kind]
    for at in halves:
        scales = np.random.default_rng(at).normal(0, 0.1, data.shape[:2]).astype("<f2")
        data[..., at : at + 2] = scales[..., None].view(np.uint8)
    flat = data.reshape(ROWS, -1)
    return GgufTensor(kind.name, (ROWS, COLUMNS), flat.reshape(-1)), gguf.quants.dequantize(flat, kind)


@pytest.mark.parametrize("kind", [Kind.Q4_1, Kind.Q5_0, Kind.Q8_0, Kind.Q4_K, Kind.Q6_K])
def test_blocks_have_the_values_of_the_gguf_package(kind: Kind) -> None:
    tensor, wanted = random_tensor(kind)
    arrays = blocks_of(tensor)
    numbers = arrays[""]
    if numbers.dtype == np.uint8:  # two in each byte
        numbers = np.concatenate([numbers & 15, numbers >> 4], -1)
    assert arrays[".scale"].shape == numbers.shape[:2] == (ROWS, COLUMNS // (16 if kind == Kind.Q6_K else 32))
    values = numbers.astype(np.float32) * arrays[".scale"].astype(np.float32)[..., None]
    if ".offset" in arrays:
        values = values + arrays[".offset"].astype(np.float32)[..., None]
    assert np.array_equal(values.reshape(ROWS, COLUMNS), wanted)
    assert len(np.unique(wanted)) > ROWS * 16
    # Negative control: the numbers of a block in another order.
    turned = numbers[..., ::-1] * arrays[".scale"].astype(np.float32)[..., None]
    assert not np.allclose(turned.reshape(ROWS, COLUMNS), wanted)


@pytest.mark.parametrize(("kind", "form"), [("F32", "<f4"), ("F16", "<f2")])
def test_plain_values_are_as_they_are(kind: str, form: str) -> None:
    values = np.arange(12).astype(form)
    assert np.array_equal(blocks_of(GgufTensor(kind, (3, 4), values.view(np.uint8)))[""], values.reshape(3, 4))
