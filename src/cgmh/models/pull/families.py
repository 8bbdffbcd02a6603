"""The families of GGUF models that our network can be: what their files call things, and what their facts must be."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import BadModel
from ..text.scored import ScoredPairs
from .gguf import Gguf
from .rows import SENTENCES

_NORMAL, _CONTROL = 1, 3  # types of tokens: pieces of text; <|endoftext|> and its like
_LOCAL_ROPE_BASE, _GLOBAL_EVERY = 10_000.0, 6  # of every Gemma 3; its files do not say so
_MAX_TOKENS = 512  # that a text and its context have (`text.transformer`); a window as long leaves nothing out
# Our names for the sizes of the network and for the parts of a layer, and those of the file.
_SIZES = {
    "layers": "block_count", "width": "embedding_length", "heads": "attention.head_count",
    "kv_heads": "attention.head_count_kv", "hidden": "feed_forward_length", "context": "context_length",
}  # fmt: skip
_PARTS = {
    "q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "gate": "ffn_gate", "up": "ffn_up",
    "down": "ffn_down", "attention_norm": "attn_norm", "feed_norm": "ffn_norm",
}  # fmt: skip
_GEMMA_PARTS = {
    "query_norm": "attn_q_norm", "key_norm": "attn_k_norm", "attention_after": "post_attention_norm",
    "feed_after": "post_ffw_norm",
}  # fmt: skip


@dataclass(frozen=True)
class Family:
    """Models of one architecture, with the tokenizer that they have."""

    example: str
    parts: dict[str, str]
    marks: dict[str, str]  # the tokens that begin a text (`boundary`) and end it (`end`, otherwise the same)
    in_pairs: bool  # whether rotary positions turn neighbouring rows; ours turn the halves of a head
    tokenizer: Callable[[Gguf], dict[str, Any]]
    network: Callable[[Gguf, int], dict[str, Any]]
    sample: Callable[[dict[str, Any]], list[list[int]]] | None  # tokens of plain sentences, where int8 is wanted

    def shapes(self, network: dict[str, Any]) -> dict[str, tuple[int, ...]]:
        """The shapes of the parts of a layer."""
        width, hidden = network["width"], network["hidden"]
        head = network.get("head") or width // network["heads"]
        queries, keys = head * network["heads"], head * network["kv_heads"]
        return {
            "q": (queries, width), "k": (keys, width), "v": (keys, width), "o": (width, queries),
            "gate": (hidden, width), "up": (hidden, width), "down": (width, hidden), "attention_norm": (width,),
            "feed_norm": (width,), "query_norm": (head,), "key_norm": (head,), "attention_after": (width,),
            "feed_after": (width,),
        }  # fmt: skip

    def heads_in_pairs(self, network: dict[str, Any]) -> dict[str, int]:
        """The matrices whose rows have to be put in another order, and their numbers of heads."""
        return {"q": network["heads"], "k": network["kv_heads"]} if self.in_pairs else {}


def family_of(gguf: Gguf) -> Family:
    architecture = str(gguf.facts.get("general.architecture"))
    if architecture not in FAMILIES:
        known = " and ".join(FAMILIES)
        raise BadModel(f"{gguf.where}: a {architecture[:40]} model; only {known} are supported")
    return FAMILIES[architecture]


def _fact(gguf: Gguf, name: str, kind: type, default: Any = None) -> Any:
    """A fact of the file, of the right type."""
    value = gguf.facts.get(name, default)
    if not isinstance(value, kind):
        raise BadModel(f"{gguf.where}: {name} is {str(value)[:40] if name in gguf.facts else 'missing'}")
    return value


def _tokens(gguf: Gguf, wanted: tuple[str, str], whose: str, other: str) -> tuple[list[str], list[int], list[Any]]:
    """The tokens, their types, and the list `other` of a tokenizer of the right kind."""
    found = tuple(gguf.facts.get(f"tokenizer.ggml.{key}") for key in ("model", "pre"))
    if found != wanted:
        kind, needed = ("/".join(map(str, pair)) for pair in (found, wanted))
        raise BadModel(f"{gguf.where}: its tokenizer is {kind}; only {needed} ({whose}) is supported")
    tokens, types, others = (_fact(gguf, f"tokenizer.ggml.{key}", list) for key in ("tokens", "token_type", other))
    if len(tokens) != len(types) or not all(isinstance(token, str) for token in tokens):
        raise BadModel(f"{gguf.where}: {len(tokens):,} tokens, but {len(types):,} token types")
    return tokens, types, others


def _merging_tokenizer(gguf: Gguf) -> dict[str, Any]:
    tokens, types, merges = _tokens(gguf, ("gpt2", "smollm"), "SmolLM, SmolLM2", "merges")
    for merge in merges:
        if not isinstance(merge, str) or len(merge.split(" ")) != 2:
            raise BadModel(f"{gguf.where}: {str(merge)[:40]!r} is not a merge of two tokens")
    return {"tokens": tokens, "merges": merges, "specials": [id for id, type in enumerate(types) if type == _CONTROL]}


def _scored_tokenizer(gguf: Gguf) -> dict[str, Any]:
    tokens, types, scores = _tokens(gguf, ("llama", "default"), "Gemma 3", "scores")
    if len(scores) != len(tokens) or not all(isinstance(score, float) for score in scores):
        raise BadModel(f"{gguf.where}: {len(tokens):,} tokens, but {len(scores):,} scores")
    known = set(tokens)
    if missing := next((mark for mark in map("<0x{:02X}>".format, range(256)) if mark not in known), None):
        raise BadModel(f"{gguf.where}: its tokenizer has no {missing}, so there are letters that it cannot read")
    # The scores of Gemma are whole numbers, which take half the time to read.
    kept = [
        None if type != _NORMAL else int(score) if score.is_integer() else score
        for score, type in zip(scores, types, strict=True)
    ]
    return {"tokens": tokens, "scores": kept}


def _scored_sample(tokenizer: dict[str, Any]) -> list[list[int]]:
    pairs = ScoredPairs(**tokenizer)
    return [pairs.encode(text) for text in SENTENCES]


def _sizes(gguf: Gguf, num_tokens: int) -> dict[str, Any]:
    """What all networks have."""
    name = gguf.facts["general.architecture"]
    defaults = {"kv_heads": gguf.facts.get(f"{name}.attention.head_count")}
    network = {ours: _fact(gguf, f"{name}.{theirs}", int, defaults.get(ours)) for ours, theirs in _SIZES.items()}
    network["num_tokens"] = num_tokens
    width, heads, kv_heads = network["width"], network["heads"], network["kv_heads"]
    if min(network.values()) < 1 or heads % kv_heads:
        raise BadModel(f"{gguf.where}: no network has width {width} with {heads} heads, {kv_heads} of them for keys")
    if gguf.facts.get(f"{name}.rope.scaling.type", "none") != "none":
        raise BadModel(f"{gguf.where}: scaled rotary positions are not supported")
    # A float32 of the file as people write it: 1e-05, not 9.999999747378752e-06.
    for ours, theirs, default in (
        ("rope_base", f"{name}.rope.freq_base", 10_000.0 if name == "llama" else None),
        ("epsilon", f"{name}.attention.layer_norm_rms_epsilon", None),
    ):
        network[ours] = float(str(np.float32(_fact(gguf, theirs, float, default))))
        if not 0 < network[ours] < float("inf"):
            raise BadModel(f"{gguf.where}: {theirs} is {network[ours]}")
    return network


def _llama_network(gguf: Gguf, num_tokens: int) -> dict[str, Any]:
    network = _sizes(gguf, num_tokens)
    width, heads, kv_heads = network["width"], network["heads"], network["kv_heads"]
    if width % (2 * heads):
        raise BadModel(f"{gguf.where}: no network has width {width} with {heads} heads, {kv_heads} of them for keys")
    for name in ("llama.rope.dimension_count", "llama.attention.key_length", "llama.attention.value_length"):
        if gguf.facts.get(name, width // heads) != width // heads:
            raise BadModel(f"{gguf.where}: {name} is {gguf.facts[name]}; only {width // heads} (width / heads) works")
    return network


def _gemma_network(gguf: Gguf, num_tokens: int) -> dict[str, Any]:
    network = _sizes(gguf, num_tokens)
    head, values, window = (
        _fact(gguf, f"gemma3.attention.{name}", int) for name in ("key_length", "value_length", "sliding_window")
    )
    if head < 2 or head % 2 or values != head:
        raise BadModel(f"{gguf.where}: heads of {head} for keys and {values} for values; one even number is supported")
    if window < _MAX_TOKENS:
        raise BadModel(f"{gguf.where}: a sliding window of {window} tokens; at least {_MAX_TOKENS} are supported")
    return network | {
        "head": head, "gemma": True, "local_rope_base": _LOCAL_ROPE_BASE, "global_every": _GLOBAL_EVERY,
    }  # fmt: skip


FAMILIES = {
    "llama": Family(
        example="SmolLM2",
        parts=_PARTS,
        marks={"boundary": "<|endoftext|>"},
        in_pairs=True,
        tokenizer=_merging_tokenizer,
        network=_llama_network,
        sample=None,
    ),
    "gemma3": Family(
        example="Gemma 3",
        parts=_PARTS | _GEMMA_PARTS,
        # A paragraph ends after a whole sentence: -1.5 nats there, -8.3 two words before it (<eos> -8.1 and -12.3).
        marks={"boundary": "<bos>", "end": "\n\n"},
        in_pairs=False,
        tokenizer=_scored_tokenizer,
        network=_gemma_network,
        sample=_scored_sample,
    ),
}
