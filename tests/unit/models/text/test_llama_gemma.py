"""Our Gemma 3: the numbers of transformers, kept prefixes, and what the differences from a Llama are worth."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor
from transformers import Gemma3ForCausalLM, Gemma3TextConfig

from cgmh.laws import check_text_model
from cgmh.models.protocols import ContextModel, PrefixModel
from cgmh.models.text.llama import LlamaModel
from gemma_toys import BEGIN, CONFIG, random_tensors, toy_gemma
from toy_text import sentences

torch.set_num_threads(1)

ODD = ["a", "The", " two  spaces ", 'He said "no".', "👍 Zürich", "x" * 50, "It's 10:30!", "…", "<b>", "\n"]
TEXTS = [*sentences("english", 30), *sentences("greek", 10, seed=1), *ODD]
CONTEXT = ["Some sentences:", "The cat sat."]
PARTS = {
    "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "attention_norm": "input_layernorm",
    "feed_norm": "pre_feedforward_layernorm", "query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm",
    "attention_after": "post_attention_layernorm", "feed_after": "post_feedforward_layernorm",
    "table": "embed_tokens", "norm": "norm",
}  # fmt: skip


@cache
def reference() -> Gemma3ForCausalLM:
    """Transformers' network with our weights, in float32; its norms multiply by 1 + w."""
    config = Gemma3TextConfig(
        vocab_size=CONFIG.num_tokens, hidden_size=CONFIG.width, intermediate_size=CONFIG.hidden,
        num_hidden_layers=CONFIG.layers, num_attention_heads=CONFIG.heads, num_key_value_heads=CONFIG.kv_heads,
        head_dim=CONFIG.head, rms_norm_eps=CONFIG.epsilon, sliding_window=512, query_pre_attn_scalar=CONFIG.head,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": CONFIG.rope_base},
            "sliding_attention": {"rope_type": "default", "rope_theta": CONFIG.local_rope_base},
        },
    )  # fmt: skip
    theirs = {}
    for name, tensor in random_tensors().items():
        *layer, part = name.split(".")
        theirs[".".join(["model", *layer, PARTS[part], "weight"])] = tensor - int(tensor.ndim == 1)
    network = Gemma3ForCausalLM(config)
    network.load_state_dict({**theirs, "lm_head.weight": theirs["model.embed_tokens.weight"]}, strict=True)
    return network.eval()


@torch.no_grad()
def by_hand(text: str, context: list[str]) -> float:
    """log p(text) by transformers: one text, no padding."""
    encode = toy_gemma().tokenizer.encode
    lines = [token for line in context for token in encode(f"{line}\n")]
    ids = [BEGIN, *lines, *encode(text), *encode("\n")]
    log_probs = reference()(torch.tensor([ids[:-1]])).logits[0].double().log_softmax(-1)
    return sum(float(log_probs[at - 1, ids[at]]) for at in range(1 + len(lines), len(ids)))


@cache
def wanted(*context: str) -> Tensor:
    return torch.tensor([by_hand(text, list(context)) for text in TEXTS], dtype=torch.float64)


@pytest.mark.parametrize("context", [[], CONTEXT], ids=["alone", "after a context"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_the_numbers_of_transformers(dtype: torch.dtype, context: list[str]) -> None:
    log_probs = toy_gemma(dtype=dtype).after(context).log_prob(TEXTS)
    torch.testing.assert_close(log_probs, wanted(*context), rtol=0, atol=1e-3)
    assert len(set(log_probs.tolist())) > 45


@pytest.mark.parametrize(
    "mistaken",
    [
        lambda: toy_gemma(replace(CONFIG, local_rope_base=25.0)),
        lambda: toy_gemma(replace(CONFIG, rope_base=600.0)),
        lambda: toy_gemma(replace(CONFIG, global_every=2)),
        lambda: toy_gemma(replace(CONFIG, epsilon=2e-3)),
        *(
            lambda name=name: toy_gemma(tensors={**random_tensors(), name: random_tensors()[name] - 0.2})
            for name in ("layers.0.query_norm", "layers.1.key_norm", "layers.0.attention_after", "layers.2.feed_after")
        ),
    ],
)
def test_a_mistake_would_be_seen(mistaken: Callable[[], LlamaModel]) -> None:
    assert float((mistaken().log_prob(TEXTS) - wanted()).abs().median()) > 2e-3


def test_texts_score_alike_in_every_batch() -> None:
    check_text_model(toy_gemma(), TEXTS[::3], tolerance=1e-9)


def test_kept_prefixes_give_the_same_numbers() -> None:
    model = toy_gemma()
    assert isinstance(model, PrefixModel)
    assert isinstance(model, ContextModel)
    model = model.after(CONTEXT)
    cache = model.begin(["The cat sat.", "the cat"])
    torch.testing.assert_close(cache.log_prob, model.log_prob(["The cat sat.", "the cat"]), rtol=0, atol=1e-9)
    texts = ["The cat at the cat.", "the cat sat", "The cat sat"]
    pending = model.extend(cache, torch.tensor([0, 1, 0]), texts)
    torch.testing.assert_close(pending.log_prob, model.log_prob(texts), rtol=0, atol=1e-9)
    model.keep(cache, pending, torch.tensor([True, True, False]))
    torch.testing.assert_close(cache.log_prob, model.log_prob(texts[:2]), rtol=0, atol=1e-9)
