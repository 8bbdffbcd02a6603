"""Our Llama: the numbers of transformers, whatever stands beside a text; and errors in one line."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import LlamaConfig as TheirConfig
from transformers import LlamaForCausalLM

from cgmh.errors import BadInput, BadModel
from cgmh.laws import check_text_model
from cgmh.models.protocols import ContextModel, PrefixModel, TextModel
from cgmh.models.text.llama import LlamaModel, load_llama
from llama_toys import CONFIG, END, random_tensors, toy_llama
from toy_text import sentences

torch.set_num_threads(1)

ODD = ["a", "The", " two  spaces ", 'He said "no".', "👍 Zürich", "x" * 50, "It's 10:30!", "…", "ß\u0301", "\n"]
TEXTS = [*sentences("english", 60), *sentences("greek", 30, seed=1), *ODD]
CONTEXT = ["Some sentences:", "The cat sat.", "Snow fell."]
PARTS = {
    "q": "self_attn.q_proj", "k": "self_attn.k_proj", "v": "self_attn.v_proj", "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj", "up": "mlp.up_proj", "down": "mlp.down_proj", "attention_norm": "input_layernorm",
    "feed_norm": "post_attention_layernorm", "table": "embed_tokens", "norm": "norm",
}  # fmt: skip


class Norm(nn.Module):
    """As theirs, without the way through float32."""

    def __init__(self, weight: Tensor, epsilon: float) -> None:
        super().__init__()
        self.weight, self.epsilon = weight, epsilon

    def forward(self, hidden: Tensor) -> Tensor:
        return self.weight * hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.epsilon)


class Rotary(nn.Module):
    """As theirs, in float64."""

    def forward(self, hidden: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        width = CONFIG.head_width
        rates = 1.0 / CONFIG.rope_base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)
        angles = (position_ids[..., None] * rates).repeat(1, 1, 2)  # [1,T,D]
        return angles.cos(), angles.sin()


@cache
def reference(dtype: torch.dtype) -> LlamaForCausalLM:
    """Transformers' network with our weights; in float64, all of it is."""
    config = TheirConfig(
        vocab_size=CONFIG.num_tokens, hidden_size=CONFIG.width, intermediate_size=CONFIG.hidden,
        num_hidden_layers=CONFIG.layers, num_attention_heads=CONFIG.heads, num_key_value_heads=CONFIG.kv_heads,
        rms_norm_eps=CONFIG.epsilon, rope_parameters={"rope_type": "default", "rope_theta": CONFIG.rope_base},
        tie_word_embeddings=True, bos_token_id=END, eos_token_id=END,
    )  # fmt: skip
    network = LlamaForCausalLM(config)
    theirs = {}
    for name, tensor in random_tensors().items():
        *layer, part = name.split(".")
        theirs[".".join(["model", *layer, PARTS[part], "weight"])] = tensor
    network.load_state_dict({**theirs, "lm_head.weight": theirs["model.embed_tokens.weight"]}, strict=True)
    if dtype == torch.float64:
        network.double()
        for name, module in list(network.named_modules()):
            if type(module).__name__ == "LlamaRMSNorm":
                owner = network.get_submodule(name.rpartition(".")[0])
                setattr(owner, name.rpartition(".")[2], Norm(module.weight, CONFIG.epsilon))
        network.model.rotary_emb = Rotary()
    return network.eval()


@torch.no_grad()
def by_hand(text: str, dtype: torch.dtype = torch.float64, context: list[str] | None = None, **change: Any) -> float:
    """log p(text) by transformers: one text, no padding; `change` makes a mistake."""
    encode = toy_llama().tokenizer.encode
    lines = encode("".join(f"{line}\n" for line in context or []))
    ids = [END, *lines, *encode(text), lines[-1] if lines else END]
    log_probs = reference(dtype)(torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)
    last = len(ids) - change.get("leave_out", 0)
    return sum(float(log_probs[at - 1, ids[at]]) for at in range(1 + len(lines), last))


@cache
def _wanted(dtype: torch.dtype, with_context: bool) -> Tensor:
    lines = CONTEXT if with_context else None
    return torch.tensor([by_hand(text, dtype, lines) for text in TEXTS], dtype=torch.float64)


def wanted(dtype: torch.dtype = torch.float64, *, with_context: bool = False) -> Tensor:
    """[100]: what transformers says."""
    return _wanted(dtype, with_context)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-8), (torch.float32, 1e-3)])
@pytest.mark.parametrize("with_context", [False, True])
def test_the_numbers_of_transformers(dtype: torch.dtype, tolerance: float, with_context: bool) -> None:
    assert len(TEXTS) == 100
    model = toy_llama(dtype=dtype)
    log_probs = (model.after(CONTEXT) if with_context else model).log_prob(TEXTS)
    assert log_probs.dtype == torch.float64
    torch.testing.assert_close(log_probs, wanted(dtype, with_context=with_context), rtol=0, atol=tolerance)
    assert len(set(log_probs.tolist())) > 90


def test_the_context_counts() -> None:
    assert float((wanted() - wanted(with_context=True)).abs().min()) > 1e-4
    model = toy_llama()
    assert torch.equal(model.after([]).log_prob(TEXTS), model.log_prob(TEXTS))
    assert torch.equal(model.after(CONTEXT).after([]).log_prob(TEXTS), model.log_prob(TEXTS))


def swapped(name: str) -> dict[str, Tensor]:
    """Weights with the first two heads of a matrix exchanged."""
    tensors, width = random_tensors(), CONFIG.head_width
    order = [*range(width, 2 * width), *range(width), *range(2 * width, len(tensors[name]))]
    return {**tensors, name: tensors[name][order]}


@pytest.mark.parametrize(
    "mistaken",
    [
        lambda: toy_llama(replace(CONFIG, rope_base=501.0)),
        lambda: toy_llama(replace(CONFIG, epsilon=1.1e-3)),
        lambda: toy_llama(tensors=swapped("layers.1.k")),
        lambda: toy_llama(tensors=swapped("layers.0.q")),
        lambda: toy_llama(tensors={**random_tensors(), "layers.1.up": random_tensors()["layers.1.gate"]}),
    ],
    ids=["rope", "epsilon", "keys", "queries", "up"],
)
def test_a_mistake_would_be_seen(mistaken: Callable[[], LlamaModel]) -> None:
    assert float((mistaken().log_prob(TEXTS) - wanted()).abs().median()) > 1e-5


def test_a_missing_end_would_be_seen() -> None:
    endless = torch.tensor([by_hand(text, leave_out=1) for text in TEXTS])
    assert float((toy_llama().log_prob(TEXTS) - endless).abs().min()) > 0.1


def test_what_it_is() -> None:
    model = toy_llama()
    assert isinstance(model, TextModel)
    assert isinstance(model, PrefixModel)
    assert isinstance(model, ContextModel)
    check_text_model(model, TEXTS[::7], tolerance=1e-10)
    check_text_model(toy_llama(dtype=torch.float32), TEXTS[::7], tolerance=1e-4)


FAMILY = ["The cat", "The cat sat.", "The cat", "The", "The cat sat", "The cats", "T", "the cat", "Thc", "The cat sat."]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_neighbours_do_not_matter(dtype: torch.dtype) -> None:
    """Texts that begin alike, that begin another one, that stand there twice, in any order and any batch."""
    model, tolerance = toy_llama(dtype=dtype), 1e-9 if dtype == torch.float64 else 1e-4
    mixed = [*FAMILY, *TEXTS, *FAMILY[::-1]]
    alone = torch.cat([model.log_prob([text]) for text in mixed])
    torch.testing.assert_close(model.log_prob(mixed), alone, rtol=0, atol=tolerance)
    torch.testing.assert_close(model.log_prob(mixed[::-1]), alone.flip(0), rtol=0, atol=tolerance)
    tokens = sum(len(model.encode(text)) for text in mixed)
    assert tokens > 2000  # several batches
    log_probs = model.log_prob(FAMILY)
    assert log_probs[0] == log_probs[2]
    assert len(set(log_probs.tolist())) == len(set(FAMILY))


def test_threads_do_not_matter() -> None:
    model = toy_llama()
    try:
        torch.set_num_threads(2)
        log_probs = model.log_prob(TEXTS)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    torch.testing.assert_close(log_probs, wanted(), rtol=0, atol=1e-8)


def one_line(error: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(error) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_texts_that_cannot_be_read() -> None:
    model = toy_llama()
    assert "'': 0 tokens; toy reads from 1 to 511" in one_line(BadInput, lambda: model.log_prob(["a", ""]))
    assert model.log_prob(["x" * 511]).isfinite().all()
    assert "512 tokens" in one_line(BadInput, lambda: model.log_prob(["x" * 512]))
    assert "0 tokens" in one_line(BadInput, lambda: model.begin([""]))
    cache = model.begin(["The cat"])
    assert "600 tokens" in one_line(BadInput, lambda: model.extend(cache, torch.tensor([0]), ["x" * 600]))
    assert "at most 256" in one_line(BadInput, lambda: model.after(["x" * 300]))
    assert model.after(["x" * 200]).log_prob(["y" * (511 - 201)]).isfinite().all()
    assert "reads from 1 to 310" in one_line(BadInput, lambda: model.after(["x" * 200]).log_prob(["y" * 311]))


def test_a_directory(llama_directory: Path) -> None:
    exact, usual = (
        load_llama(llama_directory, precision=precision).log_prob(TEXTS) for precision in ("float64", "float32")
    )
    torch.testing.assert_close(exact, usual, rtol=0, atol=1e-3)
    rough = load_llama(llama_directory, precision="bfloat16")
    assert float((rough.log_prob(TEXTS) - exact).abs().mean()) < 1
    assert rough.name.startswith("tiny-")
    assert rough.name.endswith("-bfloat16")
    assert "precision float16: choose one of" in one_line(
        BadInput, lambda: load_llama(llama_directory, "cpu", "float16")
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="the device is there")
def test_a_device_that_is_not_there(llama_directory: Path) -> None:
    assert "CUDA" in one_line(BadModel, lambda: load_llama(llama_directory, "cuda"))


def damaged(directory: Path, **changes: Any) -> None:
    record = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    record["network"] |= changes.pop("network", {})
    record |= changes
    (directory / "config.json").write_text(json.dumps(record), encoding="utf-8")


def new_weights(directory: Path, change: Callable[[dict[str, Tensor]], None]) -> None:
    """Other weights, with the right checksum."""
    file = directory / "weights.safetensors"
    tensors = load_file(file)
    change(tensors)
    save_file(tensors, file)
    record = json.loads((directory / "config.json").read_text(encoding="utf-8"))
    damaged(directory, sha256=record["sha256"] | {file.name: hashlib.sha256(file.read_bytes()).hexdigest()})


def cut(directory: Path, name: str) -> None:
    (directory / name).write_bytes((directory / name).read_bytes()[:-5])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no configuration": lambda path: (path / "config.json").unlink(),
    "no weights": lambda path: (path / "weights.safetensors").unlink(),
    "no tokenizer": lambda path: (path / "tokenizer.json").unlink(),
    "half a configuration": lambda path: cut(path, "config.json"),
    "half the weights": lambda path: cut(path, "weights.safetensors"),
    "half a tokenizer": lambda path: cut(path, "tokenizer.json"),
    "a list": lambda path: (path / "config.json").write_text("[]"),
    "another format": lambda path: damaged(path, format="cgmh-llama-0"),
    "no checksum": lambda path: damaged(path, sha256={}),
    "another field": lambda path: damaged(path, network={"experts": 8}),
    "a number that is text": lambda path: damaged(path, network={"layers": "two"}),
    "another width": lambda path: damaged(path, network={"width": 32}),
    "other heads": lambda path: damaged(path, network={"kv_heads": 4}),
    "more layers": lambda path: damaged(path, network={"layers": 3}),
    "more tokens": lambda path: damaged(path, network={"num_tokens": 1000}),
    "no boundary": lambda path: damaged(path, boundary=None),
    "a boundary that is no token": lambda path: damaged(path, boundary=10**6),
    "no heads": lambda path: damaged(path, network={"heads": 0}),
    "another tokenizer": lambda path: (path / "tokenizer.json").write_text('{"tokens": ["a"], "merges": []}'),
    "no scale": lambda path: new_weights(path, lambda tensors: tensors.pop("layers.0.q.scale")),
    "no matrix": lambda path: new_weights(path, lambda tensors: tensors.pop("layers.1.down")),
    "a short norm": lambda path: new_weights(path, lambda tensors: tensors.update(norm=torch.ones(7))),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_directory(llama_directory: Path, tmp_path: Path, name: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(llama_directory, copy)
    assert load_llama(copy).log_prob(["a"]).isfinite().all()
    DAMAGES[name](copy)
    message = one_line(BadModel, lambda: load_llama(copy))
    assert message.startswith(str(copy))
    assert ("cgmh models list" if name == "no configuration" else "pull") in message


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b"{}", b'{"tokens": ["a"]}', b'{"tokens": 3, "merges": []}',
     b'{"tokens": ["a"], "merges": [3]}', b'{"tokens": [["a"]], "merges": []}',
     b"[" * 100_000],
)  # fmt: skip
def test_a_file_that_is_no_tokenizer(llama_directory: Path, tmp_path: Path, content: bytes) -> None:
    copy = shutil.copytree(llama_directory, tmp_path / "copy")
    (copy / "tokenizer.json").write_bytes(content)
    record = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    damaged(copy, sha256=record["sha256"] | {"tokenizer.json": hashlib.sha256(content).hexdigest()})
    message = one_line(BadModel, lambda: load_llama(copy))
    assert message.startswith(f"{copy}: cannot be loaded (")
    assert message.endswith("; pull the model again")
