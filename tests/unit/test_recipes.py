"""The search for prices of mistakes, on pools made by hand; and test sentences where they do not belong."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cgmh.evaluation.corrections import CorrectionSet
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG
from cgmh.tasks.correct.source import first_factor

SOURCE = "he go to schol ."


def recipe(path: str) -> ModuleType:
    file = Path(__file__).parents[2] / "recipes" / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module  # dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tune() -> ModuleType:
    return recipe("correction/tune.py")


@pytest.fixture
def pools(tmp_path: Path) -> Path:
    candidates = [SOURCE, "he goes to school .", "he goes to schol .", "he go school .", "go he to the schol ."]
    candidates.append("he go to the big schol .")
    readings = [[forward, 0.0, 0.0] for forward in (-60.0, -30.0, -55.0, -40.0, -60.0, -60.0)]
    pool = {"text": SOURCE, "number": 0, "candidates": [text.split() for text in candidates], "readings": readings}
    path = tmp_path / "pools.jsonl"
    path.write_text(json.dumps(pool) + "\n")
    return path


def test_costs_go_flat_and_back(tune: ModuleType) -> None:
    for costs in (COSTS, COSTS_BIG):
        assert tune.deep(tune.flat(costs)) == costs


def test_what_each_candidate_pays(tune: ModuleType, pools: Path) -> None:
    start = tune.flat(COSTS)
    (pool,) = tune.read_pools([pools], start)
    paid = [{name: row[at] for at, name in enumerate(start) if row[at]} for row in pool.paid]
    first = first_factor(5)
    assert paid[0] == {"strange": 1}
    assert paid[1] == {"first": first, "replace.agreement": 1, "replace.spelling": 1}
    assert paid[2] == {"first": first, "replace.agreement": 1, "strange": 1}
    assert paid[3] == {"first": first, "delete.preposition": 1, "replace.spelling": 1}
    assert paid[4] == {"first": first, "order": 1, "insert.determiner": 1, "strange": 1}
    assert paid[5] == {"first": first, "insert.determiner": 1, "insert.word": 1, "strange": 1}  # in one gap
    assert pool.rest == pytest.approx(0, abs=1e-6)


def test_the_search_pays_what_people_wrote(tune: ModuleType, pools: Path) -> None:
    """A price that is too high for what people wrote comes down, until the correction is theirs."""
    start = {**tune.flat(COSTS), "replace.agreement": 15.0}
    candidates = list(tune.read_pools([pools], start))
    people = CorrectionSet([SOURCE], [["He goes to school ."]], None)
    judge = tune.Judge(candidates, [(people, 1.0)], [[]], 0.1)
    weights = np.array([0.5, 0.0, 0.0])
    before = judge(np.array(list(start.values())), weights)
    costs = tune.search(judge, start, weights, 8, 0)
    worth, (gleu,), _ = judge(np.array(list(costs.values())), weights)
    assert before[0] < worth
    assert gleu == 100
    assert costs["replace.agreement"] < 15


def test_sentences_of_test_sets_stand_nowhere_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held_out = recipe("held_out.py")
    assert held_out.main([]) == 0
    capsys.readouterr()
    other = tmp_path / "test.tsv"
    taken = "Yes, it's HE GO -- to schol."  # SOURCE and words around it
    other.write_text(
        f"not to be found anywhere in here {tmp_path.name}\t{SOURCE}\nthree words only\n", encoding="utf-8"
    )
    sentences = held_out.read_sets([other])
    assert list(held_out.found_in(taken, sentences)) == [("he", "go", "to", "schol")]
    assert len(sentences) == 2
    assert held_out.main([str(other)]) == 1
    assert "tests/unit/test_recipes.py: 'he go to schol' (test.tsv, line 1)" in capsys.readouterr().out
