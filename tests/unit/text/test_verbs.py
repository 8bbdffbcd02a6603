"""Which sentences have a verb of their own."""

from pathlib import Path

import pytest

from cgmh.errors import BadModel
from cgmh.models.pull.store import EMBEDDED, VERBS
from cgmh.text.tokenizer import split
from cgmh.text.verbs import Verbs

ENGLISH = Verbs.load(EMBEDDED / VERBS)
WHOLE = [
    "The train was late.", "Snow falls on the mountain.", "He bought a car.", "Two kids play in the park.",
    "Please sit down.", "Put it on the table.", "It's raining.", "I highly recommend this place.", "There's a cat.",
    "The man who lives here is old.", "Is it late?", "The cat sat on the mat.",
]  # fmt: skip
FRAGMENTS = [
    "A letter from a friend of mine.", "Full moon rising over the sea.", "Cars, nights, and streets.",
    "A man who lives here.", "A pair of scissors sitting on a box.", "The old man and the sea.", "The dog's house.", "",
]  # fmt: skip


@pytest.mark.parametrize("text", WHOLE)
def test_a_whole_sentence_has_one(text: str) -> None:
    assert ENGLISH.finite_in(split(text))


@pytest.mark.parametrize("text", FRAGMENTS)
def test_a_fragment_has_none(text: str) -> None:
    assert not ENGLISH.finite_in(split(text))


def test_a_past_form_in_a_caption_says_how_something_looks() -> None:
    words = split("A man dressed in black.")
    assert ENGLISH.finite_in(words)
    assert not ENGLISH.finite_in(words, caption=True)
    assert ENGLISH.finite_in(split("A man dressed in black walks by."), caption=True)
    assert ENGLISH.finite_in(split("Then they walked away."), caption=True)


def test_they_come_back_from_a_file_and_damage_is_named(tmp_path: Path) -> None:
    verbs = Verbs({"jumps"}, {"jump"}, {"jumped"})
    verbs.save(tmp_path / VERBS)
    again = Verbs.load(tmp_path / VERBS)
    assert (set(again.singular), set(again.base), set(again.past)) == ({"jumps"}, {"jump"}, {"jumped"})
    (tmp_path / VERBS).write_bytes(b"no verbs")
    with pytest.raises(BadModel, match=VERBS):
        Verbs.load(tmp_path / VERBS)
