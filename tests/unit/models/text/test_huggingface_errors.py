"""Directories that are no causal language models of Hugging Face, and the one line about each."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM, BertLMHeadModel, T5Config

from cgmh.errors import BadModel
from cgmh.models.text.huggingface import load_huggingface
from tiny_transformers import bert, byte_pairs, edit_weights, gpt2, saved, word_pieces

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tokenizer = byte_pairs()
    return saved(tmp_path_factory.mktemp("models") / "gpt2", tokenizer, gpt2(tokenizer))


def edit_config(directory: Path, **changes: Any) -> None:
    path = directory / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def other_weights(directory: Path) -> None:
    (directory / "model.safetensors").unlink()
    (directory / "pytorch_model.bin").write_bytes(b"pickle")


def weights_beside(directory: Path) -> None:
    """Weights that would load, but that are no safetensors; what is in safetensors is something else."""
    network = AutoModelForCausalLM.from_pretrained(directory)
    (directory / "model.safetensors").rename(directory / "adapter.safetensors")
    torch.save(network.state_dict(), directory / "pytorch_model.bin")


def with_code(directory: Path) -> None:
    """A model that brings its own classes; running them would leave a mark."""
    (directory / "own.py").write_text(f"open({str(directory / 'ran')!r}, 'w').close()\n")
    edit_config(directory, model_type="own", auto_map={"AutoConfig": "own.C", "AutoModelForCausalLM": "own.M"})


def no_end(directory: Path) -> None:
    byte_pairs(end=None).save_pretrained(directory)


def looks_ahead(directory: Path) -> None:
    """BERT as a decoder, which it is not unless it is told to be."""
    tokenizer = byte_pairs()
    saved(directory, tokenizer, BertLMHeadModel(bert(tokenizer).config))


def more_tokens(directory: Path) -> None:
    tokenizer = byte_pairs()
    tokenizer.add_tokens(["one", "more"])
    tokenizer.save_pretrained(directory)


BAD: dict[str, tuple[Callable[[Path], Any], str]] = {
    "nothing in it": (lambda path: [file.unlink() for file in path.iterdir()], "it has no config.json"),
    "a deep configuration": (lambda path: (path / "config.json").write_text("[" * 100_000), "cannot be loaded"),
    "a deep tokenizer": (lambda path: (path / "tokenizer.json").write_text("[" * 100_000), "cannot be loaded"),
    "no weights": (lambda path: (path / "model.safetensors").unlink(), "no weights in safetensors"),
    "a pickle": (other_weights, "only safetensors are read, other weights can run code"),
    "a pickle beside": (weights_beside, "cannot be loaded"),
    "cut weights": (lambda path: cut(path / "model.safetensors"), "cannot be loaded .*get the model again"),
    "no tokenizer": (lambda path: (path / "tokenizer.json").unlink(), "cannot be loaded"),
    "cut tokenizer": (lambda path: cut(path / "tokenizer.json"), "cannot be loaded"),
    "cut config": (lambda path: cut(path / "config.json") or (path / "config.json").write_text("{"), "cannot be"),
    "another size": (lambda path: edit_config(path, n_embd=16), "cannot be loaded"),
    "a lost tensor": (
        lambda path: edit_weights(path, lambda tensors: tensors.pop("transformer.ln_f.weight")),
        "no trained causal language model, or damaged: the weights lack transformer.ln_f.weight",
    ),
    "not numbers": (
        lambda path: edit_weights(path, lambda tensors: tensors["transformer.ln_f.weight"].fill_(torch.nan)),
        "logits are not numbers",
    ),
    "another kind": (lambda path: T5Config().save_pretrained(path), "not a causal language model .it is a T5"),
    "looks ahead": (looks_ahead, "not a causal language model: what it expects depends on words further on"),
    "unknown kind": (lambda path: edit_config(path, model_type="nonesuch"), "cannot be loaded"),
    "its own code": (with_code, "cannot be loaded"),
    "no end": (no_end, r"no end-of-text token \(eos_token\)"),
    "more tokens": (more_tokens, r"the tokenizer has a token \d+, the network only \d+ tokens"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_directories(name: str, good: Path, tmp_path: Path, capfd: Any) -> None:
    directory = tmp_path / "bad"
    shutil.copytree(good, directory)
    spoil, message = BAD[name]
    spoil(directory)
    capfd.readouterr()
    with pytest.raises(BadModel, match=message) as caught:
        load_huggingface(directory)
    text = str(caught.value)
    assert "bad: " in text
    assert "\n" not in text
    assert len(text) < 400
    assert not (directory / "ran").exists()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/place", "a/b/c", "~nobody-at-all"])
def test_no_such_directory(name: str) -> None:
    with pytest.raises(BadModel, match="no such directory; give that of a Hugging Face model"):
        load_huggingface(name)


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadModel, match="file: not a directory"):
        load_huggingface(tmp_path / "file")


def test_a_masked_model_is_no_causal_one(tmp_path: Path) -> None:
    tokenizer = word_pieces(["the", "cat"], lower=True)
    with pytest.raises(BadModel, match=r"no end-of-text token"):
        load_huggingface(saved(tmp_path / "bert", tokenizer, bert(tokenizer)))
