"""A sentence to paraphrase, read, and how it was typed, so that an answer comes back the same way."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...constraints.words import MAX_ENTANGLED, Requirement
from ...errors import BadInput
from ...inputs import ParaphraseInput
from ...text.belonging import with_belongings
from ...text.facts import KINDS, Fact, find_facts
from ...text.lexicon import Lexicon
from ...text.passages import SHOUTED
from ...text.rake import extract_keywords
from ...text.tokenizer import TERMINALS, capitalize, first_word, has_controls, join, normalize, split, truecase
from ...text.vocabulary import Vocabulary

KEEP = "keep"  # the kind of what a user wants to keep, if it is no fact
MIN_WORDS, MAX_WORDS = 2, 60  # of a source
_ASKING = frozenset(
    "what which who whom whose why how when where what's who's how's where's is are am was were do does did can could "
    "will would shall should may might must has have had if".split()
)
_DENYING = frozenset(
    "isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't hasn't haven't".split()
)  # before a pronoun they ask, elsewhere they may forbid
_PRONOUNS = frozenset("i you he she it we they this that these those there".split())
_SPACED = re.compile(r"\w [.,?!;:](?:\s|$)|\w 's\b")


@dataclass(frozen=True)
class Style:
    """Whether a text had no capitals or only capitals, blanks before its marks, and no mark at its end."""

    lower: bool
    spaced: bool
    open_end: bool
    upper: bool = False

    def write(self, words: Sequence[str]) -> tuple[str, list[str]]:
        """The text and the words of an answer, as the input was typed."""
        words = list(words)
        if self.open_end and words and words[-1] in TERMINALS:
            words.pop()
        at = first_word(words)
        if at >= 0 and not self.lower:
            words[at] = capitalize(words[at])
        if self.lower or self.upper:
            words = [word.lower() if self.lower else word.upper() for word in words]
        if self.spaced:
            return " ".join("'" if word == "‘" else word for word in words), words
        text = join(words)
        return (text.lower() if self.lower else text), words


def asks(words: Sequence[str]) -> bool:
    """Whether a sentence without a mark reads like a question."""
    at = first_word(words)
    first, second = (words[place].lower() if 0 <= place < len(words) else "" for place in (at, at + 1))
    return at >= 0 and (first in _ASKING or (first in _DENYING and second in _PRONOUNS))


def read_sentence(text: str, vocabulary: Vocabulary) -> tuple[list[str], Style]:
    """The words of a sentence with usual capitals and a mark at the end, and how it was typed.

    Raises `BadInput` for what is no sentence that the vocabulary could be about.
    """
    if has_controls(text):
        raise BadInput("has control characters; remove them")
    typed = normalize(text)
    words = split(typed)
    if not words:
        raise BadInput("is empty; give a sentence")
    letters = [c for c in typed if c.isalpha()]
    if not letters:
        raise BadInput("has no words, only marks or numbers; give a sentence")
    num_words = sum(any(c.isalnum() for c in word) for word in words)
    if num_words < MIN_WORDS:
        raise BadInput(f"has {num_words} word{'s' * (num_words != 1)}; give a sentence of at least {MIN_WORDS}")
    if len(words) > MAX_WORDS:
        raise BadInput(
            f"has {len(words)} words and marks; at most {MAX_WORDS} can be answered, so split it into sentences"
        )
    spelled = [word for word in words if any(c.isalpha() for c in word)]
    if 2 * sum(bool(vocabulary.casings(word)) for word in spelled) < len(spelled):
        raise BadInput("has few words that the model knows; it reads English, unless `model` says otherwise")
    lower = not any(c.isupper() for c in letters)
    upper = not any(c.islower() for c in letters) and num_words > SHOUTED
    if lower or upper:
        words = [vocabulary.recase(word.lower()) for word in words]
    else:
        words = truecase(words, vocabulary.is_ordinary)
    open_end = words[-1] not in TERMINALS
    if open_end:
        words.append("?" if asks(words) else ".")
    return words, Style(lower, bool(_SPACED.search(typed)), open_end, upper)


@dataclass(frozen=True)
class Source:
    """A sentence to paraphrase, read: its words, its facts, its keywords, and how it was typed."""

    input: ParaphraseInput
    words: list[str]
    style: Style
    facts: list[Fact]
    belonging: list[Fact]  # the same with the words that belong to them, if their places are protected
    keywords: list[int]  # the places of those outside the facts
    ids: list[int] = field(default_factory=list)  # of the words, once there is a lexicon

    def __str__(self) -> str:
        return str(self.input)

    def phrase(self, fact: Fact, lexicon: Lexicon) -> Requirement:
        """The words of a fact side by side, in any casing; in its own if the user wants to keep it."""
        words = self.words[fact.start : fact.end]
        return [[frozenset({lexicon.add(word)} if fact.kind == KEEP else lexicon.casings(word)) for word in words]]

    def bound(self, lexicon: Lexicon) -> "Source":
        """The same, with the ids of its words."""
        return replace(self, ids=[lexicon.add(word) for word in self.words])


def read_source(input: ParaphraseInput, vocabulary: Vocabulary) -> Source:
    """The words of an input, its facts and its keywords."""
    words, style = read_sentence(input.text, vocabulary)
    facts = find_facts(words, vocabulary, [kind for kind in input.protect if kind in KINDS])
    if both := {phrase.lower() for phrase in input.keep} & {phrase.lower() for phrase in input.free}:
        raise BadInput(f"{min(both)!r} is to stay (`keep`) and may change (`free`); leave it out of one of the two")
    for phrase in input.free:
        places = _places_of(words, phrase, vocabulary, "free")
        facts = [fact for fact in facts if not any(fact.start < end and start < fact.end for start, end in places)]
    for phrase in input.keep:
        facts = _keeping(words, facts, phrase, vocabulary)
    if _are_all(words, facts):
        raise BadInput("is all protected words; give more of a sentence, or fewer kinds to `protect`")
    belonging = with_belongings(words, facts) if "places" in input.protect else facts
    if _are_all(words, belonging):
        belonging = facts
    tangled = [fact for fact in facts if any(_share_words(words, fact, other) for other in facts if other != fact)]
    if len(tangled) > MAX_ENTANGLED:
        raise BadInput(f"has {len(tangled)} quotations or names that share words; at most {MAX_ENTANGLED} can be kept")
    covered = {at for fact in facts for at in range(fact.start, fact.end)}
    keywords = [at for at in extract_keywords(words) if at not in covered]
    return Source(input, words, style, facts, belonging, keywords)


def _are_all(words: Sequence[str], facts: Sequence[Fact]) -> bool:
    """Whether there is no word outside the facts."""
    covered = {at for fact in facts for at in range(fact.start, fact.end)}
    return all(at in covered for at, word in enumerate(words) if any(c.isalnum() for c in word))


def _keeping(words: Sequence[str], facts: Sequence[Fact], phrase: str, vocabulary: Vocabulary) -> list[Fact]:
    """The facts, and each occurrence of a phrase that the user wants to keep, in any casing.

    Facts that have words in common with an occurrence are one with it.
    """
    facts = list(facts)
    for start, end in _places_of(words, phrase, vocabulary, "keep"):
        touched = [fact for fact in facts if fact.start < end and start < fact.end]
        spans = [(fact.start, fact.end) for fact in touched] + [(start, end)]
        whole = Fact(touched[0].kind if touched else KEEP, min(spans)[0], max(end for _, end in spans))
        facts = sorted([*(fact for fact in facts if fact not in touched), whole], key=lambda fact: fact.start)
    return facts


def _places_of(words: Sequence[str], phrase: str, vocabulary: Vocabulary, field: str) -> list[tuple[int, int]]:
    """Where a phrase that the user names in `field` stands in a sentence, in any casing."""
    wanted = [word.lower() for word in vocabulary.split(phrase)]
    lower = [word.lower() for word in words]
    found = [at for at in range(len(words)) if wanted and lower[at : at + len(wanted)] == wanted]
    if not found:
        is_to = {"keep": "is to stay", "free": "may change"}[field]
        raise BadInput(f"lacks {phrase!r}, which {is_to} (`{field}`); give words as they stand in the sentence")
    return [(at, at + len(wanted)) for at in found]


def _share_words(words: list[str], one: Fact, other: Fact) -> bool:
    return bool({w.lower() for w in words[one.start : one.end]} & {w.lower() for w in words[other.start : other.end]})
