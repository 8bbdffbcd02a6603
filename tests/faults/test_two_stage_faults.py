"""Seeded mistakes in the use of a big model; the exact checks, or comparing chains, must catch every one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from cgmh.models.protocols import TextModel
from cgmh.models.text.functions import FunctionModel
from cgmh.models.text.llama import LlamaModel, PendingTexts, Prefixes
from cgmh.models.word.experts import ProductOfExperts
from cgmh.models.word.recurrent import RecurrentModel, RecurrentPending
from cgmh.models.word.two_stage import WHOLE, TextTarget, TwoStageEncoding, TwoStagePending
from cgmh.sampling import Kernel, acceptance, kernel, sample
from cgmh.text.sentences import Sentences
from enumeration import target_distribution, violations
from llama_toys import toy_llama
from recurrent_toys import tiny_model
from two_stage_toys import ScreenedSpace, experts_space, likings, screened_space

torch.set_num_threads(1)

Fault = Callable[[RecurrentModel, TextModel, pytest.MonkeyPatch], tuple[ScreenedSpace, Kernel]]
FAULTS: dict[str, Fault] = {}
BIGS: dict[str, Callable[[], TextModel]] = {"function": lambda: FunctionModel(likings), "llama": toy_llama}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(params=BIGS)
def big(request: pytest.FixtureRequest) -> TextModel:
    return BIGS[request.param]()


def fault(name: str) -> Callable[[Fault], Fault]:
    """Register a function that builds a broken kernel."""

    def register(build: Fault) -> Fault:
        FAULTS[name] = build
        return build

    return register


def _with_second(
    small: RecurrentModel, big: TextModel, patch: pytest.MonkeyPatch, change: Callable[..., Tensor]
) -> tuple[ScreenedSpace, Kernel]:
    patch.setattr(kernel, "log_second", change)
    built = screened_space("soft", small, big)
    return built, built.kernel(WHOLE)


@fault("what the screen lets through is taken")
def _(*some: Any) -> tuple[ScreenedSpace, Kernel]:
    return _with_second(*some, lambda log_ratio, _: 0 * log_ratio)


@fault("the second stage forgets the screen")
def _(*some: Any) -> tuple[ScreenedSpace, Kernel]:
    return _with_second(*some, lambda log_ratio, _: log_ratio)


@fault("the second stage pays for the screen at the wrong temperature")
def _(small: RecurrentModel, big: TextModel, patch: pytest.MonkeyPatch) -> tuple[ScreenedSpace, Kernel]:
    right, firsts = acceptance.log_screen, []

    def screen(hard: Tensor, log_gain: Tensor, candidate: Any, beta: Tensor, *rest: Any) -> Tensor:
        firsts.append(right(hard, log_gain, candidate, torch.ones_like(beta), *rest))
        return right(hard, log_gain, candidate, beta, *rest)

    patch.setattr(kernel, "log_screen", screen)
    return _with_second(small, big, patch, lambda log_ratio, _: log_ratio - firsts[-1])


class AsksAboutTheFirst(TextTarget):
    """The big model reads the first candidates, not those that were kept."""

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        right, kept = pending.sentences, keep.nonzero()[:, 0]
        order = torch.arange(len(keep)).index_copy(0, kept, torch.arange(len(kept)))
        pending.sentences = right.select(order)
        found = super().finish(encoding, pending, keep)
        pending.sentences = right
        return found


class AnswersToTheFirst(TextTarget):
    """What the big model says about those that were kept is put down for the first candidates."""

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        found = super().finish(encoding, pending, keep)
        return torch.cat([found[keep], found[~keep]])


class AnswersTheCurrent(TextTarget):
    """The big model is asked about the current sentences."""

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        super().finish(encoding, pending, keep)
        return self.log_prob(encoding)[pending.rows]


class TrustsTheSmall(TextTarget):
    """The word model's log probability stands for the big one's."""

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        super().finish(encoding, pending, keep)
        return self.words.finish(encoding.words, pending.words, keep)


class Lopsided(TextTarget):
    """The gain of the screen back is not minus the gain."""

    def score(self, encoding: TwoStageEncoding, rows: Tensor, sentences: Sentences, *rest: Any) -> TwoStagePending:
        pending = super().score(encoding, rows, sentences, *rest)
        assert isinstance(pending.words, RecurrentPending)
        pending.words.log_gain = pending.words.log_gain + 0.3 * (sentences.lengths > 1)
        return pending


def _mistaken(kind: type[TextTarget]) -> Fault:
    def build(small: RecurrentModel, big: TextModel, _: pytest.MonkeyPatch) -> tuple[ScreenedSpace, Kernel]:
        built = screened_space("soft", small, big, kind)
        return built, built.kernel(WHOLE)

    return build


for wrong in (AsksAboutTheFirst, AnswersToTheFirst, AnswersTheCurrent, TrustsTheSmall, Lopsided):
    fault(wrong.__name__)(_mistaken(wrong))


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_mistake_is_caught(
    name: str, small: RecurrentModel, big: TextModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, broken = FAULTS[name](small, big, monkeypatch)
    found = violations(broken, built.states, 0.7)
    assert any(one.startswith("detailed balance") for one in found), found


def test_distinct_texts_that_are_given_back_in_another_order_are_caught(small: RecurrentModel) -> None:
    class Distinct(TextTarget):
        def _score(self, sentences: Sentences) -> Tensor:
            texts = self.texts(sentences)
            return super()._score(sentences.select(torch.tensor(sorted(range(len(texts)), key=texts.__getitem__))))

    built = screened_space("soft", small, FunctionModel(likings), Distinct)
    exact = screened_space("soft", small, FunctionModel(likings))
    wrong, right = (target_distribution(some.kernel(WHOLE), some.states, 1.0) for some in (built, exact))
    assert np.abs(wrong - right).max() > 0.01


def test_words_that_the_big_model_reads_as_unknowns_are_caught(small: RecurrentModel) -> None:
    class Aliased(TextTarget):
        def texts(self, sentences: Sentences) -> list[str]:
            assert self._lexicon is not None
            ids = self._lexicon.aliases[sentences.ids]
            return super().texts(Sentences(ids, sentences.lengths, sentences.inputs))

    wrong, right = (screened_space("run-local", small, FunctionModel(likings), kind) for kind in (Aliased, TextTarget))
    found, wanted = (target_distribution(some.kernel(WHOLE), some.states, 1.0) for some in (wrong, right))
    assert np.abs(found - wanted).max() > 0.01


class RemembersByLength(ProductOfExperts):
    """What was said of a sentence is said again of the next one that is as long."""

    def _score(self, sentences: Sentences) -> Tensor:
        known: dict[int, float] = {}
        found = zip(sentences.lengths.tolist(), super()._score(sentences).tolist(), strict=True)
        return torch.tensor([known.setdefault(length, value) for length, value in found], dtype=torch.float64)


class AnswersInOrder(ProductOfExperts):
    """The longest is asked about first, and its answer comes first."""

    def _score(self, sentences: Sentences) -> Tensor:
        return super()._score(sentences.select(sentences.lengths.argsort(descending=True)))


class ReadsForward(ProductOfExperts):
    """Candidates are read forward only."""

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        super().finish(encoding, pending, keep)
        return self.screen.finish(encoding.words, pending.words, keep)


@pytest.mark.parametrize("kind", [RemembersByLength, AnswersInOrder, ReadsForward])
def test_a_mistake_in_reading_from_all_sides_is_caught(kind: type[ProductOfExperts], small: RecurrentModel) -> None:
    built = experts_space("soft", small, kind)
    found = violations(built.kernel(WHOLE), built.states, 0.7)
    assert any(one.startswith("detailed balance") for one in found), found


def drift(built: ScreenedSpace, big: TextModel) -> tuple[float, float]:
    """After some steps: how far log factors, and what the encoding holds, are from the big model's own answer."""
    *_, (_, state, _) = sample(built.kernel(WHOLE), built.start(12), 30, 2)
    direct = big.log_prob(built.model.texts(state.sentences))
    held = built.model.log_prob(state.encoding)
    return float((state.log_factors.soft[:, 0] - direct).abs().max()), float((held - direct).abs().max())


class NeverKeeps(TextTarget):
    """What the big model said of the first sentences stays."""

    def commit(self, encoding: TwoStageEncoding, pending: TwoStagePending, accepted: Tensor) -> None:
        super().commit(encoding, replace(pending, passed=None), accepted)


class KeepsAll(TextTarget):
    """What was refused is kept too."""

    def commit(self, encoding: TwoStageEncoding, pending: TwoStagePending, accepted: Tensor) -> None:
        super().commit(encoding, pending, accepted)
        if pending.passed is not None and pending.log_prob is not None and encoding.log_prob is not None:
            encoding.log_prob[pending.rows[pending.passed]] = pending.log_prob


@pytest.mark.parametrize("kind", [NeverKeeps, KeepsAll])
def test_a_stale_cache_is_caught(kind: type[TextTarget], small: RecurrentModel, big: TextModel) -> None:
    assert drift(screened_space("hard", small, big, kind, capacity=6), big)[1] > 0.1


class KeepsTokensOnly(LlamaModel):
    """The tokens of an accepted text are kept, its keys and values are not."""

    def keep(self, cache: Prefixes, pending: PendingTexts, accepted: Tensor) -> None:
        begins = not any(cache.tokens)
        pairs = cache.pairs.clone()
        super().keep(cache, pending, accepted)
        if not begins:
            cache.pairs = pairs


def test_half_a_cache_is_caught(small: RecurrentModel) -> None:
    whole = toy_llama()
    half = KeepsTokensOnly(whole.network, whole.tokenizer, 0, "half")
    assert max(drift(screened_space("hard", small, whole, capacity=6), whole)) < 1e-9
    assert drift(screened_space("hard", small, half, capacity=6), whole)[0] > 1e-3


def test_without_a_mistake_nothing_is_found(small: RecurrentModel, big: TextModel) -> None:
    built = screened_space("soft", small, big)
    assert violations(built.kernel(WHOLE), built.states, 0.7) == []
    assert max(drift(screened_space("hard", small, big, capacity=6), big)) < 1e-9
