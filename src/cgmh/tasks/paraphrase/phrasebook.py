"""Phrases that say the same: how questions open, whole frames, and words that stand for one another anywhere.

At most one opening or frame of a sentence and two of its phrases give way to others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from ...text.inflection import verb_forms
from .frames import FRAMES, LESS_USUAL, TURNED
from .phrases import ANYWHERE, OPENINGS, SMALL, UNASKED

MOST_WORDS = 20  # that a star stands for
MOST_PHRASES = 2  # that change in a sentence, beside how it opens
SURE, FAIR, LOOSE = 1.0, 0.65, 0.5  # how sure a rule is: loose ones may turn the question a little
MOST = 40  # rewritten sentences
MOST_BEFORE_EXACTLY = 3  # words

Words = tuple[str, ...]
Slots = dict[str, list[str]]  # what the stars stand for

# These are written out before anything else is looked for.
_CONTRACTIONS = {
    "i'm": "I am", "i've": "I have", "you've": "you have", "you're": "you are", "they're": "they are",
    "we're": "we are",
}  # fmt: skip
_BEFORE_IS = frozenset("what who how where that there when why".split())
_MARKS = frozenset('. ? ! : , ; " ( )'.split())
_WITHIN, _ENDS = frozenset(', " ('.split()), frozenset(". ? !".split())  # before a clause of a sentence; at its end
_SLIGHT = frozenset("a an the , ; : - and so but now then that".split())  # come and go, and hardly anything changes
_ASKED_IN_FULL = frozenset(  # of these, people ask for all
    [
        *"two three four five six seven eight nine ten chances odds exact results names dates steps parents".split(),
        *"members founders first last lyrics ingredients".split(),
        *map(str, range(2, 100)),
    ]
)
_NOT_BEFORE: dict[Words, frozenset[str]] = {
    ("can", "you"): frozenset(  # they make it a request
        "explain tell give recommend suggest help please describe show share list answer name provide guess say think "
        "convince read do".split()
    ),
    ("how", "do", "you"): frozenset("feel think like rate view see want".split()),
    ("how", "do", "i"): frozenset("feel think look".split()),
    ("what", "is", "the", "best"): frozenset("thing part time day age".split()),
    ("can", "any", "one"): frozenset(("of",)),
    **{("is", "it", word): frozenset(("that",)) for word in "okay ok good bad moral wrong safe better".split()},
    **dict.fromkeys(
        [("what", "are", "the"), ("what", "were", "the"), ("who", "are", "the"), ("who", "were", "the")], _ASKED_IN_FULL
    ),
    ("which",): frozenset("is are was were will would can do does should has have one ones of".split()),
}  # what some rules do not fit before
_FRONTED = frozenset("if when after before during while without unless".split())  # what they open may come first
_ASKED = frozenset(
    "know tell see check out determine sure wonder verify identify matter decide ask even only just what "
    "understand".split()
)  # after these, "if" is whether, and "when" is what is asked
_NEEDS_A_PLACE = frozenset("live lives living lived stay staying work working study studying born based".split())
_NOT_TURNED = frozenset("or exactly good best worst greatest most first last favorite favourite some way ways".split())
_NO_SUBJECTS = frozenset(
    "i you we it there this that these those anyone someone people any some one meant wrong".split()
)
_OBJECTS = {"i": "me", "we": "us", "they": "them", "he": "him", "she": "her"}
_NAMED_BEFORE = frozenset("they them their he him his she her".split())
_PLURAL = frozenset("people men women children they we you i police".split())
_HEAD_ENDS = frozenset("of in for on at to with from by about that who which and".split())
_INFLECTED = {"o": "VB", "s": "VBZ", "ed": "VBD"}
_NO_VERBS = frozenset(
    "not be the a an and or of to in on at for i you we they he she it war school jail hell bed "
    "court market space college university church prison".split()
)
_DETERMINERS = frozenset("the a an some any your my our their his her its you i we they people good there".split())
_NOT_AFTER = {  # what the words of a star may not begin with, right after a word
    "some": _DETERMINERS,
    "that": frozenset("any anyone anybody anything be happen".split()),
    "which": frozenset(
        "do does did have kind kinds sort type types all else more other a advice information help time evidence "
        "exactly really actually about happens happened makes causes the amount percentage price salary rank score age "
        "size experience".split()
    ),
    "of": frozenset("on to in about and for with at".split()),
    **dict.fromkeys(("really", "actually"), frozenset("hate love like want enjoy need good bad great hard".split())),
}
_CLAUSE_VERBS = frozenset("is are was were has can could will would should".split())
_JOINING = frozenset("that who which what how why if when where because think believe say feel know".split())
_ONE_THING = frozenset("physics news politics economics mathematics maths series".split())
_SEVERAL = {"does": "do", "is": "are", "has": "have"}


@dataclass(frozen=True)
class Rule:
    """What it looks for, a word or a star at each place, and what may stand there instead."""

    old: tuple[str, ...]
    new: tuple[tuple[str, ...], ...]
    opens: bool  # whether it holds at the beginning of a clause only
    asks: bool  # whether it makes a question of a whole sentence that is none by its words
    grade: float  # how sure it is


@cache
def _rules() -> dict[str, list[Rule]]:
    """The rules by the first word that they look for."""
    rules: dict[str, list[Rule]] = {}
    tables = (
        (OPENINGS, True, SURE), (FRAMES, True, SURE), (LESS_USUAL, True, FAIR), (TURNED, True, LOOSE),
        (UNASKED, True, SURE), (ANYWHERE, False, SURE), (SMALL, False, LOOSE),
    )  # fmt: skip
    for table, opens, grade in tables:
        for line in table.strip().splitlines():
            olds, _, news = line.partition(" > ")
            phrases = olds.split(" | ")
            ways = [(old, [new for new in phrases if new != old]) for old in phrases]
            if news:
                ways = [(old, news.split(" | ")) for old in olds.split(" / ")]
            for old, new in ways:
                rule = Rule(_starred(old), tuple(map(_starred, new)), opens, table is UNASKED, grade)
                rules.setdefault(rule.old[0], []).append(rule)
    return rules


def _starred(phrase: str) -> tuple[str, ...]:
    """The words of a phrase; its stars are X and Y."""
    return tuple(phrase.replace("*", "X", 1).replace("*", "Y", 1).split())


@dataclass(frozen=True)
class Rewrite:
    """A sentence in other words, and how surely it asks the same."""

    words: Words
    grade: float


def rewritten(
    words: Sequence[str], read: Callable[[list[Words]], list[float]], *, may_ask: bool = True
) -> list[Rewrite]:
    """The sentence in other words: at most one opening or frame and two phrases are changed.

    `may_ask` says that it may be a question though it has no verb, or has it behind its subject.
    Where a rule fits in several ways, since a subject may end at any word, the one that `read` likes most is taken.
    """
    source = tuple(words)
    full = _written_out(source)
    rivals: dict[tuple[Rule, int, int], list[Words]] = {}
    for new, rule, place, option in _once(full, opens=True, may_ask=may_ask):
        rivals.setdefault((rule, place, option), []).append(new)
    asked = [new for some in rivals.values() if len(some) > 1 for new in some]
    likes = dict(zip(asked, read(asked), strict=True)) if asked else {}
    grades = {full: SURE, **dict.fromkeys(_fronted(full), FAIR)}
    for (rule, _, _), some in rivals.items():
        best = max(some, key=lambda new: likes[new]) if len(some) > 1 else some[0]
        grades[best] = max(rule.grade, grades.get(best, 0.0))
    latest = dict(grades)
    for _ in range(MOST_PHRASES):
        found = {
            new: min(grade, rule.grade)
            for old, grade in latest.items()
            for new, rule, *_ in _once(old, opens=False, may_ask=may_ask)
        }
        latest = {new: grade for new, grade in found.items() if new not in grades}
        grades |= latest
    for known in {source, full}:
        grades.pop(known, None)
    return [Rewrite(new, grade) for new, grade in grades.items()][:MOST]


def plain(words: Sequence[str]) -> list[str]:
    """A sentence without articles, commas and the like, contractions written out: those with the same differ little."""
    lower = [word.lower() for word in _written_out(tuple(words))]
    return [word for word in lower if word not in _SLIGHT]


def _written_out(words: Words) -> Words:
    """Without contractions."""
    written: list[str] = []
    for at, word in enumerate(words):
        if word == "'s" and at and words[at - 1].lower() in _BEFORE_IS:
            written.append("is")
        else:
            written += _CONTRACTIONS.get(word.lower(), word).split()
    return tuple(written)


def _once(words: Words, *, opens: bool, may_ask: bool) -> Iterator[tuple[Words, Rule, int, int]]:
    """What one rule makes of a sentence, at each place where it fits; the rule, the place, and which option it is."""
    lower = [word.lower() for word in words]
    for at, first in enumerate(lower):
        begins = _begins_clause(lower, at)
        for rule in _rules().get(first, ()):
            if rule.opens != opens or (opens and not begins) or (rule.asks and (at or not may_ask)):
                continue
            for end, slots in _fits(rule.old, words, lower, at):
                rest = lower[end:]
                if not _NOT_BEFORE.get(rule.old, frozenset()).isdisjoint(rest[:1]):
                    continue
                if rule.asks and not _CLAUSE_VERBS.isdisjoint(rest):
                    continue
                for option, phrase in enumerate(rule.new):
                    is_barred = rule.grade == LOOSE and not _may_turn(phrase, slots, rest)
                    if not is_barred and (new := _filled(phrase, slots, rule.old)):
                        yield (*words[:at], *new, *words[end:]), rule, at, option


def _begins_clause(lower: Sequence[str], at: int) -> bool:
    """Whether a sentence begins at a word, or, in a question, a part of it."""
    before = lower[at - 1] if at else "."
    asks = next((word for word in lower[at:] if word in _ENDS), ".") == "?"
    return before in _MARKS and (asks or before not in _WITHIN)


def _may_turn(phrase: Words, slots: Slots, rest: Sequence[str]) -> bool:
    """Whether a loose rule may be taken: not of one thing or another; nor asking who speaks if something is true of
    them, or how exactly they do it. "Exactly" stands at the end of short questions alone.
    """
    end = next((at for at, word in enumerate(rest) if word in _MARKS), len(rest))
    words = {word.lower() for part in slots.values() for word in part} | {*rest[:end]}
    is_personal = phrase[:2] in (("is", "it"), ("how", "exactly")) and slots["X"][0].lower() in _NO_SUBJECTS
    if phrase[:3] == ("which", "is", "better"):
        is_personal = slots["X"][0].lower() in _NO_SUBJECTS | _OBJECTS.keys() or _is_finite(slots["X"])
    is_far = phrase[-2:] == ("exactly", "?") and len(slots["X"]) > MOST_BEFORE_EXACTLY
    return not (words & _NOT_TURNED or is_personal or is_far)


def _fits(pattern: Sequence[str], words: Sequence[str], lower: Sequence[str], at: int) -> Iterator[tuple[int, Slots]]:
    """Where a pattern that fits from `at` on ends, and what its stars stand for; every way there is."""
    if not pattern:
        yield at, {}
    elif pattern[0] in ("X", "Y"):
        for end in range(at + 1, min(at + MOST_WORDS, len(words)) + 1):
            if words[end - 1] in _MARKS:
                break
            for last, slots in _fits(pattern[1:], words, lower, end):
                yield last, {pattern[0]: list(words[at:end]), **slots}
    elif at < len(words) and lower[at] == pattern[0]:
        yield from _fits(pattern[1:], words, lower, at + 1)


def _filled(phrase: Words, slots: Slots, old: Words) -> list[str]:
    """A phrase with the words that its stars stand for; a verb right before them agrees with them, as that of the `old`
    phrase does.

    Nothing, if a word that should be a verb is none, if it cannot be told whether they are several, if two words would
    stand side by side that cannot, or a pronoun before what it stands for.
    """
    stars = [word for word in phrase if word in slots]
    if stars[:1] == ["Y"] and _points_back(slots["Y"]):
        return []
    written: list[str] = []
    for at, word in enumerate(phrase):
        if word in slots:
            part = list(slots[word])
            subject = word == "X" and phrase[at + 1] not in ("and", "?")
            if subject and written and written[-1] in _SEVERAL:
                told = _are_several_before(old)
                several = _are_several(part) if told is None else told
                if several is None:
                    return []
                if several:
                    is_me = written[-1] == "is" and part in (["I"], ["i"])
                    written[-1] = "am" if is_me else _SEVERAL[written[-1]]
            if written and not _fits_after(written[-1], part):
                return []
            if written and written[-1] in ("for", "makes", "made"):
                part[0] = _OBJECTS.get(part[0].lower(), part[0])
            written += part
        elif word[0] in slots and word[1:] in _INFLECTED:
            verb, *rest = slots[word[0]]
            if word == "Yo" and not (_CLAUSE_VERBS | _JOINING).isdisjoint(_lower(slots["X"])):
                return []
            forms = ["be"] if (word[1:], verb) == ("o", "be") else _forms(verb, _INFLECTED[word[1:]])
            if not forms:
                return []
            written += [forms[0], *rest]
        else:
            written.append("I" if word == "i" else word)
    return written


def _lower(words: Sequence[str]) -> list[str]:
    return [word.lower() for word in words]


def _fits_after(word: str, part: Sequence[str]) -> bool:
    """Whether the words of a star may stand right after a word of the phrase."""
    lower = _lower(part)
    if word == "which" and not (_CLAUSE_VERBS | _JOINING | {"and", "or"}).isdisjoint(lower):
        return False
    if word in ("makes", "made") and _is_finite(lower):
        return False
    return lower[0] not in _NOT_AFTER.get(word, ())


def _points_back(words: Sequence[str]) -> bool:
    """Whether words speak of somebody who is likely to be named before them."""
    return not _NAMED_BEFORE.isdisjoint(_lower(words))


def _is_finite(words: Sequence[str]) -> bool:
    """Whether a phrase has a verb of its own, outside of any clause within it: people are, not people who are."""
    lower = _lower(words)
    verb = next((at for at, word in enumerate(lower) if word in _CLAUSE_VERBS), None)
    return verb is not None and _JOINING.isdisjoint(lower[:verb])


def _forms(verb: str, tag: str) -> Sequence[str]:
    """The forms of a verb; none if the word is more likely a noun there (going to bed)."""
    return () if verb.lower() in _NO_VERBS else verb_forms(verb, tag)


def _are_several_before(old: Words) -> bool | None:
    """Whether X is several things, by the verb before it in a phrase; None if the phrase does not tell."""
    verb = next((before for before, word in pairwise(old) if word == "X"), "")
    return False if verb in _SEVERAL else True if verb in _SEVERAL.values() else None


def _are_several(words: Sequence[str]) -> bool | None:
    """Whether a phrase looks like several things, not one; None if it may be either (washing machines, Texas)."""
    lower = _lower(words)
    head = next((at for at, word in enumerate(lower) if at and word in _HEAD_ENDS), len(lower))
    noun = lower[head - 1]
    if noun in _ONE_THING or (lower[0].endswith("ing") and len(lower) > 1):
        ends_in_s = noun.endswith("s") and noun not in _ONE_THING
        return None if ends_in_s else False
    if "and" in lower or noun in _PLURAL:
        return True
    looks_several = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    return None if looks_several and words[head - 1][0].isupper() else looks_several


def _fronted(words: Words) -> Iterator[Words]:
    """Clauses and places of a sentence in another order: in India, should …"""
    *rest, mark = words
    if _MARKS & set(rest) or mark not in (".", "?"):
        return
    for at, word in enumerate(rest):
        is_place = word == "in" and at + 1 < len(rest) and rest[at + 1][0].isupper() and len(rest) - at <= 4
        is_place = is_place and rest[at - 1].lower() not in _NEEDS_A_PLACE
        is_clause = word in _FRONTED and rest[at - 1].lower() not in _ASKED
        may_move = len(rest) - at >= 2 and "or" not in rest[at:] and not _points_back(rest[at:])
        if at >= 3 and may_move and (is_clause or is_place):
            yield (*rest[at:], ",", *rest[:at], mark)
            return
