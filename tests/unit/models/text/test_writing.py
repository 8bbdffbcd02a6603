"""Sentences around words: what is drawn, that it does not depend on what is drawn beside it, and where it ends."""

import pytest
import torch

from cgmh.models.protocols import WritingModel
from cgmh.models.text import writing
from cgmh.models.text.build import build_network
from cgmh.models.text.llama import LlamaModel, TunedModel
from cgmh.models.text.scored import ScoredPairs
from cgmh.models.text.transformer import Layout
from gemma_toys import BEGIN, CONFIG, END, TOKENS, random_tensors, scores, toy_gemma

torch.set_num_threads(1)


def tuned(end: int = END) -> TunedModel:
    tensors = random_tensors()
    tensors["table"] /= 2  # so that texts end, sooner or later
    network = build_network(CONFIG, tensors, torch.device("cpu"), torch.float64)
    return TunedModel(network, ScoredPairs(TOKENS, scores()), BEGIN, "toy", end=end)


@pytest.fixture
def model() -> TunedModel:
    return tuned()


def greedy(model: LlamaModel, prompt: str, number: int) -> list[int]:
    """The likeliest tokens after a prompt, everything read anew for each."""
    ids = [BEGIN, *model.tokenizer.encode(prompt)]
    for _ in range(number):
        tokens = torch.tensor(ids)
        layout = Layout.of(tokens.new_zeros(1), tokens.new_full((1,), len(ids)), 0, len(ids))
        hidden = model.network.read(tokens, layout, lambda _, pairs: pairs[None])[-1:]
        ids.append(int(model.network.likeliest(hidden, 1)[0]))
    return ids[-number:]


@pytest.mark.parametrize(
    ("words", "inflected", "line"), [(["cat"], False, " cat,\n"), (["cat", "sat"], True, " cat / sat\n")]
)
def test_cold_it_writes_the_likeliest_tokens(
    model: TunedModel, monkeypatch: pytest.MonkeyPatch, words: list[str], inflected: bool, line: str
) -> None:
    monkeypatch.setattr(writing, "TEMPERATURE", 1e-9)
    tokens = greedy(model, line, 12)
    last = max(at for at, token in enumerate(tokens) if token not in tokens[:at])
    assert last > 2
    expected = ScoredPairs(TOKENS, scores()).decode(tokens[:last])
    assert tuned(end=tokens[last]).write(words, 3, 0, inflected=inflected) == [expected] * 3


def test_a_text_does_not_depend_on_those_beside_it(model: TunedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "TEMPERATURE", 1.5)
    many = model.write(["cat", "sat"], 60, 3, inflected=False)
    assert len(set(many)) > 5
    few = model.write(["cat", "sat"], 30, 3, inflected=False)
    assert few
    assert many[: len(few)] == few
    assert many != model.write(["cat", "sat"], 60, 4, inflected=False)


def test_what_does_not_end_is_left_out(model: TunedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    all_of_them = model.write(["cat"], 30, 1, inflected=False)
    monkeypatch.setattr(writing, "MAX_TOKENS", 2)
    ended = model.write(["cat"], 30, 1, inflected=False)
    assert len(ended) < len(all_of_them)


def test_nothing_is_written_after_more_words_than_can_be_read(model: TunedModel) -> None:
    assert model.write(["x" * 3000], 5, 0, inflected=False) == []


def test_only_a_tuned_model_writes(model: TunedModel) -> None:
    assert isinstance(model, WritingModel)
    assert not isinstance(toy_gemma(), WritingModel)
    assert not isinstance(model.after(["The cat sat."]), WritingModel)


def test_tokens_become_the_text_again() -> None:
    pairs = ScoredPairs(TOKENS, scores())
    assert pairs.decode(pairs.encode("The cat sat.")) == "The cat sat."
