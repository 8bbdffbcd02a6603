"""From GGUF to a Llama directory: values against the `gguf` package, what is refused, and that it opens."""

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from cgmh.errors import BadModel
from cgmh.models.pull.convert import convert_gguf
from cgmh.models.pull.gguf import read_gguf
from tiny_llama import HEADS, HIDDEN, KV_HEADS, LAYERS, MERGES, WIDTH, Array, file_order, kind_of, weights, write_gguf
from tiny_llama import tokens as all_tokens


def dense(tensors: dict[str, Any], name: str) -> Array:
    """The values of a stored matrix, by the rule of the module's docstring."""
    stored = tensors[name]
    if f"{name}.scale" not in tensors:
        return stored.astype(np.float32)
    scale = tensors[f"{name}.scale"].astype(np.float32)[..., None]
    if f"{name}.offset" in tensors:
        values = np.concatenate([stored & 15, stored >> 4], -1).astype(np.float32)
        values = values * scale + tensors[f"{name}.offset"].astype(np.float32)[..., None]
    else:
        values = stored.astype(np.float32) * scale
    return values.reshape(len(stored), -1)


def rounded(name: str, matrix: Array) -> Array:
    return gguf.quants.dequantize(gguf.quants.quantize(matrix, kind_of(name)), kind_of(name))


def test_the_configuration_describes_the_network(llama_directory: Path) -> None:
    record = json.loads((llama_directory / "config.json").read_text(encoding="utf-8"))
    assert record["network"] == {
        "layers": LAYERS, "width": WIDTH, "heads": HEADS, "kv_heads": KV_HEADS, "hidden": HIDDEN,
        "num_tokens": len(all_tokens()), "context": 128, "rope_base": 100_000.0, "epsilon": 1e-5,
    }  # fmt: skip
    assert record["format"] == "cgmh-llama-1"
    assert (record["name"], record["licence"], record["source"]) == ("tiny", "MIT", "here")
    assert record["boundary"] == 0
    assert record["parameters"] == sum(matrix.size for matrix in weights().values())
    for file, checksum in record["sha256"].items():
        assert hashlib.sha256((llama_directory / file).read_bytes()).hexdigest() == checksum
    assert sorted(file.name for file in llama_directory.iterdir()) == ["config.json", *sorted(record["sha256"])]
    assert len({file.stat().st_mode for file in llama_directory.iterdir()}) == 1


def test_the_tokenizer_is_kept(llama_directory: Path) -> None:
    record = json.loads((llama_directory / "tokenizer.json").read_text(encoding="utf-8"))
    assert record == {"tokens": all_tokens(), "merges": MERGES, "specials": [0, 1, 2]}


def test_every_tensor_has_the_values_of_the_file(llama_directory: Path) -> None:
    tensors = load_file(llama_directory / "weights.safetensors")
    stems = {name.removesuffix(".scale").removesuffix(".offset") for name in tensors}
    assert stems == weights().keys()
    for name, matrix in weights().items():
        assert np.array_equal(dense(tensors, name), rounded(name, matrix)), name
    # Negative control: the order of the file is another one.
    name = "layers.0.k"
    assert not np.array_equal(dense(tensors, name), rounded(name, file_order(weights()[name], KV_HEADS)))


def test_quantised_matrices_keep_their_blocks(llama_directory: Path) -> None:
    tensors = load_file(llama_directory / "weights.safetensors")
    stored = {name: (str(tensors[name].dtype), tensors[name].shape) for name in tensors if name.startswith("layers.0.")}
    assert stored["layers.0.down"] == ("uint8", (WIDTH, HIDDEN // 32, 16))
    assert stored["layers.0.down.scale"] == stored["layers.0.down.offset"] == ("float16", (WIDTH, HIDDEN // 32))
    assert stored["layers.0.v"] == ("int8", (WIDTH // 2, WIDTH // 32, 32))
    assert stored["layers.0.v.scale"] == ("float16", (WIDTH // 2, WIDTH // 32))
    assert "layers.0.v.offset" not in stored
    assert stored["layers.0.o"] == ("float16", (WIDTH, WIDTH))
    assert stored["layers.0.up"] == ("float32", (HIDDEN, WIDTH))
    assert stored["layers.0.feed_norm"] == ("float32", (WIDTH,))


def test_transformers_reads_the_same_weights_from_the_file(gguf_file: Path, llama_directory: Path) -> None:
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(gguf_file.parent, gguf_file=gguf_file.name)
    theirs = {name.removeprefix("model."): tensor.float().numpy() for name, tensor in model.state_dict().items()}
    tensors = load_file(llama_directory / "weights.safetensors")
    parts = {
        "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
        "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj",
        "attention_norm": "input_layernorm", "feed_norm": "post_attention_layernorm",
    }  # fmt: skip
    names = {"table": "embed_tokens", "norm": "norm"}
    names |= {f"layers.{k}.{ours}": f"layers.{k}.{part}" for k in range(LAYERS) for ours, part in parts.items()}
    for ours, name in names.items():
        assert np.allclose(dense(tensors, ours), theirs[f"{name}.weight"], rtol=0, atol=1e-6), ours


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"general.architecture": "gpt2"}, "a gpt2 model; only llama and gemma3 are supported"),
        ({"tokenizer.ggml.pre": "llama-bpe"}, "its tokenizer is gpt2/llama-bpe; only gpt2/smollm"),
        ({"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": None}, "its tokenizer is llama/None"),
        ({"tokenizer.ggml.tokens": None}, "tokenizer.ggml.tokens is missing"),
        ({"tokenizer.ggml.merges": ["a b", "abc"]}, "'abc' is not a merge"),
        ({"tokenizer.ggml.token_type": [1, 1]}, "but 2 token types"),
        ({"tokenizer.ggml.tokens": [f"t{k}" for k in range(len(all_tokens()))]}, "no <|endoftext|>"),
        ({"llama.block_count": None}, "llama.block_count is missing"),
        ({"llama.block_count": "two"}, "llama.block_count is two"),
        ({"llama.block_count": 3}, "blk.2.attn_q.weight is missing"),
        ({"llama.block_count": 2**31}, "blk.2.attn_q.weight is missing"),
        ({"llama.block_count": 1}, "has a tensor blk.1"),
        ({"llama.attention.head_count": 0}, "no network has width 64 with 0 heads"),
        ({"llama.attention.head_count": 5}, "no network has width 64 with 5 heads"),
        ({"llama.attention.head_count_kv": 3}, "3 of them for keys"),
        ({"llama.feed_forward_length": 32}, r"ffn_gate.weight is \(96, 64\), not \(32, 64\)"),
        ({"llama.attention.layer_norm_rms_epsilon": float("nan")}, "epsilon is nan"),
        ({"llama.rope.dimension_count": 8}, "llama.rope.dimension_count is 8; only 16"),
        ({"llama.rope.scaling.type": "yarn"}, "scaled rotary positions"),
    ],
)
def test_what_our_network_cannot_be_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write_gguf(tmp_path / "other.gguf", changes)
    with pytest.raises(BadModel, match=message):
        convert_gguf(path, tmp_path / "out", {})
    assert not (tmp_path / "out").exists()


def test_other_tensors_are_refused(tmp_path: Path) -> None:
    table = weights()["table"]
    for name, message in (("output.weight", "an output matrix of its own"), ("rope_freqs.weight", "rope_freqs")):
        path = write_gguf(tmp_path / "extra.gguf", extra={name: table})
        with pytest.raises(BadModel, match=message):
            convert_gguf(path, tmp_path / "out", {})


def test_damaged_values_are_refused(tmp_path: Path) -> None:
    path = write_gguf(tmp_path / "tiny.gguf")
    data = bytearray(path.read_bytes())
    data[-256:-252] = b"\xff\xff\xff\xff"  # the file ends with a row of norms
    with pytest.raises(BadModel, match="not finite"):
        convert_gguf(read_gguf(np.frombuffer(data, np.uint8), "x"), tmp_path / "out", {})


def test_flipped_bytes_are_refused_or_make_another_model(gguf_file: Path, tmp_path: Path) -> None:
    chance, data = random.Random(0), gguf_file.read_bytes()
    for number in range(100):
        changed = bytearray(data)
        changed[chance.randrange(24, 6_000)] ^= 1 << chance.randrange(8)
        out = tmp_path / str(number)
        try:
            convert_gguf(read_gguf(np.frombuffer(changed, np.uint8), "x"), out, {})
        except BadModel:
            assert not out.exists()
        else:
            assert (out / "config.json").exists()
