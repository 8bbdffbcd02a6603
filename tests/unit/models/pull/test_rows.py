"""A network in int8: the same function before rounding, near it afterwards, and its first token untouched."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cgmh.errors import BadInput
from cgmh.laws import check_text_model
from cgmh.models.pull.rows import int8_rows
from cgmh.models.text.build import build_int8_network
from cgmh.models.text.llama import CorrectorModel, LlamaModel, load_llama
from cgmh.models.text.scored import ScoredPairs
from cgmh.models.word.layers import has_vnni
from gemma_toys import BEGIN, CONFIG, END, TOKENS, random_tensors, scores, toy_gemma
from toy_text import sentences

needs_int8 = pytest.mark.skipif(not has_vnni(), reason="this processor has no VNNI")
TEXTS = sentences("english", 20)


def rounded(change: float = 1.0) -> dict[str, torch.Tensor]:
    """The toy in int8; `change` makes one channel of every layer larger, and what reads it smaller."""
    tensors = random_tensors()
    for layer in range(CONFIG.layers):
        tensors[f"layers.{layer}.feed_norm"][3] *= change
        for part in ("gate", "up"):
            tensors[f"layers.{layer}.{part}"][:, 3] /= change
    encode = ScoredPairs(TOKENS, scores()).encode
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    rows = int8_rows(arrays, vars(CONFIG), [[BEGIN, *encode(text)] for text in TEXTS[:5]])
    assert all(isinstance(array, np.ndarray) for array in rows.values())
    return {name: torch.from_numpy(array) for name, array in rows.items()}


def model(tensors: dict[str, torch.Tensor]) -> LlamaModel:
    return LlamaModel(build_int8_network(CONFIG, tensors), ScoredPairs(TOKENS, scores()), BEGIN, "toy", end=END)


@needs_int8
@pytest.mark.parametrize("context", [[], ["The cat sat.", "A dog."]], ids=["alone", "after a context"])
@pytest.mark.parametrize("change", [1.0, 256.0])
def test_log_probabilities_stay_near(context: list[str], change: float) -> None:
    wanted = toy_gemma(dtype=torch.float32).after(context).log_prob(TEXTS)
    found = model(rounded(change)).after(context).log_prob(TEXTS)
    error = (found - wanted).abs()
    assert 1e-4 < float(error.max()) < 0.02 * float(wanted.abs().max())


@needs_int8
def test_texts_score_alike_in_every_batch_and_behind_kept_prefixes() -> None:
    toy = model(rounded())
    check_text_model(toy, TEXTS[:8], tolerance=1e-4)
    cache = toy.begin(TEXTS[:4])
    torch.testing.assert_close(cache.log_prob, toy.log_prob(TEXTS[:4]), rtol=0, atol=1e-4)
    edited = [text.replace(" ", " the ", 1) for text in TEXTS[:4]]
    pending = toy.extend(cache, torch.arange(4), edited)
    torch.testing.assert_close(pending.log_prob, toy.log_prob(edited), rtol=0, atol=1e-4)
    toy.keep(cache, pending, torch.tensor([True, False, True, True]))
    kept = [edited[0], TEXTS[1], edited[2], edited[3]]
    torch.testing.assert_close(cache.log_prob, toy.log_prob(kept), rtol=0, atol=1e-4)


@needs_int8
def test_what_was_read_before_is_not_read_again_and_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()

    def corrector() -> CorrectorModel:
        network = build_int8_network(CONFIG, rounded())
        whole = network.read

        def counted(tokens: torch.Tensor, *others: Any) -> torch.Tensor:
            sizes.append(len(tokens))
            return whole(tokens, *others)

        monkeypatch.setattr(network, "read", counted)
        return CorrectorModel(network, ScoredPairs(TOKENS, scores()), BEGIN, "toy", end=END)

    typed = TEXTS[:4]
    edited = [
        each
        for text in typed
        for each in (f"{text} sat", text[: len(text) // 2], f"The {text}", text.replace(" ", " the ", 1))
    ]
    asked = [(line, text) for line in typed for text in [*edited, *typed]]
    kept = corrector()
    for order in (asked, asked[::-1], asked[::7]):
        lines, texts = zip(*order, strict=True)
        fresh = corrector()
        assert torch.equal(kept.log_prob_of_meant(lines, texts), fresh.log_prob_of_meant(lines, texts))
        assert torch.equal(kept.log_prob(texts), corrector().log_prob(texts))
    sizes.clear()
    kept.log_prob_of_meant([typed[0]], [f"{typed[0]} cat"])
    corrector().log_prob_of_meant([typed[0]], [f"{typed[0]} cat"])
    again, first = sizes
    assert again < first / 2


def test_factors_are_powers_of_two_and_cancel() -> None:
    tensors = rounded()
    columns = tensors["table.columns"]
    assert torch.equal(columns.log2(), columns.log2().round())
    plain = random_tensors()
    torch.testing.assert_close(tensors["norm"], plain["norm"] * columns)
    table = tensors["table"].float() * tensors["table.scale"][:, None] * columns
    torch.testing.assert_close(table, plain["table"], rtol=0, atol=0.05)


def test_a_model_without_int8_says_so(llama_directory: Path) -> None:
    with pytest.raises(BadInput, match="precision int8: this model has no weights in int8"):
        load_llama(llama_directory, precision="int8")
    assert load_llama(llama_directory, precision="steady").name.endswith("-float32")
