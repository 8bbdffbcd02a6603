"""What a user types: keywords, matching functions, facts, numbers; and what each task does unless told otherwise."""

import math
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from cgmh.errors import BadInput
from cgmh.inputs import MATCHES, STARTS, CorrectInput, KeywordInput, Match, ParaphraseInput, read_matches
from cgmh.settings import USES


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("kw", Match("kw", True, 1.0)),
        ("kw=0.5", Match("kw", True, 0.5)),
        ("kw:3", Match("kw", False, 3.0)),
        ("wvm:4", Match("wvm", False, 4.0)),
        (" st=.25 ", Match("st", True, 0.25)),
        ("cw=1.", Match("cw", True, 1.0)),
        ("wva=0", Match("wva", True, 0.0)),
        ("wva:1000", Match("wva", False, 1000.0)),
    ],
)
def test_a_match_is_a_name_a_least_or_a_power(text: str, match: Match) -> None:
    assert Match.read(text) == match


@pytest.mark.parametrize("name", MATCHES)
def test_a_bare_name_stands_for_its_usual_form(name: str) -> None:
    assert Match.read(name) == Match.read(name + MATCHES[name])
    assert Match.read(name).hard == (name == "kw")


@pytest.mark.parametrize("text", ["", "kw=", "kw:", "KW", "glove", "kw=-1", "kw=x", "kw=0.5=1", "none", "kw 2", "=1"])
def test_what_is_no_match_is_refused_with_what_there_is(text: str) -> None:
    with pytest.raises(BadInput, match=r"`match` .*: give one of kw, wva, wvm, .* or none, as NAME, NAME=LEAST"):
        Match.read(text)


@pytest.mark.parametrize(("text", "message"), [("st=1.01", "between 0 and 1"), ("wvm:1001", "between 0 and 1000")])
def test_out_of_range(text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        Match.read(text)


def test_several() -> None:
    kw, wvm, st = Match("kw", True, 1.0), Match.read("wvm:4"), Match.read("st=0.5")
    assert read_matches(("kw+wvm:4",)) == read_matches(("kw", "wvm:4")) == read_matches(("kw, wvm:4",)) == (kw, wvm)
    assert read_matches(("kw+wvm:4", "st=0.5")) == (kw, wvm, st)
    assert read_matches(("none",)) == read_matches(()) == read_matches(("",)) == ()


def test_none_stands_alone() -> None:
    with pytest.raises(BadInput, match="none stands alone"):
        read_matches(("none+kw",))


def test_each_once() -> None:
    with pytest.raises(BadInput, match="twice"):
        read_matches(("kw=0.5", "kw:2"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"match": ("kv",)}, "`match` kv"),
        ({"protect": ("verbs",)}, "`protect` verbs: choose among numbers"),
        ({"max_overlap": 0.0}, "`max_overlap` 0 is out of range"),
        ({"max_overlap": 101}, "`max_overlap` 101"),
        ({"max_overlap": math.nan}, "`max_overlap` nan"),
        ({"difference": -1.0}, "`difference` -1"),
        ({"difference": math.inf}, "`difference` inf"),
        ({"start": "noise"}, "`start` noise: choose one of rewritten"),
        ({"start": ["copy"]}, r"`start` \['copy'\]: choose one of rewritten"),
        ({"max_overlap": "5"}, "`max_overlap` '5' is not a number"),
        ({"difference": None}, "`difference` None is not a number"),
        ({"difference": 10**400}, r"`difference` 10*\.\.\. is out of range"),
        ({"match": 3}, "`match` takes a list of strings, not 3"),
        ({"match": [3]}, "`match` takes a list of strings; 3 is none"),
        ({"protect": b"names"}, "`protect` takes a list of strings, not b'names'"),
        ({"text": None}, "`text` takes a string, not None"),
        ({"keep": 3}, "`keep` takes a list of strings, not 3"),
        ({"protect": "order"}, "`protect` order: choose among numbers, negation, names, quotes, places"),
    ],
)
def test_an_input_is_checked_when_it_is_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        ParaphraseInput(**{"text": "what is it ?", **wrong})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keywords": 3}, "`keywords` takes a list of strings, not 3"),
        ({"keywords": None}, "`keywords` takes a list of strings, not None"),
        ({"keywords": b"snow"}, "`keywords` takes a list of strings, not b'snow'"),
        ({"keywords": "snow"}, r"`keywords` takes a list of strings: \['snow'\]"),
        ({"keywords": ["a", 3]}, "`keywords` takes a list of strings; 3 is none"),
        ({"forbid": [3]}, "`forbid` takes a list of strings; 3 is none"),
        ({"max_words": "8"}, "`max_words` '8' is not a whole number"),
        ({"max_words": 8.0}, "`max_words` 8.0 is not a whole number"),
        ({"max_words": 10**5000}, "`max_words` <int> is out of range"),
        ({"min_words": True}, "`min_words` True is not a whole number"),
        ({"ordered": []}, r"`ordered` \[\] is neither True nor False"),
        ({"inflect": "no"}, "`inflect` 'no' is neither True nor False"),
    ],
)
def test_keywords_are_checked_when_they_are_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        KeywordInput(**{"keywords": ("snow",), **wrong})


def test_inputs_take_what_is_as_good() -> None:
    asked = KeywordInput(["snow"], forbid=iter(["rain"]), max_words=np.int64(8), ordered=np.bool_(True))  # type: ignore[arg-type]
    assert asked == KeywordInput(("snow",), forbid=("rain",), max_words=8, ordered=True)
    assert ParaphraseInput("it is", match="kw", protect="names").protect == ("names",)  # type: ignore[arg-type]
    assert ParaphraseInput("it is", keep="it").keep == ("it",)  # type: ignore[arg-type]
    assert CorrectInput("it is", protect=None).protect == ()  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="`line` takes a string, not b'snow'"):
        KeywordInput.read(b"snow")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="`text` takes a string, not 3"):
        CorrectInput(3)  # type: ignore[arg-type]


def test_what_may_be_asked_for() -> None:
    for start in STARTS:
        assert ParaphraseInput("what is it ?", start=start, max_overlap=100).start == start
    assert str(ParaphraseInput("what is it ?")) == "what is it ?"
    paper = ParaphraseInput("what is it ?", **ParaphraseInput.paper)
    assert (paper.match, paper.protect, paper.difference, paper.gibbs) == (("kw", "wvm:1"), (), 0.0, True)


def test_what_is_asked_of_a_paraphrase_is_said_in_the_signature() -> None:
    assert ParaphraseInput("it is").about == (
        "match kw+wvm+cw+st | protect numbers+negation+names+quotes+places | max-overlap 90 | difference 2 "
        "| start rewritten"
    )
    assert "protect names | keep it, is not | max-" in ParaphraseInput("x", (), "names", keep=("it", "is not")).about  # type: ignore[arg-type]
    paper = ParaphraseInput("it is", **{**ParaphraseInput.paper, "match": ()})
    assert paper.about == "match none | protect none | max-overlap 55 | difference 0 | start copy | the paper's kernel"


@pytest.mark.parametrize(
    ("line", "keywords"),
    [
        ("river boat", ("river", "boat")),
        ("river,boat,  snow", ("river", "boat", "snow")),
        ('"prime minister" visit', ("prime minister", "visit")),
        ("car|automobile repair", ("car|automobile", "repair")),
        ("dog dog", ("dog", "dog")),
        ("  ", ()),
    ],
)
def test_a_line_of_keywords(line: str, keywords: tuple[str, ...]) -> None:
    assert KeywordInput.read(line) == KeywordInput(keywords)


def test_pasted_quotes_and_commas_are_read() -> None:
    read = KeywordInput.read("“prime minister”，visit, „so do I“ ''")
    assert read.keywords == ("prime minister", "visit", "so do I", "''")


def test_keywords_as_they_are_shown_can_be_read_again() -> None:
    for keywords in (("river",), ("prime minister", "visit"), ("car|automobile", "C++")):
        assert KeywordInput.read(str(KeywordInput(keywords))).keywords == keywords


def test_a_text_to_correct() -> None:
    assert str(CorrectInput("He go.")) == "He go."
    for wrong in (("verbs",), ("names", "")):
        with pytest.raises(BadInput, match=r"`protect` .*: choose among numbers"):
            CorrectInput("He go.", wrong)
    assert CorrectInput("He go.").about == "protect numbers+names+quotes"
    assert CorrectInput("He go.", ()).about == "protect none"
    assert CorrectInput("He go.", (), paper=True).about == "protect none | the paper's search"


@pytest.mark.parametrize("kind", [KeywordInput, ParaphraseInput, CorrectInput])
def test_the_usual_settings_of_a_task_are_such_as_it_takes(kind: type) -> None:
    papers = [kind.paper_defaults] if hasattr(kind, "paper_defaults") else []
    for settings in (kind.defaults, *papers):
        assert settings.select in kind.rules
        assert settings.use is None
    assert kind.uses[0] in USES
    assert {field.name for field in fields(kind)}.isdisjoint(("defaults", "rules", "uses"))  # no input has its own
