"""From a correction to LanguageTool's matches: spots of the text, each with what may stand there instead.

Clients do not show a match without extent, so what is only inserted or deleted is shown on a neighbouring word: "price"
becomes "price is".
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .annotated import AnnotatedText, utf16_length

Edit = dict[str, Any]  # as `Edit.to_dict` gives it
_LEFT = re.compile(r"\S+[^\S\n]*\Z")  # the word before a place, on the same line,
_RIGHT = re.compile(r"[^\S\n]*\S+")  # and the one after it
_ENDED = re.compile(r"[.!?…]['\")\]’”]*\s*\Z")
_CONTEXT = 40  # characters before and after a match
_MAX_REPLACEMENTS = 8


@dataclass(frozen=True)
class Rule:
    """What LanguageTool's clients know a kind of mistake as: they colour and switch off by these names."""

    id: str
    category: str
    category_name: str
    issue_type: str
    description: str


def _rules() -> dict[str, Rule]:
    typos = ("TYPOS", "Possible Typo", "misspelling")
    grammar = ("GRAMMAR", "Grammar", "grammar")
    marks = ("PUNCTUATION", "Punctuation", "typographical")
    compounds = ("COMPOUNDING", "Compounding", "misspelling")
    rules = {
        "spelling": Rule("MORFOLOGIK_RULE_EN_US", *typos, "Possible spelling mistake"),
        "casing": Rule("CGMH_CASING", "CASING", "Capitalization", "typographical", "Capital or small letter"),
        "real word": Rule(
            "CGMH_REAL_WORD", "CONFUSED_WORDS", "Commonly Confused Words", "misspelling", "Confused word"
        ),
        "comma": Rule("CGMH_COMMA", *marks, "Comma"),
        "punctuation": Rule("CGMH_PUNCTUATION", *marks, "Punctuation mark"),
        "splitting": Rule("CGMH_SPLITTING", *compounds, "One word or two"),
        "joining": Rule("CGMH_JOINING", *compounds, "Two words or one"),
    }
    described = {
        "agreement": "Agreement of subject and verb", "number": "Singular or plural", "tense": "Tense of the verb",
        "inflection": "Form of the word", "derivation": "Another word of the same family", "determiner": "Article",
        "preposition": "Preposition", "auxiliary": "Auxiliary verb", "pronoun": "Pronoun",
        "linking": "Linking word", "order": "Order of the words", "word": "Another word",
    }  # fmt: skip
    rules |= {kind: Rule(f"CGMH_{kind.upper()}", *grammar, what) for kind, what in described.items()}
    return rules


RULES = _rules()  # by the kind of mistake
_OTHER = Rule("CGMH_OTHER", "GRAMMAR", "Grammar", "grammar", "Mistake")


def rule_of(kind: str) -> Rule:
    """The rule of a kind of mistake."""
    return RULES.get(kind, _OTHER)


@dataclass(frozen=True)
class Spot:
    """A part of the text, not empty where that can be avoided, and what may stand there, most probable first."""

    start: int
    end: int
    kind: str
    values: tuple[tuple[str, float], ...]  # each with its probability


def find_spots(text: str, edits: Sequence[Edit], doubtful: Sequence[Edit], *, picky: bool) -> list[Spot]:
    """The spots of the edits that were made, and with `picky` of those that too few samples make.

    What else may stand in place of the same words is among the values. No two spots overlap.
    """
    made = sorted(edits, key=lambda edit: (edit["start"], edit["end"]))
    groups = _groups(doubtful)
    spots: list[Spot] = []
    for number, edit in enumerate(made):
        low = spots[-1].end if spots else 0
        high = made[number + 1]["start"] if number + 1 < len(made) else len(text)
        others = groups.pop((edit["start"], edit["end"]), [])
        spot = _spot(text, [edit, *others], low, high)
        if spot is not None:
            spots.append(spot)
        elif spots:  # an insertion between two edits is part of the first,
            spots[-1] = _joined(spots[-1], edit, text)
        elif number + 1 < len(made):  # and before all others part of the next
            made[number + 1] = _before(edit, made[number + 1], text)
    if picky:
        starts = [spot.start for spot in spots]
        for group in groups.values():
            at = bisect_right(starts, group[0]["start"])
            low = spots[at - 1].end if at else 0
            high = starts[at] if at < len(starts) else len(text)
            is_free = low <= group[0]["start"] and group[0]["end"] <= high
            if is_free and (spot := _spot(text, group, low, high)) is not None:
                spots.insert(at, spot)
                starts.insert(at, spot.start)
    return spots


def _groups(doubtful: Sequence[Edit]) -> dict[tuple[int, int], list[Edit]]:
    """Doubtful edits by their places, the most probable first."""
    groups: dict[tuple[int, int], list[Edit]] = {}
    for edit in sorted(doubtful, key=lambda edit: -edit["probability"]):
        groups.setdefault((edit["start"], edit["end"]), []).append(edit)
    return groups


def _spot(text: str, group: Sequence[Edit], low: int, high: int) -> Spot | None:
    """The spot of edits of the same place, between `low` and `high`, without blanks that stay; None where it cannot be
    shown."""
    start, end = group[0]["start"], group[0]["end"]
    before = after = ""
    if not text[start:end].strip() or not group[0]["replacement"].strip():
        left, right = _LEFT.search(text, low, start), _RIGHT.match(text, end, high)
        if left and not (right and _ENDED.search(left.group())):
            before = left.group()
        elif right:
            after = right.group()
        elif start == end:
            return None
    start, end = start - len(before), end + len(after)
    values = [before + edit["replacement"] + after for edit in group]
    shown = [text[start:end], *values]
    while all(shown) and shown[0].strip() and len({value[0] for value in shown}) == 1 and shown[0][0].isspace():
        start, shown = start + 1, [value[1:] for value in shown]
    while all(shown) and shown[0].strip() and len({value[-1] for value in shown}) == 1 and shown[0][-1].isspace():
        end, shown = end - 1, [value[:-1] for value in shown]
    shares = (edit["probability"] for edit in group)
    return Spot(start, end, group[0]["kind"], tuple(zip(shown[1:], shares, strict=True)))


def _joined(spot: Spot, edit: Edit, text: str) -> Spot:
    """A spot with an edit behind it made too; of both the less probable counts."""
    between = text[spot.end : edit["start"]]
    value, probability = spot.values[0]
    joined = (value + between + edit["replacement"], min(probability, edit["probability"]))
    return Spot(spot.start, edit["end"], spot.kind, (joined,))


def _before(edit: Edit, after: Edit, text: str) -> Edit:
    """An edit with another one before it made too."""
    replacement = edit["replacement"] + text[edit["end"] : after["start"]] + after["replacement"]
    probability = min(edit["probability"], after["probability"])
    return {**after, "start": edit["start"], "replacement": replacement, "probability": probability}


def write_match(spot: Spot, source: AnnotatedText, sentence: str, variant: str) -> dict[str, Any] | None:
    """The match of a spot; None where markup has been read as what stands there.

    A replacement would destroy markup that lies within the spot: then there is none.
    """
    places = source.places(spot.start, spot.end)
    if places is None:
        return None
    low, high, has_markup = places
    rule, sure = rule_of(spot.kind), spot.values[0][1]
    offset, length = source.utf16(low), source.utf16(high) - source.utf16(low)
    values = [] if has_markup else spot.values[:_MAX_REPLACEMENTS]
    identity = rule.id.replace("EN_US", variant.replace("-", "_").upper()) if "-" in variant else rule.id
    return {
        "message": f"{rule.description}; probability {sure:.2f}.",
        "shortMessage": rule.description,
        "offset": offset,
        "length": length,
        "replacements": [{"value": value, "confidence": round(share, 4)} for value, share in values],
        "context": _context(source.original, low, high),
        "sentence": sentence,
        "type": {"typeName": "UnknownWord" if rule.category == "TYPOS" else "Other"},
        "rule": {
            "id": identity,
            "description": rule.description,
            "issueType": rule.issue_type,
            "category": {"id": rule.category, "name": rule.category_name},
            "confidence": round(sure, 4),
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def _context(text: str, low: int, high: int) -> dict[str, Any]:
    """The match with a few words around it, on one line."""
    first, last = max(0, low - _CONTEXT), min(len(text), high + _CONTEXT)
    before = ("..." if first else "") + text[first:low]
    shown = before + text[low:high] + text[high:last] + ("..." if last < len(text) else "")
    return {
        "text": re.sub(r"[\r\n\t]", " ", shown),
        "offset": utf16_length(before),
        "length": utf16_length(text[low:high]),
    }
