"""A Llama of the production class, small enough for tests: random weights, every word of the toys one token."""

import torch
from torch import Tensor

from cgmh.models.text.bpe import BytePairs
from cgmh.models.text.build import build_network
from cgmh.models.text.llama import LlamaModel
from cgmh.models.text.transformer import LlamaConfig
from tiny_llama import SPECIALS, byte_letters

MERGES = ["h e", "a t", "Ġ t", "Ġt he", "T he", "c at", "Ġ cat", "s at", "Ġ sat"]
TOKENS = [*SPECIALS, *byte_letters(), *(merge.replace(" ", "") for merge in MERGES)]
CONFIG = LlamaConfig(
    layers=2, width=32, heads=4, kv_heads=2, hidden=48, num_tokens=len(TOKENS), context=512, rope_base=500.0,
    epsilon=1e-3,
)  # fmt: skip
END = 0  # <|endoftext|>


def random_tensors(config: LlamaConfig = CONFIG, seed: int = 0, sharpness: float = 0.25) -> dict[str, Tensor]:
    """Weights under our names, in float32."""
    generator = torch.Generator().manual_seed(seed)
    width, keys = config.width, config.kv_heads * config.head_width
    parts = {
        "q": (width, width), "k": (keys, width), "v": (keys, width), "o": (width, width),
        "gate": (config.hidden, width), "up": (config.hidden, width), "down": (width, config.hidden),
        "attention_norm": (width,), "feed_norm": (width,),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"table": (config.num_tokens, width), "norm": (width,)}
    for layer in range(config.layers):
        shapes |= {f"layers.{layer}.{part}": shape for part, shape in parts.items()}
    return {
        name: sharpness * torch.randn(*shape, generator=generator) + name.endswith("norm")
        for name, shape in shapes.items()
    }


def toy_llama(
    config: LlamaConfig = CONFIG,
    tensors: dict[str, Tensor] | None = None,
    dtype: torch.dtype = torch.float64,
    tokenizer: BytePairs | None = None,
) -> LlamaModel:
    network = build_network(config, tensors or random_tensors(config), torch.device("cpu"), dtype)
    return LlamaModel(network, tokenizer or BytePairs(TOKENS, MERGES), END, "toy")
