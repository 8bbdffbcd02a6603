"""What a word may have been meant to be: similar spellings, forms of the same root, confusable small words.

A channel charges each kind of confusion its own cost (constraints/channel.py); proposals go where confusions point.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Any

from ...text.inflection import inflection_kinds
from ...text.vocabulary import Vocabulary

_PREPOSITIONS = (
    "in on at of for to from with by about into as than over during through between among around since toward towards "
    "onto upon across within like"
)
# Small words that learners take for one another, by kind; within a group only, so that the meaning stays.
GROUPS = {
    "spelling": ("their they're there", "your you're", "than then"),  # they sound alike
    "agreement": ("a an", "this these", "don't doesn't", "isn't aren't", "wasn't weren't", "haven't hasn't"),
    "number": ("that those",),
    "determiner": (
        "a an the", "this that these those", "my mine me", "your yours you you're", "his he him", "her hers she",
        "its it", "our ours us", "their theirs they them there they're", "much many lot more", "few little less fewer",
        "some any", "each every all", "another other others", "such so", "either neither", "the this that these those",
        "the my your his her its our their", "no not none",
    ),
    "preposition": (_PREPOSITIONS, "because since as", "until by"),
    "auxiliary": (
        "is are was were be been being am", "has have had having", "do does did done doing", "will would", "can could",
        "may might", "shall should", "is has", "are have", "was had", "don't doesn't didn't",
        "isn't aren't wasn't weren't", "won't wouldn't", "can't couldn't cannot", "hasn't haven't hadn't", "to too two",
    ),
    "pronoun": (
        "I me my myself", "he him himself", "she her herself", "we us our ourselves", "they them their themselves",
        "you your yourself yourselves", "it they them", "who whom which that what whose", "it this that there",
        "someone anyone everyone", "something anything everything", "where which when", "he they", "everybody anybody",
    ),
    "linking": ("and or", "but and", "so such", "also too", "if whether", "when if", "very much", "although though",
                "however but", "only just", "already yet", "how what"),
}  # fmt: skip
# Contractions that are typed without their apostrophe: no words of English, or ones that nobody means.
_MARKED = (
    "don't doesn't didn't can't couldn't won't wouldn't shouldn't isn't aren't wasn't weren't hasn't haven't hadn't "
    "mustn't needn't I'm I've you're you've they're they've we've"
).split()
_DOERS = frozenset("i you he she it we they who".split())
_CONFUSABLE: dict[str, dict[str, str]] = {}  # of a small word: what it may have been meant to be, and the kind
for _kind, _groups in GROUPS.items():
    for _group in _groups:
        for _word in _group.split():
            for _other in _group.split():
                _CONFUSABLE.setdefault(_word.lower(), {}).setdefault(_other, _kind)
MARKS = ", . ; : ? ! ' \" - — ( ) 's ...".split()
# The kind of a small word that is missing or too many; any other word is of the kind "word".
SMALL = {mark: "comma" if mark == "," else "punctuation" for mark in MARKS}
for _kind, _members in {
    "determiner": "a an the this that these those my your his her its our their some any every each another all",
    "preposition": _PREPOSITIONS,
    "auxiliary": "is are was were be been being am has have had having do does did will would can could may might "
    "shall should must",
    "pronoun": "I me he him she it they them we us you who whom which what there here one",
    "linking": "and or but so because if when while although though whether then also however too very",
}.items():
    for _word in _members.split():
        SMALL.setdefault(_word, _kind)
# What learners leave out, and so what is tried in every gap.
MISSING = tuple(
    "the a an of to in for on with at from by about as is are was were be been has have had do does did will would can "
    "it they he we you I that which who there and but so or , . ; ' his her their my our your some 's not".split()
)
_SUFFIXES = (  # the longest first
    "ations ically ation ition ingly fully ments ively antly ently ities ously edly ment ness less able ible ally "
    "ical ance ence ancy ency ists sion tion ized ised ful ive ant ent ers ors ist ism ity ied ies ily ing ion ize "
    "ise ous ic al er or ed es ly th s y e"
).split()
_MIN_STEM = 4
_SHORTENED = frozenset("it that what there here who let he she how where".split())  # before a shortened is, has or us
FEW, LONG = 3, 7  # with fewer spellings than this, a word of that many letters may have three wrong ones
MAX_SPLIT_LETTERS = 60  # letters beyond which nobody typed two words as one
MAX_REMEMBERED = 20_000  # words whose confusions are remembered
OFTEN = 5_000_000  # uses of a word that everyone knows, in the counts of the dictionary


@dataclass(frozen=True)
class Confusion:
    """Words that may have been meant where others stand, and what kind of mistake that would be."""

    words: tuple[str, ...]
    kind: str
    distance: float = 0.0  # letters that differ, where the kind is one of spelling


class Confusions:
    """The confusions of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._counts = _dictionary()
        self._meant = lru_cache(MAX_REMEMBERED)(self._of)
        self._look_up = lru_cache(MAX_REMEMBERED)(self._looked_up)

    def is_word(self, word: str) -> bool:
        """Whether a dictionary or the vocabulary has the word, in some casing."""
        return bool(self.vocabulary.casings(word)) or word.lower() in self._counts

    def is_unmarked(self, word: str) -> bool:
        """Whether a word only lacks its apostrophe: dont, Im."""
        return word.lower() in self.unmarked

    @cached_property
    def unmarked(self) -> dict[str, str]:
        """Such words, each with the one that was meant, where the vocabulary has that."""
        return {word.replace("'", "").lower(): word for word in _MARKED if word in self.vocabulary.ids}

    def is_slip(self, word: str) -> bool:
        """Whether a word that no dictionary has is one letter away from one that is used often."""
        return bool(self._near(word, 1))

    def is_respelt(self, word: str) -> bool:
        """Whether only doubled letters, or two that changed places, tell a word from an ordinary one used often.

        A capital makes no name of such a word where it opens a sentence: Tommorow, Becuase.
        """
        near = [term for term in self._near(word, 2) if has_same_letters(word.lower(), term)]
        return bool(near) and all(map(self.vocabulary.is_ordinary, near))

    def _near(self, word: str, letters: int) -> list[str]:
        near = [] if self.is_word(word) else self._look_up(word.lower(), letters)
        return [item.term for item in near if self._counts.get(item.term, 0) >= OFTEN]

    def of(self, word: str, before: str = "") -> tuple[Confusion, ...]:
        """What the word may have been meant to be, one or two words each; the first kind that explains it counts.

        `before` is the word before it: after a pronoun that does something, what may be a noun or a verb is a verb.
        """
        return self._meant(word, before.lower() in _DOERS)

    def _of(self, word: str, is_verb: bool) -> tuple[Confusion, ...]:
        confusions: dict[tuple[str, ...], Confusion] = {}
        for confusion in self._all(word, is_verb=is_verb):
            if confusion.words != (word,) and all(part in self.vocabulary.ids for part in confusion.words):
                confusions.setdefault(confusion.words, confusion)
        return tuple(confusions.values())

    def joined(self, first: str, second: str) -> list[str]:
        """Single words that two neighbours may have been meant to be: every one, can not, well known."""
        if not first[-1:].isalpha() or not (second[:1].isalpha() or second == "'s"):
            return []
        forms: tuple[str, ...] = (first + second, f"{first}-{second}")
        if second == "'s":
            forms = (f"{first}s",) if first.lower() == "it" else ()  # its; "thats" would be a mistake
        return [form for form in forms if form in self.vocabulary.ids]

    def _all(self, word: str, *, is_verb: bool) -> Iterator[Confusion]:
        lower = word.lower()
        words = self.vocabulary.words
        yield from (Confusion((words[at],), "casing") for at in self.vocabulary.casings(word))
        if not any(c.isalpha() for c in word):
            if word in SMALL:
                yield from (Confusion((other,), "punctuation") for other in ",.;:?!-")
            return
        kinds = inflection_kinds(lower, self.vocabulary.is_ordinary, is_verb=is_verb)
        yield from (Confusion((form,), kind) for form, kind in kinds.items())
        yield from (Confusion((other,), kind) for other, kind in _CONFUSABLE.get(lower, {}).items())
        meant = self.unmarked.get(lower, "").lower()  # he dont: doesn't
        yield from (Confusion((other,), kind) for other, kind in _CONFUSABLE.get(meant, {}).items() if other != meant)
        yield from (Confusion((form,), "derivation") for form in self._roots.get(_stem(lower), ()))
        yield from self._spellings(word)
        yield from self._splits(lower)

    def _spellings(self, word: str) -> Iterator[Confusion]:
        lower = word.lower()
        known = lower in self._counts or (word[:1].isupper() and bool(self.vocabulary.casings(word)))
        if any(c.isdigit() for c in word) or len(word) < 2:
            return
        distance = 1 if len(word) < 4 or (known and len(word) < 8) else 2
        kind, most = ("real word", 12) if known else ("spelling", 16)
        near: list[tuple[float, str, int]] = [
            (item.distance + weight(lower, item.term), item.term, item.count) for item in self._look_up(lower, distance)
        ]
        if not known and len(near) < FEW and len(word) >= LONG:
            near += self._farther(lower, {term for _, term, _ in near})
        near.sort(key=lambda item: (item[0], -item[2]))
        for letters, term, _ in near[:most]:
            cased = self.vocabulary.recase(term)
            if letters <= 1 or cased == term or word != lower:  # no name from afar for what is typed as none
                yield Confusion((cased,), kind, letters)

    def _farther(self, word: str, nearer: set[str]) -> list[tuple[float, str, int]]:
        """Words with three wrong letters, the first being right."""
        from symspellpy.editdistance import DamerauOsa

        compare = DamerauOsa().distance
        near = [term for term in self._by_letter.get(word[0], ()) if abs(len(term) - len(word)) < 4]
        return [
            (3, term, self._counts.get(term, 0)) for term in near if term not in nearer and compare(word, term, 3) == 3
        ]

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        words: dict[str, list[str]] = {}
        for word in self.vocabulary.words:
            if word.isalpha() and word.islower() and len(word) >= LONG - 2:
                words.setdefault(word[0], []).append(word)
        return words

    def _splits(self, word: str) -> Iterator[Confusion]:
        """Two words that were typed as one."""
        if word.endswith("s") and word[:-1] in _SHORTENED:
            yield Confusion((word[:-1], "'s"), "splitting")
        if "-" in word:
            first, _, second = word.partition("-")
            yield Confusion((first, second), "splitting")
        if self.vocabulary.casings(word):
            pairs = [
                pair for pair in (("a", word[1:]), ("every", word[5:]), ("may", word[3:])) if "".join(pair) == word
            ]
        else:
            pairs = [(word[:at], word[at:]) for at in range(1, len(word))] if len(word) <= MAX_SPLIT_LETTERS else []
        usual = [pair for pair in pairs if all(len(part) > 1 or part in "ai" for part in pair)]
        usual = [pair for pair in usual if all(self.vocabulary.is_ordinary(part) for part in pair)]
        usual.sort(key=lambda pair: -min(self._counts.get(part, 0) for part in pair))
        yield from (Confusion((self.vocabulary.recase(first), second), "splitting") for first, second in usual[:3])

    @cached_property
    def _roots(self) -> dict[str, list[str]]:
        words: dict[str, list[str]] = {}
        for word in self.vocabulary.words:
            if word.isalpha() and self.vocabulary.is_ordinary(word) and word not in SMALL and word.islower():
                stem = _stem(word)
                if len(stem) >= _MIN_STEM:
                    words.setdefault(stem, []).append(word)
        return words

    @cached_property
    def _speller(self) -> Any:
        from symspellpy import SymSpell

        speller = SymSpell(max_dictionary_edit_distance=2, prefix_length=5)
        for word in self.vocabulary.words:
            lower = word.lower()
            if word[:1].isalpha() and lower.replace("'", "").replace("-", "").isalpha() and len(word) > 1:
                speller.create_dictionary_entry(lower, self._counts.get(lower, 1000))
        return speller

    def _looked_up(self, word: str, letters: int) -> list[Any]:
        """The words of the vocabulary from which no more than so many letters differ."""
        from symspellpy import Verbosity

        return self._speller.lookup(word, Verbosity.ALL, letters)  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _dictionary() -> dict[str, int]:
    """The words of the spelling library's dictionary and how often they are used."""
    text = files("symspellpy").joinpath("frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig")
    return {word: int(count) for word, count in (line.split() for line in text.splitlines())}


@lru_cache(maxsize=4)
def load_confusions(vocabulary: Vocabulary) -> Confusions:
    """The confusions of a vocabulary; what they hold is made once."""
    return Confusions(vocabulary)


def _stem(word: str) -> str:
    """What is left without a usual ending; words with the same rest are taken for relatives."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM:
            return word[: len(word) - len(suffix)]
    return word


_KEYS = {
    letter: (row, at)
    for row, letters in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm"))
    for at, letter in enumerate(letters)
}  # where each letter lies on the keyboard


def weight(typed: str, meant: str) -> float:
    """What tells misspellings apart: a slip is half a letter less, another first letter one more."""
    return (typed[0] != meant[0]) - 0.5 * _is_slip(typed, meant)


def has_same_letters(typed: str, meant: str) -> bool:
    """Whether two words are the same but for doubled letters, or for two neighbours that changed places."""
    undoubled = ["".join(letter for letter, _ in groupby(word)) for word in (typed, meant)]
    return undoubled[0] == undoubled[1] or (sorted(typed) == sorted(meant) and _is_slip(typed, meant))


def _is_slip(typed: str, meant: str) -> bool:
    """Whether one key was hit beside the right one, or two letters changed places."""
    if len(typed) != len(meant):
        return False
    differ = [at for at in range(len(typed)) if typed[at] != meant[at]]
    if len(differ) == 2:
        first, second = differ
        return second == first + 1 and typed[first] == meant[second] and typed[second] == meant[first]
    return len(differ) == 1 and _beside(typed[differ[0]], meant[differ[0]])


def _beside(one: str, other: str) -> bool:
    if one not in _KEYS or other not in _KEYS:
        return False
    (row, at), (other_row, other_at) = _KEYS[one], _KEYS[other]
    return abs(row - other_row) <= 1 and abs(at - other_at) <= 1
