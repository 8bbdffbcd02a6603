"""A real GGUF file of a Llama small enough for tests, written by the `gguf` package; and the wheel it could come in."""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Kind
from numpy.typing import NDArray

from cgmh.models.pull.registry import Content, Part, Pullable, Terms

Array = NDArray[np.float32]
LAYERS, WIDTH, HEADS, KV_HEADS, HIDDEN = 2, 64, 4, 2, 96
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MERGES = ["Ġ t", "h e", "Ġt he"]
KINDS = {"q": Kind.Q4_1, "k": Kind.Q4_1, "v": Kind.Q8_0, "o": Kind.F16, "gate": Kind.Q4_1, "up": Kind.F32}
NAMES = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
    "down": "ffn_down", "attention_norm": "attn_norm", "feed_norm": "ffn_norm",
}  # fmt: skip


def byte_letters() -> list[str]:
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [*map(chr, plain), *(chr(256 + k) for k in range(256 - len(plain)))]


def tokens() -> list[str]:
    return [*SPECIALS, *byte_letters(), *(merge.replace(" ", "") for merge in MERGES)]


def weights(seed: int = 0) -> dict[str, Array]:
    """Random matrices under our names, q and k in the order of Hugging Face."""
    chance = np.random.default_rng(seed)
    keys = WIDTH // HEADS * KV_HEADS
    shapes: dict[str, tuple[int, ...]] = {"table": (len(tokens()), WIDTH), "norm": (WIDTH,)}
    for layer in range(LAYERS):
        parts = {
            "q": (WIDTH, WIDTH), "k": (keys, WIDTH), "v": (keys, WIDTH), "o": (WIDTH, WIDTH), "gate": (HIDDEN, WIDTH),
            "up": (HIDDEN, WIDTH), "down": (WIDTH, HIDDEN), "attention_norm": (WIDTH,), "feed_norm": (WIDTH,),
        }  # fmt: skip
        shapes |= {f"layers.{layer}.{part}": shape for part, shape in parts.items()}
    return {
        name: (chance.normal(0, 0.2, shape) + name.endswith("norm")).astype(np.float32)
        for name, shape in shapes.items()
    }


def file_order(matrix: Array, heads: int) -> Array:
    """Rows as llama.cpp's converter puts them (`LlamaModel.permute` of convert_hf_to_gguf.py)."""
    return matrix.reshape(heads, 2, len(matrix) // heads // 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def kind_of(name: str) -> Kind:
    part = name.rpartition(".")[2]
    return Kind.Q8_0 if part == "table" else Kind.F32 if part.endswith("norm") else KINDS.get(part, Kind.Q4_1)


def write_gguf(path: Path, changes: dict[str, Any] | None = None, extra: dict[str, Array] | None = None) -> Path:
    """The tiny model; `changes` replace facts of the file (None leaves one out), `extra` adds tensors."""
    facts: dict[str, Any] = {
        "general.name": "Tiny", "general.license": "mit", "llama.block_count": LAYERS, "llama.context_length": 128,
        "llama.embedding_length": WIDTH, "llama.feed_forward_length": HIDDEN, "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KV_HEADS, "llama.rope.freq_base": 100_000.0,
        "llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": WIDTH // HEADS,
        "llama.vocab_size": len(tokens()), "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens(), "tokenizer.ggml.merges": MERGES,
        "tokenizer.ggml.token_type": [3 if id < len(SPECIALS) else 1 for id in range(len(tokens()))],
        "tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.bos_token_id": 0, "tokenizer.ggml.eos_token_id": 0,
        **(changes or {}),
    }  # fmt: skip
    writer = gguf.GGUFWriter(path, facts.pop("general.architecture", "llama"))
    for name, value in facts.items():
        if isinstance(value, bool):
            writer.add_bool(name, value)
        elif isinstance(value, int):
            writer.add_uint32(name, value)
        elif isinstance(value, float):
            writer.add_float32(name, value)
        elif isinstance(value, str):
            writer.add_string(name, value)
        elif value is not None:
            writer.add_array(name, value)
    for name, values in weights().items():
        matrix = values
        if name in ("table", "norm"):
            theirs = {"table": "token_embd.weight", "norm": "output_norm.weight"}[name]
        else:
            _, layer, part = name.split(".")
            theirs = f"blk.{layer}.{NAMES[part]}.weight"
            if part in "qk":
                matrix = file_order(values, HEADS if part == "q" else KV_HEADS)
        writer.add_tensor(theirs, gguf.quants.quantize(matrix, kind_of(name)), raw_dtype=kind_of(name))
    for name, matrix in (extra or {}).items():
        writer.add_tensor(name, matrix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def content(name: str, data: bytes) -> Content:
    return Content(name, len(data), hashlib.sha256(data).hexdigest())


def wheel_of(model: bytes) -> tuple[bytes, Pullable]:
    """A wheel that holds a GGUF file and code that must never run, and the entry of the registry that names it."""
    member = "tiny_wheel/tiny.gguf"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("tiny_wheel/__init__.py", "raise SystemExit('code of the wheel was run')")
        archive.writestr(member, model)
    data = packed.getvalue()
    wheel = content("tiny_wheel-1.0-py3-none-any.whl", data)
    part = Part("tiny-wheel", wheel, content(member, model))
    whole = content("tiny.gguf", model)
    return data, Pullable("a tiny Llama", "MIT", 70_000, "https://example.org", whole, (part,), room=len(model))


def wheels_of(model: bytes, terms: bytes) -> tuple[dict[str, tuple[str, bytes]], Pullable]:
    """The same in three wheels, one for the text of its terms: by file name, project and bytes; and the entry."""
    third = len(model) // 3
    contents = {"terms": terms, "part1": model[:third], "part2": model[third:]}
    wheels, parts = {}, {}
    for name, data in contents.items():
        member = f"tiny_{name}/data/{name}"
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"tiny_{name}/__init__.py", "raise SystemExit('code of the wheel was run')")
            archive.writestr(member, data)
        wheel = content(f"tiny_{name}-1.0-py3-none-any.whl", packed.getvalue())
        wheels[wheel.name] = (f"tiny-{name}", packed.getvalue())
        parts[name] = Part(f"tiny-{name}", wheel, content(member, data))
    return wheels, Pullable(
        what="a tiny Llama in parts", licence="Tiny Terms", parameters=70_000, home="https://example.org",
        gguf=content("tiny.gguf", model), parts=(parts["part1"], parts["part2"]), room=len(model),
        terms=Terms("Tiny Terms", "https://example.org/terms", parts["terms"]),
    )  # fmt: skip
