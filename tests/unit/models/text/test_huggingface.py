"""Causal language models of Hugging Face: the same numbers as transformers called by hand, and errors in one line."""

import shutil
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer

from cgmh.errors import BadInput, BadModel, MissingExtra
from cgmh.laws import check_text_model
from cgmh.models.text.huggingface import HuggingFaceModel, load_huggingface
from tiny_transformers import BEGIN, CONTEXT, END, byte_pairs, gpt2, llama, saved
from toy_text import sentences

torch.set_num_threads(1)

ODD = ["", "a", "The", " two  spaces ", 'He said "no".', "👍 Zürich", "x" * 50, "It's 10:30!", "…", "ß\u0301"]
TEXTS = [*sentences("english", 60), *sentences("greek", 30, seed=1), *ODD]


@pytest.fixture(scope="module")
def directories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """GPT-2, whose texts begin and end with the same token, and a Llama with a begin of its own."""
    root, plain, marked = tmp_path_factory.mktemp("models"), byte_pairs(), byte_pairs(BEGIN)
    return {"gpt2": saved(root / "gpt2", plain, gpt2(plain)), "llama": saved(root / "llama", marked, llama(marked))}


@pytest.fixture(params=["gpt2", "llama"])
def directory(request: pytest.FixtureRequest, directories: dict[str, Path]) -> Path:
    return directories[request.param]


@cache
def reference(directory: Path) -> tuple[Any, Any]:
    return AutoTokenizer.from_pretrained(directory), AutoModelForCausalLM.from_pretrained(directory)


@torch.no_grad()
def by_hand(directory: Path, text: str, change: Callable[[list[int]], list[int]] = lambda ids: ids) -> float:
    """log p(text) with nothing of ours: one text, no padding; `change` makes a mistake."""
    tokenizer, network = reference(directory)
    begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    ids = change([begin, *tokenizer.encode(text, add_special_tokens=False), tokenizer.eos_token_id])
    log_probs = network(torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)
    return sum(float(log_probs[at, word]) for at, word in enumerate(ids[1:]))


def test_the_numbers_of_transformers(directory: Path) -> None:
    assert len(TEXTS) == 100
    log_probs = load_huggingface(directory).log_prob(TEXTS)
    wanted = torch.tensor([by_hand(directory, text) for text in TEXTS], dtype=torch.float64)
    torch.testing.assert_close(log_probs, wanted, rtol=0, atol=1e-4)
    assert len(set(log_probs.tolist())) > 80


@pytest.mark.parametrize(
    "change",
    [lambda ids: ids[:-1], lambda ids: ids[1:], lambda ids: [ids[0], *ids], lambda ids: [*ids, ids[-1]]],
    ids=["no end", "no begin", "begins twice", "ends twice"],
)
def test_a_mistake_would_be_seen(directory: Path, change: Callable[[list[int]], list[int]]) -> None:
    log_probs = load_huggingface(directory).log_prob(TEXTS[:20])
    wrong = torch.tensor([by_hand(directory, text, change) for text in TEXTS[:20]])
    assert float((log_probs - wrong).abs().min()) > 0.01


@torch.no_grad()
def test_a_text_after_other_lines(directory: Path) -> None:
    context, (tokenizer, network) = TEXTS[:3], reference(directory)
    newline = tokenizer.encode("\n", add_special_tokens=False)[-1]
    begin = tokenizer.eos_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id
    lead = [begin]
    for line in context:
        lead += [*tokenizer.encode(line, add_special_tokens=False), newline]
    model = load_huggingface(directory)
    after = model.after(context).log_prob(TEXTS[3:23])
    for text, log_prob in zip(TEXTS[3:23], after.tolist(), strict=True):
        ids = [*lead, *tokenizer.encode(text, add_special_tokens=False), newline]
        log_probs = network(torch.tensor([ids[:-1]])).logits[0].log_softmax(-1)
        wanted = sum(float(log_probs[at - 1, ids[at]]) for at in range(len(lead), len(ids)))
        assert log_prob == pytest.approx(wanted, abs=1e-4)
    assert float((after - model.log_prob(TEXTS[3:23])).abs().min()) > 0.01  # it makes a difference


def test_the_laws(directory: Path) -> None:
    model = load_huggingface(str(directory))
    check_text_model(model, TEXTS[::5], tolerance=1e-4)
    assert model.name == directory.name


def test_answers_can_be_changed_in_place(directory: Path) -> None:
    """As the sampler does: no inference tensors."""
    log_probs = load_huggingface(directory).log_prob(["The dog.", "Snow."])
    log_probs[0] = 1.0
    assert log_probs[0] == 1


def test_a_special_token_in_a_text_is_letters(directories: dict[str, Path]) -> None:
    model = load_huggingface(directories["gpt2"])
    (tokens,) = model._encode([f"Snow {END}"])
    assert len(tokens) > 2
    assert model.end not in tokens


def test_batches_are_bounded(directories: dict[str, Path]) -> None:
    model = load_huggingface(directories["gpt2"])
    model._pretrained.num_tokens = 60
    seen = watch(model)
    whole = load_huggingface(directories["gpt2"]).log_prob(TEXTS)
    torch.testing.assert_close(model.log_prob(TEXTS), whole, rtol=0, atol=1e-4)
    assert max(rows * columns for rows, columns in seen if rows > 1) <= 60
    assert sum(rows for rows, _ in seen) == len(set(TEXTS))
    seen.clear()
    model.log_prob(["Snow."] * 50)
    assert [rows for rows, _ in seen] == [1]  # distinct texts only


def watch(model: HuggingFaceModel, most_rows: int = 10**9, fail: Callable[[], Any] = lambda: None) -> list[Any]:
    """The shapes of the batches; one of too many rows fails."""
    seen: list[Any] = []

    def before(_network: Any, _args: Any, settings: dict[str, Tensor]) -> None:
        if len(settings["input_ids"]) > most_rows:
            fail()
        seen.append(tuple(settings["input_ids"].shape))

    model._pretrained.network.register_forward_pre_hook(before, with_kwargs=True)
    return seen


def no_memory_on_the_gpu() -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 1.00 GiB.")


FAILS = [no_memory_on_the_gpu, lambda: torch.empty(1 << 60, dtype=torch.uint8)]  # the second really asks for it


@pytest.mark.parametrize("fail", FAILS, ids=["gpu", "cpu"])
def test_out_of_memory_halves_the_batch(directories: dict[str, Path], fail: Callable[[], Any]) -> None:
    model = load_huggingface(directories["gpt2"])
    whole = model.log_prob(TEXTS)
    seen = watch(model, 3, fail)
    torch.testing.assert_close(model.log_prob(TEXTS), whole, rtol=0, atol=1e-4)
    assert max(rows for rows, _ in seen) == 3


@pytest.mark.parametrize("fail", FAILS, ids=["gpu", "cpu"])
def test_out_of_memory_for_one_text(directories: dict[str, Path], fail: Callable[[], Any]) -> None:
    model = load_huggingface(directories["gpt2"])
    watch(model, 0, fail)
    with pytest.raises(BadModel, match=r"gpt2: not enough memory for one text of 5[0-9] tokens; use a smaller model"):
        model.log_prob(["x" * 50, "x"])


def test_other_errors_are_not_taken_for_it(directories: dict[str, Path]) -> None:
    model = load_huggingface(directories["gpt2"])

    def fail() -> None:
        raise RuntimeError("something else")

    watch(model, 0, fail)
    with pytest.raises(RuntimeError, match="something else"):
        model.log_prob(["x"])


def test_a_text_that_is_too_long(directory: Path) -> None:
    model = load_huggingface(directory)
    long = "~" * (CONTEXT - 1)
    assert by_hand(directory, long) == pytest.approx(float(model.log_prob([long])), abs=1e-3)  # just fits
    with pytest.raises(BadInput, match=f"{CONTEXT} tokens; {directory.name} reads at most {CONTEXT - 1}: shorten"):
        model.log_prob(["Snow.", long + "~"])


def test_a_text_that_is_none(directories: dict[str, Path]) -> None:
    with pytest.raises(BadInput, match="not valid text; save it as UTF-8"):
        load_huggingface(directories["gpt2"]).log_prob([b"caf\xe9".decode("utf-8", "surrogateescape")])


def test_a_tokenizer_with_more_special_tokens(directories: dict[str, Path], tmp_path: Path) -> None:
    """As for chats: no text can have them, so it does not matter that the network lacks them."""
    directory = tmp_path / "chat"
    shutil.copytree(directories["gpt2"], directory)
    tokenizer = byte_pairs()
    tokenizer.add_special_tokens({"pad_token": "<|pad|>"})
    tokenizer.save_pretrained(directory)
    log_probs = load_huggingface(directory).log_prob([*TEXTS[:5], "<|pad|>"])
    torch.testing.assert_close(log_probs, load_huggingface(directories["gpt2"]).log_prob([*TEXTS[:5], "<|pad|>"]))


def test_loading_is_silent(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    load_huggingface(directory).log_prob(["x " * 30])
    assert capfd.readouterr() == ("", "")


def test_missing_transformers(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtra, match=r"transformers is not installed; run: pip install 'cgmh\[hf\]'"):
        load_huggingface(directory)
