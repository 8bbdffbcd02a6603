"""What is read from a request of LanguageTool's; tests/web asks a real server."""

from urllib.parse import urlencode

import pytest

from cgmh.serving.languagetool import MAX_SENTENCE_WORDS, Check, read_fields
from cgmh.serving.problems import Refusal
from cgmh.tasks import correct


def test_the_longest_sentence_is_that_of_the_task() -> None:
    assert MAX_SENTENCE_WORDS == correct.MAX_WORDS


def test_the_body_counts_more_than_the_query() -> None:
    body = urlencode({"text": "ü & +", "language": "en-GB"}).encode()
    assert read_fields(b"text=other&level=picky", body) == {"text": "ü & +", "language": "en-GB", "level": "picky"}


def test_a_body_is_what_it_is() -> None:
    sent = b' {"text": "a", "enabledOnly": true, "enabledRules": ["A", "B"], "data": {"annotation": []}, "level": null}'
    fields = {"text": "a", "enabledOnly": "true", "enabledRules": "A,B", "data": '{"annotation": []}'}
    assert read_fields(b"", sent) == fields


@pytest.mark.parametrize(
    ("fields", "language"),
    [
        ({}, "en-US"),
        ({"language": "auto", "preferredVariants": "fr, en-AU"}, "en-AU"),
        ({"language": "EN-gb"}, "en-GB"),
        ({"language": "en"}, "en"),
    ],
)
def test_languages(fields: dict[str, str], language: str) -> None:
    assert Check.read({"text": "a", **fields}).language == language


def test_other_languages_are_refused() -> None:
    with pytest.raises(Refusal, match="'de-DE' is not checked here; give en-US"):
        Check.read({"text": "a", "language": "de-DE"})


def test_rules_and_categories() -> None:
    asked = Check.read({"text": "a", "disabledRules": " CGMH_TENSE ,", "disabledCategories": "PUNCTUATION"})
    assert [asked.wants(kind) for kind in ("tense", "comma", "number", "spelling")] == [False, False, True, True]
    asked = Check.read({"text": "a", "enabledOnly": "yes", "enabledRules": "MORFOLOGIK_RULE_EN_GB"})
    assert [asked.wants(kind) for kind in ("tense", "spelling")] == [False, True]
    asked = Check.read({"text": "a", "enabledRules": "CGMH_TENSE"})
    assert asked.wants("spelling")  # all are on
