"""LanguageTool's protocol by a real client of it, and by requests as editors send them."""

import json
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

import httpx2
import language_tool_python
import pytest

from servers import Running

TEXT = "I has two apple. We recieve letters."


def check(server: Running, **fields: str) -> dict[str, Any]:
    response = httpx2.post(f"{server.url}/v2/check", data={"language": "en-US", **fields}, timeout=60)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def shown(text: str, match: dict[str, Any]) -> str:
    units = text.encode("utf-16-le")
    return units[2 * match["offset"] : 2 * (match["offset"] + match["length"])].decode("utf-16-le")


def test_a_real_client_checks_and_corrects(server: Running) -> None:
    tool = language_tool_python.LanguageTool("en-US", remote_server=server.url)
    matches = tool.check(TEXT)
    assert {(match.matched_text, match.replacements[0]) for match in matches} >= {("has", "have"), ("apple", "apples")}
    spelling = next(match for match in matches if match.matched_text == "recieve")
    assert spelling.rule_id == "MORFOLOGIK_RULE_EN_US"
    assert spelling.category == "TYPOS"
    assert tool.correct(TEXT).startswith("I have two apples. We receive")
    tool.disabled_rules = {"CGMH_AGREEMENT", "MORFOLOGIK_RULE_EN_US"}
    tool.disabled_categories = {"PUNCTUATION"}
    assert {match.matched_text for match in tool.check(TEXT)} == {"apple"}


@pytest.mark.parametrize(
    "text",
    [
        "😀👩‍💻 I has two apple 🍎.",
        "She go to to school yesterday. The price low , and and i am agree.",
        "i has a apples,\nand he have alot of informations.\n\nIs good.",
    ],
)
def test_what_a_real_client_corrects_is_our_correction(server: Running, text: str) -> None:
    """Insertions, deletions and neighbouring edits: matches lead to the same text as the edits themselves."""
    ours = httpx2.post(f"{server.url}/v1/correct", json={"text": text}, timeout=60).json()
    assert ours["edits"]
    corrected = language_tool_python.LanguageTool("en-US", remote_server=server.url).correct(text)
    assert corrected == ours["results"][0]["text"]


@pytest.mark.parametrize("before", ["", "😀 ", "שלום עולם. ", "𝒳𝒴 ", "\u202bשלום\u202c 👩‍💻: "])
def test_offsets_are_utf16_code_units(server: Running, before: str) -> None:
    text = f"{before}She has two letter."
    found = check(server, text=text)
    assert {shown(text, match): match["replacements"][0]["value"] for match in found["matches"]}["letter"] == "letters"
    for match in found["matches"]:
        assert shown(match["context"]["text"], match["context"]) == shown(text, match)


def annotated(text: str) -> list[dict[str, str]]:
    return [
        {"markup": "\\section{Apples}\n", "interpretAs": "\n"},
        {"text": "As "},
        {"markup": "\\cite{x}", "interpretAs": "Dummy0"},
        {"text": " says 🍎, she has "},
        {"markup": "\\textbf{", "interpretAs": ""},
        {"text": text},
        {"markup": "}"},
        {"text": " on the table."},
    ]


def test_recorded_ltex_plus(server: Running) -> None:
    """LTeX+ sends a form with `data` alone, and reads `sentence` unguarded."""
    parts = annotated("two letter")
    body = urlencode(
        {
            "language": "en-US", "data": json.dumps({"annotation": parts}), "motherTongue": "de-DE",
            "enabledRules": "", "disabledRules": "UPPERCASE_SENTENCE_START", "level": "default", "enabledOnly": "false",
        }
    )  # fmt: skip
    response = httpx2.post(
        f"{server.url}/v2/check",
        content=body,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
        timeout=60,
    )
    assert response.status_code == 200
    whole = "".join(part.get("text", part.get("markup", "")) for part in parts)
    matches = response.json()["matches"]
    assert {shown(whole, match): match["replacements"][0]["value"] for match in matches}["letter"] == "letters"
    assert all("two letter" in match["sentence"] for match in matches)
    assert all(isinstance(match["shortMessage"], str) for match in matches)


def test_recorded_old_ltex(server: Running) -> None:
    """The older ltex-ls labels the same form as JSON."""
    data = json.dumps({"annotation": annotated("two letter")})
    response = httpx2.post(
        f"{server.url}/v2/check",
        content=urlencode({"language": "en-US", "data": data}),
        headers={"Content-Type": "application/json", "Accept": "application/json"},
        timeout=60,
    )
    assert [match["replacements"][0]["value"] for match in response.json()["matches"]] == ["letters"]


def test_json_in_the_body_and_in_data(server: Running) -> None:
    annotation = {"annotation": [{"text": "She has two apple."}]}
    for body in ({"text": "She has two apple."}, {"data": annotation}, {"data": json.dumps(annotation)}):
        response = httpx2.post(f"{server.url}/v2/check", json={"language": "en-US", **body}, timeout=60)
        assert [match["replacements"][0]["value"] for match in response.json()["matches"]] == ["apples"]


def test_by_get(server: Running) -> None:
    response = httpx2.get(
        f"{server.url}/v2/check", params={"language": "auto", "text": "She has two apple."}, timeout=60
    )
    assert response.json()["matches"][0]["replacements"][0]["value"] == "apples"


def test_the_answer_has_what_clients_read(server: Running) -> None:
    found = check(server, text=TEXT, language="auto", preferredVariants="de-DE,en-GB")
    assert found["software"]["apiVersion"] == 1
    assert found["language"]["code"] == "en-GB"
    assert found["language"]["detectedLanguage"]["code"] == "en-GB"
    assert found["warnings"] == {"incompleteResults": False}
    assert found["sentenceRanges"] == [[0, 16], [17, 36]]
    assert [part["from"] for part in found["extendedSentenceRanges"]] == [0, 17]
    offsets = [match["offset"] for match in found["matches"]]
    assert offsets == sorted(offsets)
    for match in found["matches"]:
        assert {"message", "shortMessage", "replacements", "context", "sentence", "type", "rule"} <= set(match)
        assert 0 < match["rule"]["confidence"] <= 1
        assert match["replacements"][0]["confidence"] == match["rule"]["confidence"]
        assert f"probability {match['rule']['confidence']:.2f}" in match["message"]
        assert match["length"] > 0
    assert [match["rule"]["id"] for match in found["matches"] if shown(TEXT, match) == "recieve"] == [
        "MORFOLOGIK_RULE_EN_GB"
    ]


def test_picky_adds_edits_below_the_threshold(server: Running) -> None:
    text = "He go to school yesterday and he buy many book."
    plain, picky = check(server, text=text), check(server, text=text, level="picky")
    assert len(picky["matches"]) > len(plain["matches"])
    assert min(match["rule"]["confidence"] for match in picky["matches"]) < 0.5
    spans = [(match["offset"], match["offset"] + match["length"]) for match in picky["matches"]]
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_only_what_is_enabled(server: Running) -> None:
    only = check(server, text=TEXT, enabledOnly="true", enabledCategories="TYPOS")
    assert [shown(TEXT, match) for match in only["matches"]] == ["recieve"]
    rest = check(server, text=TEXT, disabledCategories="GRAMMAR")
    assert not any(match["rule"]["category"]["id"] == "GRAMMAR" for match in rest["matches"])


def test_a_part_that_cannot_be_read_does_not_stop_the_rest(server: Running) -> None:
    endless = "and then it went on " * 40
    text = f"She has two apple. He said that {endless}. They has\x00 a dog."
    found = check(server, text=text)
    assert found["warnings"] == {"incompleteResults": True}
    assert {shown(text, match) for match in found["matches"]} >= {"apple", "has"}


@pytest.mark.parametrize(
    "text", ["", " \n", "Überschrift", "12345", "مرحبا بالعالم كيف حالك اليوم يا صديقي", "💥" * 50]
)
def test_what_is_no_english_has_no_matches(server: Running, text: str) -> None:
    assert check(server, text=text)["matches"] == []


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "send either the field 'text', or 'data'"),
        (b"text=a&data=%7B%7D", "send either"),
        (b"text=a&language=xx", "'language' 'xx' is not checked here; give en-US"),
        (b"text=a&level=high", "'level' is neither"),
        (b"text=a&enabledOnly=maybe", "'enabledOnly' is neither"),
        (b"text=a&enabledOnly=true", "needs 'enabledRules'"),
        (b"data=nonsense", "cannot be read as JSON"),
        (b"data=%7B%22annotation%22%3A%5B1%5D%7D", "part 1 of annotation"),
        (b"text=%ff%fe", "percent-encoded"),
        (b"\xff\x00\xfe", "percent-encoded"),
        (b"&".join([b"a=b"] * 1000), "too many fields"),
        (b'{"text": 3}', "'text' is no string"),
        (b'{"text": ["a"]}', "'text' is no string"),
        (b'{"text": "\\ud800"}', "lone surrogates"),
        (b'{"data": {"annotation": [{"text": "\\udc00"}]}}', "lone surrogates"),
        (b'{"text":' * 50_000, "nested too deeply"),
    ],
    ids=range(16),
)
def test_errors_are_plain_text(server: Running, body: bytes, error: str) -> None:
    response = httpx2.post(f"{server.url}/v2/check", content=body)
    assert response.status_code == 400
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.startswith("Error: ")
    assert error in response.text


@pytest.mark.parametrize("path", ["//v2/check", "/check", "/v2//check"])
def test_addresses_that_end_with_a_slash(server: Running, path: str) -> None:
    assert httpx2.post(server.url + path, data={"text": "", "language": "en-US"}).status_code == 200


def test_the_rest_of_the_protocol(server: Running) -> None:
    languages = httpx2.get(f"{server.url}/v2/languages").json()
    assert {"name": "English (US)", "code": "en", "longCode": "en-US"} in languages
    assert httpx2.get(f"{server.url}/v2/healthcheck").text == "OK"
    assert httpx2.get(f"{server.url}/v2/maxtextlength").text == "40000"
    assert httpx2.get(f"{server.url}/v2/info").json()["software"]["name"] == "cgmh"
    assert httpx2.get(f"{server.url}/v2/words").status_code == 404
