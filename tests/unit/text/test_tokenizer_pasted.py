"""Other forms of the same characters are read as the same words; what means something stays."""

import pytest
from hypothesis import example, given, settings

from cgmh.text.tokenizer import has_controls, normalize, split
from pasted import PAIRS, SCRAPS


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The oﬃce … ﬁrst ﬂoor diﬀers, muﬄed, ﬆop, ﬅop", "The office ... first floor differs, muffled, stop, stop"),
        ("Ｔｈｅ ｐｒｉｃｅ，１２．５％！", "The price,12.5%!"),
        ("ex\u00adam\u00adple wo\u200brd \u200eit\u200f \u2066so\u2069", "example word it so"),
        ("a\u2060b c\ufeffd e\u200df g\u200ch", "ab cd ef gh"),
        ("10\u00a0000\u202fkm\u2009or\u3000so\u2800now", "10 000 km or so now"),
        ("cafe\u0301 cafe\u00ad\u0301 A\u030angstro\u0308m", "café café Ångström"),
        ("well\u2010known well\u2011known 1990\u20122000 \u22125", "well-known well-known 1990-2000 -5"),
        ("donʼt ‚so‘ ‹go› ‟now”", "don't 'so' 'go' \"now\""),
        ("𝓯𝓪𝓷𝓬𝔂 𝐛𝐨𝐥𝐝 ℝ ﬁ\u0301n", "fancy bold R fín"),
        ("Ⅳ ĳs ŉ ſo", "IV ijs 'n so"),
        ("ｶﾞ ﻻ", "ガ لا"),
    ],
)  # fmt: skip
def test_forms_are_folded(text: str, plain: str) -> None:
    assert normalize(text) == plain
    assert split(text) == split(plain)


@pytest.mark.parametrize(
    "text",
    [
        "👨\u200d👩\u200d👧 👍🏽 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 ℹ\ufe0f ™",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",  # the flag of England
        "x² H₂O ½ ㎏ № ①",  # not x2, H2O, 1/2
        "می\u200cخواهم",
        "क्\u200dष",
        "ﷺ \uf0b7",
    ],
)  # fmt: skip
def test_what_means_something_stays(text: str) -> None:
    assert normalize(text) == text
    assert split(text) == text.split()


def test_a_joiner_joins_no_word_to_an_emoji() -> None:
    assert split("👍\u200dok") == ["👍\u200d", "ok"]


@settings(max_examples=300)
@given(PAIRS)
def test_what_is_pasted_has_the_words_of_the_plain_text(pair: tuple[str, str]) -> None:
    plain, pasted = pair
    assert split(pasted) == split(plain)


@settings(max_examples=300)
@given(SCRAPS)
@example("\U0002ebe1\u200c")
def test_what_is_normal_stays_so(text: str) -> None:
    once = normalize(text)
    assert normalize(once) == once
    assert split(once) == split(text)


def test_controls() -> None:
    assert not has_controls("a\tb\r\nc\fd\ve\x85 \uf0b7\u00ad\u200b")
    assert has_controls("a\x07")
    assert has_controls("a\ud800")
