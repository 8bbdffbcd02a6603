"""Plain mistakes that sampling makes: a word said twice, a vowel, two articles, some best, is they."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ...text.rake import STOP_WORDS

_DETERMINERS = frozenset("a an the some my your his its our their this these those every each".split())
_FINITE = frozenset("is are am was were does did can could will would should has".split())
_SUPERLATIVES = frozenset("best worst most least".split())
# Words before which those behind do not stand.
_NEVER_BEFORE = {
    **dict.fromkeys(_DETERMINERS, _DETERMINERS),
    **dict.fromkeys(_FINITE, _FINITE),
    **dict.fromkeys(("a", "an", "some"), _DETERMINERS | _SUPERLATIVES),
    "is": _FINITE | frozenset("i you we they".split()),
    "was": _FINITE | frozenset("you we they".split()),
    "does": _FINITE | frozenset("i you we they".split()),
    "are": _FINITE | frozenset("i he she it".split()),
    "do": frozenset("he she it".split()),
}
_CONSONANT_SOUND = ("uni", "use", "usu", "usa", "uti", "eu", "one", "once", "ur")
_VOWEL_SOUND = ("hour", "honest", "honor", "honour", "heir", "unin", "unim", "uns", "unu", "urg")
_ENDINGS = ("ies", "es", "ed", "ing", "s", "e", "y")
MIN_STEM = 3  # letters


def num_flaws(words: Sequence[str]) -> int:
    """How many mistakes there are: pairs of words that do not stand side by side, and content words said again."""
    lower = [word.lower() for word in words]
    beside = sum(
        second in _NEVER_BEFORE.get(first, ()) or first == second or _is_misspoken(first, words[at + 1])
        for at, (first, second) in enumerate(pairwise(lower))
    )
    content = [_stem(word) for word in lower if word not in STOP_WORDS and word.isalpha()]
    return beside + sum(number - 1 for number in Counter(content).values())


def _is_misspoken(article: str, word: str) -> bool:
    """Whether an article is the wrong one of a and an; the sound of abbreviations and figures is not known."""
    if article not in ("a", "an") or not word.isalpha() or word.isupper():
        return False
    word = word.lower()
    vowel = word.startswith(_VOWEL_SOUND) or (word[0] in "aeiou" and not word.startswith(_CONSONANT_SOUND))
    return vowel == (article == "a")


def _stem(word: str) -> str:
    """A word without its ending: college and colleges have one stem."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= MIN_STEM:
            return word.removesuffix(ending)
    return word
