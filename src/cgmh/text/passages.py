"""A text of one or several sentences, read for correction: the words of each sentence and where they were typed.

The tokenizer reads normalised text. So that every word can be traced back, a `Traced` text remembers for each of its
characters which part of the original it came from; sentences are cut from it, and the words of a sentence are found in
it one after another.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ..errors import BadInput
from .tokenizer import TERMINALS, UNSEEN, has_controls, leans, normalize, split, truecase
from .vocabulary import Vocabulary

Span = tuple[int, int]
SHOUTED = 3  # from more words than this on, capitals throughout are a way to type
_MIN_FOREIGN_WORDS = 4  # a shorter text is never taken for one in another language
_MARKS = frozenset(", . ? ! ; : 's 'S".split())  # set tight in plain text, after a blank in tokenised text
_ENCLOSING = frozenset('"()')  # with blanks on both sides in tokenised text alone

LINE = re.compile(r"[^\r\n\v\f\x85\u2028\u2029]+")
_LABEL = re.compile(
    r"(?:\(?\d{1,3} ?[.)]|\(?[a-z] ?\)|[-*•·‣◦▪▫●○■□➢✓\ue000-\uf8ff]) (?=\S)"
)  # of a list; no part of it
_APART = re.compile(r"(?<=\w) (?=(?:n't|'(?:s|re|ve|ll|d|m))(?!\S))", re.IGNORECASE)  # the blank of "ca n't"
_QUOTE = re.compile(r"(?<!\S)''(?!\S)")  # `` and '' of the Treebank, both normalised
_RUNS = {"…": re.compile(r"\.+"), "—": re.compile("-+|—")}  # how the words ... and — may be typed

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
class SourceSentence:
    """One sentence: its words as the sampler reads them, and where each stands in the text of its passage.

    A span covers what was typed for the word ("ca n't" for can't). The stop that "U.S." shares with the end of its
    sentence is a word with an empty span.
    """

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    spaced: bool  # tokenised: blanks before marks, contractions as the Treebank has them
    upper: bool  # capitals throughout
    start: int
    end: int


@dataclass(frozen=True)
class Passage:
    """A text and its sentences, if there are any.

    What belongs to none is left alone: blank lines, labels of lists, rows of marks, numbers, headings of one word.
    """

    text: str
    sentences: tuple[SourceSentence, ...]


def read_passage(text: str, vocabulary: Vocabulary, *, most: int = 60) -> Passage:
    """The sentences of a text, each of at most `most` words and marks.

    Raises `BadInput` for what is no text that the vocabulary could be about.
    """
    if has_controls(text):
        raise BadInput("has control characters; remove them")
    traced = [sentence for sentence in _find_sentences(text, most) if any(c.isalpha() for c in sentence.text)]
    sentences = [split(sentence.text) for sentence in traced]
    for number, words in enumerate(sentences, start=1):
        if len(words) > most:
            which = f"sentence {number} " if len(sentences) > 1 else ""
            raise BadInput(f"{which}has {len(words)} words and marks; at most {most} can be corrected, so split it")
    spelled = [word for words in sentences for word in words if any(c.isalpha() for c in word)]
    num_known = sum(bool(vocabulary.casings(word)) for word in spelled)
    if len(spelled) >= _MIN_FOREIGN_WORDS and 4 * num_known < len(spelled):  # a quarter, because learners misspell much
        raise BadInput("has few words that the model knows; it reads English, unless `model` says otherwise")
    spans = [_typed_spans(*both) for both in zip(traced, sentences, strict=True)]
    counts = [_blanks(text, *both) for both in zip(sentences, spans, strict=True)]
    total = (sum(apart for apart, _ in counts), sum(tight for _, tight in counts))
    read = []
    for words, places, count in zip(sentences, spans, counts, strict=True):
        apart, tight = count if any(count) else total
        spaced = 0 < apart >= tight
        num_words = sum(any(c.isalnum() for c in word) for word in words)
        upper = num_words > SHOUTED and "".join(words).isupper()
        recased = [vocabulary.recase(word.lower()) for word in words]
        cased = recased if upper else truecase(words, vocabulary.is_ordinary)
        read.append(SourceSentence(tuple(cased), tuple(places), spaced, upper, places[0][0], places[-1][1]))
    return Passage(text, tuple(read))


def sentence_spans(text: str, most: int = 60) -> list[tuple[Span, int]]:
    """Where each sentence of a text stands, and how many words and marks it has; no vocabulary is needed for that."""
    return [
        ((sentence.origins[0][0], sentence.origins[-1][1]), len(split(sentence.text)))
        for sentence in _find_sentences(text, most)
        if sentence.origins
    ]


def _blanks(text: str, words: Sequence[str], spans: Sequence[Span]) -> tuple[int, int]:
    """How many words and marks stand apart as in tokenised text, and how many marks are set tight as in plain text."""

    def is_blank(place: int) -> bool:
        return bool(text[spans[place - 1][1] : spans[place][0]].strip(UNSEEN))

    apart = sum(any(c.isspace() for c in text[start:end]) for start, end in spans)
    tight = 0
    last = len(words) - 1
    for at, word in enumerate(words):
        before = at == 0 or is_blank(at)
        after = at == last or is_blank(at + 1)
        if word in _MARKS and at and spans[at][0] < spans[at][1]:
            apart += before
            tight += not before
        elif word in _ENCLOSING:
            apart += before and after
    if not apart and not tight and words[-1] == "...":  # less telling, since some type it so in plain text
        apart += last > 0 and before
    return apart, tight


@dataclass(frozen=True)
class Traced:
    """Normalised text that remembers, for each of its characters, the span of the original it came from."""

    text: str
    origins: tuple[Span, ...]

    def part(self, start: int, end: int) -> "Traced":
        return Traced(self.text[start:end], self.origins[start:end])


def _find_sentences(text: str, most: int) -> Iterator[Traced]:
    """The sentences of a text, normalised. Newlines end one; so do terminals, where what follows looks like a start.

    Quotations and brackets stay whole, unless the sentence has more than `most` words and marks.
    """
    small = not any(c.isupper() for c in text)  # without capitals any word may open a sentence
    for line in LINE.finditer(text):
        traced = _join_treebank(_trace(line.group(), line.start()))
        if label := _LABEL.match(traced.text):
            traced = traced.part(label.end(), len(traced.text))
        if _is_heading(split(traced.text)):
            continue
        for sentence in _cut(traced, small=small, whole=True):
            if len(split(sentence.text)) > most:
                yield from _cut(sentence, small=small, whole=False)
            else:
                yield sentence


def _is_heading(words: Sequence[str]) -> bool:
    """Whether a line has one word, beside numbers perhaps, and nothing that ends a sentence: 2.1 Results."""
    return sum(any(c.isalpha() for c in word) for word in words) == 1 and not TERMINALS.intersection(words)


def _cut(traced: Traced, *, small: bool, whole: bool) -> Iterator[Traced]:
    words = split(traced.text)
    spans = _word_spans(traced.text, words)
    inner, closing = _enclosed(words)
    ends = _Ends(words, spans, closing, small=small)
    start = 0
    for at in range(len(words) - 1):
        apart = spans[at][1] < spans[at + 1][0]
        if apart and not (whole and inner[at : at + 2] != [False, False]) and ends.at(at):
            yield traced.part(start, spans[at][1])
            start = spans[at + 1][0]
    if words:
        yield traced.part(start, len(traced.text))


def _enclosed(words: Sequence[str]) -> tuple[list[bool], set[int]]:
    """Which words stand within a quotation or brackets that are closed again, and which double quotes close one."""
    deeper = [0] * (len(words) + 1)  # how many more of them hold a word than the one before it
    opened: dict[str, list[int]] = {}
    closing: set[int] = set()
    for at, word in enumerate(words):
        opener = _BRACKETS.get(word, word)
        if opened.get(opener) and (word == '"' or word in _BRACKETS):
            first = opened[opener].pop()
            deeper[first + 1] += 1
            deeper[at] -= 1
            closing |= {at} if word == '"' else set()
        elif word == '"' or word in _BRACKETS.values():
            opened.setdefault(word, []).append(at)
    return [depth > 0 for depth in accumulate(deeper[:-1])], closing


class _Ends:
    """Where the sentences of some words end."""

    def __init__(self, words: Sequence[str], spans: Sequence[Span], closing: set[int], *, small: bool) -> None:
        self._words, self._spans, self._closing, self._small = words, spans, closing, small
        places = range(len(words))
        self._spelled = max((at for at in places if any(c.isalnum() for c in words[at])), default=-1)
        # For each place, the word before what closes there, and the one after what opens there.
        self._closed, self._opened = list(places), list(places)
        for at in places[1:]:
            if self._closes(at):
                self._closed[at] = self._closed[at - 1]
        for at in reversed(places[:-1]):
            if words[at] in _OPENING or words[at] == '"':
                self._opened[at] = self._opened[at + 1]

    def _is_tight(self, place: int) -> bool:
        return place > 0 and self._spans[place - 1][1] == self._spans[place][0]

    def _closes(self, place: int) -> bool:
        word = self._words[place]
        return word in _CLOSING or place in self._closing or (word == '"' and self._is_tight(place))

    def at(self, at: int) -> bool:
        """Whether a sentence ends with the word at `at`, a terminal or what closes after one."""
        words, last, after = self._words, self._closed[at], self._opened[at + 1]
        if words[at + 1] in TERMINALS or self._closes(at + 1) or after > self._spelled:
            return False
        mark, before, follower = words[last], words[last - 1] if last else "", words[after]
        if mark not in TERMINALS:  # an abbreviation?
            stem = mark[:-1].lower()
            return mark[1:].endswith(".") and len(stem) > 1 and stem not in _TITLES and follower in _STARTERS
        if mark == "." and self._is_tight(last) and before.lower() in _TITLES:
            return False
        if mark == "...":
            return follower[0].isupper()
        if follower[0].isdigit():
            return self._is_tight(last) or not before[-1:].isdigit()  # "3 . 5" is one number
        starts = follower[0].isupper() or follower in _SELF or (self._small and follower[0].isalpha())
        return words[at + 1] == '"' or starts


def _trace(text: str, offset: int) -> Traced:
    """The text as `normalize` has it, with the way back; `offset` is where the text begins in the original."""
    traced = Traced(text, tuple((at, at + 1) for at in range(offset, offset + len(text))))
    if text.isascii() and normalize(text) == text:  # as most lines are
        return traced
    while (again := _normalize_once(traced)).text != traced.text:
        traced = again  # without its soft hyphen a letter may meet an accent that it composes with: once more, then
    return again


def _normalize_once(traced: Traced) -> Traced:
    text, origins = traced.text, traced.origins
    pieces: list[tuple[str, Span]] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and _composes(text[end]):
            end += 1
        cluster = _normalize_cluster(text[at:end])
        whole = (origins[at][0], origins[end - 1][1])
        same = len(cluster) == end - at
        for place, c in enumerate(cluster):
            if c != " " or (pieces and pieces[-1][0] != " "):
                pieces.append((c, origins[at + place] if same else whole))
        at = end
    if pieces and pieces[-1][0] == " ":
        pieces.pop()
    return Traced("".join(c for c, _ in pieces), tuple(span for _, span in pieces))


def _composes(c: str) -> bool:
    """Whether a character is read with the one before it: accents, vowel signs, Hangul vowels and finals, joiners."""
    return not c.isascii() and (unicodedata.category(c)[0] == "M" or "\u1160" <= c <= "\u11ff" or leans(c))


@lru_cache(maxsize=4096)
def _normalize_cluster(cluster: str) -> str:
    return normalize(f'"{cluster}"')[1:-1]  # quotes compose with nothing, and a blank between them stays


def _join_treebank(traced: Traced) -> Traced:
    """Contractions that the Treebank takes apart as one ("ca n't": can't), and its double quotes as a quote."""
    text, origins = list(traced.text), list(traced.origins)
    for match in _QUOTE.finditer(traced.text):
        at = match.start()
        text[at : at + 2] = '"', ""
        origins[at] = (origins[at][0], origins[at + 1][1])
    for match in _APART.finditer(traced.text):
        text[match.start()] = ""
    return Traced("".join(text), tuple(span for c, span in zip(text, origins, strict=True) if c))


def _word_spans(text: str, words: Sequence[str]) -> list[Span]:
    """The span in a normalised text of each of its words, as `split` gives them.

    The stop that an abbreviation at the end shares with its sentence has an empty span.
    """
    spans: list[Span] = []
    end = 0
    for word in words:
        start = end = end + text.startswith(" ", end)
        if text.startswith(word, start) and word != "...":
            end += len(word)
        else:  # written in another way: a run of dots or of hyphens, an opening single quote
            for c in word.replace("...", "…"):
                end += text.startswith(" ", end)
                run = _RUNS[c].match(text, end) if c in _RUNS else None
                end = run.end() if run else min(end + 1, len(text))
        spans.append((start, end))
    return spans


def word_spans(text: str) -> list[Span]:
    """The span of each word and mark of a piece of text, as the tokenizer sees them."""
    traced = _trace(text, 0)
    words = split(traced.text)
    return [span for span in _typed_spans(traced, words) if span[0] < span[1]] if words else []


def _typed_spans(sentence: Traced, words: Sequence[str]) -> list[Span]:
    """The span in the original text of each word of a sentence.

    Of two words that one typed character stands for, the second has it: the stop and the dots of "U.S…".
    """
    origins = sentence.origins
    spans = [
        (origins[start][0], origins[end - 1][1]) if start < end else (origins[-1][1], origins[-1][1])
        for start, end in _word_spans(sentence.text, words)
    ]
    ends = [*(start for start, _ in spans[1:]), origins[-1][1]]
    return [(start, min(end, limit)) for (start, end), limit in zip(spans, ends, strict=True)]
