"""How a text was typed, so that an answer comes back the same way."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import BadInput
from .tokenizer import TERMINALS, capitalize, first_word, join, normalize, split, truecase
from .vocabulary import Vocabulary

_ASKING = frozenset(
    "what which who whom whose why how when where is are am was were do does did can could will would shall should may "
    "might must has have had what's who's how's where's isn't aren't don't doesn't didn't can't couldn't won't "
    "wouldn't shouldn't hasn't haven't if".split()
)


@dataclass(frozen=True)
class Style:
    """Whether a text had no capitals, blanks before its marks, and no mark at its end."""

    lower: bool
    spaced: bool
    open_end: bool

    def write(self, words: Sequence[str]) -> tuple[str, list[str]]:
        """The text and the words of an answer, as the input was typed."""
        words = list(words)
        if self.open_end and words and words[-1] in TERMINALS:
            words.pop()
        if self.lower:
            words = [word.lower() for word in words]
            text = join(words)
            text = text[:1].lower() + text[1:]
        else:
            at = first_word(words)
            if at >= 0:
                words[at] = capitalize(words[at])
            text = join(words)
        return (" ".join(words) if self.spaced else text), words


def read_sentence(text: str, vocabulary: Vocabulary, *, fewest: int = 1, most: int = 60) -> tuple[list[str], Style]:
    """The words of a sentence with usual capitals and a mark at the end, and how it was typed.

    Raises `BadInput` for what is no sentence that the vocabulary could be about.
    """
    if any(unicodedata.category(c) in ("Cc", "Cs", "Co") and c not in "\t\n\r" for c in text):
        raise BadInput("has control characters; remove them")
    typed = normalize(text)
    words = split(typed)
    if not words:
        raise BadInput("is empty; give a sentence")
    letters = [c for c in typed if c.isalpha()]
    if not letters:
        raise BadInput("has no words, only marks or numbers; give a sentence")
    num_words = sum(any(c.isalnum() for c in word) for word in words)
    if num_words < fewest:
        raise BadInput(f"has {num_words} word{'s' * (num_words != 1)}; give a sentence of at least {fewest}")
    if len(words) > most:
        raise BadInput(f"has {len(words)} words and marks; at most {most} can be answered, so split it into sentences")
    known = sum(bool(vocabulary.casings(word)) for word in words if any(c.isalpha() for c in word))
    if known == 0:
        raise BadInput("has no word that the model knows; it reads English, unless --model says otherwise")
    lower = not any(c.isupper() for c in letters)
    words = [vocabulary.recase(word) for word in words] if lower else truecase(words, vocabulary.is_ordinary)
    open_end = words[-1] not in TERMINALS
    if open_end:
        words.append("?" if words[0].lower() in _ASKING else ".")
    spaced = any(f" {word}" in f" {typed}" and word in {*TERMINALS, ",", "'s"} for word in words)
    return words, Style(lower, spaced, open_end)
