"""The recurrent model, with its reused states, its factored fill and its window, under the enumeration test; and as
chains ask it that share what they read."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cgmh.constraints import ContainsWords, EndsWith
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Constant, Kernel, sample
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from enumeration import all_sentences, violations
from recurrent_toys import WORDS, tiny_model
from two_stage_toys import SPACES, shared_space


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def _ids(model: RecurrentModel) -> list[int]:
    return [model.vocabulary.ids[word] for word in WORDS]


def _fill(model: RecurrentModel, target: Target) -> Mixture:  # noqa: ARG001
    return Mixture([(WordEdits(FillHead(model), (2.0, 1.0, 1.5)), 0.8), (SwapBlocks(2), 0.2)])


def _gibbs(model: RecurrentModel, target: Target) -> WordEdits:
    return WordEdits(GibbsOver(model, target, 2))


@pytest.mark.parametrize("make", [_fill, _gibbs])
@pytest.mark.parametrize("window", [None, 1, 2])
@pytest.mark.parametrize("beta", [1.0, 1.4])
def test_exact(model: RecurrentModel, make: Callable[..., Mixture], window: int | None, beta: float) -> None:
    ids = _ids(model)
    target = Target(model, [ContainsWords([[[[{ids[1]}]]]]), EndsWith([ids[3]])])
    states = all_sentences(ids, 5, [lambda words: ids[1] in words and words[-1] == ids[3]])
    assert violations(Kernel(target, make(model, target), window), states, beta) == []


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize(("window", "beta"), [(1, 1.4), (2, 1.0), (None, 1.0)])
def test_chains_that_share_what_they_read_are_exact(
    model: RecurrentModel, name: str, window: int | None, beta: float
) -> None:
    built = shared_space(name, model)
    assert violations(built.kernel(window), built.states, beta) == []


def test_states_after_many_steps_are_those_of_a_fresh_encoding(model: RecurrentModel) -> None:
    ids = _ids(model)
    target = Target(model)
    start = Sentences.from_lists([[ids[0]]] * 16, 9)
    kernel = Kernel(target, _fill(model, target), window=1)
    for _, state, _ in sample(kernel, start, 60, 3, Constant(0.7)):
        fresh = model.encode(state.sentences)
        torch.testing.assert_close(state.log_factors.soft[:, 0], model.log_prob(fresh), rtol=0, atol=1e-10)
        rows = torch.arange(16)
        place = rows % state.sentences.lengths
        kept, new = model.fill(state.encoding, rows, place, place + 1), model.fill(fresh, rows, place, place + 1)
        torch.testing.assert_close(
            kept.log_prob(state.sentences.word_at(place)), new.log_prob(state.sentences.word_at(place))
        )


def test_the_network_and_the_running_model_agree(tmp_path: Path) -> None:
    model = tiny_model(tmp_path, "float32", sharpness=0.5)
    ids = _ids(model)
    batch = Sentences.from_lists([[ids[0], ids[1], ids[2], ids[3]]], 6)
    encoding = model.encode(batch)
    every = model._forward.all_log_probs(encoding.forward[:, 2])
    torch.testing.assert_close(every.exp().sum(), torch.tensor(1.0))
    torch.testing.assert_close(every[0, ids[2]].double(), encoding.log_words[0, 2])
