"""Byte pairs against the `tokenizers` library, with merges that it learned; and that nothing typed is special."""

import json
from itertools import chain
from unicodedata import category, ucd_3_2_0

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from cgmh.errors import BadInput
from cgmh.models.text.bpe import BytePairs, pieces
from toy_text import sentences

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
EVERYDAY = [
    "The snow on the mountain melted early this year.",
    "It's fine, they're late; we'll see what I've done, she'd said 'yes' and I'm sure he can't.",
    "IT'S NOT THE SAME 'S OR ''s as ' s.",
    "Call 555-0199 at 10:30, room 12b, for $1,234.50 (or 3rd floor).",
    'He said "no" -- and “left”… then—again–came back!?',
    "e-mail me@example.org, see https://example.org/a_b?c=1#d",
    "The the THE then thereof other",
]
UNICODE = [
    "café, cafe\u0301, naïve Zürich ß\u0301 Ωμέγα ЖЗ",
    "中文 日本語、テスト。한국어",
    "👍🏽 👩\u200d👩\u200d👧 🇫🇷 a👍b",
    "½ ² x² ½b Ⅷ ① ٣٤ ۵ १२ 1٣½",
    "one\ttwo\t\tthree\n\nfour \n five\r\nsix  seven   eight    9   10",
    "  leading", "trailing  ", "  ", " ", "\t", "\n", "a\u00a0b\u3000c\u2003d\u0085e\u2028f",
    "\x1c\x1d\x1e\x1f a\x1cb \x00 \x7f",
    "ʼs ’s 's `s ´t 'ſ", "_under_score_ __init__", "हिन्दी में ก็ไทย", "\u200b\u200d\ufeff\u00ad",
]  # fmt: skip
TYPED_SPECIALS = [special + tail for special in SPECIALS for tail in ("", "x", " ")] + ["a<|endoftext|>b", "<|end"]


def splits() -> pre_tokenizers.PreTokenizer:
    """As SmolLM2 has them."""
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True),
        ]
    )


def learned() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = splits()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=900, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator([*sentences("english", 200), *sentences("greek", 100), *EVERYDAY * 3], trainer)
    return tokenizer


LEARNED = learned()
MODEL = json.loads(LEARNED.to_str())["model"]
TOKENS = sorted(MODEL["vocab"], key=MODEL["vocab"].__getitem__)
PAIRS = [tuple(pair) for pair in MODEL["merges"]]
OURS = BytePairs(TOKENS, [" ".join(pair) for pair in PAIRS])
# The specials are tokens like any others here, and no merge makes them.
THEIRS = Tokenizer(models.BPE(vocab=MODEL["vocab"], merges=PAIRS))
THEIRS.pre_tokenizer = splits()


def their_pieces(text: str) -> list[str]:
    return [text[start:end] for _, (start, end) in THEIRS.pre_tokenizer.pre_tokenize_str(text)]


def test_the_merges_are_real() -> None:
    assert len(PAIRS) > 300
    assert [TOKENS.index(special) for special in SPECIALS] == [0, 1, 2]
    assert len(OURS.encode(EVERYDAY[0])) < len(EVERYDAY[0]) / 2


@pytest.mark.parametrize("text", [*EVERYDAY, *UNICODE, *TYPED_SPECIALS, ""])
def test_parity(text: str) -> None:
    assert pieces(text) == their_pieces(text)
    assert OURS.encode(text) == THEIRS.encode(text).ids


def test_parity_on_many_sentences() -> None:
    texts = [*sentences("english", 300, seed=1), *sentences("greek", 300, seed=1)]
    assert [OURS.encode(text) for text in texts] == [encoding.ids for encoding in THEIRS.encode_batch(texts)]


# Characters as old as Unicode 3.2 are known to Python and to the library whatever their versions; of the ideographs
# and syllables, which are all alike, a few.
KNOWN = [
    character
    for character in map(chr, chain(range(0x3400), range(0x3400, 0xD800, 197), range(0xE000, 0x20000)))
    if ucd_3_2_0.category(character) not in ("Cn", "Co")
]


def test_every_kind_of_character_is_split_off_in_the_same_places() -> None:
    assert len(KNOWN) > 10_000
    assert len({category(character) for character in KNOWN}) == 27  # all but Cn, Co and Cs
    texts = [f"a{c}. {c}{c}1 '{c}s {c}" for c in KNOWN]
    assert [text for text in texts if pieces(text) != their_pieces(text)] == []


ODD = st.sampled_from([*"a b  1½²'\"-.\tsréS٣中👍Ⅷ\u00a0\u0301\x1f\n", "'s", "'ll", " '", "  ", *SPECIALS])


@settings(max_examples=400)
@given(st.lists(st.one_of(ODD, st.sampled_from(KNOWN)), max_size=12).map("".join))
@example("a  1")
@example("'s's 's1's")
def test_parity_on_any_text(text: str) -> None:
    parts = pieces(text)
    assert parts == their_pieces(text)
    assert "".join(parts) == text
    ids = OURS.encode(text)
    assert ids == THEIRS.encode(text).ids
    assert not {0, 1, 2} & set(ids)


def test_nothing_typed_is_special() -> None:
    for text in TYPED_SPECIALS:
        assert not {0, 1, 2} & set(OURS.encode(text))
    # Negative control: as the library reads it by default, it is.
    assert LEARNED.encode(TYPED_SPECIALS[0]).ids == [0]


def test_a_mistake_would_be_seen() -> None:
    text = EVERYDAY[0]
    backwards = BytePairs(TOKENS, [" ".join(pair) for pair in PAIRS[::-1]])
    assert backwards.encode(text) != THEIRS.encode(text).ids
    other = Tokenizer(models.BPE(vocab=MODEL["vocab"], merges=PAIRS))
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    number = "room  12"
    assert [number[start:end] for _, (start, end) in other.pre_tokenizer.pre_tokenize_str(number)] != pieces(number)


def test_what_is_no_text_is_a_question_mark() -> None:
    assert OURS.encode("\ud800") == OURS.encode("?")


def test_a_missing_token_is_told() -> None:
    with pytest.raises(BadInput, match="no token for 'b'"):
        BytePairs(["a"], []).encode("ab")


def test_a_long_word() -> None:
    assert OURS.encode("the" * 400) == THEIRS.encode("the" * 400).ids
