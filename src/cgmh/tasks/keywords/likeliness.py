"""How likely a sentence with keywords is: what `--select likeliest` and the search behind it look for.

The log probability per word favours long sentences, whose later words are easy to tell, and sentences that say a thing
twice. So the word model reads a sentence forward, backward and word by word; the number of words is smoothed, as beam
searches for translations do it (Wu et al. 2016); and a sentence in which a pair of words comes twice comes last.
"""

from collections.abc import Sequence
from itertools import pairwise

from ...readings import Readings
from .grid import Hypothesis

OFFSET = 5.0  # added to the number of words by which log probabilities are divided
REPEATS = 1e3  # what a sentence loses that repeats itself


def likeliness(readings: Readings, sentences: Sequence[Sequence[str]]) -> list[float]:
    """Of sentences, given with their words."""
    pairs = zip(readings.fluency(OFFSET), sentences, strict=True)
    return [fluent - REPEATS * repeats(words) for fluent, words in pairs]


def roughly(found: Hypothesis) -> float:
    """The same of what a search found, as far as it is known: from left to right."""
    return found.log_prob / (len(found.ids) + OFFSET)


def repeats(words: Sequence[str]) -> bool:
    """Whether a pair of words comes twice, or a word twice in a row."""
    pairs = list(pairwise(word.lower() for word in words))
    return len(set(pairs)) < len(pairs) or any(one == other for one, other in pairs)
