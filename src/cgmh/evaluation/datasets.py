"""Data sets in files: sets of keywords to test with, and the sentences that people wrote for them.

What all data sets need is here too: drawing a sample.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..errors import BadInput
from ..files import parse_json
from ..text.tokenizer import first_word, split
from ..training.corpus import read_lines

Item = TypeVar("Item")

_TOKEN = re.compile(r"\w+|\.{2,}|-{2,}|\"+|[^\w\s]")
_ENCLITICS = frozenset("s t re ve m ll d S T RE VE M LL D".split())
_CLOSERS = frozenset(", . ; : ! ? % ) ] } ...".split())
_OPENERS = frozenset("( [ { $ £ € #".split())
_DOMAINS = frozenset("com org net gov au uk".split())
_NUMBER_MARKS = {".": re.compile(r"\d+"), ",": re.compile(r"\d{3}"), ":": re.compile(r"\d{2}")}

# A hyphen set apart by blanks may join a compound or be a dash. These words tell which.
_PREFIXES = frozenset(
    "after al all anti co cross cyber down e eight ex far first five four half in mid multi never nine no non off once "
    "one over post pre pro re self semi seven six so super ten then third three two ultra under up vice well".split()
)
_LINKS = frozenset("a and au by doubt for in month of on over shop than the to year".split())
_PARTICLES = frozenset("down off out up ups".split())
_COMPOUNDS = frozenset(
    "add-on break-in built-in buy-in check-in drop-in family-friendly hands-on hoped-for knock-on know-how live-in "
    "no-one sit-in stand-in user-friendly".split()
)
_SECOND_PARTS = frozenset("backed based born controlled held inspired led related".split())
_LAST_PARTS = frozenset("end excellent for lifetime old olds".split())  # of three: 18-year-old
_UNJOINED = frozenset(
    "I a about after again all although among an and another anything are as at because before both but by can "
    "clear could did do does either even every exactly far for from get had has have he her here him his how if "
    "in including instead into is it its just least less many me more most my need needs never nor not nothing "
    "now of on once one or our over own rather really regardless she should since so some something still such "
    "than that the their them there these they this those though three through throughout to too two us was we "
    "were what when where whether which while who whom whose why will with without would yes you your".split()
)
_BREAKS = frozenset("\" ‘ ' . ... ! ? : ( — -".split())  # after these a capital need not mean a name


@dataclass(frozen=True)
class KeywordSet:
    """Keywords as a user would type them, what people wrote with them, and the line of the file (from 1)."""

    keywords: tuple[str, ...]
    references: tuple[str, ...]
    line: int


def sample(items: Sequence[Item], limit: int | None, seed: int = 0) -> Sequence[Item]:
    """`limit` of the items, drawn at random, in their order; a smaller sample is part of a larger one."""
    if limit is None or limit >= len(items):
        return items
    if limit < 1:
        raise BadInput(f"`limit` {limit}: at least one is needed")
    return [items[at] for at in sorted(np.random.default_rng(seed).permutation(len(items))[:limit].tolist())]


def keyword_sets(
    path: Path, num_sets: int | None, seed: int = 0, sizes: Sequence[int] = (1, 2, 3, 4)
) -> list[KeywordSet]:
    """Sets drawn from a tokenised file of one sentence a line, each set from another sentence; all of them for None.

    The sentences are taken in a random order and the sizes in turn, so that each size has as many sets. The
    words of a set are drawn without replacement from those words of the sentence that hold a letter; a word that
    stands there twice can be drawn twice. The first word is lower-cased unless the file shows it to be a name.
    """
    lines = _numbered_lines(path)
    texts = [detokenize(line) for _, line in lines]
    words = [split(text) for text in texts]
    inside = [word for sentence in words for at, word in enumerate(sentence) if not _opens(sentence, at)]
    with_capital = Counter(word.lower() for word in inside if word[0].isupper())
    in_lower = Counter(word for word in inside if word[0].islower())
    generator = np.random.default_rng(seed)
    sets: list[KeywordSet] = []
    for at in generator.permutation(len(words)).tolist():
        if len(sets) == num_sets:
            break
        candidates = _find_keywords(words[at], with_capital, in_lower)
        size = sizes[len(sets) % len(sizes)]
        if len(candidates) >= size:
            chosen = generator.choice(len(candidates), size, replace=False).tolist()
            sets.append(KeywordSet(tuple(candidates[place] for place in chosen), (texts[at],), lines[at][0]))
    if num_sets is not None and len(sets) < num_sets:
        raise BadInput(f"{path}: its sentences give {len(sets)} sets of keywords; ask for no more than that")
    return sets


def concept_sets(path: Path, num_sets: int | None = None, seed: int = 0) -> list[KeywordSet]:
    """The concept sets of a CommonGen file (JSON lines) in their order, or `num_sets` of them in a random order."""
    sets = []
    for number, line in _numbered_lines(path):
        try:
            record = parse_json(line)
            sets.append(KeywordSet(tuple(record["concepts"]), tuple(record["references"]), number))
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(f"{path}, line {number}: not a concept set with its references") from error
    if num_sets is None:
        return sets
    if num_sets > len(sets):
        raise BadInput(f"{path}: it has {len(sets)} concept sets; ask for no more than that")
    return [sets[at] for at in np.random.default_rng(seed).permutation(len(sets))[:num_sets].tolist()]


def _numbered_lines(path: Path) -> list[tuple[int, str]]:
    return [(number, line) for number, line in enumerate(read_lines(path), start=1) if line.strip()]


def detokenize(line: str) -> str:
    """Text as it was before it was split at every mark: ``they ' re long - lasting`` gives they're long-lasting.

    Whether a lone hyphen is a dash, and what a lone apostrophe belongs to, is decided by rules and can be wrong.
    """
    tokens = ['"' if piece[0] == '"' else piece for piece in _TOKEN.findall(line)]
    tight = [True] + [False] * len(tokens)  # whether no blank stands before each piece, and after the last
    quoted = {'"': False, "'": False}
    for at, piece in enumerate(tokens):
        before, after = _neighbours(tokens, at)
        if piece in _CLOSERS:
            tight[at] = True
            tight[at + 1] |= _runs_on(tokens, at)
        elif piece in _OPENERS:
            tight[at + 1] = True
        elif piece == "-":
            tight[at] = tight[at + 1] = _is_hyphen(tokens, at, tight)
        elif (
            piece == "/"
            or (piece == "&" and len(before) == len(after) == 1)
            or (piece == "'" and after in _ENCLITICS and before[-1:].isalnum())
        ):
            tight[at] = tight[at + 1] = True
        elif piece == "'" and before[-1:] in "sS" and before and not quoted["'"]:
            tight[at] = True  # the suspects' house
        elif piece in quoted:
            tight[at] |= quoted[piece]
            tight[at + 1] |= not quoted[piece]
            quoted[piece] = not quoted[piece]
    return "".join(piece if close else " " + piece for piece, close in zip(tokens, tight, strict=False))


def _neighbours(tokens: Sequence[str], at: int) -> tuple[str, str]:
    return tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""


def _runs_on(tokens: Sequence[str], at: int) -> bool:
    """Whether nothing parts a stop, comma or colon from the next token: 1,000  0.75  10:30  U.S.  news.com"""
    before, after = _neighbours(tokens, at)
    if before.isdigit():
        digits = _NUMBER_MARKS.get(tokens[at])
        return digits is not None and bool(digits.fullmatch(after)) and (tokens[at] == "." or len(before) <= 3)
    if tokens[at] != "." or not before.isalpha():
        return False
    stop = tokens[at + 2] if at + 2 < len(tokens) else ""
    return after in _DOMAINS or (stop == "." and len(before) == len(after) == 1 and before.isupper() == after.isupper())


def _is_hyphen(tokens: Sequence[str], at: int, tight: Sequence[bool]) -> bool:
    """Whether a hyphen joins its neighbours; otherwise it is a dash."""
    left, right = _neighbours(tokens, at)
    if not right[:1].isalnum() or not (left[-1:].isalnum() or left == "."):
        return False
    if left[-1:].isdigit() or right[:1].isdigit():
        return _joins_number(left, right)
    low, apostrophe = left.lower(), at > 1 and tokens[at - 2] == "'"
    if left == "." or (len(left) == 1 and left not in "aI" and not apostrophe):
        return True  # U.S.-led, e-mail
    if f"{low}-{right}" in _COMPOUNDS or right in _SECOND_PARTS:
        return True
    loose = low in _UNJOINED and low not in _PREFIXES
    chained = at > 1 and tokens[at - 2] == "-" and tight[at - 1]
    if chained:
        return low in _LINKS or right in _LAST_PARTS  # up-to-date, 18-year-old
    if right in _PARTICLES or (right in _LINKS and at + 2 < len(tokens) and tokens[at + 2] == "-"):
        return not loose
    if loose or right in _UNJOINED or (right.endswith("ly") and right != "only"):
        return False
    plural = len(left) > 3 and low[-1] == "s" and low[-2] not in "sui"
    if low in _PREFIXES or plural or apostrophe:
        return low in _PREFIXES
    if left[0].isupper() and right.endswith("ed"):
        return False  # the verb after a dash, as in "Smith - who left - said"; compounds of names were met above
    named = at + 2 < len(tokens) and tokens[at + 2][:1].isupper()  # it opens a name of several words
    return not right[0].isupper() or (left[0].isupper() and not named)


def _joins_number(left: str, right: str) -> bool:
    """3-1, 18-year, 70-strong, under-17, C-1; but "long - 34 years" is a dash."""
    if left[-1:].isdigit():
        return right[:1].isdigit() or (right.islower() and right not in _UNJOINED and not right.endswith(("ed", "ing")))
    return left in ("under", "over") or (len(left) == 1 and left.isupper())


def _find_keywords(words: Sequence[str], with_capital: Counter[str], in_lower: Counter[str]) -> list[str]:
    """The words of a sentence that can be keywords; an opening word that is found nowhere else tells too little."""
    keywords = []
    for at, word in enumerate(words):
        if not any(c.isalpha() for c in word) or word[0] == "'":
            continue
        low = word.lower()
        says_nothing = _opens(words, at) and word[0] != low[0] and word[1:] == low[1:]
        if not says_nothing or with_capital[low] > in_lower[low]:
            keywords.append(word)
        elif in_lower[low]:
            keywords.append(low)
    return keywords


def _opens(words: Sequence[str], at: int) -> bool:
    return at <= first_word(words) or (at > 0 and words[at - 1] in _BREAKS)
