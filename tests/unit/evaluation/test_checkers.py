"""The checker of keywords, on sentences that have them and on sentences that do not."""

import ast
from pathlib import Path

import pytest

from cgmh.evaluation import checkers
from cgmh.evaluation.checkers import covers, flaws


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("The lottery pays for scholarships.", ["scholarships", "lottery"]),
        ("Lottery winners are rare.", ["lottery"]),
        ("It is the LOTTERY again.", ["lottery"]),
        ("Mark Twain wrote it.", ["Mark"]),
        ("We saw the BMW's lights.", ["BMW"]),
        ("I don't know.", ["don't", "I"]),
        ("I don't know.", ["don’t"]),
        ("It's his dog's bone.", ["it", "dog", "'s"]),
        ("The prime minister spoke.", ["prime minister"]),
        ("Yes, minister, it is.", ["yes , minister"]),
        ("An automobile stood there.", ["car|automobile"]),
        ("The train left the station.", ["the", "the"]),
        ("New friends in New York.", ["new", "new york"]),
        ("He lives in the U.S. with Mr. Smith.", ["U.S.", "Mr."]),
        ("He went to the U.S.", ["U.S."]),
        ("She is 18-year-old Ann.", ["18-year-old"]),
        ("A 🙂 in Zürich.", ["🙂", "Zürich"]),
        ("I like C++ and X-9/b.", ["C++", "X-9/b"]),
        ("ITunes is old.", ["iTunes"]),
        ("They ran, and ran.", ["ran", "ran"]),
        ("It costs $ 5 (about).", ["about", "$"]),
        ('He said, "stop it".', ["stop"]),
    ],
)
def test_covered(text: str, keywords: list[str]) -> None:
    assert covers(text, keywords)


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ("The lottery pays.", ["scholarships", "lottery"]),
        ("The party was fun.", ["art"]),
        ("The artist came.", ["art"]),
        ("A working-class man.", ["working"]),
        ("A working-class man.", ["class"]),
        ("I can't say.", ["can"]),
        ("They're here.", ["re"]),
        ("mark my words.", ["Mark"]),
        ("The BMWs came.", ["BMW"]),
        ("The bmw came.", ["BMW"]),
        ("The ministers and the prime minority.", ["prime minister"]),
        ("The prime old minister.", ["prime minister"]),
        ("The minister, prime.", ["prime minister"]),
        ("A train stood there.", ["car|automobile"]),
        ("The train left.", ["the", "the"]),
        ("He lives in New York.", ["new", "new york"]),
        ("He is in the U.S.A. now.", ["U.S."]),
        ("In zürich.", ["Zürich"]),
        ("He saw ITunes.", ["iTunes"]),
        ("I like C.", ["C++"]),
        ("He runs.", ["run"]),
    ],
)
def test_not_covered(text: str, keywords: list[str]) -> None:
    assert not covers(text, keywords)


@pytest.mark.parametrize(
    ("text", "keywords", "expected"),
    [
        ("The dog saw the cat.", ["dog", "cat"], True),
        ("The dog saw the cat.", ["cat", "dog"], False),
        ("The dog saw the cat and the dog.", ["cat", "dog"], True),
        ("The dog saw the cat.", ["the", "the", "cat"], True),
        ("The dog saw the cat.", ["the", "cat", "the"], False),
        ("New York is new.", ["new york", "new"], True),
        ("New York is new.", ["new", "new york"], False),
        ("A big dog barked.", ["big dog|big", "dog"], True),
    ],
)
def test_in_order(text: str, keywords: list[str], expected: bool) -> None:
    assert covers(text, keywords, ordered=True) is expected


def test_disjoint_places_are_found_when_the_first_choice_is_wrong() -> None:
    # "a" may take the first word or the last; the phrase needs the first.
    assert covers("A dog and a.", ["a", "a dog"])
    assert covers("A b c a.", ["a b", "b c", "a"]) is False
    assert covers("A b b c a.", ["a b", "b c", "a"])


@pytest.mark.parametrize(
    ("text", "keyword", "expected"),
    [
        ("He was running.", "run", True),
        ("Mice sleep.", "mouse", True),
        ("The players stood there.", "stand", True),
        ("Two websites closed.", "website", True),
        ("The runner slept.", "run", False),
        ("He stands alone.", "sit", False),
        ("We saw prime ministers.", "prime minister", True),
        ("The bushes grew.", "Bush", False),
    ],
)
def test_inflected(text: str, keyword: str, expected: bool) -> None:
    assert covers(text, [keyword], inflect=True) is expected


@pytest.mark.parametrize("text", ["All is well.", "Is it?", "Go!", "He waited ...", "1 < 2 and 3 > 2."])
def test_no_flaws(text: str) -> None:
    assert not flaws(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("All is well", 1), ("The <unk> came.", 1), ("A <lower-ed> man </s>", 3), ("He said,", 1), ("", 1)],
)
def test_flaws(text: str, number: int) -> None:
    assert len(flaws(text)) == number


def test_checkers_share_no_code_with_what_they_check() -> None:
    imported = {
        name
        for node in ast.walk(ast.parse(Path(checkers.__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert imported == {"re", "unicodedata", "collections", "collections.abc", "dataclasses", "lemminflect"}
