"""Masked models: the logits at the gap, whatever stands beside a text; what fits and what does not."""

from pathlib import Path

import pytest
import torch

from cgmh.errors import BadInput, BadModel
from cgmh.models.text.masked import MaskedModel, load_masked
from tiny_transformers import CONTEXT, bert, byte_pairs, gpt2, saved, word_pieces

torch.set_num_threads(1)

WORDS = ["the", "The", "cat", "sat", "on", "."]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> MaskedModel:
    tokenizer = word_pieces(WORDS, lower=False)
    return load_masked(saved(tmp_path_factory.mktemp("models") / "bert", tokenizer, bert(tokenizer)))


def texts(model: MaskedModel) -> list[str]:
    return [model.text(["the"] * at, ["cat", "sat", "."] * (at % 3)) for at in range(8)]


def test_logits_are_those_of_each_text_alone(model: MaskedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    together = model.logits(texts(model))
    assert together.shape == (8, model._pretrained.vocabulary_size)
    alone = torch.cat([model.logits([text]) for text in texts(model)])
    torch.testing.assert_close(together, alone, rtol=0, atol=1e-5)
    monkeypatch.setattr(model._pretrained, "num_tokens", 20)  # of a batch
    torch.testing.assert_close(model.logits(texts(model)), together, rtol=0, atol=1e-5)
    assert model.logits([]).shape == (0, model._pretrained.vocabulary_size)


def test_the_gap_is_what_is_asked_about(model: MaskedModel) -> None:
    before, after = model.logits([model.text(["the"], ["sat"]), model.text(["the", "sat"], [])])
    assert not torch.allclose(before, after)


def test_words_that_are_one_token(model: MaskedModel) -> None:
    inside, first = (model.tokens(["the", "cat", "hat"], opening=opening).tolist() for opening in (False, True))
    assert inside[2] == first[2] == -1  # in letters only
    assert first[1] == -1  # "Cat" is not one either
    assert -1 not in (inside[0], inside[1], first[0])
    assert inside[0] != first[0]  # the, The


def test_a_text_that_is_too_long(model: MaskedModel) -> None:
    with pytest.raises(BadInput, match=f"tokens; bert reads at most {CONTEXT}: shorten the text"):
        model.logits([model.text(["the"] * CONTEXT, [])])


def test_a_causal_model_is_none(tmp_path: Path) -> None:
    tokenizer = byte_pairs()
    with pytest.raises(BadModel, match="not a masked language model"):
        load_masked(saved(tmp_path / "gpt2", tokenizer, gpt2(tokenizer)))
