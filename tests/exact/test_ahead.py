"""Steps made ahead to the next reading: the same chains as by single steps, whatever is read together."""

from typing import Any

import pytest
import torch

from cgmh.models.protocols import TextModel
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import WHOLE
from cgmh.sampling import ahead, sample
from cgmh.sampling.ahead import sample_ahead
from histories import SCHEDULE, STEPS, events, history
from llama_toys import random_tensors, toy_llama
from recurrent_toys import tiny_model
from two_stage_toys import ScreenedSpace, likings, screened_space

torch.set_num_threads(1)

BIGS = {"function": lambda: FunctionModel(likings), "llama": lambda: toy_llama(tensors=random_tensors(sharpness=0.2))}
SEED = 5


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(params=BIGS)
def big(request: pytest.FixtureRequest) -> TextModel:
    return BIGS[request.param]()


@pytest.fixture(params=["hard", "hard and soft", "run-local"])
def built(request: pytest.FixtureRequest, small: RecurrentModel, big: TextModel) -> ScreenedSpace:
    return screened_space(request.param, small, big)


@pytest.fixture(params=[1, 3, 16], ids=lambda number: f"{number} ahead", autouse=True)
def _ahead(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MOST_AHEAD", request.param)


def ahead_history(built: ScreenedSpace, chains: torch.Tensor, readings: torch.Tensor | None = None) -> Any:
    """What happened at each (chain, step), the steps and the readings of each chain, and its last sentence."""
    kernel, found = built.kernel(WHOLE, 0.5), {}
    state = kernel.init(built.start(10).select(chains))
    clock, num_readings = torch.zeros_like(chains), torch.ones_like(chains)
    for made in sample_ahead(kernel, state, STEPS, SEED, SCHEDULE, chains, readings):
        for key, value in events(made.info, chains).items():
            assert key not in found
            found[key] = value
        asked = made.num_readings - num_readings
        assert int(asked.min()) >= 0
        assert int(asked.max()) <= 1
        clock, num_readings, state = made.clock, made.num_readings, made.state
    return found, clock.tolist(), num_readings.tolist(), state.sentences.to_lists()


def test_a_chain_is_the_one_that_single_steps_make(built: ScreenedSpace) -> None:
    kernel, start = built.kernel(WHOLE, 0.5), built.start(10)
    found, clock, _, last = ahead_history(built, torch.arange(10))
    assert found == history(kernel, start)
    assert clock == [STEPS] * 10
    *_, (_, state, _) = sample(kernel, start, STEPS, SEED, SCHEDULE)
    assert last == state.sentences.to_lists()


def test_a_chain_ends_by_its_own_readings(built: ScreenedSpace) -> None:
    """Whatever stands beside it; and until then it is the chain that it would have been."""
    every = torch.arange(10)
    whole, _, _, _ = ahead_history(built, every)
    allowed = 1 + every // 2
    found, clock, read, last = ahead_history(built, every, allowed)
    assert clock[0] == clock[1] == 0  # their starts were all that they could read
    assert [min(one, two) for one, two in zip(read, allowed.tolist(), strict=True)] == read
    assert all(one == two or steps == STEPS for one, two, steps in zip(read, allowed.tolist(), clock, strict=True))
    assert len(set(clock)) > 3
    assert found == {key: value for key, value in whole.items() if key[1] < clock[key[0]]}
    for chain in (1, 4, 9):
        alone = ahead_history(built, every[chain : chain + 1], allowed[chain : chain + 1])
        assert alone[1:] == ([clock[chain]], [read[chain]], [last[chain]])


def test_readings_are_what_the_big_model_is_asked_about(small: RecurrentModel) -> None:
    asked: list[str] = []

    def remembered(texts: list[str]) -> list[float]:
        asked.extend(texts)
        return likings(texts)

    built = screened_space("hard", small, FunctionModel(remembered))
    _, _, read, _ = ahead_history(built, torch.tensor([3]))
    assert len(asked) == read[0] > 5


def test_without_a_first_stage_nothing_can_be_made_ahead(small: RecurrentModel) -> None:
    built = screened_space("hard", small, FunctionModel(likings))
    kernel = built.kernel(None)
    with pytest.raises(ValueError, match="give a `window`"):
        next(sample_ahead(kernel, kernel.init(built.start(4)), STEPS, SEED))
