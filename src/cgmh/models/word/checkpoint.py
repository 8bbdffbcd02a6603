"""A model directory: `config.json`, `vocabulary.json.gz`, `weights.safetensors` (int8). Loading executes no code.

In the weight file the forward network is called `right` and the backward one `left`, after the side they read towards;
the names are exchanged here and nowhere else.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ...errors import BadModel
from ...text.vocabulary import Vocabulary
from ..pull.registry import REGISTRY
from ..pull.store import CONFIG, EMBEDDED, WEIGHTS, read_checked, read_config
from .layers import Int8Linear, Linear, Stack, WordTable, float_linear, int8_is_fast
from .network import NetworkConfig
from .predictors import Direction, Predictor
from .recurrent import RecurrentModel

FORMAT = "cgmh-recurrent-1"
VOCABULARY = "vocabulary.json.gz"
Precision = Literal["int8", "float16", "float32", "float64"]
_STORED = {"forward": "right", "backward": "left"}


def quantise(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Rows rounded to int8 with a scale each: of several clipping points, the one with the least squared error."""
    peak = matrix.abs().amax(1).clamp(min=1e-3)
    best, best_error = peak / 127, torch.full_like(peak, torch.inf)
    for clip in (1.0, 0.95, 0.9, 0.85, 0.8):
        scale = (peak * clip / 127).half().float()  # as it will be stored
        error = ((matrix / scale[:, None]).round().clamp(-127, 127) * scale[:, None] - matrix).square().sum(1)
        best = torch.where(error < best_error, scale, best)
        best_error = torch.minimum(error, best_error)
    return (matrix / best[:, None]).round().clamp(-127, 127).to(torch.int8), best


def pack(weights: dict[str, Tensor], config: NetworkConfig) -> dict[str, Tensor]:
    """The tensors of a weight file from the parameters of a trained `Network`."""
    packed: dict[str, Tensor] = {}

    def put(name: str, matrix: Tensor, bias: Tensor | None = None) -> None:
        packed[name], scale = quantise(matrix.float())
        packed[f"{name}.scale"] = scale.half()
        if bias is not None:
            packed[f"{name}.bias"] = bias.half()

    def gates(tensor: Tensor) -> Tensor:
        """Gate order of torch (input, forget, candidate, output) to ours, which puts the three sigmoids together."""
        i, f, g, o = tensor.float().chunk(4)
        return torch.cat([i, f, o, g])

    put("table", weights["table"], weights["bias"])
    # Inputs are scaled by column into (-1, 1), and the first layer's weights the other way.
    reach = weights["table"].float().abs().amax(0).clamp(min=1e-8)  # [D]
    packed["input_scale"] = 1 / reach
    for direction in _STORED:
        lstm = f"{direction}_lstm"
        put(f"{direction}.inputs", gates(weights[f"{lstm}.weight_ih_l0"]) * reach * config.width**0.5)
        for layer in range(config.layers):
            matrix = gates(weights[f"{lstm}.weight_hh_l{layer}"])
            if layer:
                matrix = torch.cat([gates(weights[f"{lstm}.weight_ih_l{layer}"]), matrix], 1)
            bias = weights[f"{lstm}.bias_ih_l{layer}"].float() + weights[f"{lstm}.bias_hh_l{layer}"].float()
            put(f"{direction}.{layer}", matrix, gates(bias))
    put("mix", weights["mix.weight"], weights["mix.bias"])
    for head in config.hidden:
        for part in (f"{head}_head.query", f"{head}_head.classes"):
            put(part, weights[f"{part}.weight"], weights[f"{part}.bias"])
    return {name: tensor.contiguous() for name, tensor in _renamed(packed, _STORED).items()}


def _renamed(tensors: dict[str, Tensor], names: Mapping[str, str]) -> dict[str, Tensor]:
    """Tensors whose names begin with other words: forward.inputs, forward_head.query and so on."""

    def renamed(name: str) -> str:
        word = name.partition(".")[0].partition("_")[0]
        return names.get(word, word) + name[len(word) :]

    return {renamed(name): tensor for name, tensor in tensors.items()}


def save_model(
    directory: Path, weights: dict[str, Tensor], config: NetworkConfig, vocabulary: Vocabulary, facts: dict[str, Any]
) -> None:
    """Write a model directory. `facts` (name, perplexities, ...) go into its `config.json`."""
    directory.mkdir(parents=True, exist_ok=True)
    data = save(pack(weights, config))
    (directory / WEIGHTS).write_bytes(data)
    vocabulary.save(directory / VOCABULARY)
    record = {"format": FORMAT, **facts, "network": asdict(config), "sha256": hashlib.sha256(data).hexdigest()}
    (directory / CONFIG).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load_model(
    directory: Path | str | None = None, device: torch.device | str = "cpu", precision: Precision | None = None
) -> RecurrentModel:
    """The model of a directory, by default the embedded English one, which is also called "en".

    `precision` is int8 on a CPU that is fast at it, float16 on a GPU, float32 elsewhere. It says how the stored weights
    are multiplied, not which weights.
    """
    if directory in REGISTRY:
        raise BadModel(f"{directory} is no word model; give its name as `big` or as `model` of a task")
    directory = EMBEDDED if directory is None or directory == "en" else Path(directory)
    device = torch.device(device)
    record = read_config(directory)
    if record.get("format") != FORMAT:
        raise BadModel(f"{directory / CONFIG}: not a {FORMAT} model; train it again with `cgmh train`")
    vocabulary = Vocabulary.load(directory / VOCABULARY)
    data = read_checked(directory / WEIGHTS, record.get("sha256", ""))
    try:
        config = NetworkConfig(**record["network"])
        tensors = _renamed(load(data), {stored: ours for ours, stored in _STORED.items()})
        tensors = {name: t.float() if t.dtype is torch.float16 else t for name, t in tensors.items()}
        _check_shapes(tensors, config)
        if config.num_words != len(vocabulary):
            raise BadModel(f"{directory}: {len(vocabulary)} words, but the network has {config.num_words}")
        if precision is None and device.type == "cuda":
            precision = "float16"
        elif precision is None:
            precision = "int8" if device.type == "cpu" and int8_is_fast() else "float32"
        name = f"{record.get('name', directory.name)}-{record['sha256'][:8]}-{precision}"
        return _build(tensors, config, vocabulary, device, precision, name)
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
        raise BadModel(f"{directory}: the weights do not fit the network ({error})") from error


def _check_shapes(tensors: dict[str, Tensor], config: NetworkConfig) -> None:
    """Refuse weights of another network than the configuration describes."""
    width, hidden = config.width, config.hidden
    needed = {"table": (config.num_words, width), "mix": (hidden["fill"], hidden["forward"] + hidden["backward"])}
    for direction in _STORED:
        size = hidden[direction]
        needed[f"{direction}.inputs"] = (4 * size, width)
        num_layers = min(config.layers, len(tensors))  # whatever number a file claims
        needed |= {f"{direction}.{k}": (4 * size, size * (2 if k else 1)) for k in range(num_layers)}
    for head, size in hidden.items():
        needed |= {f"{head}_head.query": (2 * width, size), f"{head}_head.classes": (config.num_classes, width)}
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items() if tensor.ndim == 2}
    if shapes != needed:
        name = next(name for name in {**shapes, **needed} if shapes.get(name) != needed.get(name))
        raise KeyError(f"{name} has shape {shapes.get(name)}, not {needed.get(name)}")


def _build(
    tensors: dict[str, Tensor],
    config: NetworkConfig,
    vocabulary: Vocabulary,
    device: torch.device,
    precision: Precision,
    name: str,
) -> RecurrentModel:
    dtype = torch.float32 if precision == "int8" else getattr(torch, precision)
    exact = torch.float64 if precision == "float64" else torch.float32

    def linear(name: str, *, bounded: bool = True) -> Linear:
        """A linear map; where its input is not bounded by 1, it is never rounded to int8."""
        weight, scale = tensors[name], tensors[f"{name}.scale"]
        bias = tensors.get(f"{name}.bias", torch.zeros(len(weight)))
        if precision == "int8" and bounded:
            return Int8Linear.of(weight, scale, bias)
        dense = (weight.to(exact) * scale[:, None]).to(device, dtype)
        return partial(float_linear, weight=dense, bias=bias.to(device, dtype))

    shape = (config.num_classes, config.class_size)
    scale, bias = tensors["table.scale"].view(shape), tensors["table.bias"].view(shape)
    words = tensors["table"].view(*shape, config.width)
    input_scale = tensors["input_scale"].to(device, dtype)
    if precision == "int8":
        table = WordTable(words, scale, bias, input_scale)
    else:
        dense = (words.to(exact) * scale[..., None]).to(device, dtype)
        table = WordTable(dense, None, bias.to(device, exact), input_scale)

    def predictor(head: str, *, bounded: bool = True) -> Predictor:
        return Predictor(
            linear(f"{head}_head.query", bounded=bounded), linear(f"{head}_head.classes", bounded=False), table
        )

    def direction(name: str) -> Direction:
        maps = [linear(f"{name}.{layer}") for layer in range(config.layers)]
        return Direction(Stack(table.embed, linear(f"{name}.inputs"), maps, config.hidden[name]), predictor(name))

    forward, backward = direction("forward"), direction("backward")
    return RecurrentModel(vocabulary, table, forward, backward, linear("mix"), predictor("fill", bounded=False), name)
