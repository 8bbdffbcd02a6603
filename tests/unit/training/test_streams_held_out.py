from pathlib import Path

import numpy as np
import pytest
import torch

from cgmh.models.word.checkpoint import load_model, save_model
from cgmh.models.word.network import Network
from cgmh.text.sentences import Sentences
from cgmh.training.streams import PREDICTORS, Stream, evaluate_model, evaluate_network
from recurrent_toys import tiny_model
from toy_text import toy_config, toy_text


def test_model_perplexities_word_by_word(tmp_path: Path) -> None:
    model = tiny_model(tmp_path)
    ids = model.vocabulary.ids
    known = [["the", "cat", "sat", "."], ["the", "."], ["cat"], ["<lower>", "sat"]]
    encoded = [[ids[word] for word in words] for words in known]
    perplexities = evaluate_model(
        model, {"a": stream(encoded[:3], model.vocabulary.end), "b": stream(encoded[3:], model.vocabulary.end)}
    )
    total = np.zeros(3)
    for words in encoded:
        encoding = model.encode(Sentences.from_lists([words], len(words) + 1))
        total[0] += float(model.log_prob(encoding))
        total[1] += float(model.backward_log_prob(encoding))
        for at, word in enumerate(words):
            gap = torch.tensor([0]), torch.tensor([at]), torch.tensor([at + 1])
            total[2] += float(model.fill_log_prob(encoding, *gap, torch.tensor([word])))
    expected = np.exp(-total / np.array([13, 13, 9]))
    assert [perplexities[name] for name in PREDICTORS] == pytest.approx(expected, abs=1e-4)
    assert set(perplexities["corpora"]) == {"a", "b"}


def test_fill_as_trained_and_as_proposed_differ_by_the_specials(tmp_path: Path) -> None:
    model = tiny_model(tmp_path)
    encoding = model.encode(Sentences.from_lists([[model.vocabulary.ids["cat"]] * 3], 4))
    gap = torch.zeros(1, dtype=torch.long), torch.tensor([1]), torch.tensor([2])
    every = torch.stack([model.fill_log_prob(encoding, *gap, torch.tensor([word]))[0] for word in range(16)])
    assert float(every.exp().sum()) == pytest.approx(1)
    for word in ("the", "cat"):
        at = torch.tensor([model.vocabulary.ids[word]])
        assert float(model.fill(encoding, *gap).log_prob(at)) > float(model.fill_log_prob(encoding, *gap, at))


def test_network_and_finished_model_agree(tmp_path: Path) -> None:
    text = toy_text(tmp_path)
    torch.manual_seed(0)
    network = Network(toy_config(text), dropout=0.5)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)  # far from uniform
    parts = {name: Stream(ids, text.vocabulary.end, 60, "cpu") for name, ids in text.held.items()}
    before = evaluate_network(network, parts, text.vocabulary.start, text.vocabulary.end)
    assert network.training
    save_model(tmp_path / "model", network.state_dict(), network.config, text.vocabulary, {})
    after = evaluate_model(load_model(tmp_path / "model", precision="float32"), text.held)
    for name in PREDICTORS:
        assert after[name] == pytest.approx(before[name], rel=0.03)  # int8 rounding
        assert after[name] == after["corpora"]["english"][name]


def stream(sentences: list[list[int]], end: int) -> np.ndarray:
    return np.array([word for words in sentences for word in [*words, end]], np.int32)
