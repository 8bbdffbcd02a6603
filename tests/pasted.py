"""Texts as they come out of PDFs, word processors and chats: other characters, the same words."""

import unicodedata
from random import Random

from hypothesis import strategies as st

LIGATURES = {"ffi": "ﬃ", "ffl": "ﬄ", "ff": "ﬀ", "fi": "ﬁ", "fl": "ﬂ", "...": "…"}
UNSEEN = ["\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u2060", "\u2069", "\ufeff"]
BLANKS = ["\u00a0", "\u202f", "\u2009", "\u3000", "  ", "\t"]
MARKS = {"'": ["’", "ʼ"], '"': ["“", "”", "„", "＂"], "-": ["\u2010", "\u2011", "–", "−"]}


def forms(c: str) -> list[str]:
    """What may be typed or pasted in place of a character of plain text."""
    if c == " ":
        return BLANKS
    others = MARKS.get(c, [])
    if c.isascii() and c.isalnum():
        bold = {"0": 0x1D7CE, "a": 0x1D41A, "A": 0x1D400}
        first = "0" if c.isdigit() else "a" if c.islower() else "A"
        others = [chr(ord(c) + 0xFEE0), chr(bold[first] + ord(c) - ord(first))]
    elif c.isascii() and c.isprintable() and c != ".":  # what three full-width stops are is a question of taste
        others = [*others, chr(ord(c) + 0xFEE0)]
    parts = unicodedata.normalize("NFD", c)
    return [*others, *([parts] if parts != c else [])]


def disguise(text: str, random: Random) -> str:
    """The same text, some of its characters in other forms, with some in between that cannot be seen."""
    pasted = ""
    at = 0
    while at < len(text):
        part = next((plain for plain in LIGATURES if text.startswith(plain, at)), "")
        if part and random.random() < 0.5:
            pasted += LIGATURES[part]
        else:
            part = text[at]
            pasted += random.choice([part, part, part, *forms(part)])
        if part.isascii() and part.isalpha() and random.random() < 0.1:
            pasted += random.choice(UNSEEN)
        at += len(part)
    return pasted


WORDS = (
    "the The office first floor fluff café naïve don't can't it's two prices is are high we go said well-known 12 "
    '3.5 U.S. Mr. Paris , . ! ? ... " ( ) 👍🏽 👨\u200d👩\u200d👧 ❤️ 🏴\U000e0067\U000e0062\U000e007f x² ½ ℹ️ 1️⃣ \uf0b7'
).split()
JUNK = st.one_of(
    st.sampled_from(
        [*WORDS, *LIGATURES.values(), *UNSEEN, *BLANKS, *"\n\f\v\x85\u2028'`´’“”«»-–—.·•*#()0９ａＡ𝐚\u0301ا"]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=3),
)
# Of any characters, most of them such as are pasted.
SCRAPS = st.lists(JUNK, max_size=24).map("".join)
PLAIN = st.lists(st.sampled_from(WORDS), min_size=2, max_size=9).map(" ".join)
# A plain text, and the same as it may be pasted.
PAIRS = st.builds(lambda plain, seed: (plain, disguise(plain, Random(seed))), PLAIN, st.integers(0, 2**32))
