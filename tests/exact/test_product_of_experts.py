"""The word model read from all sides as the target, its forward reading as the screen, under the enumeration test."""

import numpy as np
import pytest
import torch

from cgmh.models.word.experts import MIN_LOG_FILL, ProductOfExperts
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import WHOLE
from cgmh.sampling import Constant, sample
from cgmh.text.sentences import Sentences
from enumeration import target_distribution, violations
from histories import history
from recurrent_toys import all_fills, tiny_model
from two_stage_toys import EXPERT_WEIGHTS, ScreenedSpace, experts_space

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    ("space", "window", "trust", "beta"),
    [
        ("hard", ProductOfExperts.window, ProductOfExperts.trust, 1.0),
        ("soft", WHOLE, 1.0, 0.6),
        ("soft", None, 1.0, 1.4),
        ("hard and soft", 1, 0.5, 1.4),
        ("run-local", ProductOfExperts.window, 1.0, 0.8),
    ],
)
def test_exact(small: RecurrentModel, space: str, window: int | None, trust: float, beta: float) -> None:
    built = experts_space(space, small)
    assert violations(built.kernel(window, trust), built.states, beta) == []


def by_hand(model: RecurrentModel, words: list[int]) -> tuple[float, float, float]:
    """The three readings of one sentence on its own, the filled one word by word; one it lacks by its shape."""
    encoding = model.encode(Sentences.from_lists([words], len(words) + 1))
    filled, row = 0.0, torch.tensor([0])
    for at, word in enumerate(words):
        gap = torch.tensor([at])
        if word < model.num_words:
            log_prob = model.fill(encoding, row, gap, gap + 1).log_prob(torch.tensor([word]))
        else:
            log_prob = all_fills(model, encoding, row, gap, gap + 1)[:, encoding.ids[0, at]]
        filled += max(float(log_prob), MIN_LOG_FILL)
    return float(model.log_prob(encoding)), float(model.backward_log_prob(encoding)), filled


@pytest.mark.parametrize("space", ["soft", "run-local"])
def test_the_target_is_the_weighted_sum_of_the_readings(small: RecurrentModel, space: str) -> None:
    built, beta, sat = experts_space(space, small), 0.7, small.vocabulary.ids["sat"]
    rows = built.states.to_lists()
    readings = np.array([by_hand(built.model.words, row) for row in rows])
    log_pi = readings @ np.array(EXPERT_WEIGHTS) + (space == "soft") * np.array([0.8 * row.count(sat) for row in rows])
    found = target_distribution(built.kernel(WHOLE), built.states, beta)
    np.testing.assert_allclose(found, torch.from_numpy(beta * log_pi).softmax(0).numpy(), rtol=1e-9)
    for side in range(3):  # none of them alone
        own = torch.from_numpy(beta * readings[:, side]).softmax(0).numpy()
        assert 0.5 * np.abs(found - own).sum() > 0.05


@pytest.fixture(params=["hard and soft", "run-local"])
def built(request: pytest.FixtureRequest, small: RecurrentModel) -> ScreenedSpace:
    return experts_space(request.param, small)


def test_a_row_alone_is_the_row_in_a_batch(built: ScreenedSpace) -> None:
    kernel, start = built.kernel(ProductOfExperts.window, ProductOfExperts.trust), built.start(10)
    plain = history(kernel, start)
    assert len({str(sentence) for sentence, *_ in plain.values()}) > 10
    alone = history(kernel, start.select(torch.tensor([4])), chains=torch.tensor([4]))
    assert alone == {key: value for key, value in plain.items() if key[0] == 4}


def test_what_is_kept_is_what_a_fresh_look_finds(built: ScreenedSpace) -> None:
    fresh = ProductOfExperts(built.model.words, EXPERT_WEIGHTS)
    for _, state, _ in sample(built.kernel(2), built.start(8), 20, 2, Constant(0.5)):
        direct = fresh.log_prob(fresh.encode(state.sentences))
        for held in (state.log_factors.soft[:, 0], built.model.log_prob(state.encoding)):
            torch.testing.assert_close(held, direct, rtol=0, atol=1e-9)
