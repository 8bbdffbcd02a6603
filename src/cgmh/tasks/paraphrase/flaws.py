"""Plain mistakes that sampling makes: a word said twice, "an" for "a", two articles, "is they", verbs that changed or
changed places."""

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
_VERBS = _FINITE | frozenset("be been do have had must may might i'm you're we're they're".split())
_BEFORE_IS = frozenset("what who how where that there when why it he she".split())  # 's is a verb after these
_DENIED = {"won't": "will", "can't": "can", "cannot": "can"}
_PRONOUNS = frozenset("i you he she it we they there this that".split())
_NUMBERS = (("is", "are"), ("was", "were"), ("does", "do"), ("has", "have"))  # of one thing, and of several
_OPENING = tuple(
    frozenset(group.split())
    for group in ("can could", "will would", "should must", "do does did", "is are was were", "has have had")
)  # what a question begins with that asks whether something is so
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


def num_changed_verbs(words: Sequence[str], source: Sequence[str]) -> int:
    """How many small verbs (is, can, do) went, or became those of several things or of one; and whether one
    opened the source and is no more."""
    now, before = _small_verbs(words), _small_verbs(source)
    gone = max(0, before.total() - now.total())
    pairs = [*_NUMBERS, *((several, one) for one, several in _NUMBERS)]
    turned = sum(max(0, min(now[new] - before[new], before[old] - now[old])) for new, old in pairs)
    is_lost = any(source[0].lower() in group and not group & now.keys() for group in _OPENING)
    return gone + turned + is_lost


def _small_verbs(words: Sequence[str]) -> Counter[str]:
    """How often each small verb stands in a sentence; "don't" is a "do"."""
    lower = [word.lower() for word in words]
    plain = (_DENIED.get(word, word.removesuffix("n't")) for word in lower)
    num_contracted = sum(second == "'s" and first in _BEFORE_IS for first, second in pairwise(lower))
    return Counter(word for word in plain if word in _VERBS) + Counter({"is": num_contracted})


def is_turned_around(words: Sequence[str], source: Sequence[str]) -> bool:
    """Whether what stands behind the first small verb of a question stands before it (how much a drone can carry), or
    before "than" what stood behind it (is coffee better than tea)."""
    lower, own = ([word.lower() for word in each] for each in (words, source))
    verb = next((at for at, word in enumerate(own) if word in _VERBS), None) if own[-1] == "?" else None
    than = own.index("than") if "than" in own else None
    return any(at is not None and _comes_before(at, lower, own) for at in (verb, than))


def _comes_before(pivot: int, lower: Sequence[str], own: Sequence[str]) -> bool:
    """Whether the word behind a pivot of the source, articles aside, stands before it now; a pronoun, or a word that
    stands there more than once, says nothing."""
    behind = next((word for word in own[pivot + 1 :] if word not in _DETERMINERS), "")
    if behind in _PRONOUNS or (own.count(behind), lower.count(behind)) != (1, 1) or own[pivot] not in lower:
        return False
    return lower.index(behind) < lower.index(own[pivot])


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
