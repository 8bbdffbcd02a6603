"""A text of one or several sentences, read for correction: the words of each and where they stand."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadInput
from .spans import Span, Traced, find_sentences, word_spans
from .style import SHOUTED
from .tokenizer import split, truecase
from .vocabulary import Vocabulary

_MARKS = frozenset(", . ? ! ; : 's 'S".split())  # set tight in plain text, after a blank in tokenised text
_ENCLOSING = frozenset('"()')  # with blanks on both sides in tokenised text alone
_FEWEST_TO_JUDGE = 4  # words from which on a text may be in another language


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
    """A text and its sentences. What belongs to none (blank lines, labels of lists, rows of marks) is left alone."""

    text: str
    sentences: tuple[SourceSentence, ...]


def read_passage(text: str, vocabulary: Vocabulary, *, most: int = 60, spaced: bool = False) -> Passage:
    """The sentences of a text; `spaced` says whether it is tokenised where the text itself does not show it.

    Raises `BadInput` for what is no text that the vocabulary could be about.
    """
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co") and c not in "\t\n\r" for c in text):
        raise BadInput("has control characters; remove them")
    if not text.strip():
        raise BadInput("is empty; give a sentence")
    found = [sentence for sentence in find_sentences(text, most) if any(c.isalpha() for c in sentence.text)]
    if not found:
        raise BadInput("has no words, only marks or numbers; give a sentence")
    split_words = [split(sentence.text) for sentence in found]
    for number, words in enumerate(split_words, start=1):
        if len(words) > most:
            which = f"sentence {number} " if len(found) > 1 else ""
            raise BadInput(f"{which}has {len(words)} words and marks; at most {most} can be corrected, so split it")
    spelled = [word for words in split_words for word in words if any(c.isalpha() for c in word)]
    # A quarter, because learners misspell much.
    if len(spelled) >= _FEWEST_TO_JUDGE and 4 * sum(bool(vocabulary.casings(word)) for word in spelled) < len(spelled):
        raise BadInput("has few words that the model knows; it reads English, unless --model says otherwise")
    spans = [_typed_spans(sentence, words) for sentence, words in zip(found, split_words, strict=True)]
    counts = [_blanks(text, words, places) for words, places in zip(split_words, spans, strict=True)]
    total = (sum(apart for apart, _ in counts), sum(tight for _, tight in counts))
    sentences = []
    for words, places, count in zip(split_words, spans, counts, strict=True):
        apart, tight = count if any(count) else total
        tokenised = apart >= tight if apart or tight else spaced
        sentences.append(_read_sentence(words, places, vocabulary, spaced=tokenised))
    return Passage(text, tuple(sentences))


def _typed_spans(sentence: Traced, words: Sequence[str]) -> list[Span]:
    origins = sentence.origins
    return [
        (origins[start][0], origins[end - 1][1]) if start < end else (origins[-1][1], origins[-1][1])
        for start, end in word_spans(sentence, words)
    ]


def _blanks(text: str, words: Sequence[str], spans: Sequence[Span]) -> tuple[int, int]:
    """How many words and marks stand apart as in tokenised text, and how many marks are set tight as in plain text."""
    apart = sum(any(c.isspace() for c in text[start:end]) for start, end in spans)
    tight = 0
    last = len(words) - 1
    for at, word in enumerate(words):
        before = at == 0 or spans[at - 1][1] < spans[at][0]
        after = at == last or spans[at][1] < spans[at + 1][0]
        if word in _MARKS and at and spans[at][0] < spans[at][1]:
            apart += before
            tight += not before
        elif word in _ENCLOSING:
            apart += before and after
    if not apart and not tight and words[-1] == "...":  # less telling, since some type it so in plain text
        apart += last > 0 and before
    return apart, tight


def _read_sentence(
    words: Sequence[str], spans: Sequence[Span], vocabulary: Vocabulary, *, spaced: bool
) -> SourceSentence:
    num_words = sum(any(c.isalnum() for c in word) for word in words)
    upper = num_words > SHOUTED and "".join(words).isupper()
    cased = [vocabulary.recase(word.lower()) for word in words] if upper else truecase(words, vocabulary.is_ordinary)
    return SourceSentence(tuple(cased), tuple(spans), spaced, upper, spans[0][0], spans[-1][1])
