"""The comparison in docs/exactness.md keeps running and keeps its control."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from enumeration import all_sentences
from toys import FIRST, ToyModel

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "authors_kernel.py"


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("authors_kernel", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(__import__("sys").modules, "authors_kernel", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "NUM_WORDS", 3)
    monkeypatch.setattr(module, "MAX_LENGTH", 2)
    return module


def test_the_released_kernel_is_far_and_mended_it_is_exact(comparison: ModuleType) -> None:
    model = ToyModel(3, seed=1)
    pi, table = comparison.exact(model, all_sentences(range(FIRST, FIRST + 3), 3))

    def distance(design: object) -> float:
        return float(comparison.distance(comparison.AuthorsKernel(model, table, design).long_run(), pi))

    mended = comparison.Design(sweep=False, num_candidates=3, threshold=False, bonus=False, ratio_for_replacements=True)
    assert distance(comparison.Design()) > 0.1
    assert distance(mended) < 1e-12
    assert distance(replace(mended, bonus=True)) > 0.01
    assert distance(replace(mended, sweep=True)) > 0.01
    assert distance(replace(mended, ratio_for_replacements=False)) < 1e-12  # over all words a Gibbs step is exact
