"""A sentence to paraphrase, read: its words, its facts, its keywords, and how it was typed."""

from dataclasses import dataclass

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
    keywords = [at for at in extract_keywords(words) if at not in covered]
    return Source(words, [lexicon.add(word) for word in words], style, facts, keywords)
