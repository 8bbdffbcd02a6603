"""The blocks of GGUF's tensors as arrays: whole numbers, and a scale (and an offset) for each block of them.

Every kind that can be read is value = scale * number (+ offset) exactly, in float32 arithmetic:

F32, F16: the values themselves.
Q8_0: int8, blocks of 32 with a float16 scale. Q5_0: the same with 5 bits less 16.
Q4_1: 4 bits, blocks of 32 with a float16 scale and offset. We keep two in each byte as the file does: value k of a
block in the low half of byte k, value 16 + k in its high half.
Q4_K: 4 bits, blocks of 32, eight in a block of the file, which has a scale for their 6-bit scales and one for offsets.
Q6_K: 6 bits less 32, blocks of 16, sixteen in a block of the file, which has a scale for their 8-bit scales.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .gguf import GgufTensor

Array = NDArray[Any]


def blocks_of(tensor: GgufTensor) -> dict[str, Array]:
    """The stored numbers (under "") [rows, blocks, size], their `.scale` and `.offset` [rows, blocks]."""
    if tensor.kind in ("F32", "F16"):
        return {"": tensor.data.view("<f4" if tensor.kind == "F32" else "<f2").reshape(tensor.shape)}
    *rows, columns = tensor.shape
    read = {"Q4_1": _q4_1, "Q5_0": _q5_0, "Q8_0": _q8_0, "Q4_K": _q4_k, "Q6_K": _q6_k}[tensor.kind]
    size = 256 if tensor.kind.endswith("K") else 32
    arrays = read(tensor.data.reshape(*rows, columns // size, -1))
    # Q4_K and Q6_K hold several of our blocks in one of theirs.
    return {
        suffix: array.reshape(*rows, -1, *array.shape[array.ndim - (suffix == "") :])
        for suffix, array in arrays.items()
    }


def _half(blocks: Array, at: int) -> Array:
    """[rows, blocks]: the float16 at byte `at` of each block."""
    values: Array = np.ascontiguousarray(blocks[..., at : at + 2]).view("<f2")[..., 0]
    return values


def _q4_1(blocks: Array) -> dict[str, Array]:
    return {"": blocks[..., 4:], ".scale": _half(blocks, 0), ".offset": _half(blocks, 2)}


def _q5_0(blocks: Array) -> dict[str, Array]:
    """The fifth bits of all 32 values come first, then the four lower ones as in Q4_1."""
    high = np.unpackbits(blocks[..., 2:6], axis=-1, bitorder="little")  # [rows, blocks, 32]
    low = np.concatenate([blocks[..., 6:] & 15, blocks[..., 6:] >> 4], -1)
    return {"": (low | high << 4).astype(np.int8) - np.int8(16), ".scale": _half(blocks, 0)}


def _q8_0(blocks: Array) -> dict[str, Array]:
    return {"": blocks[..., 2:].view(np.int8), ".scale": _half(blocks, 0)}


def _q4_k(blocks: Array) -> dict[str, Array]:
    """Scale of scales, scale of offsets, 8 + 8 numbers of 6 bits in 12 bytes, 256 values of 4 bits."""
    packed = blocks[..., 4:16]
    first, second, third = packed[..., :4], packed[..., 4:8], packed[..., 8:]
    scales = np.concatenate([first & 63, (third & 15) | (first >> 6 << 4)], -1)  # [rows, blocks, 8]
    offsets = np.concatenate([second & 63, (third >> 4) | (second >> 6 << 4)], -1)
    halves = blocks[..., 16:].reshape(*blocks.shape[:-1], 4, 1, 32)  # 64 values: the low halves, then the high ones
    return {
        "": np.concatenate([halves & 15, halves >> 4], -2).reshape(*blocks.shape[:-1], 8, 32).astype(np.int8),
        ".scale": _half(blocks, 0).astype(np.float32)[..., None] * scales,
        ".offset": -_half(blocks, 2).astype(np.float32)[..., None] * offsets,
    }


def _q6_k(blocks: Array) -> dict[str, Array]:
    """Four lower bits in 128 bytes, two upper ones in 64, 16 scales of 8 bits, the scale of scales."""
    low = blocks[..., :128].reshape(*blocks.shape[:-1], 2, 1, 64)
    low = np.concatenate([low & 15, low >> 4], -2).reshape(*blocks.shape[:-1], 2, 4, 32)
    high = blocks[..., 128:192].reshape(*blocks.shape[:-1], 2, 1, 32)
    high = np.concatenate([high >> shift & 3 for shift in (0, 2, 4, 6)], -2)  # [rows, blocks, 2, 4, 32]
    scales = blocks[..., 192:208].view(np.int8)  # [rows, blocks, 16]
    return {
        "": ((low | high << 4).astype(np.int8) - np.int8(32)).reshape(*blocks.shape[:-1], 16, 16),
        ".scale": _half(blocks, 208).astype(np.float32)[..., None] * scales,
    }
