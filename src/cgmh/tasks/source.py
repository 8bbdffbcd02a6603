"""A sentence to paraphrase, read: its words, its facts, its keywords, and how it was typed."""

from dataclasses import dataclass

from ..constraints.contains import MOST_MASKED
from ..errors import BadInput
from ..text.facts import Fact, find_facts
from ..text.lexicon import Lexicon
from ..text.rake import extract_keywords
from ..text.style import Style, read_sentence
from .reading import ParaphraseInput

FEWEST, MOST = 2, 60  # words of a source


@dataclass(frozen=True)
class Source:
    """An input as the sampler reads it."""

    words: list[str]
    ids: list[int]
    style: Style
    facts: list[Fact]
    keywords: list[int]  # the places of those outside the facts


def read_source(input: ParaphraseInput, lexicon: Lexicon) -> Source:
    """The words of an input, its facts and its keywords."""
    words, style = read_sentence(input.text, lexicon.vocabulary, fewest=FEWEST, most=MOST)
    facts = find_facts(words, lexicon.vocabulary, input.protect)
    covered = {at for fact in facts for at in range(fact.start, fact.end)}
    if all(at in covered for at, word in enumerate(words) if any(c.isalnum() for c in word)):
        raise BadInput("is all protected words; give more of a sentence, or fewer kinds to --protect")
    tangled = [fact for fact in facts if any(_share_words(words, fact, other) for other in facts if other != fact)]
    if len(tangled) > MOST_MASKED:
        raise BadInput(f"has {len(tangled)} quotations or names that share words; at most {MOST_MASKED} can be kept")
    keywords = [at for at in extract_keywords(words) if at not in covered]
    return Source(words, [lexicon.add(word) for word in words], style, facts, keywords)


def _share_words(words: list[str], one: Fact, other: Fact) -> bool:
    return bool({w.lower() for w in words[one.start : one.end]} & {w.lower() for w in words[other.start : other.end]})
