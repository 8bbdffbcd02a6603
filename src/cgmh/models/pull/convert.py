"""From a Llama in GGUF to a directory of ours: `config.json`, `tokenizer.json`, `weights.safetensors`.

Quantised matrices keep the bytes they have: blocks of 32 values, with the scales (and offsets) of the blocks in tensors
of their own. Q4_1: NAME uint8 [rows, blocks, 16] (value k in the low half of byte k, value 16 + k in its high half),
NAME.scale and NAME.offset float16 [rows, blocks]. Q8_0: NAME int8 [rows, blocks, 32] and NAME.scale.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from ...errors import BadModel
from .gguf import Gguf, GgufTensor, open_gguf
from .store import CONFIG, LLAMA_FORMAT, TOKENIZER, WEIGHTS, sha256_of

Array = NDArray[Any]
_CONTROL = 3  # the token type of <|endoftext|> and its like
_BOUNDARY = "<|endoftext|>"
# Our names for the sizes of the network and for the parts of a layer, and those of the file.
_SIZES = {
    "layers": "block_count", "width": "embedding_length", "heads": "attention.head_count",
    "kv_heads": "attention.head_count_kv", "hidden": "feed_forward_length", "context": "context_length",
}  # fmt: skip
_PARTS = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
    "down": "ffn_down", "attention_norm": "attn_norm", "feed_norm": "ffn_norm",
}  # fmt: skip


def convert_gguf(gguf: Gguf | Path, directory: Path, facts: dict[str, Any]) -> None:
    """Write a Llama directory; `facts` (name, licence, source) go into its `config.json`."""
    gguf = open_gguf(gguf) if isinstance(gguf, Path) else gguf
    tokenizer = _tokenizer(gguf)
    network = _network(gguf, len(tokenizer["tokens"]))
    tensors = _tensors(gguf, network)
    if _BOUNDARY not in tokenizer["tokens"]:
        raise BadModel(f"{gguf.where}: its tokenizer has no {_BOUNDARY}, which begins and ends a text")
    directory.mkdir(parents=True, exist_ok=True)
    (directory / TOKENIZER).write_text(json.dumps(tokenizer, ensure_ascii=False), encoding="utf-8")
    # Not `save_file`, which writes for the user alone and hides a full disk in an error of its own.
    (directory / WEIGHTS).write_bytes(save(tensors))
    record = {
        "format": LLAMA_FORMAT,
        **facts,
        "parameters": sum(math.prod(tensor.shape) for tensor in gguf.tensors.values()),
        "network": network,
        "boundary": tokenizer["tokens"].index(_BOUNDARY),
        "sha256": {name: sha256_of(directory / name) for name in (WEIGHTS, TOKENIZER)},
    }
    (directory / CONFIG).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _fact(gguf: Gguf, name: str, kind: type, default: Any = None) -> Any:
    """A fact of the file, of the right type."""
    value = gguf.facts.get(name, default)
    if not isinstance(value, kind):
        raise BadModel(f"{gguf.where}: {name} is {str(value)[:40] if name in gguf.facts else 'missing'}")
    return value


def _tokenizer(gguf: Gguf) -> dict[str, Any]:
    model, pre = (gguf.facts.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    if (model, pre) != ("gpt2", "smollm"):
        raise BadModel(f"{gguf.where}: its tokenizer is {model}/{pre}; only gpt2/smollm (SmolLM, SmolLM2) is supported")
    tokens, types, merges = (_fact(gguf, f"tokenizer.ggml.{key}", list) for key in ("tokens", "token_type", "merges"))
    if len(tokens) != len(types) or not all(isinstance(token, str) for token in tokens):
        raise BadModel(f"{gguf.where}: {len(tokens):,} tokens, but {len(types):,} token types")
    for merge in merges:
        if not isinstance(merge, str) or len(merge.split(" ")) != 2:
            raise BadModel(f"{gguf.where}: {str(merge)[:40]!r} is not a merge of two tokens")
    return {"tokens": tokens, "merges": merges, "specials": [id for id, type in enumerate(types) if type == _CONTROL]}


def _network(gguf: Gguf, num_tokens: int) -> dict[str, Any]:
    """The shape of the network, where it is one that ours can be."""
    architecture = gguf.facts.get("general.architecture")
    if architecture != "llama":
        raise BadModel(f"{gguf.where}: a {str(architecture)[:40]} model; only the llama architecture is supported")
    defaults = {"kv_heads": gguf.facts.get("llama.attention.head_count")}
    network = {ours: _fact(gguf, f"llama.{theirs}", int, defaults.get(ours)) for ours, theirs in _SIZES.items()}
    network["num_tokens"] = num_tokens
    width, heads, kv_heads = network["width"], network["heads"], network["kv_heads"]
    if min(network.values()) < 1 or width % (2 * heads) or heads % kv_heads:
        raise BadModel(f"{gguf.where}: no network has width {width} with {heads} heads, {kv_heads} of them for keys")
    for name in ("llama.rope.dimension_count", "llama.attention.key_length", "llama.attention.value_length"):
        if gguf.facts.get(name, width // heads) != width // heads:
            raise BadModel(f"{gguf.where}: {name} is {gguf.facts[name]}; only {width // heads} (width / heads) works")
    if gguf.facts.get("llama.rope.scaling.type", "none") != "none":
        raise BadModel(f"{gguf.where}: scaled rotary positions are not supported")
    # A float32 of the file as people write it: 1e-05, not 9.999999747378752e-06.
    for ours, theirs, default in (
        ("rope_base", "llama.rope.freq_base", 10_000.0),
        ("epsilon", "llama.attention.layer_norm_rms_epsilon", None),
    ):
        network[ours] = float(str(np.float32(_fact(gguf, theirs, float, default))))
        if not 0 < network[ours] < float("inf"):
            raise BadModel(f"{gguf.where}: {theirs} is {network[ours]}")
    return network


def _tensors(gguf: Gguf, network: dict[str, Any]) -> dict[str, Array]:
    """All tensors under our names, of the shapes that the network has."""
    width, hidden, heads, kv_heads = (network[key] for key in ("width", "hidden", "heads", "kv_heads"))
    keys = width // heads * kv_heads
    shapes = {
        "q": (width, width), "k": (keys, width), "v": (keys, width), "o": (width, width), "gate": (hidden, width),
        "up": (hidden, width), "down": (width, hidden), "attention_norm": (width,), "feed_norm": (width,),
    }  # fmt: skip
    needed = {"token_embd.weight": ("table", (network["num_tokens"], width)), "output_norm.weight": ("norm", (width,))}
    for layer in range(min(network["layers"], len(gguf.tensors))):
        for part, theirs in _PARTS.items():
            needed[f"blk.{layer}.{theirs}.weight"] = (f"layers.{layer}.{part}", shapes[part])
    extra = next((name for name in gguf.tensors if name not in needed), None)
    if extra:
        why = "an output matrix of its own" if extra == "output.weight" else f"a tensor {extra[:60]}"
        raise BadModel(f"{gguf.where}: has {why}, which our network has not; models like SmolLM2 are supported")
    arrays: dict[str, Array] = {}
    for theirs, (ours, shape) in needed.items():
        tensor = gguf.tensors.get(theirs)
        if tensor is None or tensor.shape != shape:
            raise BadModel(f"{gguf.where}: {theirs} is {tensor.shape if tensor else 'missing'}, not {shape}")
        num_turned = {"q": heads, "k": kv_heads}.get(ours.rpartition(".")[2])
        for suffix, array in _arrays(tensor).items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise BadModel(f"{gguf.where}: damaged ({theirs} holds values that are not finite); get the file again")
            arrays[ours + suffix] = np.ascontiguousarray(_in_halves(array, num_turned) if num_turned else array)
    return arrays


def _arrays(tensor: GgufTensor) -> dict[str, Array]:
    """The stored values, and the scales and offsets of their blocks."""
    *rows, columns = tensor.shape
    if tensor.kind in ("F32", "F16"):
        return {"": tensor.data.view("<f4" if tensor.kind == "F32" else "<f2").reshape(tensor.shape)}
    blocks = tensor.data.reshape(*rows, columns // 32, -1)  # [rows, blocks, 20 or 34]

    def half(at: int) -> Array:
        return np.ascontiguousarray(blocks[..., at : at + 2]).view("<f2")[..., 0]  # [rows, blocks]

    if tensor.kind == "Q4_1":
        return {"": blocks[..., 4:], ".scale": half(0), ".offset": half(2)}
    return {"": blocks[..., 2:].view(np.int8), ".scale": half(0)}


def _in_halves(array: Array, heads: int) -> Array:
    """Rows of each head as rotary positions want them: first halves, then second ones; the file has them in pairs."""
    pairs = array.reshape(heads, -1, 2, *array.shape[1:])  # [heads, D / 2, 2, ...]
    halves: Array = pairs.swapaxes(1, 2).reshape(array.shape)
    return halves
