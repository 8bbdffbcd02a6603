"""Word vectors and the encoder, saved and loaded; what ships with the package keeps the contract."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from cgmh.errors import BadModel
from cgmh.models.meaning.vectors import TABLES, WORDS, Encoder, Meaning, load_meaning, save_meaning

LISTED = ["the", "river", "zürich", "don't"]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    chance = torch.Generator().manual_seed(0)
    encoder = Encoder(len(LISTED) + 1, width=6, hidden=4, reach=3).requires_grad_(False)
    for parameter in encoder.parameters():
        parameter.copy_(torch.randn(parameter.shape, generator=chance))
    vectors = torch.randn(len(LISTED) + 1, 8, generator=chance)
    save_meaning(tmp_path, LISTED, vectors, torch.arange(5.0) * 2, encoder.state_dict())
    torch.save({"vectors": vectors, "encoder": encoder.state_dict()}, tmp_path / "whole.pt")
    return tmp_path


def test_saved_and_loaded(saved: Path) -> None:
    whole = torch.load(saved / "whole.pt", weights_only=True)
    meaning = load_meaning(saved)
    assert meaning.rarity.tolist() == [0, 2, 4, 6, 8]
    expected = torch.nn.functional.normalize(whole["vectors"][1:].double(), dim=-1)
    torch.testing.assert_close(meaning.vectors[1:], expected, rtol=0, atol=0.02)  # int8
    assert not meaning.vectors[0].any()
    encoder = Encoder(5, 6, 4, 3).double().requires_grad_(False)
    encoder.load_state_dict(whole["encoder"])
    rows = torch.tensor([[1, 2, 3], [4, 4, 0]])
    assert float((meaning.encoder(rows) * encoder(rows)).sum(-1).min()) > 0.999


def test_a_word_in_any_casing_has_its_row(saved: Path) -> None:
    meaning = load_meaning(saved)
    assert meaning.rows(["the", "River", "ZÜRICH", "don't", "lake", ""]).tolist() == [1, 2, 3, 4, 0, 0]
    assert meaning.row("Lake") == 0


def test_loading_is_done_once(saved: Path) -> None:
    assert load_meaning(saved) is load_meaning(saved)


def _truncate(directory: Path) -> None:
    (directory / TABLES).write_bytes((directory / TABLES).read_bytes()[:100])


def _other_words(directory: Path) -> None:
    (directory / WORDS).write_bytes(gzip.compress(json.dumps([*LISTED, "one", "more"]).encode()))


def _no_json(directory: Path) -> None:
    (directory / WORDS).write_bytes(gzip.compress(b"{nothing"))


def _deep_json(directory: Path) -> None:
    (directory / WORDS).write_bytes(gzip.compress(b"[" * 100_000))


def _no_gzip(directory: Path) -> None:
    (directory / WORDS).write_bytes(b"words")


def _no_tables(directory: Path) -> None:
    (directory / TABLES).unlink()


@pytest.mark.parametrize("damage", [_truncate, _other_words, _no_json, _deep_json, _no_gzip, _no_tables])
def test_damaged_files_say_so(saved: Path, damage: Callable[[Path], None]) -> None:
    damage(saved)
    with pytest.raises(BadModel, match=r"(?s)cannot read the word vectors .*install the package again"):
        load_meaning(saved)


@pytest.fixture(scope="module")
def shipped() -> Meaning:
    return load_meaning()


def test_what_ships_has_vectors_of_length_1_or_none(shipped: Meaning) -> None:
    norms = shipped.vectors.norm(dim=-1)
    assert norms[0] == 0
    there = norms[1:][norms[1:] > 0]  # a few words have no vector of their own
    torch.testing.assert_close(there, torch.ones_like(there))
    assert len(there) > 0.95 * len(norms)
    assert len(shipped.vectors) == len(shipped.rarity) == len(shipped.encoder.table) > 1000
    assert bool((shipped.rarity[1:] > 0).all())


def test_what_ships_knows_common_words(shipped: Meaning) -> None:
    words = "the what movie question india good best way learn money people".split()
    assert all(shipped.row(word) > 0 for word in words)
    assert shipped.rarity[shipped.row("the")] < shipped.rarity[shipped.row("movie")]
    like, unlike = (
        float(shipped.vectors[shipped.row("movie")] @ shipped.vectors[shipped.row(other)]) for other in ("film", "tax")
    )
    assert like > unlike


def test_what_ships_encodes_and_is_not_trained_by_accident(shipped: Meaning) -> None:
    rows = shipped.rows("what movie do you like most".split())
    vector = shipped.encoder(torch.stack([rows, torch.zeros_like(rows)]))
    assert vector.dtype == torch.float64
    assert vector.norm(dim=-1).tolist() == pytest.approx([1, 1])
    assert not vector.requires_grad
    assert not shipped.encoder.training
