"""The adapter that comes with the package, and what a damaged one says."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cgmh.errors import BadModel
from cgmh.models.pull import adapter
from cgmh.models.pull.adapter import read_adapter
from cgmh.models.pull.registry import REGISTRY, Content
from cgmh.models.text.build import COMMON, DOWN, UP

GEMMA = REGISTRY["gemma3-270m"].adapter
SHAPES = {
    "q": (1024, 640), "k": (256, 640), "v": (256, 640), "o": (640, 1024), "gate": (2048, 640), "up": (2048, 640),
    "down": (640, 2048),
}  # fmt: skip


@pytest.fixture(scope="module")
def gemma() -> Content:
    assert GEMMA is not None
    return GEMMA


def test_it_changes_every_matrix_of_gemma(gemma: Content) -> None:
    tensors = read_adapter(gemma)
    for layer in range(18):
        for part, (rows, columns) in SHAPES.items():
            up, down = (tensors.pop(f"layers.{layer}.{part}.{factor}") for factor in (UP, DOWN))
            assert (up.shape[0], down.shape[1]) == (rows, columns)
            assert up.shape[1] == down.shape[0]
            assert np.isfinite(up).all()
            assert np.abs(up).max() > 0
    common = tensors.pop(COMMON)
    assert not tensors
    assert (np.diff(common) > 0).all()
    assert 0 <= common[0] < common[-1] < 262_144


def test_its_size_and_licence_are_those_that_are_stated(gemma: Content) -> None:
    data = Path(adapter.__file__).with_name(gemma.name).read_bytes()
    assert len(data) == gemma.size
    assert b"Gemma Terms of Use" in data[:20_000]


def test_a_damaged_one_is_not_used(gemma: Content) -> None:
    with pytest.raises(BadModel, match="damaged"):
        read_adapter(replace(gemma, sha256="0" * 64))
    with pytest.raises(BadModel, match="cannot be read"):
        read_adapter(replace(gemma, name="nothing.safetensors"))
