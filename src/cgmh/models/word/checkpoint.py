"""A model directory: `config.json`, `vocabulary.json.gz`, `weights.safetensors` (int8). Loading executes no code."""

import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from ...errors import BadModel
from ...text.vocabulary import Vocabulary
from .layers import FloatLinear, Int8Linear, Linear, Stack, WordTable, int8_is_fast
from .network import NetworkConfig
from .recurrent import Predictor, RecurrentModel

FORMAT = "cgmh-recurrent-1"
CONFIG, VOCABULARY, WEIGHTS = "config.json", "vocabulary.json.gz", "weights.safetensors"
EMBEDDED = Path(__file__).parents[1] / "en"
Precision = Literal["int8", "float16", "float32", "float64"]
_SIDES = (("right", "forward_hidden"), ("left", "backward_hidden"))


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
    for side, _ in _SIDES:
        put(f"{side}.inputs", gates(weights[f"{side}.weight_ih_l0"]) * reach * config.width**0.5)
        for layer in range(config.layers):
            matrix = gates(weights[f"{side}.weight_hh_l{layer}"])
            if layer:
                matrix = torch.cat([gates(weights[f"{side}.weight_ih_l{layer}"]), matrix], 1)
            bias = weights[f"{side}.bias_ih_l{layer}"].float() + weights[f"{side}.bias_hh_l{layer}"].float()
            put(f"{side}.{layer}", matrix, gates(bias))
    put("mix", weights["mix.weight"], weights["mix.bias"])
    for head in ("right_head", "left_head", "fill_head"):
        for part in ("query", "classes"):
            put(f"{head}.{part}", weights[f"{head}.{part}.weight"], weights[f"{head}.{part}.bias"])
    return {name: tensor.contiguous() for name, tensor in packed.items()}


def save_model(
    directory: Path, weights: dict[str, Tensor], config: NetworkConfig, vocabulary: Vocabulary, facts: dict[str, Any]
) -> None:
    """Write a model directory. `facts` (name, perplexities, ...) go into its `config.json`."""
    directory.mkdir(parents=True, exist_ok=True)
    data = save(pack(weights, config))
    (directory / WEIGHTS).write_bytes(data)
    vocabulary.save(directory / VOCABULARY)
    record = {"format": FORMAT, **facts, "network": config.to_dict(), "sha256": hashlib.sha256(data).hexdigest()}
    (directory / CONFIG).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_config(directory: Path) -> dict[str, Any]:
    """The `config.json` of a model directory, checked."""
    if not directory.is_dir():
        raise BadModel(f"{directory}: no such model directory")
    try:
        record = json.loads((directory / CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadModel(f"{directory}: not a model directory (it has no {CONFIG}); `cgmh train` makes one") from None
    except (OSError, ValueError) as error:
        raise BadModel(f"{directory / CONFIG}: cannot be read ({error})") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise BadModel(f"{directory / CONFIG}: not a {FORMAT} model; train it again with `cgmh train`")
    return record


def load_model(
    directory: Path | str | None = None, device: torch.device | str = "cpu", precision: Precision | None = None
) -> RecurrentModel:
    """The model of a directory, by default the embedded English one.

    `precision` is int8 on a CPU that is fast at it, float16 on a GPU, float32 elsewhere. It says how the stored weights
    are multiplied, not which weights.
    """
    directory = EMBEDDED if directory is None else Path(directory)
    device = torch.device(device)
    record = read_config(directory)
    vocabulary = Vocabulary.load(directory / VOCABULARY)
    try:
        data = (directory / WEIGHTS).read_bytes()
    except OSError as error:
        raise BadModel(f"{directory / WEIGHTS}: cannot be read ({error.strerror})") from error
    if hashlib.sha256(data).hexdigest() != record.get("sha256"):
        raise BadModel(f"{directory / WEIGHTS}: damaged (its checksum is not the one in {CONFIG}); get the model again")
    try:
        config = NetworkConfig(**record["network"])
        tensors = {name: t.float() if t.dtype is torch.float16 else t for name, t in load(data).items()}
        _check_shapes(tensors, config)
        if config.num_words != len(vocabulary):
            raise BadModel(f"{directory}: {len(vocabulary)} words, but the network has {config.num_words}")
        if precision is None:
            precision = (
                "float16" if device.type == "cuda" else "int8" if device.type == "cpu" and int8_is_fast() else "float32"
            )
        name = f"{record.get('name', directory.name)}-{record['sha256'][:8]}-{precision}"
        return _build(tensors, config, vocabulary, device, precision, name)
    except (SafetensorError, KeyError, TypeError, RuntimeError) as error:
        raise BadModel(f"{directory}: the weights do not fit the network ({error})") from error


def _check_shapes(tensors: dict[str, Tensor], config: NetworkConfig) -> None:
    """Refuse weights of another network than the configuration describes."""
    width, hidden = config.width, {"right": config.forward_hidden, "left": config.backward_hidden}
    wanted = {"table": (config.num_words, width), "mix": (config.fill_hidden, sum(hidden.values()))}
    for side, size in hidden.items():
        wanted[f"{side}.inputs"] = (4 * size, width)
        wanted |= {f"{side}.{k}": (4 * size, size * (2 if k else 1)) for k in range(config.layers)}
    for head, size in {"right": hidden["right"], "left": hidden["left"], "fill": config.fill_hidden}.items():
        wanted |= {f"{head}_head.query": (2 * width, size), f"{head}_head.classes": (config.num_classes, width)}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items() if tensor.ndim == 2}
    if found != wanted:
        name = next(name for name in {**found, **wanted} if found.get(name) != wanted.get(name))
        raise KeyError(f"{name} has shape {found.get(name)}, not {wanted.get(name)}")


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

    def linear(name: str, bound: float | None = 1.0) -> Linear:
        """A linear map; without a bound on its input it is never rounded to int8."""
        weight, scale = tensors[name], tensors[f"{name}.scale"]
        bias = tensors.get(f"{name}.bias")
        bias = torch.zeros(len(weight)) if bias is None else bias
        if precision == "int8" and bound is not None:
            return Int8Linear(weight, scale, bias, bound)
        return FloatLinear((weight.to(exact) * scale[:, None]).to(device, dtype), bias.to(device, dtype))

    shape = (config.num_classes, config.class_size)
    scale, bias = tensors["table.scale"].view(shape), tensors["table.bias"].view(shape)
    words = tensors["table"].view(*shape, config.width)
    input_scale = tensors["input_scale"].to(device, dtype)
    if precision == "int8":
        table = WordTable(words, scale, bias, input_scale)
    else:
        dense = (words.to(exact) * scale[..., None]).to(device, dtype)
        table = WordTable(dense, None, bias.to(device, exact), input_scale)

    def side(name: str, hidden: int) -> tuple[Stack, Predictor]:
        stack = Stack(linear(f"{name}.inputs"), [linear(f"{name}.{k}") for k in range(config.layers)], hidden)
        return stack, Predictor(linear(f"{name}_head.query"), linear(f"{name}_head.classes", None), table)

    fill = Predictor(linear("fill_head.query", None), linear("fill_head.classes", None), table)
    right, left = (side(name, getattr(config, size)) for name, size in _SIDES)
    like = torch.empty(0, dtype=dtype, device=device)
    return RecurrentModel(vocabulary, table, right, left, linear("mix"), fill, like, name)
