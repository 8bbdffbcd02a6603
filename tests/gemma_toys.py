"""A Gemma 3 of the production class, small enough for tests: random weights, a tokenizer of letters and a few words."""

import torch
from torch import Tensor

from cgmh.models.text.build import build_network
from cgmh.models.text.llama import LlamaModel
from cgmh.models.text.scored import ScoredPairs
from cgmh.models.text.transformer import GEMMA_NORMS, LlamaConfig

SPECIALS = ["<pad>", "<eos>", "<bos>", "<unk>", "\n", "\n\n", "  ", "<b>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
LETTERS = ["▁", *map(chr, range(33, 127))]
WORDS = ["he", "at", "▁t", "▁the", "T", "The", "cat", "▁cat", "sat", "▁sat"]  # the first is merged first
TOKENS = list(dict.fromkeys([*SPECIALS, *BYTES, *LETTERS, *WORDS]))
BEGIN, END = TOKENS.index("<bos>"), TOKENS.index("\n")
CONFIG = LlamaConfig(
    layers=3, width=24, heads=4, kv_heads=2, hidden=48, num_tokens=len(TOKENS), context=512, rope_base=500.0,
    epsilon=1e-3, head=16, gemma=True, local_rope_base=20.0, global_every=3,
)  # fmt: skip


def scores() -> list[float | None]:
    """Letters are there from the start; words are merged in their order."""
    order = {word: -at for at, word in enumerate([*WORDS, *LETTERS])}
    return [order.get(token) for token in TOKENS]


def random_tensors(config: LlamaConfig = CONFIG, seed: int = 0, sharpness: float = 0.3) -> dict[str, Tensor]:
    """Weights under our names, in float32."""
    generator = torch.Generator().manual_seed(seed)
    width, head = config.width, config.head_width
    queries, keys = config.heads * head, config.kv_heads * head
    parts = {
        "q": (queries, width), "k": (keys, width), "v": (keys, width), "o": (width, queries),
        "gate": (config.hidden, width), "up": (config.hidden, width), "down": (width, config.hidden),
        "attention_norm": (width,), "feed_norm": (width,), "query_norm": (head,), "key_norm": (head,),
        "attention_after": (width,), "feed_after": (width,),
    }  # fmt: skip
    shapes: dict[str, tuple[int, ...]] = {"table": (config.num_tokens, width), "norm": (width,)}
    for layer in range(config.layers):
        shapes |= {f"layers.{layer}.{part}": shape for part, shape in parts.items()}
    norms = ("norm", *GEMMA_NORMS)
    return {
        name: sharpness * torch.randn(*shape, generator=generator) + name.endswith(norms)
        for name, shape in shapes.items()
    }


def toy_gemma(
    config: LlamaConfig = CONFIG, tensors: dict[str, Tensor] | None = None, dtype: torch.dtype = torch.float64
) -> LlamaModel:
    network = build_network(config, tensors or random_tensors(config), torch.device("cpu"), dtype)
    return LlamaModel(network, ScoredPairs(TOKENS, scores()), BEGIN, "toy", end=END)
