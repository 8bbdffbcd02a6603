"""From a Llama or a Gemma 3 in GGUF to a directory of ours: `config.json`, `tokenizer.json`, `weights.safetensors`.

Matrices keep the values they have in the file: a matrix NAME of whole numbers [rows, blocks, size] has the scales of
its blocks in NAME.scale [rows, blocks], and offsets in NAME.offset where there are any (see `blocks`).
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from ...errors import BadModel
from ...threads import single_threaded
from .blocks import blocks_of
from .families import FAMILIES, Family, family_of
from .gguf import Gguf, open_gguf
from .rows import int8_rows
from .store import CONFIG, INT8, LLAMA_FORMAT, TOKENIZER, TUNED, WEIGHTS, sha256_of

Array = NDArray[Any]


def convert_gguf(
    gguf: Gguf | Path, directory: Path, facts: dict[str, Any], adapter: dict[str, Array] | None = None
) -> None:
    """Write a model directory; `facts` (name, licence, source) go into its `config.json`.

    With an `adapter` it is the tuned model: what tuning changed lies beside the matrices of the file.
    """
    gguf = open_gguf(gguf) if isinstance(gguf, Path) else gguf
    family = family_of(gguf)
    tokenizer = family.tokenizer(gguf)
    network = family.network(gguf, len(tokenizer["tokens"]))
    tensors = _tensors(gguf, family, network) | (adapter or {})
    marks = {}
    for key, mark in family.marks.items():
        if mark not in tokenizer["tokens"]:
            raise BadModel(f"{gguf.where}: its tokenizer has no {mark!r}, which begins or ends a text")
        marks[key] = tokenizer["tokens"].index(mark)
    directory.mkdir(parents=True, exist_ok=True)
    (directory / TOKENIZER).write_text(
        json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":")), encoding="utf-8"
    )
    # Not `save_file`, which writes for the user alone and hides a full disk in an error of its own.
    (directory / WEIGHTS).write_bytes(save(tensors))
    files = [WEIGHTS, TOKENIZER]
    if family.sample is not None:
        texts = [[marks["boundary"], *ids] for ids in family.sample(tokenizer)]
        with single_threaded():
            (directory / INT8).write_bytes(save(int8_rows(tensors, network, texts)))
        files.append(INT8)
    record = {
        "format": LLAMA_FORMAT,
        **facts,
        "parameters": sum(math.prod(tensor.shape) for tensor in gguf.tensors.values()),
        "network": network,
        "tuned": 0 if adapter is None else TUNED,
        **marks,
        "sha256": {name: sha256_of(directory / name) for name in files},
    }
    (directory / CONFIG).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _tensors(gguf: Gguf, family: Family, network: dict[str, Any]) -> dict[str, Array]:
    """All tensors under our names, of the shapes that the network has."""
    width, shapes = network["width"], family.shapes(network)
    needed = {"token_embd.weight": ("table", (network["num_tokens"], width)), "output_norm.weight": ("norm", (width,))}
    for layer in range(min(network["layers"], len(gguf.tensors))):
        for part, theirs in family.parts.items():
            needed[f"blk.{layer}.{theirs}.weight"] = (f"layers.{layer}.{part}", shapes[part])
    extra = next((name for name in gguf.tensors if name not in needed), None)
    if extra:
        why = "an output matrix of its own" if extra == "output.weight" else f"a tensor {extra[:60]}"
        like = " and ".join(known.example for known in FAMILIES.values())
        raise BadModel(f"{gguf.where}: has {why}, which our network has not; models like {like} are supported")
    arrays: dict[str, Array] = {}
    for theirs, (ours, shape) in needed.items():
        tensor = gguf.tensors.get(theirs)
        if tensor is None or tensor.shape != shape:
            raise BadModel(f"{gguf.where}: {theirs} is {tensor.shape if tensor else 'missing'}, not {shape}")
        num_turned = family.heads_in_pairs(network).get(ours.rpartition(".")[2])
        for suffix, array in blocks_of(tensor).items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise BadModel(f"{gguf.where}: damaged ({theirs} holds values that are not finite); get the file again")
            arrays[ours + suffix] = np.ascontiguousarray(_in_halves(array, num_turned) if num_turned else array)
    return arrays


def _in_halves(array: Array, heads: int) -> Array:
    """Rows of each head as rotary positions want them: first halves, then second ones; the file has them in pairs."""
    pairs = array.reshape(heads, -1, 2, *array.shape[1:])  # [heads, D / 2, 2, ...]
    halves: Array = pairs.swapaxes(1, 2).reshape(array.shape)
    return halves
