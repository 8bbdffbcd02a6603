"""Networks from stored tensors."""

import torch
from torch import Tensor

from ..word.layers import int8_linears
from .int8 import Int8Matrix, Int8Table
from .transformer import GEMMA_NORMS, Layer, LlamaConfig, LlamaNetwork, Preamble

COMMON = "common"  # the tokens of ordinary text, where others are not summed up
DOWN, UP = "low_down", "low_up"  # the factors [R,K] and [N,R] of what tuning adds to a matrix [N,K]


def build_network(
    config: LlamaConfig, tensors: dict[str, Tensor], device: torch.device, dtype: torch.dtype
) -> LlamaNetwork:
    """The network of stored tensors; a KeyError says what is missing or has another shape."""

    def matrix(name: str, rows: int, columns: int) -> Tensor:
        values = dequantized(tensors, name).to(device, dtype)
        if values.shape != (rows, columns):
            raise KeyError(f"{name} has shape {tuple(values.shape)}, not {(rows, columns)}")
        return values

    exact = torch.float64 if dtype == torch.float64 else torch.float32

    def vector(name: str) -> Tensor:
        return tensors[name].to(device, exact)

    width, inner, outer = config.width, config.kv_heads * config.head_width, config.heads * config.head_width
    layers = []
    for at in (f"layers.{number}" for number in range(config.layers)):
        qkv = [matrix(f"{at}.q", outer, width), *(matrix(f"{at}.{part}", inner, width) for part in "kv")]
        gate_up = [matrix(f"{at}.{part}", config.hidden, width) for part in ("gate", "up")]
        layers.append(
            Layer(
                attention_norm=vector(f"{at}.attention_norm"),
                feed_norm=vector(f"{at}.feed_norm"),
                qkv=torch.cat(qkv),
                out=matrix(f"{at}.o", width, outer),
                gate_up=torch.cat(gate_up),
                down=matrix(f"{at}.down", width, config.hidden),
                **({name: vector(f"{at}.{name}") for name in GEMMA_NORMS} if config.gemma else {}),
            )
        )
    table, common = matrix("table", config.num_tokens, width), tensors.get(COMMON)
    return LlamaNetwork(config, table, vector("norm"), layers, None if common is None else common.to(device))


def dequantized(tensors: dict[str, Tensor], name: str) -> Tensor:
    """[rows, columns]: a stored matrix as numbers (GGUF's Q4_1 and Q8_0: blocks of 32 with a scale, and an offset)."""
    stored = tensors[name]
    if stored.dtype == torch.uint8:  # two values in each byte: the low halves are the first 16 of a block
        stored = torch.cat([stored & 15, stored >> 4], -1)
    values = stored.float()
    if f"{name}.scale" in tensors:
        values *= tensors[f"{name}.scale"].float()[..., None]
        if f"{name}.offset" in tensors:
            values += tensors[f"{name}.offset"].float()[..., None]
        values = values.flatten(1)
    if f"{name}.{UP}" in tensors:  # what tuning added
        values = values + tensors[f"{name}.{UP}"].float() @ tensors[f"{name}.{DOWN}"].float()
    return values


def build_int8_network(config: LlamaConfig, tensors: dict[str, Tensor]) -> LlamaNetwork:
    """The network of what `pull.rows` made, on the CPU; a KeyError says what is missing or has another shape."""
    width, inner, outer = config.width, config.kv_heads * config.head_width, config.heads * config.head_width

    def rows(name: str, shape: tuple[int, int]) -> tuple[Tensor, Tensor]:
        weight, scale = tensors[name], tensors[f"{name}.scale"]
        if weight.shape != shape or scale.shape != shape[:1] or weight.dtype != torch.int8:
            raise KeyError(f"{name} has shape {tuple(weight.shape)}, not {shape}")
        return weight, scale

    shapes = {
        "qkv": (outer + 2 * inner, width), "out": (width, outer), "gate_up": (2 * config.hidden, width),
        "down": (width, config.hidden),
    }  # fmt: skip
    # Rounding what `down` reads (gates are often near 0 and sometimes large) would be most of the error.
    norms = ("attention_norm", "feed_norm", *(GEMMA_NORMS if config.gemma else ()))
    places = [f"layers.{number}" for number in range(config.layers)]
    linears = iter(int8_linears([rows(f"{at}.{name}", shape) for at in places for name, shape in shapes.items()]))
    layers = []
    for at in places:
        vectors = {name: tensors[f"{at}.{name}"] for name in norms}
        matrices = {name: Int8Matrix(next(linears), fine=name == "down") for name in shapes}
        layers.append(Layer(**vectors, **matrices))  # type: ignore[arg-type]
    common = tensors.get(COMMON)
    table = Int8Table(*rows("table", (config.num_tokens, width)), tensors["table.columns"], common)
    network = LlamaNetwork(config, table, tensors["norm"], layers, common)
    hidden = tensors["first.hidden"]
    network.first = Preamble(tensors["first.pairs"], hidden, network.log_total(hidden))
    return network
