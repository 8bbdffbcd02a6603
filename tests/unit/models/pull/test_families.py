"""A Gemma 3 in GGUF: what becomes of it, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import gguf
import pytest
import torch

from cgmh.errors import BadModel
from cgmh.models.pull.convert import convert_gguf
from cgmh.models.pull.families import _MAX_TOKENS
from cgmh.models.text.llama import load_llama
from cgmh.models.text.transformer import MAX_TOKENS
from gemma_toys import BYTES, CONFIG, SPECIALS, TOKENS, random_tensors, scores, toy_gemma

NAMES = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
    "down": "ffn_down", "attention_norm": "attn_norm", "feed_norm": "ffn_norm", "query_norm": "attn_q_norm",
    "key_norm": "attn_k_norm", "attention_after": "post_attention_norm", "feed_after": "post_ffw_norm",
    "table": "token_embd", "norm": "output_norm",
}  # fmt: skip
TEXTS = ["The cat sat.", "the ü  cat", "a"]


def write(path: Path, **changes: Any) -> Path:
    """The toy as a file; `changes` replace facts of it, dots written as two underscores."""
    writer = gguf.GGUFWriter(path, "gemma3")
    kinds = [6 if token in BYTES else 3 if token in SPECIALS else 1 for token in TOKENS]
    facts: dict[str, Any] = {
        "block_count": CONFIG.layers, "context_length": 512, "embedding_length": CONFIG.width,
        "feed_forward_length": CONFIG.hidden, "attention.head_count": CONFIG.heads,
        "attention.head_count_kv": CONFIG.kv_heads, "attention.key_length": CONFIG.head,
        "attention.value_length": CONFIG.head, "attention.sliding_window": 512, "rope.freq_base": CONFIG.rope_base,
        "attention.layer_norm_rms_epsilon": CONFIG.epsilon,
    }  # fmt: skip
    facts |= {name.replace("__", "."): value for name, value in changes.items()}
    lists = {"tokens": TOKENS, "token_type": kinds, "scores": [float(score or 0) for score in scores()]}
    lists |= {name: facts.pop(name) for name in list(lists) if name in facts}
    writer.add_string("tokenizer.ggml.model", facts.pop("model", "llama"))
    writer.add_string("tokenizer.ggml.pre", "default")
    for name, values in lists.items():
        writer.add_array(f"tokenizer.ggml.{name}", values)
    for name, value in facts.items():
        add = writer.add_float32 if isinstance(value, float) else writer.add_uint32
        add(f"gemma3.{name}", value)
    for name, tensor in random_tensors().items():
        *layer, part = name.split(".")
        place = f"blk.{layer[1]}.{NAMES[part]}" if layer else NAMES[part]
        writer.add_tensor(f"{place}.weight", tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def converted(directory: Path, **changes: Any) -> Path:
    convert_gguf(write(directory / "toy.gguf", **changes), directory / "toy", {"name": "toy"})
    return directory / "toy"


def test_a_gemma_is_read_as_it_was_written(tmp_path: Path) -> None:
    directory = converted(tmp_path)
    files = {"config.json", "tokenizer.json", "weights.safetensors", "int8.safetensors"}
    assert {file.name for file in directory.iterdir()} == files
    record = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    assert record["network"] == vars(replace(CONFIG, local_rope_base=10_000.0, global_every=6))
    assert (TOKENS[record["boundary"]], TOKENS[record["end"]]) == ("<bos>", "\n\n")
    model = load_llama(directory, precision="float32")
    toy = toy_gemma(replace(CONFIG, local_rope_base=10_000.0, global_every=6), dtype=torch.float32)
    context = ["The cat."]  # after which a line ends alike in both
    wanted = toy.after(context).log_prob(TEXTS)
    torch.testing.assert_close(model.after(context).log_prob(TEXTS), wanted, rtol=0, atol=1e-4)
    assert not torch.allclose(toy_gemma(dtype=torch.float32).after(context).log_prob(TEXTS), wanted, atol=1e-3)
    fast = load_llama(directory)
    assert float((fast.log_prob(TEXTS) - model.log_prob(TEXTS)).abs().max()) < 0.5


def without(missing: str) -> list[str]:
    return [token if token != missing else "?!" for token in TOKENS]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attention__sliding_window": 256}, "a sliding window of 256 tokens; at least 512 are supported"),
        ({"attention__value_length": 8}, "heads of 16 for keys and 8 for values"),
        ({"attention__head_count_kv": 3}, "no network has width 24 with 4 heads, 3 of them for keys"),
        ({"attention__key_length": 32, "attention__value_length": 32}, r"attn_q.weight is \(64, 24\), not \(128, 24\)"),
        ({"model": "gpt2"}, "its tokenizer is gpt2/default; only llama/default"),
        ({"scores": [0.0] * 3}, "tokens, but 3 scores"),
        ({"tokens": without("<0x41>")}, "its tokenizer has no <0x41>"),
        ({"tokens": without("<bos>")}, "its tokenizer has no '<bos>'"),
        ({"rope__freq_base": -1.0}, "rope.freq_base is -1.0"),
    ],
)
def test_what_our_network_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadModel, match=message):
        converted(tmp_path, **changes)


def test_no_window_is_shorter_than_a_text() -> None:
    assert _MAX_TOKENS == MAX_TOKENS
