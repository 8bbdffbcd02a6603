"""Transformers models small enough for tests: random weights, real tokenizers trained on a few lines, saved to disk."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import (
    BertConfig,
    BertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from toy_text import sentences

END, BEGIN = "<|end|>", "<|begin|>"
CONTEXT = 128
SHARP = 0.3  # spread of the random weights: contexts matter


def byte_pairs(begin: str | None = None, end: str | None = END) -> PreTrainedTokenizerFast:
    """Byte-level pairs, as GPT-2 and Llama 3 have; one with a begin adds it to texts unless told not to."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    specials = [special for special in (END, begin) if special]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=specials, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(sentences("english", 200), trainer)
    if begin:
        special = [(begin, tokenizer.token_to_id(begin))]
        tokenizer.post_processor = processors.TemplateProcessing(single=f"{begin} $A", special_tokens=special)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token=end)


def word_pieces(words: Sequence[str], *, lower: bool) -> PreTrainedTokenizerFast:
    """Whole words and their letters, as BERT has."""
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted({letter for word in words for letter in word})
    known = dict.fromkeys([*marks, *words, *letters, *(f"##{letter}" for letter in letters)])
    numbers = {token: number for number, token in enumerate(known)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))  # noqa: S106
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(mark, numbers[mark]) for mark in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    names = dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], marks, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


def gpt2(tokenizer: Any, seed: int = 0) -> GPT2LMHeadModel:
    torch.manual_seed(seed)
    sizes = {"n_positions": CONTEXT, "n_embd": 32, "n_layer": 2, "n_head": 4}
    marks = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), initializer_range=SHARP, **sizes, **marks))


def llama(tokenizer: Any, seed: int = 0) -> LlamaForCausalLM:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "max_position_embeddings": CONTEXT}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    marks = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), initializer_range=SHARP, **sizes, **heads, **marks))


def bert(tokenizer: Any, seed: int = 0) -> BertForMaskedLM:
    torch.manual_seed(seed)
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
    return BertForMaskedLM(
        BertConfig(vocab_size=len(tokenizer), initializer_range=SHARP, max_position_embeddings=CONTEXT, **sizes)
    )


def saved(directory: Path, tokenizer: Any, network: Any) -> Path:
    """The directory, with both in it."""
    tokenizer.save_pretrained(directory)
    network.save_pretrained(directory)
    return directory


def edit_weights(directory: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    tensors = load_file(directory / "model.safetensors")
    change(tensors)
    save_file(tensors, directory / "model.safetensors", metadata={"format": "pt"})
