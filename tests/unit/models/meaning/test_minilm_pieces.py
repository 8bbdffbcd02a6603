"""Word pieces against the tokenizers library, which trained models were made with."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import BertWordPieceTokenizer

from cgmh.errors import BadModel
from cgmh.models.meaning.minilm import PIECES, WordPieces, basic_words

OURS = WordPieces.load(PIECES)
LISTED = gzip.decompress(PIECES.read_bytes()).decode().splitlines()
THEIRS = BertWordPieceTokenizer({piece: number for number, piece in enumerate(LISTED)}, lowercase=True)
THEIRS._tokenizer.encode_special_tokens = True  # what a user types is text, never one of the model's own marks

TEXTS = [
    "What movie do you like most?",
    "I don't know what the U.S. Army's budget was in 2019 ($5.5bn).",
    "Zürich façade naïve ÅNGSTRÖM Ελλάδα Привет 你好,世界 日本語 한국어",
    "e\u0301le\u0300ve re\u0301sume\u0301",
    "tab\there\nand\u00a0there\u2003now\u200bhidden\x07bell",
    "unaffable antidisestablishmentarianism xqzwv " + "a" * 101 + " " + "b" * 100,
    "‘quoted’ “text” — dash … 50% #tag @you C++ a_b ~x ^y `z` |w| <t> = + $",
    "emoji 🙂 and \ufffd and ſ and İstanbul",
    "[UNK] typed, [CLS] and [SEP] [MASK] [PAD]",
    "",
    "   ",
]


@pytest.mark.parametrize("text", TEXTS)
def test_agrees_with_the_reference(text: str) -> None:
    assert OURS.encode(text, 10_000) == THEIRS.encode(text).ids


# Up to here every library of characters agrees; later ones were added to Unicode year by year.
@settings(max_examples=300)
@given(st.text(st.characters(max_codepoint=0x2FF) | st.sampled_from("—‘’“”…€₹你好한αβжü\u0301\u0327 "), max_size=40))
def test_agrees_with_the_reference_on_any_text(text: str) -> None:
    assert OURS.encode(text, 10_000) == THEIRS.encode(text).ids


def test_by_hand() -> None:
    pieces = WordPieces(["[UNK]", "[CLS]", "[SEP]", "un", "##able", "##ab", "##le", "a", "##f", "?"])
    assert pieces.encode("Unable?", 99) == [1, 3, 4, 9, 2]
    assert pieces.encode("af afx a", 99) == [1, 7, 8, 0, 7, 2]  # a word with a rest that is no piece is unknown
    assert basic_words("Ünable-a?") == ["unable", "-", "a", "?"]


def test_marks_that_are_typed_are_text() -> None:
    numbers = OURS.encode("[SEP] [UNK] [CLS]", 99)
    assert numbers.count(OURS.first) == numbers.count(OURS.last) == 1
    assert OURS.unknown not in numbers


def test_a_long_text_is_cut_and_closed() -> None:
    numbers = OURS.encode("what " * 300, 256)
    assert len(numbers) == 256
    assert (numbers[0], numbers[-1]) == (OURS.first, OURS.last)
    assert numbers[1:-1] == OURS.encode("what " * 254, 256)[1:-1]


def test_lists_that_cannot_be_used(tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=r"lacks \[SEP\]"):
        WordPieces(["[UNK]", "[CLS]"])
    damaged = tmp_path / "pieces.txt.gz"
    damaged.write_bytes(PIECES.read_bytes()[:1000])
    for path in (damaged, tmp_path / "none.txt.gz"):
        with pytest.raises(BadModel, match="cannot read the word pieces"):
            WordPieces.load(path)


def test_what_ships_is_the_list_of_the_uncased_bert() -> None:
    assert len(LISTED) == 30522
    assert [LISTED[number] for number in (0, 100, 101, 102, 2054, 1029)] == [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "what",
        "?",
    ]
