"""A model with what tuning adds: low-rank changes of its matrices, and sums over common tokens alone."""

import pytest
import torch
from torch import Tensor

from cgmh.laws import check_text_model
from cgmh.models.text.build import COMMON, DOWN, UP, build_network, dequantized
from cgmh.models.text.int8 import Int8Table
from cgmh.models.word.layers import has_vnni
from gemma_toys import CONFIG, END, TOKENS, random_tensors, toy_gemma
from toy_text import sentences

torch.set_num_threads(1)

TEXTS = [*sentences("english", 12), "The cat sat.", "Zürich 👍"]
RARE = [TOKENS.index(token) for token in ("▁cat", "sat", "x")]


def tuned() -> dict[str, Tensor]:
    """Random weights, with a change of rank 2 of two matrices and a few tokens that are not summed up."""
    tensors, generator = random_tensors(), torch.Generator().manual_seed(5)
    for name in ("layers.0.q", "layers.2.down"):
        rows, columns = tensors[name].shape
        tensors[f"{name}.{UP}"] = torch.randn(rows, 2, generator=generator)
        tensors[f"{name}.{DOWN}"] = torch.randn(2, columns, generator=generator)
    tensors[COMMON] = torch.tensor([token for token in range(CONFIG.num_tokens) if token not in RARE])
    return tensors


def test_what_tuning_adds_is_added_to_the_matrix() -> None:
    tensors = tuned()
    before = tensors["layers.0.q"].clone()
    changed = dequantized(tensors, "layers.0.q")
    assert torch.allclose(changed, before + tensors[f"layers.0.q.{UP}"] @ tensors[f"layers.0.q.{DOWN}"])
    assert torch.equal(tensors["layers.0.q"], before)
    plain = {
        name: dequantized(tensors, name) if tensors[name].ndim == 2 else tensors[name] for name in random_tensors()
    }
    del tensors[COMMON]
    assert torch.allclose(toy_gemma(tensors=tensors).log_prob(TEXTS), toy_gemma(tensors=plain).log_prob(TEXTS))


def test_a_rare_token_is_a_choice_among_the_common_ones_and_itself() -> None:
    tensors = tuned()
    network = build_network(CONFIG, tensors, torch.device("cpu"), torch.float64)
    hidden = torch.randn(4, CONFIG.width, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    logits = hidden @ tensors["table"].double().T  # [4, tokens]
    total = network.log_total(hidden)
    assert torch.allclose(total, logits[:, tensors[COMMON]].logsumexp(-1))
    for token in (*RARE, END, 40):
        among = torch.cat([logits[:, tensors[COMMON]], logits[:, [token]]], 1) if token in RARE else None
        expected = logits[:, token] - (total if among is None else among.logsumexp(-1))
        assert torch.allclose(network.log_prob(hidden, total, torch.full((4,), token)), expected)
    common = network.log_prob(hidden[:1].expand(len(tensors[COMMON]), -1), total[:1], tensors[COMMON])
    assert common.exp().sum().item() == pytest.approx(1)


def test_a_tuned_model_obeys_the_laws_of_text_models() -> None:
    check_text_model(toy_gemma(tensors=tuned()), TEXTS)


def test_kept_prefixes_give_the_same_numbers() -> None:
    model = toy_gemma(tensors=tuned())
    prefixes = model.begin(TEXTS[:4])
    assert torch.allclose(prefixes.log_prob, model.log_prob(TEXTS[:4]))
    pending = model.extend(prefixes, torch.arange(4), ["The cat sat.", "The cat", "x", "sat at"])
    assert torch.allclose(pending.log_prob, model.log_prob(["The cat sat.", "The cat", "x", "sat at"]))


@pytest.mark.skipif(not has_vnni(), reason="no VNNI")
def test_a_table_in_int8_sums_up_the_common_rows() -> None:
    generator = torch.Generator().manual_seed(2)
    weight = torch.randint(-127, 128, (300, 24), generator=generator, dtype=torch.int8)
    scale, common = torch.rand(300, generator=generator) / 50, torch.arange(0, 300, 3)
    hidden = torch.randn(5, 24, generator=generator)
    some, alone = (
        Int8Table(weight, scale, torch.ones(24), common),
        Int8Table(weight[common], scale[common], torch.ones(24)),
    )
    assert torch.equal(some.log_total(hidden), alone.log_total(hidden))
    assert torch.equal(some.all_logits(hidden), alone.all_logits(hidden))
    assert torch.equal(some[torch.tensor([7])], Int8Table(weight, scale, torch.ones(24))[torch.tensor([7])])


def test_the_likeliest_tokens_are_common_ones() -> None:
    tensors = tuned()
    network = build_network(CONFIG, tensors, torch.device("cpu"), torch.float64)
    hidden = torch.randn(6, CONFIG.width, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    tokens, best = network.likeliest(hidden, 5)
    logits = hidden @ tensors["table"].double().T
    assert torch.allclose(logits.gather(1, tokens), best)
    logits[:, RARE] = -torch.inf
    assert torch.equal(logits.topk(5).indices, tokens)
