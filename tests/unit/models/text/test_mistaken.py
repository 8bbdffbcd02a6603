"""A sentence as what was meant by another one: read after the line with what was typed."""

import pytest
import torch

from cgmh.models.protocols import CorrectingModel
from cgmh.models.text.build import build_network
from cgmh.models.text.llama import CorrectorModel, TunedModel
from cgmh.models.text.mistaken import line_of
from cgmh.models.text.scored import ScoredPairs
from gemma_toys import BEGIN, CONFIG, END, TOKENS, random_tensors, scores

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model() -> CorrectorModel:
    network = build_network(CONFIG, random_tensors(), torch.device("cpu"), torch.float64)
    return CorrectorModel(network, ScoredPairs(TOKENS, scores()), BEGIN, "toy", end=END)


def test_the_line_before_it() -> None:
    assert line_of("the  cat\tsat") == " * the cat sat\n"


def test_the_line_is_read_and_not_counted(model: CorrectorModel) -> None:
    """What the line itself costs is the same for all texts after it, and so cancels from the difference of two."""
    typed, texts = "sat", ["cat sat", "The sat", "cat sat"]
    found = model.log_prob_of_meant([typed] * 3, texts)
    whole = model.log_prob([line_of(typed) + text for text in texts])
    torch.testing.assert_close(found - found[0], whole - whole[0], rtol=0, atol=1e-4)
    assert bool((found > whole).all())
    assert float((found - model.log_prob(texts)).abs().min()) > 1e-3  # and it matters


def test_each_text_has_its_own_line(model: CorrectorModel) -> None:
    typed, texts = ["sat", "cat", "sat"], ["cat sat", "cat sat", "The sat"]
    alone = [model.log_prob_of_meant([one], [two]) for one, two in zip(typed, texts, strict=True)]
    torch.testing.assert_close(model.log_prob_of_meant(typed, texts), torch.cat(alone), rtol=0, atol=1e-4)


def test_a_line_that_leaves_no_room_is_not_read(model: CorrectorModel) -> None:
    long = "cat " * 300
    torch.testing.assert_close(model.log_prob_of_meant([long], ["cat sat"]), model.log_prob(["cat sat"]))


def test_only_one_that_was_tuned_on_mistakes_corrects(model: CorrectorModel) -> None:
    assert isinstance(model, CorrectingModel)
    assert not isinstance(TunedModel(model.network, model.tokenizer, BEGIN, "toy", end=END), CorrectingModel)
    assert not isinstance(model.after(["The cat sat."]), CorrectingModel)
