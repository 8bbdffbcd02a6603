"""Factors, and a target of claims in words: its start, its texts, its words outside the vocabulary."""

from typing import Any

import pytest
import torch

from cgmh.constraints import EndsWith, Forbids, contains, ends_with
from cgmh.errors import BadInput, InfeasibleStart
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel, sample
from cgmh.target import LogFactors, Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from recurrent_toys import tiny_model
from spaces import Favours
from toys import ToyModel

SENTENCES = Sentences.from_lists([[3, 4], [4], [3, 0, 9], [], [5, 50]], 5, [0, 1, 0, 1, 1])


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> RecurrentModel:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def test_the_target_multiplies() -> None:
    target = Target(ToyModel(4), [EndsWith([4, 9, 50]), Favours(), Forbids([[], [50]])])
    assert target.possible(SENTENCES).tolist() == [True, True, True, False, False]
    log_model = -torch.arange(5.0)
    soft = target.soft_factors(log_model, SENTENCES)
    assert torch.equal(soft, torch.stack([log_model, Favours().log_factor(SENTENCES)], -1).double())
    assert target.broken(SENTENCES) == ["ending", "forbids"]
    each = [target.broken(SENTENCES.select(torch.tensor([row]))) for row in range(len(SENTENCES))]
    assert target.broken_by_each(SENTENCES) == each
    assert len({*map(tuple, each)}) > 1
    full = Sentences.from_lists([[4] * 5, [4] * 4], 5)
    assert target.possible(full).tolist() == [False, True]  # an insertion must still fit


def test_beta_tempers_soft_factors_only() -> None:
    factors = LogFactors(torch.tensor([0.0, -torch.inf]), torch.tensor([[-4.0, 1.0], [-2.0, 0.0]]))
    assert factors.total(0.5).tolist() == [-1.5, -torch.inf]
    assert factors.total(torch.tensor([2.0, 0.0])).tolist() == [-6.0, -torch.inf]
    assert factors.select(torch.tensor([1])).soft.tolist() == [[-2.0, 0.0]]


def test_chains_from_a_text_obey_the_claims(model: RecurrentModel) -> None:
    target = Target(model, contains("cat", "Zürich") * ends_with("sat"))
    start = target.start("cat Zürich sat", chains=6, max_words=5)
    assert (len(start), start.capacity) == (6, 6)
    proposal = Mixture([(WordEdits(FillHead(model, 0.2)), 0.8), (SwapBlocks(), 0.2)])
    *_, (_, state, _) = sample(Kernel(target, proposal), start, 60, 0)
    texts = target.texts(state.sentences)
    assert len(set(texts)) > 1
    assert all("cat" in text.lower() and "Zürich" in text and text.endswith("sat") for text in texts)


def test_claims_and_constraints_may_stand_together(model: RecurrentModel) -> None:
    lexicon = Lexicon(model.vocabulary)
    target = Target(model, [EndsWith([lexicon.add("Zürich")]), contains("cat")], lexicon)
    assert target.lexicon is lexicon
    assert target.possible(target.start("cat Zürich", 1)).tolist() == [True]
    assert Target(model, contains("cat")).broken(target.start("the", 1)) == ["contains(cat)"]


def test_a_start_that_cannot_be_is_refused(model: RecurrentModel) -> None:
    target = Target(model, contains("cat"))
    with pytest.raises(BadInput, match="'Zürich' is neither in the model's vocabulary nor in a constraint"):
        target.start("Zürich", chains=2)
    with pytest.raises(InfeasibleStart, match=r"contains\(cat\)"):
        Kernel(target, WordEdits(FillHead(model))).init(target.start("the", chains=2))


def test_a_model_without_a_vocabulary_takes_ids() -> None:
    with pytest.raises(BadInput, match="without a vocabulary"):
        Target(ToyModel(4), contains("cat"))


def own_claim(words: list[str]) -> bool:
    return bool(words)


@pytest.mark.parametrize("wrong", [3, None, own_claim, [own_claim], "river", ["river"], [None]])
def test_what_is_no_constraint_is_named(wrong: Any, model: RecurrentModel) -> None:
    with pytest.raises(BadInput, match=r"^`constraints` takes a list of claims \(contains"):
        Target(model, wrong)


def test_what_is_no_model_is_named() -> None:
    with pytest.raises(BadInput, match=r"^`model` takes a word model, not 3$"):
        Target(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, 2), "`text` takes a string, not 3"),
        (("the cat sat", "2"), "`chains` '2' is not a whole number"),
        (("the cat sat", 0), "`chains` 0 is out of range"),
        (("the cat sat", 2, -5), "`max_words` -5 is out of range"),
        (("the cat sat", 2, 2), "start: 3 words and marks, more than `max_words` 2; raise it"),
    ],
)
def test_a_start_that_cannot_be_is_said(arguments: tuple[Any, ...], message: str, model: RecurrentModel) -> None:
    with pytest.raises(BadInput, match=message):
        Target(model, []).start(*arguments)
