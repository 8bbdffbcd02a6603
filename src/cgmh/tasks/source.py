"""A sentence to paraphrase, read: its words, its facts, its keywords, and how it was typed."""

from dataclasses import dataclass

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
    keywords: list[int]  # their places


def read_source(input: ParaphraseInput, lexicon: Lexicon) -> Source:
    """The words of an input, its facts and its keywords."""
    words, style = read_sentence(input.text, lexicon.vocabulary, fewest=FEWEST, most=MOST)
    facts = find_facts(words, lexicon.vocabulary, input.protect)
    return Source(words, [lexicon.add(word) for word in words], style, facts, extract_keywords(words))
