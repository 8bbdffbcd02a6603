"""What belongs to a fact and stays beside it: what a number counts, the preposition of a name, what is denied.

- A number keeps the word after it (5 *cats*, 20 *dollars*), and what qualifies it (*at least* 5, 5 years *ago*).
- A number keeps the preposition before it (*in* 2016). So does a name if the sentence has other names (*from* Paris
  *to* Berlin), or if another preposition would say the opposite (*to* Paris).
- A negation keeps the words up to the next one that is no function word (don't you *like*, without a *degree*).
"""

from collections.abc import Sequence
from dataclasses import replace

from .facts import Fact

_ARTICLES = frozenset("a an the my your his her its our their this these".split())
# Prepositions that say where from, where to, before or after: another one in their place says something else.
_DIRECTIONS = frozenset(
    "from to into onto toward towards before after since until till without against under over above below beyond "
    "between off out up down versus vs despite except".split()
)
_PREPOSITIONS = _DIRECTIONS | frozenset(
    "about across along among around as at behind beside besides by during for in inside near of on outside past per "
    "through throughout upon via with within".split()
)
# What says of a number that it is not just that number. Beside a number, none of these may be new.
QUALIFY_BEFORE = _DIRECTIONS | frozenset(
    "more less fewer greater higher lower least most only just about around almost nearly approximately roughly "
    "exactly than another other extra additional further every each per next last first past within maximum minimum "
    "some full mere whole $ £ € ¥".split()
)
QUALIFY_AFTER = frozenset(
    "more less fewer only extra additional further ago later earlier plus am pm a.m. p.m. o'clock".split()
)
_AFTER_PAIRS = frozenset((("or", "more"), ("or", "less"), ("or", "fewer"), ("at", "least"), ("at", "most")))
_FUNCTION_WORDS = _ARTICLES | _PREPOSITIONS | frozenset(
    "i me you he him she it we us they them mine yours hers ours theirs myself yourself that those who whom whose "
    "which what when where why how there here and or but nor so if because while though although am is are was were be "
    "been being do does did have has had can could may might must shall should will would ever even also yet any 's"
    .split()
)  # fmt: skip
_MAX_BETWEEN = 3  # function words between a negation and what it denies


def with_belongings(words: Sequence[str], facts: Sequence[Fact]) -> list[Fact]:
    """The facts, each with the words that belong to it, in order.

    No word belongs to two of them. A negation right before another fact is one with it: "not in India".
    """
    lower = [word.lower() for word in words]
    taken = [False] * len(words)
    for fact in facts:
        taken[fact.start : fact.end] = [True] * (fact.end - fact.start)
    several = sum(fact.kind == "names" for fact in facts) > 1
    before = {"numbers": QUALIFY_BEFORE | _PREPOSITIONS, "names": _PREPOSITIONS if several else _DIRECTIONS}
    longer: list[Fact] = []
    for fact in facts:
        start = _preceding(lower, taken, fact.start, before.get(fact.kind, frozenset()))
        end = _counted(lower, taken, fact.end) if fact.kind == "numbers" else fact.end
        taken[start:end] = [True] * (end - start)
        longer.append(replace(fact, start=start, end=end))
    return _with_denied(lower, longer)


def is_preposition(word: str) -> bool:
    """Whether a word in lower case may be the preposition of a name or a number."""
    return word in _PREPOSITIONS


def _is_content(word: str) -> bool:
    return word[:1].isalpha() and word not in _FUNCTION_WORDS


def _counted(lower: Sequence[str], taken: Sequence[bool], end: int) -> int:
    """Where a number ends together with what it counts, and with what qualifies it from behind."""

    def free(at: int) -> bool:
        return at < len(lower) and not taken[at]

    if free(end) and _is_content(lower[end]) and lower[end] not in QUALIFY_AFTER:
        end += 1
    while free(end):
        if lower[end] in QUALIFY_AFTER:
            end += 1
        elif free(end + 1) and (lower[end], lower[end + 1]) in _AFTER_PAIRS:
            end += 2
        else:
            break
    return end


def _preceding(lower: Sequence[str], taken: Sequence[bool], start: int, wanted: frozenset[str]) -> int:
    """Where a fact starts together with the words of a set that stand before it; an article may stand between."""
    at = start
    if at and not taken[at - 1] and lower[at - 1] in _ARTICLES:
        at -= 1
    if not at or taken[at - 1] or lower[at - 1] not in wanted:
        return start
    while at and not taken[at - 1] and lower[at - 1] in wanted:
        at -= 1
    return at


def _with_denied(lower: Sequence[str], facts: Sequence[Fact]) -> list[Fact]:
    """The facts, negations with what they deny."""
    starts = {fact.start: fact for fact in facts}
    joined: list[Fact] = []
    for fact in facts:
        if joined and fact.start < joined[-1].end:
            continue  # it is one with the negation before it
        end = fact.end
        while (
            end < len(lower) and end - fact.end < _MAX_BETWEEN and end not in starts and lower[end] in _FUNCTION_WORDS
        ):
            end += 1
        if fact.kind != "negation":
            joined.append(fact)
        elif end in starts:
            joined.append(replace(starts[end], start=fact.start))
        else:
            denies = end < len(lower) and _is_content(lower[end])
            joined.append(replace(fact, end=end + 1) if denies else fact)
    return joined
