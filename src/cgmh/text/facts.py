"""The facts of a sentence that a paraphrase must not change: numbers, negations, names and quoted text."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..errors import BadInput
from .rake import STOP_WORDS
from .tokenizer import first_word
from .vocabulary import Vocabulary

KINDS = ("numbers", "negation", "names", "quotes")

_TENS = frozenset("twenty thirty forty fourty fifty sixty seventy eighty ninety".split())
_SCALES = frozenset("hundred thousand million billion trillion lakh crore".split())
_NUMBERS = _TENS | _SCALES | frozenset(
    "zero two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen dozen dozens half twice thrice hundreds thousands millions billions lakhs crores".split()
)  # fmt: skip
_COUNTED_BY_ONE = frozenset(
    "second minute hour day night week weekend month year decade century inch foot mile meter metre kilometer km kg "
    "kilogram pound gram liter litre gallon dollar rupee euro percent".split()
)  # elsewhere "one" is often a pronoun or an article
_BEFORE_NUMBER = frozenset("$ £ € ¥ ₹ # - + ~ < > ≤ ≥ ± rs rs. inr usd".split())
_AFTER_NUMBER = frozenset("$ £ € ¥ ₹ % ‰ ° + percent".split())
_BETWEEN_NUMBERS = frozenset("+ - * / x × ÷ ^ = : – ' ‘".split())

_NEGATIONS = frozenset(
    "not cannot never no none nobody no-one nothing nowhere neither nor without unless non hardly barely scarcely "
    "rarely seldom dont doesnt didnt cant couldnt wont wouldnt shouldnt isnt arent wasnt werent hasnt havent hadnt "
    "aint".split()
)

# Who and when, where no name or number says it: another of the same kind in its place says something else. The words of
# a line say the same.
_WHO = """
he him his himself
she her hers herself
mother mom mum mommy
father dad daddy
brother brothers
sister sisters
son sons
daughter daughters
wife wives
husband husbands
aunt aunts
uncle uncles
cousin cousins
nephew nephews
niece nieces
grandmother grandma
grandfather grandpa
boyfriend
girlfriend
"""
_WHEN = """
morning mornings
afternoon afternoons
evening evenings tonight
night nights tonight
noon midday
midnight
today
tomorrow
yesterday
"""
RIVALS = {
    kind: [frozenset(line.split()) for line in lines.split("\n") if line]
    for kind, lines in {"names": _WHO, "numbers": _WHEN}.items()
}

# An ordinary word that opens the name after it; at the start of a sentence, or typed in lower case, it has no capital.
_OPENS_NAME = frozenset("new north south east west saint san los las hong sri saudi united".split())
_NAME_PHRASES = frozenset(
    tuple(phrase.split())
    for phrase in (
        "united states", "united kingdom", "united nations", "white house", "supreme court", "world war", "middle east",
        "wall street", "silicon valley", "star wars", "star trek", "stack overflow", "stack exchange",
        "air force", "game of thrones", "big bang theory",
    )
)  # fmt: skip
# "us" is the country after "the" and before these.
_AFTER_US = frozenset(
    "president presidential presidents presidency election elections military army navy constitution citizen citizens "
    "citizenship university universities college dollar dollars passport visa government economy congress senate green "
    "supreme embassy".split()
)
# Often written with a capital, so that the vocabulary takes them for names; alone they are nouns and greetings.
# Beside a name they are part of it: Stanford University, President Obama. No first names; Visa and Queen lose by it.
_TITLE_WORDS = frozenset(
    "academy ah airlines ambassador assembly association award basilica boulevard captain charter chartered chef "
    "commerce commission committee corporation council county declaration department duchess emperor empire exchange "
    "federation festival hacker hackers hello hi institute internet journal kingdom lake mayor minister ministry motor "
    "motors museum oh orchestra organization parliamentary pharma pope premier president prime princess pro province "
    "queen republic reserve secretary secretariat t-shirt t-shirts university visa visas".split()
)
_LOWER_IN_TITLES = frozenset("from with into over than that upon onto about".split())
_OPENING = frozenset('. ! ? ... : ; ( [ " ‘ — -'.split())  # after one of these a capital may open a sentence
_FIRST_PERSON = re.compile(r"[Ii](?:'\w+)?")
_PAIRS = {"‘": "'", "'": "'", "「": "」", "『": "』", "(": ")", "[": "]", "{": "}"}
_PREFIXES = ("un", "re", "dis", "over", "non", "pre", "anti", "mis")
_SUFFIXES = (
    "s", "es", "ed", "ing", "ly", "er", "ers", "est", "ness", "able", "less", "ful", "ment", "ise", "ize", "isation",
    "ization",
)  # fmt: skip


@dataclass(frozen=True)
class Fact:
    """A phrase ``words[start:end]`` of a sentence that states a fact of one of the `KINDS`."""

    kind: str
    start: int
    end: int


def rivals_of(words: Sequence[str], kinds: Collection[str]) -> set[str]:
    """The words of the `RIVALS` that say who or when, and something else than a sentence does."""
    own = {word.lower() for word in words}
    groups = [group for kind in kinds for group in RIVALS.get(kind, ())]
    said = {word for group in groups if group & own for word in group}
    return {word for group in groups for word in group} - said


def is_number(word: str) -> bool:
    """Whether a word has a digit or spells a cardinal other than one: 5, 3rd, 24/7, twenty-one, two-year, half."""
    if any(c.isdigit() for c in word):
        return True
    word = word.lower()
    return word in _NUMBERS or ("-" in word and any(part in _NUMBERS for part in word.split("-")))


def is_negation(word: str) -> bool:
    """Whether a word denies: not, never, without, don't, dont, non-smoker."""
    word = word.lower()
    return word in _NEGATIONS or word.endswith("n't") or word.startswith("non-")


def is_name(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a word inside a sentence is a name or a term: it has a capital, or the vocabulary does not know it."""
    if is_number(word) or is_negation(word) or _FIRST_PERSON.fullmatch(word):
        return False
    lower = word.lower()
    if word == lower:
        return _is_unknown(word, vocabulary)
    if lower in _TITLE_WORDS:
        return False
    acronym = len(word) <= 3 or (word in vocabulary.ids and lower not in STOP_WORDS)
    return acronym or not word.isupper() or not vocabulary.is_ordinary(lower)  # the last: an ordinary word, shouted


def _is_unknown(word: str, vocabulary: Vocabulary) -> bool:
    """Whether the vocabulary knows neither the word, nor its stem, nor all parts of a compound: b.tech."""
    if not word[:1].isalpha() or "'" in word or vocabulary.casings(word):
        return False
    parts = [part for part in re.split(r"[-/&]", word) if len(part) > 1]
    return not parts or any(not vocabulary.casings(part) and not _has_stem(part, vocabulary) for part in parts)


def _has_stem(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a word is made of an ordinary one: creepiest, unverified, freelancing."""
    stems = [word[len(prefix) :] for prefix in _PREFIXES if word.startswith(prefix)]
    for suffix in _SUFFIXES:
        stem = word.removesuffix(suffix)
        if stem != word and len(stem) > 2:
            doubled = stem[:-1] if stem[-1] == stem[-2] else stem
            stems += [stem, stem + "e", doubled, stem[:-1] + "y" if stem[-1] == "i" else stem]
    return any(len(stem) > 3 and vocabulary.is_ordinary(stem) for stem in stems)


def find_facts(words: Sequence[str], vocabulary: Vocabulary, kinds: Collection[str] = KINDS) -> list[Fact]:
    """The facts of a truecased and recased sentence, in order and apart: a quote swallows what is inside it."""
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise BadInput(f"{unknown[0]!r} is no kind of fact; choose from {', '.join(KINDS)}")
    spans = {
        "quotes": _quotes(words),
        "negation": ((at, at + 1) for at, word in enumerate(words) if is_negation(word)),
        "names": _names(words, vocabulary),
        "numbers": _numbers(words),
    }
    free = [True] * len(words)
    facts: list[Fact] = []
    for kind in (kind for kind in spans if kind in kinds):
        for start, end in spans[kind]:
            for first, last in _runs(free[start:end]):  # what an earlier kind left of it
                if _has_words(words[start + first : start + last]):
                    facts.append(Fact(kind, start + first, start + last))
            free[start:end] = [False] * (end - start)
    return sorted(facts, key=lambda fact: fact.start)


def _runs(flags: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """From where to where the flags are true, for each stretch of them."""
    at = 0
    for flag, stretch in groupby(flags):
        start, at = at, at + len(list(stretch))
        if flag:
            yield start, at


def _numbers(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Runs of number words with the signs that belong to them: $ 5 million, 50 %, one hundred and five, 2 + 2."""
    lower = [word.lower() for word in words]
    numbers = [is_number(word) for word in words]
    flags = []
    for at, word in enumerate(lower):
        before = at > 0 and numbers[at - 1]
        after = at + 1 < len(words) and numbers[at + 1]
        flags.append(
            numbers[at]
            or (word in _BETWEEN_NUMBERS and before and after)
            or (word in _BEFORE_NUMBER - _BETWEEN_NUMBERS and after)
            or (word in _AFTER_NUMBER and before)
            or (word == "one" and ((after and lower[at + 1] in _SCALES) or (before and lower[at - 1] in _TENS)))
            or (word == "one" and at + 1 < len(words) and lower[at + 1] in _COUNTED_BY_ONE)
            or (word == "and" and before and after and lower[at - 1] in _SCALES)
        )
    yield from _runs(flags)


def _names(words: Sequence[str], vocabulary: Vocabulary) -> Iterator[tuple[int, int]]:
    """Runs of names: Donald Trump, J. K. Rowling, AT & T; a number in figures that follows belongs to it: iPhone 7."""
    lower = [word.lower() for word in words]
    tell = _capitals_tell(words, vocabulary)
    cased = [word if tell or word.islower() else vocabulary.recase(word.lower()) for word in words]
    flags = [
        is_name(word, vocabulary) and not (_opens(words, at) and vocabulary.is_ordinary(lower[at]))
        for at, word in enumerate(cased)
    ]
    titles = [word in _TITLE_WORDS and known != word for word, known in zip(lower, cased, strict=True)]
    for at in range(len(words)):
        for length in (2, 3):
            if tuple(lower[at : at + length]) in _NAME_PHRASES:
                flags[at : at + length] = [True] * length
        if lower[at] == "us" and (lower[at - 1 : at] == ["the"] or _AFTER_US.intersection(lower[at + 1 : at + 2])):
            flags[at] = True
    first = first_word(words)
    if tell and 0 <= first < len(words) - 1 and flags[first + 1] and _may_open_name(words[first], vocabulary):
        flags[first] = True  # "home Depot rose": the sentence capital that truecasing took was the name's own
    # Backwards for what leans on the name after it ("new York", "President Obama"), forwards for the one before.
    for at in reversed(range(len(words) - 1)):
        leans = lower[at] in _OPENS_NAME or titles[at]
        joins = lower[at] == "&" and at > 0 and flags[at - 1]
        flags[at] = flags[at] or (flags[at + 1] and (leans or joins))
    for at in range(1, len(words)):
        flags[at] = flags[at] or (flags[at - 1] and (titles[at] or lower[at].isdigit()))
    yield from _runs(flags)


def _may_open_name(word: str, vocabulary: Vocabulary) -> bool:
    """Whether a word that opens a sentence before a name may be part of it: an ordinary word known with a capital."""
    free = word.islower() and word not in STOP_WORDS and not is_number(word) and not is_negation(word)
    return free and word.capitalize() in vocabulary.ids


def _opens(words: Sequence[str], at: int) -> bool:
    """Whether the capital of a word may be there because a sentence begins with it."""
    return words[at][1:].lower() == words[at][1:] and (at == 0 or words[at - 1] in _OPENING)


def _capitals_tell(words: Sequence[str], vocabulary: Vocabulary) -> bool:
    """Whether capitals set names apart: not in a line of capitals, nor in a title that capitalizes ordinary words."""
    spelled = [word for word in words if len(word) > 1 and word.isalpha()]
    if len(spelled) > 1 and all(word.isupper() for word in spelled):
        return False
    ordinary = [
        word for word in words[1:] if vocabulary.is_ordinary(word.lower()) and word.lower() not in _LOWER_IN_TITLES
    ]
    capitals = sum(word[:1].isupper() and word != "I" for word in ordinary)
    longer = sum(len(word) > 3 and word.islower() for word in ordinary)
    return capitals < 3 or capitals <= 4 * longer


def _quotes(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """From an opening quote to its partner; a mark without a partner, and a quote around the whole line, are none."""
    opening = [at for at, word in enumerate(words) if word in _PAIRS and not _is_apostrophe(words, at)]
    ends = {at: _partner(words, at, _PAIRS[words[at]]) for at in opening} | _double_quotes(words)
    last = 0
    for at in sorted(ends):
        end = ends[at]
        outside = (*words[:at], *words[end:])
        if at >= last and _has_words(words[at:end]) and _has_words(outside):
            yield at, end
            last = end


def _is_apostrophe(words: Sequence[str], at: int) -> bool:
    """Whether a single mark belongs to the word before it: the dogs' owner, 5'10."""
    before = words[at - 1] if at else ""
    return before[-1:].isdigit() or (words[at] == "'" and before[-1:] in ("s", "S"))


def _has_words(words: Sequence[str]) -> bool:
    return any(c.isalnum() for word in words for c in word)


def _double_quotes(words: Sequence[str]) -> dict[int, int]:
    """Where each double quote starts and ends; nothing when a mark is left over.

    Doubled marks are one, as exports of tables write them; the single marks around them then hold the whole line.
    """
    marks: list[tuple[int, int]] = []
    for at, word in enumerate(words):
        inches = word == '"' and not len(marks) % 2 and at and words[at - 1][-1:].isdigit()  # 5'10"
        if word != '"' or inches:
            continue
        if marks and marks[-1] == (at - 1, at) and at > 1:
            marks[-1] = (at - 1, at + 1)
        else:
            marks.append((at, at + 1))
    if any(end - start > 1 for start, end in marks) and len(marks) > 2:
        marks = marks[1:-1]
    if len(marks) % 2:
        return {}
    return {opening[0]: closing[1] for opening, closing in zip(marks[::2], marks[1::2], strict=True)}


def _partner(words: Sequence[str], at: int, closing: str) -> int:
    """The end of the quote opened at a place, its closing mark included; the place itself if nothing closes it."""
    depth = 1
    for end, word in enumerate(words[at + 1 :], start=at + 2):
        if word == closing:  # a mark that also opens closes first
            depth -= 1
            if not depth:
                return end
        elif word == words[at]:
            depth += 1
    return at
