"""Where the sentences and words of a text stand: the tokenizer's view of a text, traced back to what was typed."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .tokenizer import TERMINALS, normalize, split

Span = tuple[int, int]

_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_LABEL = re.compile(r"(?:\(?\d{1,3} ?[.)]|\(?[a-z] ?\)|[-*•·]) (?=\S)")  # of a list; no part of the sentence
_APART = re.compile(r"(?<=\w) (?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\S))", re.IGNORECASE)  # the blank of "ca n't"
_QUOTE = re.compile(r"(?<!\S)''(?!\S)")  # `` and '' of the Treebank, both normalised
_ELLIPSIS, _DASH = re.compile(r"\.+"), re.compile("-+|—")

_BRACKETS = {")": "(", "]": "[", "}": "{"}
_OPENING = frozenset("([{‘¿¡")
_CLOSING = frozenset(")]}'")
# Before a name these stand more often than at the end of a sentence, whatever their case.
_TITLES = frozenset("mr mrs ms dr prof st gen col capt lt sgt rev hon gov sen rep mt fig vs e.g i.e cf approx".split())
# After "U.S." only these tell a new sentence from a name.
_STARTERS = frozenset(
    "A After All Also An And Another As At Because Before But By Each Even Every Finally First For From He Her His "
    "How However I If In It Its Many Maybe Most Moreover My No Not Now On One Our People Perhaps She Since So Some "
    "Still That The Their Then There Therefore These They This Those Thus To Today Under Until We What When Where "
    "Which While Who Why With Yes You Your".split()
)
_SELF = frozenset("i i'm i've i'll i'd".split())  # typed small, yet a word that has a capital


@dataclass(frozen=True)
class Traced:
    """Normalised text that remembers, for each of its characters, the span of the original it came from."""

    text: str
    origins: tuple[Span, ...]

    def part(self, start: int, end: int) -> "Traced":
        return Traced(self.text[start:end], self.origins[start:end])


def trace(text: str, offset: int = 0) -> Traced:
    """`normalize` with the way back; `offset` is where the text begins in the original."""
    found = Traced(text, tuple((at, at + 1) for at in range(offset, offset + len(text))))
    while True:
        # Without its soft hyphen a letter may meet an accent that it composes with: once more, then.
        again = _normalize_once(found)
        if again.text == found.text:
            return again
        found = again


def _normalize_once(traced: Traced) -> Traced:
    text, origins = traced.text, traced.origins
    found: list[tuple[str, Span]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and _leans(text[end]):
            end += 1
        piece = _normalize_cluster(text[at:end])
        whole = (origins[at][0], origins[end - 1][1])
        same = len(piece) == end - at
        for place, c in enumerate(piece):
            if c != " " or (found and found[-1][0] != " "):
                found.append((c, origins[at + place] if same else whole))
        at = end
    if found and found[-1][0] == " ":
        found.pop()
    return Traced("".join(c for c, _ in found), tuple(span for _, span in found))


def _leans(c: str) -> bool:
    """Whether a character may compose with the one before it: accents, vowel signs, Hangul vowels and finals."""
    return not c.isascii() and (unicodedata.category(c)[0] == "M" or "\u1160" <= c <= "\u11ff")


@lru_cache(maxsize=4096)
def _normalize_cluster(cluster: str) -> str:
    return normalize(f'"{cluster}"')[1:-1]  # quotes compose with nothing, and a blank between them stays


def join_treebank(traced: Traced) -> Traced:
    """Contractions that the Treebank takes apart as one ("ca n't": can't), and its double quotes as a quote."""
    text, origins = list(traced.text), list(traced.origins)
    for match in _QUOTE.finditer(traced.text):
        at = match.start()
        text[at : at + 2] = '"', ""
        origins[at] = (origins[at][0], origins[at + 1][1])
    for match in _APART.finditer(traced.text):
        text[match.start()] = ""
    return Traced("".join(text), tuple(span for c, span in zip(text, origins, strict=True) if c))


def word_spans(traced: Traced, words: Sequence[str]) -> list[Span]:
    """The span in `traced.text` of each of its words, as `split` found them.

    The stop that an abbreviation at the end shares with its sentence has an empty span.
    """
    spans: list[Span] = []
    text, at = traced.text, 0
    for word in words:
        while at < len(text) and text[at] == " ":
            at += 1
        end = at + len(word)
        if not text.startswith(word, at) or word == "...":
            end = _end_of(word, text, at)
        spans.append((at, end))
        at = end
    return spans


def _end_of(word: str, text: str, at: int) -> int:
    """Where a word ends that `split` wrote in another way: a run of dots or of hyphens, an opening single quote."""
    for c in word.replace("...", "…"):
        while at < len(text) and text[at] == " ":
            at += 1
        run = _ELLIPSIS if c == "…" else _DASH if c == "—" else None
        match = run.match(text, at) if run else None
        at = match.end() if match else min(at + 1, len(text))
    return at


def find_sentences(text: str, most: int) -> Iterator[Traced]:
    """The sentences of a text, normalised. Newlines end one; so do terminals, where what follows looks like a start.

    Quotations and brackets stay whole, unless the sentence has more than `most` words and marks.
    """
    small = not any(c.isupper() for c in text)  # without capitals any word may open a sentence
    for line in _LINE.finditer(text):
        traced = join_treebank(trace(line.group(), line.start()))
        if label := _LABEL.match(traced.text):
            traced = traced.part(label.end(), len(traced.text))
        for sentence in _cut(traced, small=small, whole=True):
            if len(split(sentence.text)) > most:
                yield from _cut(sentence, small=small, whole=False)
            else:
                yield sentence


def _cut(traced: Traced, *, small: bool, whole: bool) -> Iterator[Traced]:
    words = split(traced.text)
    spans = word_spans(traced, words)
    inner, closing = _enclosed(words)
    start = 0
    for at in range(len(words) - 1):
        apart = spans[at][1] < spans[at + 1][0]
        if apart and not (whole and inner[at : at + 2] != [False, False]) and _ends(words, spans, at, closing, small):
            yield traced.part(start, spans[at][1])
            start = spans[at + 1][0]
    if words:
        yield traced.part(start, len(traced.text))


def _enclosed(words: Sequence[str]) -> tuple[list[bool], set[int]]:
    """Which words stand within a quotation or brackets that are closed again, and which double quotes close one."""
    inner = [False] * len(words)
    opened: dict[str, list[int]] = {}
    closing: set[int] = set()
    for at, word in enumerate(words):
        opener = _BRACKETS.get(word, word)
        if opened.get(opener) and (word == '"' or word in _BRACKETS):
            first = opened[opener].pop()
            inner[first + 1 : at] = [True] * (at - first - 1)
            closing |= {at} if word == '"' else set()
        elif word == '"' or word in _BRACKETS.values():
            opened.setdefault(word, []).append(at)
    return inner, closing


def _ends(words: Sequence[str], spans: Sequence[Span], at: int, closing: set[int], small: bool) -> bool:
    """Whether a sentence ends with the word at `at`, a terminal or what closes after one."""

    def closes(place: int) -> bool:
        tight = place > 0 and spans[place - 1][1] == spans[place][0]
        return words[place] in _CLOSING or place in closing or (words[place] == '"' and tight)

    last = at
    while last > 0 and closes(last):
        last -= 1
    mark, after = words[last], at + 1
    if words[after] in TERMINALS or closes(after):
        return False
    quoted = words[after] == '"'
    while after < len(words) - 1 and (words[after] in _OPENING or words[after] == '"'):
        after += 1
    follower = words[after]
    if not any(c.isalnum() for word in words[after:] for c in word):
        return False
    if mark not in TERMINALS:  # an abbreviation?
        stem = mark[:-1].lower()
        return mark[1:].endswith(".") and len(stem) > 1 and stem not in _TITLES and follower in _STARTERS
    before = words[last - 1] if last else ""
    tight = last > 0 and spans[last - 1][1] == spans[last][0]
    if mark == "." and tight and before.lower() in _TITLES:
        return False
    if mark == "...":
        return follower[0].isupper()
    if follower[0].isdigit():
        return tight or not before[-1:].isdigit()  # "3 . 5" is one number
    return quoted or follower[0].isupper() or follower in _SELF or (small and follower[0].isalpha())
