"""Words, ids, and the unknowns that stand for everything else."""

import json
from pathlib import Path

import pytest

from cgmh.errors import BadModel
from cgmh.text.vocabulary import END, SHAPES, SPECIALS, START, Vocabulary, is_counted, is_special, shape

WORDS = [*SPECIALS, "the", "dog", "Dog", "DOG", "mark", "Mark", ".", "<", "3"]


@pytest.fixture
def vocabulary() -> Vocabulary:
    return Vocabulary(WORDS, names=["mark"])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("blorf", "<lower>"),
        ("blorfs", "<lower-s>"),
        ("blorfed", "<lower-ed>"),
        ("blorfing", "<lower-ing>"),
        ("blorfly", "<lower-ly>"),
        ("bus", "<lower>"),
        ("ring", "<lower>"),
        ("Zürich", "<capital>"),
        ("A", "<capital>"),
        ("McDonald", "<capital>"),
        ("BMW", "<upper>"),
        ("U.S.", "<upper>"),
        ("1,234", "<number>"),
        ("½", "<symbol>"),
        ("RTX-4090", "<mixed>"),
        ("3rd", "<mixed>"),
        ("iPhone", "<mixed>"),
        ("👍🏽", "<symbol>"),
        ("—", "<symbol>"),
        ("日本", "<lower>"),
        ("don't", "<lower>"),
    ],
)
def test_shape_of_an_unknown(word: str, expected: str) -> None:
    assert shape(word) == expected
    assert expected in SHAPES


def test_id_is_the_place_or_the_unknown_of_the_shape(vocabulary: Vocabulary) -> None:
    assert vocabulary.id("dog") == WORDS.index("dog")
    assert vocabulary.id("BMW") == WORDS.index("<upper>")
    assert vocabulary.encode(["the", "cats", "<"]) == [WORDS.index(w) for w in ("the", "<lower-s>", "<")]
    assert len(vocabulary) == len(WORDS)


def test_typing_a_special_word_does_not_give_its_id(vocabulary: Vocabulary) -> None:
    assert vocabulary.id(END) == WORDS.index(shape(END))
    assert vocabulary.id("<upper>") != WORDS.index("<upper>")
    assert is_special(START)
    assert not is_special("<>")
    assert not is_special("<")


def test_special_ids_are_those_of_marks_and_unknowns(vocabulary: Vocabulary) -> None:
    assert vocabulary.special_ids == list(range(len(SPECIALS)))
    assert (vocabulary.start, vocabulary.end) == (0, 1)


def test_casings_are_every_known_form(vocabulary: Vocabulary) -> None:
    assert [vocabulary.words[at] for at in vocabulary.casings("dOg")] == ["dog", "Dog", "DOG"]
    assert vocabulary.casings("cat") == []
    assert vocabulary.casings(START) == []


def test_a_name_keeps_its_opening_capital(vocabulary: Vocabulary) -> None:
    assert vocabulary.is_ordinary("dog")
    assert not vocabulary.is_ordinary("mark")
    assert not vocabulary.is_ordinary("cat")


def test_saved_vocabulary_is_read_back(vocabulary: Vocabulary, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.json"
    vocabulary.save(path)
    loaded = Vocabulary.load(path)
    assert (loaded.words, loaded.names, loaded.ids) == (vocabulary.words, vocabulary.names, vocabulary.ids)


def test_a_vocabulary_holds_every_special_once() -> None:
    with pytest.raises(BadModel, match="lacks </s>"):
        Vocabulary([word for word in WORDS if word != END])
    with pytest.raises(BadModel, match="repeats a word"):
        Vocabulary([*WORDS, "dog"])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"3", b"\xff", b'{"words": []}', b'{"words": 3, "names": []}', b'{"words": [1], "names": []}'],
)
def test_a_file_that_is_no_vocabulary_is_named(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.json"
    path.write_bytes(content)
    with pytest.raises(BadModel, match=r"vocabulary\.json"):
        Vocabulary.load(path)
    with pytest.raises(BadModel, match=r"absent\.json"):
        Vocabulary.load(tmp_path / "absent.json")


def test_a_vocabulary_file_is_plain_json(vocabulary: Vocabulary, tmp_path: Path) -> None:
    vocabulary.save(tmp_path / "v.json")
    assert json.loads((tmp_path / "v.json").read_text(encoding="utf-8")) == {"words": WORDS, "names": ["mark"]}


def test_marks_are_not_counted() -> None:
    assert [word for word in ("the", "'s", ".", "X-9", "—", "don't", "10") if is_counted(word)] == [
        "the", "X-9", "don't", "10",
    ]  # fmt: skip
