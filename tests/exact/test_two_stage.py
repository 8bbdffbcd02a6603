"""A big model of texts as the target, a word model that proposes and screens, under the enumeration test."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from cgmh.models.protocols import PrefixModel, TextModel
from cgmh.models.text.functions import FunctionModel
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import WHOLE, TextTarget
from cgmh.proposals import GibbsOver, WordEdits
from cgmh.sampling import Constant, Kernel, sample
from cgmh.text.tokenizer import join
from enumeration import target_distribution, violations
from histories import SCHEDULE, STEPS, history
from llama_toys import random_tensors, toy_llama
from recurrent_toys import tiny_model
from two_stage_toys import SPACES, UNEVEN, ScreenedSpace, likings, screened_space

torch.set_num_threads(1)

# The second one keeps prefixes; a flat table keeps it from being sure of a few sentences.
BIGS = {"function": lambda: FunctionModel(likings), "llama": lambda: toy_llama(tensors=random_tensors(sharpness=0.2))}
WINDOWS = {"whole": WHOLE, "one word": 1, "no screen": None}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(params=BIGS)
def big(request: pytest.FixtureRequest) -> TextModel:
    return BIGS[request.param]()


def test_one_of_them_keeps_prefixes() -> None:
    assert [isinstance(make(), PrefixModel) for make in BIGS.values()] == [False, True]


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(("space", "beta"), [("hard", 1.0), ("soft", 0.6), ("hard and soft", 1.4), ("run-local", 1.0)])
def test_exact(small: RecurrentModel, big: TextModel, window: str, space: str, beta: float) -> None:
    built = screened_space(space, small, big)
    assert violations(built.kernel(WINDOWS[window]), built.states, beta) == []


@pytest.mark.parametrize(("beta", "trust"), [(0.5, 1.0), (2.0, 1.0), (1.3, 0.5), (1.3, 0.0), (0.8, 1.5)])
def test_exact_at_any_temperature_and_trust(small: RecurrentModel, big: TextModel, beta: float, trust: float) -> None:
    built = screened_space("soft", small, big)
    assert violations(built.kernel(WHOLE, trust), built.states, beta) == []


def test_exact_with_the_kernel_of_the_paper(small: RecurrentModel, big: TextModel) -> None:
    """It lists the candidates by the word model, which is a proposal like any other."""
    built = screened_space("soft", small, big)
    edits = WordEdits(GibbsOver(built.model, built.target, 2, floor=0.1), UNEVEN)
    assert violations(Kernel(built.target, edits, WHOLE), built.states, 0.8) == []


def test_exact_where_the_big_model_thinks_some_texts_impossible(small: RecurrentModel) -> None:
    def picky(texts: list[str]) -> list[float]:
        return [
            -torch.inf if "cat cat" in text.lower() else log for text, log in zip(texts, likings(texts), strict=True)
        ]

    built = screened_space("hard", small, FunctionModel(picky))
    possible = built.model.log_prob(built.model.encode(built.states)) > -torch.inf
    assert 0 < int((~possible).sum()) < 10
    assert violations(built.kernel(WHOLE), built.states.select(possible.nonzero()[:, 0]), 1.0) == []


@pytest.mark.parametrize("space", SPACES)
def test_the_target_is_that_of_the_big_model(small: RecurrentModel, big: TextModel, space: str) -> None:
    """By its own answer about the texts, without the package's target and sampler; and not the word model's."""
    built, beta = screened_space(space, small, big), 0.7
    lexicon, sat = built.model._lexicon, small.vocabulary.ids["sat"]
    assert lexicon is not None
    rows = built.states.to_lists()
    log_pi = big.log_prob([join(lexicon.words(row)) for row in rows])
    if "soft" in space:
        log_pi = log_pi + torch.tensor([0.8 * row.count(sat) for row in rows], dtype=torch.float64)
    found = target_distribution(built.kernel(WHOLE), built.states, beta)
    np.testing.assert_allclose(found, (beta * log_pi).softmax(0).numpy(), rtol=1e-9)
    own = (beta * small.bound(lexicon).log_prob(small.bound(lexicon).encode(built.states))).softmax(0).numpy()
    assert 0.5 * np.abs(found - own).sum() > 0.1


def test_a_lexicon_is_needed_and_bound(small: RecurrentModel) -> None:
    big = FunctionModel(likings)
    built = screened_space("run-local", small, big)
    with pytest.raises(ValueError, match="bound"):
        TextTarget(small, big).texts(built.states)
    assert built.model._lexicon is not None
    bound = TextTarget(small, big).bound(built.model._lexicon)
    assert bound.texts(built.states) == built.model.texts(built.states)
    found, wanted = (model.log_prob(model.encode(built.states)) for model in (bound, built.model))
    assert torch.equal(found, wanted)
    assert bound.name == f"likings screened by {small.name}"


def test_the_big_model_need_not_be_asked_before_a_step(small: RecurrentModel, big: TextModel) -> None:
    built = screened_space("soft", small, big)
    model, rows = built.model, torch.arange(len(built.states))
    encoding, shorter = model.encode(built.states), built.states.delete(rows * 0)
    pending = model.score(encoding, rows, shorter, rows * 0, built.states.lengths - 1, 1)
    accepted = built.states.lengths > 1
    model.finish(encoding, pending, accepted)
    model.commit(encoding, pending, accepted)
    after = shorter.where(accepted, built.states)
    torch.testing.assert_close(model.log_prob(encoding), big.log_prob(model.texts(after)), rtol=0, atol=1e-9)


def test_the_screen_changes_the_way_not_the_place(small: RecurrentModel, big: TextModel) -> None:
    """Log ratios are those of the big model wherever the screen let a step through."""
    built = screened_space("hard", small, big)
    ((_, _, screened),) = sample(built.kernel(WHOLE), built.start(40), 1, 3)
    ((_, _, plain),) = sample(built.kernel(None), built.start(40), 1, 3)
    assert torch.equal(screened.candidate.sentences.ids, plain.candidate.sentences.ids)
    passed = screened.accepted & screened.changed
    assert 0 < int(passed.sum()) < 40
    torch.testing.assert_close(screened.log_ratio[passed], plain.log_ratio[passed], rtol=0, atol=1e-9)
    assert bool((screened.log_ratio != plain.log_ratio).any())


@pytest.fixture(params=["hard and soft", "run-local"])
def built(request: pytest.FixtureRequest, small: RecurrentModel, big: TextModel) -> ScreenedSpace:
    return screened_space(request.param, small, big)


def test_a_row_alone_or_elsewhere_is_the_row_in_a_batch(built: ScreenedSpace) -> None:
    kernel, start = built.kernel(WHOLE), built.start(10)
    together = history(kernel, start)
    assert len(together) == 10 * STEPS
    assert len({str(sentence) for sentence, *_ in together.values()}) > 10
    alone = history(kernel, start.select(torch.tensor([4])), chains=torch.tensor([4]))
    assert alone == {key: value for key, value in together.items() if key[0] == 4}
    flip = torch.arange(10).flip(0)
    assert history(kernel, start.select(flip), chains=flip) == together


def test_resumed_is_uninterrupted(built: ScreenedSpace) -> None:
    kernel, start = built.kernel(WHOLE), built.start(10)
    whole = history(kernel, start)
    rounds = sample(kernel, start, STEPS, 5, SCHEDULE)
    clock, state, _ = [next(rounds) for _ in range(15)][-1]
    rest = history(kernel, state.sentences, first_step=clock)
    assert rest == {key: value for key, value in whole.items() if key[1] >= clock[key[0]]}


@pytest.mark.parametrize("window", [WHOLE, 1])
def test_what_is_kept_is_what_a_fresh_look_finds(small: RecurrentModel, big: TextModel, window: int) -> None:
    built = screened_space("hard", small, big, capacity=7)
    model = built.model
    for _, state, _ in sample(built.kernel(window), built.start(12), 40, 2, Constant(0.5)):
        direct = big.log_prob(model.texts(state.sentences))
        torch.testing.assert_close(state.log_factors.soft[:, 0], direct, rtol=0, atol=1e-9)
        torch.testing.assert_close(model.log_prob(state.encoding), direct, rtol=0, atol=1e-9)
        assert model.texts(state.encoding.sentences) == model.texts(state.sentences)
        own, fresh = (small.log_prob(some) for some in (state.encoding.words, small.encode(state.sentences)))
        torch.testing.assert_close(own, fresh, rtol=0, atol=1e-9)


class Counted:
    """A text model that remembers what it was asked."""

    name = "counted"

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        self.asked.append(list(texts))
        return torch.tensor(likings(texts), dtype=torch.float64)


def test_the_big_model_sees_survivors_only_and_each_text_once(small: RecurrentModel) -> None:
    numbers = {}
    for window in (WHOLE, None):
        big = Counted()
        built = screened_space("hard", small, big)
        for _ in sample(built.kernel(window), built.start(32), 30, 0):
            pass
        assert all(len(set(texts)) == len(texts) > 0 for texts in big.asked)
        numbers[window] = sum(map(len, big.asked[1:]))
    assert numbers[WHOLE] < numbers[None] / 1.5
