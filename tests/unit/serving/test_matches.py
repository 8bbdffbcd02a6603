import random
from itertools import pairwise
from typing import Any

import pytest

from cgmh.serving.annotated import AnnotatedText
from cgmh.serving.matches import RULES, Spot, find_spots, rule_of, write_match
from cgmh.tasks.correct.costs import COSTS


def edit(text: str, old: str, new: str, probability: float = 0.9, *, at: int | None = None) -> dict[str, Any]:
    start = text.index(old) if at is None else at
    return {
        "start": start, "end": start + len(old), "original": old, "replacement": new, "kind": "word",
        "probability": probability,
    }  # fmt: skip


def applied(text: str, spots: list[Spot]) -> str:
    for spot in reversed(spots):
        text = text[: spot.start] + spot.values[0][0] + text[spot.end :]
    return text


@pytest.mark.parametrize(
    ("text", "edits", "shown"),
    [
        ("She go home.", [("go", "goes")], [("go", "goes")]),
        ("The price low.", [("", " is", 9)], [("price", "price is")]),
        ("We met. Is late.", [("", "It ", 8)], [("Is", "It Is")]),
        ("Is late.", [("", "It ", 0)], [("Is", "It Is")]),
        ("I saw the the dog.", [("the ", "", 6)], [("saw the", "saw")]),
        ("go home", [("", "He ", 0), ("go", "goes")], [("go", "He goes")]),
        ("However I went", [("", ",", 7)], [("However", "However,")]),
        ("a\nIs late.", [("", "It ", 2)], [("Is", "It Is")]),
        ("He go school now", [("go", "goes"), ("", " to", 5)], [("go", "goes"), ("school", "to school")]),
        (
            "He go scool now",
            [("go", "goes"), ("", " to", 5), ("scool", "school")],
            [("go", "goes to"), ("scool", "school")],
        ),
    ],
)
def test_spots(text: str, edits: list[tuple[Any, ...]], shown: list[tuple[str, str]]) -> None:
    made = [edit(text, *each[:2], at=each[2] if len(each) > 2 else None) for each in edits]
    spots = find_spots(text, made, [], picky=False)
    assert [(text[spot.start : spot.end], spot.values[0][0]) for spot in spots] == shown
    plain = text
    for each in sorted(made, key=lambda each: (-each["start"], -each["end"])):
        plain = plain[: each["start"]] + each["replacement"] + plain[each["end"] :]
    assert applied(text, spots) == plain


def test_what_is_joined_is_as_sure_as_the_less_probable() -> None:
    text = "He go scool now"
    made = [edit(text, "go", "goes", 0.9), edit(text, "", " to", 0.6, at=5), edit(text, "scool", "school", 0.8)]
    assert find_spots(text, made, [], picky=False)[0].values == (("goes to", 0.6),)


def test_other_values_of_the_same_place_come_after_the_one_that_was_made() -> None:
    text = "She go home."
    doubtful = [edit(text, "go", "went", 0.2), edit(text, "home", "homes", 0.1)]
    (spot,) = find_spots(text, [edit(text, "go", "goes", 0.7)], doubtful, picky=False)
    assert spot.values == (("goes", 0.7), ("went", 0.2))


def test_picky_shows_what_is_doubtful_where_nothing_else_stands() -> None:
    text = "She go home late."
    doubtful = [
        edit(text, "home", "homes", 0.1), edit(text, "home", "house", 0.3), edit(text, "go home", "left", 0.2),
        edit(text, "home late", "later", 0.05),
    ]  # fmt: skip
    made = [edit(text, "go", "goes", 0.7)]
    assert len(find_spots(text, made, doubtful, picky=False)) == 1
    first, second = find_spots(text, made, doubtful, picky=True)
    assert first.values == (("goes", 0.7),)
    assert second.values == (("house", 0.3), ("homes", 0.1))


def test_every_kind_of_mistake_has_a_rule() -> None:
    kinds = {*COSTS.replace, *COSTS.insert, *COSTS.delete}
    assert kinds <= set(RULES)
    assert len({rule.id for rule in RULES.values()}) == len(RULES)
    assert rule_of("spelling").id == "MORFOLOGIK_RULE_EN_US"
    assert rule_of("spelling").category == "TYPOS"
    assert rule_of("something new").id == "CGMH_OTHER"


def test_a_match_has_what_clients_read() -> None:
    source = AnnotatedText.plain("😀 She go home." + " And so on." * 20)
    spot = Spot(6, 8, "agreement", (("goes", 0.91234), ("went", 0.05)))
    match = write_match(spot, source, "She go home.", "en-US") or {}
    assert (match["offset"], match["length"]) == (7, 2)
    assert match["message"] == "Agreement of subject and verb; probability 0.91."
    assert match["replacements"] == [{"value": "goes", "confidence": 0.9123}, {"value": "went", "confidence": 0.05}]
    assert match["rule"]["confidence"] == 0.9123
    context = match["context"]
    units = context["text"].encode("utf-16-le")
    assert units[2 * context["offset"] : 2 * (context["offset"] + context["length"])].decode("utf-16-le") == "go"
    assert context["text"].endswith("...")


def test_spelling_has_the_rule_of_the_variant() -> None:
    source, spot = AnnotatedText.plain("recieve"), Spot(0, 7, "spelling", (("receive", 1.0),))
    names = {
        variant: (write_match(spot, source, "", variant) or {})["rule"]["id"] for variant in ("en-GB", "en-US", "en")
    }
    assert names == {"en-GB": "MORFOLOGIK_RULE_EN_GB", "en-US": "MORFOLOGIK_RULE_EN_US", "en": "MORFOLOGIK_RULE_EN_US"}


def test_markup_is_not_replaced() -> None:
    source = AnnotatedText([("alot", None), ("<b>", ""), ("of", None), ("X", "Dummy")])
    across = write_match(Spot(0, 6, "joining", (("a lot of", 1.0),)), source, "", "en-US") or {}
    assert (across["offset"], across["length"], across["replacements"]) == (0, 9, [])
    assert write_match(Spot(6, 11, "word", (("x", 1.0),)), source, "", "en-US") is None


def test_many_edits_in_any_order_never_overlap() -> None:
    text = "abc de fghi " * 300
    draw = random.Random(0)
    edits, doubtful, at = [], [], 0
    while at < len(text) - 8:
        start, end = at, at + draw.choice([0, 0, 3, 4])
        new = draw.choice(["", " x", "y ", "z", ","])
        if text[start:end] != new:
            kept = edits if draw.random() < 0.4 else doubtful
            kept.append({"start": start, "end": end, "replacement": new, "kind": "word", "probability": draw.random()})
        at = end + draw.choice([0, 1, 5])
    plain = text
    for each in reversed(edits):
        plain = plain[: each["start"]] + each["replacement"] + plain[each["end"] :]
    assert applied(text, find_spots(text, edits, [], picky=False)) == plain
    spots = find_spots(text, edits, draw.sample(doubtful, len(doubtful)), picky=True)
    assert len(spots) > len(find_spots(text, edits, [], picky=False))
    assert all(one.end <= other.start for one, other in pairwise(spots))
    assert all(spot.start < spot.end for spot in spots)
