"""The checker of facts, on paraphrases that keep them and on ones that do not."""

from collections import Counter

import pytest

from cgmh.evaluation.checkers import KINDS, capitalised, check_facts, negations, numbers, quotes

NAMES = {"india", "quora", "trump", "b.tech"}


def lost(source: str, output: str) -> list[tuple[str, str]]:
    return [(finding.kind, finding.item) for finding in check_facts([(source, output)], NAMES).lost]


def added(source: str, output: str) -> list[tuple[str, str]]:
    return [(finding.kind, finding.item) for finding in check_facts([(source, output)], NAMES).added]


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("is 5 more than 3", "are 3 things fewer than 5"),
        ("what costs $ 5 or 5 %", "what is $5, or 5%?"),
        ("which phones under 15,000 rs", "Which phones cost less than rs 15,000?"),
        ("inr 500/inr 1000 notes", "notes of inr 500 / inr 1000"),
        ("who has twenty-one or three", "who has three or twenty-one"),
        ("why ca n't i see it", "Why can't I see this?"),
        ("why ca n't i see it", "why am i not able to see it"),
        ("why can not i see it", "why cannot i see it"),
        ("why dont they", "why don't they"),
        ("why don’t they", "why do n't they"),
        ("is there no one without it", "is nobody never there"),
        ("is india 's flag new", "Is the flag of India new?"),
        ("is quora free", "Quora: is it free?"),
        ("How is Mr. Trump?", "mr. trump , how is he"),
        ("did Trump win", "did TRUMP win?"),
        ('is it a "good thing"', 'Do they call it a "good thing"?'),
        ("is it a `` good thing '' now", 'now, is it a "Good  thing"?'),
        ("`` why is it called '' `` can not add '' '' ? ''", 'why do they say "cannot add"?'),
        ("what is ` win - win ' here", "what does 'win-win' mean here"),
        ("is ‘don’t do it’ right", "is 'do n't do it' right"),
        ("`` is it so , then ? ''", "is it thus ?"),
        ('he said "yes and left', "he left"),
        ("how are you", "how do you do"),
        ("I think I'm late", "am i late"),
    ],
)
def test_kept(source: str, output: str) -> None:
    report = check_facts([(source, output)], NAMES)
    assert report.lost == []
    assert report.added == []
    assert report.is_clean
    assert report.expected == report.kept


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("is 5 more than 3", "is 5 more", [("numbers", "3")]),
        ("is 5 more than 5", "is 5 more", [("numbers", "5")]),
        ("is 15 more", "is 5 more", [("numbers", "15")]),
        ("under 15,000 rs", "under 15.000 rs", [("numbers", "15,000")]),
        ("is it 3.5", "is it 3", [("numbers", "3.5")]),
        ("the iphone 6s", "the iphone 6", [("numbers", "6s")]),
        ("who has two", "who has 2", [("numbers", "two")]),
        ("who has twenty-one", "who has twenty", [("numbers", "twenty-one")]),
        ("who has Half of it", "who has all of it", [("numbers", "half")]),
        ("why ca n't i see it", "why can i see it", [("negation", "not")]),
        ("why is it never not so", "why is it not so", [("negation", "not")]),
        ("who lives without it", "who lives with it", [("negation", "not")]),
        ("why dont they", "why do they", [("negation", "not")]),
        ("it is nothing", "it is knotting", [("negation", "not")]),
        ("is india big", "is china big", [("names", "india")]),
        ("is india big", "is indiana big", [("names", "india")]),
        ("a b.tech degree", "a tech degree", [("names", "b.tech")]),
        ("Is New York big?", "Is York big?", [("names", "new")]),
        ("NASA is big", "Is it big?", [("names", "nasa")]),
        ("my iPhone is big", "is my phone big", [("names", "iphone")]),
        ('is it a "good thing"', 'is it a "thing"', [("quotes", "good thing")]),
        ('is it a "good thing"', 'is it a "good old thing"', [("quotes", "good thing")]),
        ("is it `` a b '' or `` c ''", 'is it "c"', [("quotes", "a b")]),
        ("does ` evil ' exist", "does good exist", [("quotes", "evil")]),
        ("`` why say '' `` can not add '' '' ? ''", 'why say "not add"', [("quotes", "can not add")]),
        ("in 2016 india did not", "they did", [("numbers", "2016"), ("negation", "not"), ("names", "india")]),
    ],
)
def test_lost(source: str, output: str, expected: list[tuple[str, str]]) -> None:
    assert lost(source, output) == expected
    assert not check_facts([(source, output)], NAMES).is_clean
    assert not lost(source, source)


@pytest.mark.parametrize(
    ("source", "output", "expected", "clean"),
    [
        ("is it big", "are the 2 big", [("numbers", "2")], True),
        ("is 2 big", "are 2 and 2 big", [("numbers", "2")], True),
        ("is it big", "is quora big", [("names", "quora")], True),
        ("Is it big?", "Is the Quora big?", [("names", "quora")], True),
        ("is it big", "is n't it big", [("negation", "not")], False),
        ("is it not big", "is it not never big", [("negation", "not")], False),
        ("Trump is big", "is Trump big?", [], True),
    ],
)
def test_added(source: str, output: str, expected: list[tuple[str, str]], clean: bool) -> None:
    assert added(source, output) == expected
    assert not lost(source, output)
    assert check_facts([(source, output)], NAMES).is_clean is clean


def test_counts_over_pairs() -> None:
    pairs = [("india has 5 and 6", "5 in india"), ("it is not so", "it is so"), ('say "a b"', 'they say "a b"')]
    report = check_facts(pairs, NAMES)
    assert report.to_dict() == {
        "numbers": {"expected": 2, "kept": 1, "added": 0},
        "negation": {"expected": 1, "kept": 0, "added": 0},
        "names": {"expected": 1, "kept": 1, "added": 0},
        "quotes": {"expected": 1, "kept": 1, "added": 0},
    }
    assert [(finding.source, finding.output) for finding in report.lost] == pairs[:2]


def test_names_by_function_or_set() -> None:
    pair = ("is oslo big", "is it big")
    assert check_facts([pair], lambda word: word == "oslo").expected["names"] == 1
    assert check_facts([pair], {"oslo"}).lost == check_facts([pair], lambda word: word == "oslo").lost != []
    assert check_facts([pair]).is_clean  # without capitals, nothing shows that it is a name


def test_nothing_to_check_is_clean() -> None:
    assert check_facts([]).is_clean
    assert set(check_facts([]).to_dict()) == set(KINDS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 24/7 shop", {"24": 1, "7": 1}),
        ("the 1990s, at 10:30 and 10:30", {"1990s": 1, "10:30": 2}),
        ("Two thousand one", {"two": 1, "thousand": 1}),
        ("which one is it", {}),
        ("the second-hand attend tent", {}),
    ],
)
def test_numbers(text: str, expected: dict[str, int]) -> None:
    assert numbers(text) == Counter(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, won't and ain't", 3),
        ("i ca n't , wo n't and ai n't", 3),
        ("Neither this nor that, no one, none", 4),
        ("why can nothing move", 1),
        ("a knot, another, note, know", 0),
        ("the do 's and do n'ts", 0),
    ],
)
def test_negations(text: str, expected: int) -> None:
    assert negations(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('What is it? The end. He said: "Go"', {}),
        ("Did I go to New York with I'm and Ann's dog?", {"new": 1, "york": 1, "ann": 1}),
        ("NASA and McDonald's", {"nasa": 1, "mcdonald": 1}),
        ("The 1990S", {}),
    ],
)
def test_capitalised(text: str, expected: dict[str, int]) -> None:
    assert capitalised(text) == Counter(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"One" he said, "two"', {"one": 1, "two": 1}),
        ('"All of it is quoted?"', {}),
        ("a 5 '' screen", {}),
        ("it 's the dogs ' bone", {}),
        ("say `` it 's (so) '' now", {"it ( so )": 1}),
        ("what is the mark '' '' ? '' ''", {"?": 1}),
        ('""', {}),
    ],
)
def test_quotes(text: str, expected: dict[str, int]) -> None:
    assert quotes(text) == Counter(expected)
