"""The studio as its users have it: the real command, a real browser, the embedded model."""

import csv
import io
import json
import re
import signal
import socket
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest

from browsers import SECONDS, browsing, needs_chromium, page_at
from cgmh.sampling.trace import ess, split_rhat

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(sys.platform != "linux", reason="the engine of the server steps runs on Linux alone"),
]
MS = 1000 * SECONDS


class Served:
    """`cgmh serve` as a process on a port of its own."""

    def __init__(self, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url, self._options = f"http://127.0.0.1:{self.port}/", options
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "cgmh", "serve", "--port", str(self.port), "--processes", "1", *self._options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        assert any("editor" in line for line in self.process.stderr)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.process.stderr is not None:
            self.process.stderr.close()

    def ask(self, path: str, **body: Any) -> Any:
        request = Request(f"{self.url}v1/{path}", json.dumps(body).encode())  # noqa: S310
        with urlopen(request, timeout=SECONDS) as answer:  # noqa: S310
            return json.load(answer)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    server = Served()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    with page_at(browser, served.url, permissions=["clipboard-read", "clipboard-write"]) as found:
        yield found


def expect(locator: Any) -> Any:
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=MS)
    return expected(locator)


def write(page: Any, words: str, chains: int = 6, steps: int = 40) -> None:
    """Ask for sentences, of few chains."""
    page.locator("#panel-write summary").click()
    page.locator("#panel-write input[name=chains]").fill(str(chains))
    page.locator("#panel-write input[name=steps]").fill(str(steps))
    page.get_by_label("Words that the sentence must contain").fill(words)
    page.keyboard.press("Enter")


def done(page: Any, tab: str) -> None:
    expect(page.locator(f"#panel-{tab} .status").first).to_have_text(re.compile(r"after [\d.]+ s"))


def sentences(page: Any, tab: str = "write") -> list[str]:
    found: list[str] = page.locator(f"#panel-{tab} section").first.locator(".answers .sentence").all_inner_texts()
    return found


def clipboard(page: Any) -> str:
    text: str = page.evaluate("() => navigator.clipboard.readText()")
    return text


def saved(page: Any, click: Callable[[], None]) -> str:
    with page.expect_download() as download:
        click()
    return Path(download.value.path()).read_text(encoding="utf-8")


def test_write_to_the_end(page: Any, served: Served) -> None:
    write(page, 'letter "my friend"')
    assert page.locator(".chips li").all_inner_texts() == ["letter\n×", "my friend\n×"]
    expect(page.locator("#panel-write .answers li").first).to_be_visible()  # while the chains run
    done(page, "write")
    found = sentences(page)
    asked = {"words": ["letter", "my friend"], "n": 8, "chains": 6, "steps": 40}
    assert found == [result["text"] for result in served.ask("keywords", **asked)["results"]]
    page.locator("#panel-write .answers li").nth(1).get_by_role("button", name="Copy").click()
    expect(page.locator("#said")).to_have_text("Copied")
    assert clipboard(page) == found[1]
    rows = list(csv.reader(io.StringIO(saved(page, page.locator("#panel-write").get_by_text("CSV").click))))
    assert [row[1] for row in rows[1:]] == found
    assert json.loads(saved(page, page.locator("#panel-write").get_by_text("JSON").click))["request"]["seed"] == 0


def test_another_word_and_more_like_this(page: Any) -> None:
    write(page, "letter")
    done(page, "write")
    first = page.locator("#panel-write .answers li").first
    first.get_by_role("button", name="Another word for letter", exact=True).click()
    expect(first.locator(".fills")).to_contain_text("one of your keywords")
    place = first.locator(".word:not([aria-label='Another word for letter'])").first
    place.click()
    fill = first.locator(".fills [role=group] button").first
    expect(fill).to_be_focused()
    word = re.fullmatch(r"(\S+) [\d.]+ %", fill.inner_text())
    assert word
    with page.expect_request("**/v1/runs") as started:
        fill.click()
    asked = started.value.post_data_json
    assert word[1] in asked["start"]
    assert (asked["words"], asked["seed"]) == (["letter"], 1)
    expect(page.locator("#panel-write .answers .sentence").first).to_be_visible()  # the old ones are gone
    done(page, "write")
    text = sentences(page)[0]
    with page.expect_request("**/v1/runs") as started:
        page.locator("#panel-write .answers li").first.get_by_role("button", name="More like this").click()
    assert started.value.post_data_json["start"] == text
    done(page, "write")


def test_rules_of_writing_are_sent(page: Any) -> None:
    page.locator("#panel-write summary").click()
    page.get_by_label("In this order").check()
    page.get_by_label("In any form").check()
    page.get_by_label("Forbidden words").fill("the a")
    page.get_by_label("Most words").fill("9")
    page.locator("#panel-write input[name=chains]").fill("2")
    page.locator("#panel-write input[name=steps]").fill("3")
    page.get_by_label("Words that the sentence must contain").fill("car|automobile, repair")
    with page.expect_request("**/v1/runs") as started:
        page.get_by_role("button", name="Write", exact=True).click()
    asked = started.value.post_data_json
    assert asked["words"] == ["car|automobile", "repair"]
    assert (asked["ordered"], asked["inflect"], asked["forbid"], asked["max_words"]) == (True, True, ["the", "a"], 9)
    done(page, "write")


def test_what_is_wrong_is_said(page: Any) -> None:
    page.get_by_label("Words that the sentence must contain").press("Enter")
    expect(page.locator("#panel-write .status")).to_contain_text("Give at least one word.")
    page.locator("#panel-write summary").click()
    page.get_by_label("Fewest words").fill("30")
    page.get_by_label("Words that the sentence must contain").fill("river")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-write .status")).to_contain_text("The fewest words are more than the most words")
    page.get_by_label("Fewest words").fill("0")
    page.locator("#panel-write").get_by_role("button", name="Clear", exact=True).click()
    page.get_by_label("Forbidden words").fill("snow")
    page.get_by_label("Words that the sentence must contain").fill("snow")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-write .status")).to_contain_text("both required and forbidden")


def test_a_misspelled_keyword_is_pointed_out(page: Any) -> None:
    write(page, "umbrela rain", chains=2, steps=6)
    notice = page.locator("#panel-write .notice")
    expect(notice).to_contain_text("“umbrela” is a word that the model does not know.")
    with page.expect_request("**/v1/runs") as started:
        notice.get_by_role("button", name="umbrella", exact=True).click()
    assert started.value.post_data_json["words"] == ["umbrella", "rain"]
    expect(notice).to_have_text("")
    done(page, "write")
    page.locator("#panel-write").get_by_role("button", name="Clear", exact=True).click()
    assert page.locator(".chips li").count() == 0
    page.get_by_label("Words that the sentence must contain").fill("xqzwvkk")
    page.keyboard.press("Enter")
    expect(notice).to_contain_text("check how it is spelt")


def test_sentences_for_a_handout(page: Any, browser: Any) -> None:
    page.locator("#panel-write summary").click()
    page.get_by_label("Kind of sentence").select_option("question?")
    page.get_by_label("How many sentences").fill("3")
    page.get_by_label("Forbidden words").fill("the")
    page.locator("#panel-write summary").click()
    write(page, "snow", chains=5, steps=20)
    done(page, "write")
    answers = page.locator("#panel-write section").first.locator(".answers li")
    found = sentences(page)
    assert 0 < len(found) <= 3
    assert all(text.endswith("?") for text in found)
    page.locator("#panel-write").get_by_role("button", name="Copy all").first.click()
    expect(page.locator("#said")).to_have_text("Copied")
    assert clipboard(page).split("\n") == found
    answers.first.get_by_role("button", name="Keep").click()
    expect(page.locator("#said")).to_contain_text("your list has 1 sentence")
    with page.expect_request("**/v1/runs") as started:
        page.get_by_role("button", name="Other sentences").click()
    assert started.value.post_data_json["seed"] == 1
    done(page, "write")
    kept = page.locator("#panel-write section", has=page.get_by_role("heading", name="Your list"))
    assert kept.locator(".sentence").all_inner_texts() == found[:1]
    page.locator("#panel-write").get_by_role("button", name="Copy link").click()
    expect(page.locator("#said")).to_have_text("Copied")
    with page_at(browser, clipboard(page)) as other:
        expect(other.locator("#panel-write .answers li").first).to_be_visible()
        other.locator("#panel-write summary").click()
        assert other.get_by_label("Kind of sentence").input_value() == "question"
        assert other.get_by_label("Forbidden words").input_value() == "the"
        assert other.get_by_label("How many sentences").input_value() == "3"
    page.reload()  # the list stays
    assert kept.locator(".sentence").all_inner_texts() == found[:1]
    kept.get_by_role("button", name="Remove").click()
    expect(kept).to_be_hidden()


def test_a_sentence_for_each_word_of_a_list(page: Any, browser: Any) -> None:
    page.get_by_label("A sentence for each word by itself").check()
    write(page, "snow, river, teacher", chains=3, steps=8)
    done(page, "write")
    found = sentences(page)
    assert [word in text.lower() for word, text in zip(["snow", "river", "teacher"], found, strict=True)] == [True] * 3
    page.locator("#panel-write").get_by_role("button", name="Copy link").click()
    expect(page.locator("#said")).to_have_text("Copied")
    with page_at(browser, clipboard(page)) as other:
        done(other, "write")
        assert sentences(other) == found
        assert other.get_by_label("A sentence for each word by itself").is_checked()
    with page.expect_request("**/v1/runs") as started:
        page.locator("#panel-write .answers li").nth(1).get_by_role("button", name="More like this").click()
    asked = started.value.post_data_json
    assert (asked["words"], asked["start"], asked["n"]) == (["river"], found[1], 8)
    done(page, "write")


def test_sentences_are_shown_before_the_end(page: Any) -> None:
    """What is shown on the way is what the server says would be the answers by then."""
    write(page, "letter friend", chains=8, steps=120)
    first = page.locator("#panel-write .answers .sentence").first
    expect(first).to_be_visible()
    assert "Stop" in page.locator("#panel-write .status").inner_text()
    page.locator("#panel-write").get_by_role("button", name="Stop").click()
    expect(page.locator("#panel-write .status")).to_contain_text("after")  # and they stay
    assert all("letter" in text.lower() and "friend" in text.lower() for text in sentences(page))


CORRECTED = "She have two cat. I has went to school yesterday and meet my friend. 😀 He go there."


def test_correct_to_the_end(page: Any, served: Served) -> None:
    page.get_by_role("tab", name="Correct").click()
    page.get_by_label("Your text").fill(CORRECTED)
    page.keyboard.press("Control+Enter")
    done(page, "correct")
    result = served.ask("correct", text=CORRECTED)
    output = page.locator("#panel-correct .corrected")
    expect(output).to_have_text(result["results"][0]["text"])
    edits = page.locator("#panel-correct .text button.edit")
    places = {edit["start"] for edit in [*result["edits"], *result["doubtful"]]}
    assert 3 < edits.count() <= len(places)
    expect(edits.first.locator("del")).to_have_text("have")
    expect(edits.first.locator("ins")).to_have_text("has")
    # The slider leaves edits out, and brings them back.
    slider = page.get_by_label("Make edits from this probability on")
    slider.fill("1")
    expect(output).to_have_text(CORRECTED)
    slider.fill("0.5")
    # A click opens the readings; one of them is to keep what was typed.
    page.locator("#panel-correct .text button.edit").first.click()
    page.get_by_role("button", name="keep “have”").click()
    expect(output).to_have_text(result["results"][0]["text"].replace("She has", "She have"))
    page.keyboard.press("Escape")
    expect(page.locator("#panel-correct .text button.edit").first).to_be_focused()
    page.locator("#panel-correct").get_by_role("button", name="Copy", exact=True).click()
    expect(page.locator("#said")).to_have_text("Copied")
    assert clipboard(page) == output.inner_text()


def test_paraphrase_to_the_end(page: Any, served: Served) -> None:
    page.get_by_role("tab", name="Paraphrase").click()
    page.get_by_label("A sentence to say in other words").fill("How can I learn to play the guitar in 2027?")
    year = page.locator("#panel-paraphrase .source button", has_text="2027")
    expect(year).to_have_attribute("aria-pressed", "true")
    expect(year).to_have_attribute("aria-label", "2027: number")
    year.click()
    expect(year).to_have_attribute("aria-pressed", "false")
    year.click()
    expect(year).to_have_attribute("aria-pressed", "true")
    page.locator("#panel-paraphrase .source button", has_text="guitar").click()
    expect(page.locator("#panel-paraphrase .source .fact", has_text="guitar")).to_be_visible()
    page.get_by_label("Words in common, at most").fill("40")
    page.locator("#panel-paraphrase summary").click()
    page.locator("#panel-paraphrase input[name=chains]").fill("6")
    page.locator("#panel-paraphrase input[name=steps]").fill("30")
    with page.expect_request("**/v1/runs") as started:
        page.get_by_role("button", name="Paraphrase", exact=True).click()
    asked = started.value.post_data_json
    assert (asked["keep"], asked["max_overlap"], asked["match"]) == (
        ["2027", "guitar"],
        40,
        ["kw", "wvm", "cw", "st:20"],
    )
    done(page, "paraphrase")
    asked = {name: value for name, value in asked.items() if name not in ("task", "early")}
    assert sentences(page, "paraphrase") == [result["text"] for result in served.ask("paraphrase", **asked)["results"]]
    assert page.locator("#panel-paraphrase mark").count() > 0
    assert "words in common" in page.locator("#panel-paraphrase .figure").first.inner_text()


def term(page: Any, label: str) -> float:
    """A number of the step that is written out: the last one whose label begins like this."""
    row = page.get_by_role("rowheader", name=re.compile(f"^{re.escape(label)}"))
    cell: str = page.locator(".ratio tr", has=row).last.locator("td").inner_text()
    return float(cell.replace("−", "-"))


def check_ratio(page: Any) -> str:
    """Work out by hand what is written of a step; how it was decided."""
    text: str = page.locator(".ratio").inner_text()
    if "At first sight" not in text and "The whole ratio" not in text:
        assert re.search("nothing to decide|breaks a rule:\\s+\\S|no single step leads back", text)
        return "at once"
    back, forth = term(page, "+ log q(x | y)"), term(page, "− log q(y | x)")
    first = 0.0
    if "At first sight" in text:
        first = term(page, "= log ratio at first sight")
        assert first == pytest.approx(term(page, "what is gained at first sight") + back + forth, abs=2.1e-3)
        if "how far that is trusted" in text:
            first *= term(page, "× how far")
            assert first == pytest.approx(term(page, "= what counts at first sight"), abs=1.1e-3)
        if "Refused at first sight" in text:
            assert term(page, "chance: min") == pytest.approx(min(1, np.exp(first)), abs=1.1e-3)
            return "at first sight"
    gain = (term(page, "log π(y)") - term(page, "log π(x)")) / term(page, "T, the temperature")
    assert term(page, "what the target gains") == pytest.approx(gain, abs=2.5e-3)
    total = term(page, "= log ratio")
    assert total == pytest.approx(gain + back + forth, abs=3.5e-3)
    chance = min(1, np.exp(first)) * min(1, np.exp(total - first)) if first else min(1, np.exp(total))
    assert term(page, "chance to be taken") == pytest.approx(chance, abs=3e-3)
    return "as a whole"


def test_inside_step_by_step(page: Any) -> None:
    page.get_by_role("tab", name="Inside").click()
    page.get_by_role("button", name="Watch an example").click()
    state = page.locator("#panel-inside .status")
    expect(state).to_have_text("step 1 of 200 · paused")
    assert page.locator(".chains tbody tr").count() == 8
    for step in range(2, 26):
        page.get_by_role("button", name="One step").click()
        expect(state).to_have_text(f"step {step} of 200 · paused")
    decided = set()
    for chain in range(4):
        page.locator(".chains tbody button").nth(chain).click()
        for step in range(1, 26):  # those that are past can be looked at again
            page.get_by_label("Step", exact=True).fill(str(step))
            expect(page.locator(".ratio h3")).to_contain_text(f"Chain {chain + 1}, step {step}:")
            decided.add(check_ratio(page))
    assert decided == {"at once", "at first sight", "as a whole"}
    page.get_by_role("button", name="The change before").click()
    expect(page.locator(".ratio h3")).to_contain_text(", taken")
    page.get_by_role("button", name="The last step").click()
    expect(page.locator(".ratio h3")).to_contain_text("step 25:")
    page.get_by_label("Temperature now").fill("2")
    for step in (26, 27):
        page.get_by_role("button", name="One step").click()
        expect(state).to_have_text(f"step {step} of 200 · paused")
    expect(page.locator("#panel-inside")).to_contain_text("The temperature was changed on the way")
    expect(page.locator(".verdict")).to_contain_text("The temperature was changed within these steps")
    check_ratio(page)
    page.get_by_text("What am I looking at?").click()
    expect(page.get_by_text("Metropolis, 1953")).to_be_visible()


def test_inside_of_a_run_that_told_no_steps(page: Any) -> None:
    page.get_by_role("tab", name="Correct").click()
    page.get_by_label("Your text").fill("She have two cat. He go home.")
    page.keyboard.press("Control+Enter")
    done(page, "correct")
    page.get_by_role("tab", name="Inside").click()
    expect(page.locator("#panel-inside .status")).to_contain_text("Watch it from the start")
    assert page.locator("#panel-inside section:visible").count() == 0
    page.get_by_role("button", name="Watch from the start").click()
    expect(page.locator("#panel-inside .status")).to_have_text("step 1 of 50 · paused")
    expect(page.locator(".ratio h3")).to_contain_text("Chain 1, step 1:")
    check_ratio(page)


def test_inside_by_keyboard(page: Any) -> None:
    write(page, "snow", chains=12, steps=6)
    done(page, "write")
    page.locator("#panel-write").get_by_role("button", name="Watch its chains").click()
    page.locator(".chains tbody button").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".ratio h3")).to_contain_text("Chain 3, step 6:")
    page.keyboard.press("Tab")  # all chains are one stop
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".ratio h3")).to_contain_text("Chain 3, step 5:")


def test_inside_of_any_run(page: Any, served: Served) -> None:
    write(page, "snow river", chains=5, steps=30)
    done(page, "write")
    page.locator("#panel-write").get_by_role("button", name="Watch its chains").click()
    expect(page.locator("#panel-inside .status")).to_have_text("step 30 of 30 · ended")
    assert page.locator(".chains tbody tr").count() == 5
    places = [row.locator("td").all()[1].bounding_box()["x"] for row in page.locator(".chains tbody tr").all()]
    assert len(set(places)) == 1  # the chain that is written out stands in the table as the others do
    plot = ET.fromstring(saved(page, page.locator("#panel-inside").get_by_text("SVG").click))  # noqa: S314
    assert len(plot.findall(".//{http://www.w3.org/2000/svg}path")) == 5
    record = json.loads(saved(page, page.locator("#panel-inside").get_by_text("JSON").click))
    draws = np.array([chain["log_target"] for chain in record["chains"]])
    assert draws.shape == (5, 30)
    shown = page.locator("#panel-inside dd").all_inner_texts()[-2:]
    assert float(shown[0]) == pytest.approx(split_rhat(draws[:, 15:]), abs=1e-3)
    size = re.fullmatch(r"(\d+) of 75 draws", shown[1])
    assert size
    assert float(size[1]) == pytest.approx(ess(draws[:, 15:]), abs=0.51)
    # Who has the file can repeat the run, and has every draw of it.
    assert {"cgmh", "model", "seed", "torch"} <= {part.split()[0] for part in record["signature"].split(" | ")}
    assert record["signature"] in ET.tostring(plot, encoding="unicode")
    asked = {name: value for name, value in record["request"].items() if name not in ("task", "watch", "early")}
    assert served.ask("keywords", **asked)["results"] == record["result"]["results"]
    rows = list(csv.DictReader(io.StringIO(saved(page, page.locator("#panel-inside").get_by_text("CSV").click))))
    assert len(rows) == 5 * 30
    assert [row["sentence"] for row in rows[:30]] == record["chains"][0]["sentence"]
    before = record["chains"][0]["start"]
    for row in rows[:30]:
        assert row["sentence"] == (row["proposed"] if row["accepted"] == "true" else before)
        before = row["sentence"]


def test_figures_of_mixing_are_those_of_the_package(page: Any) -> None:
    for seed in range(4):
        draws = np.random.default_rng(seed).normal(size=(3, 41)).cumsum(1) * (0.2 if seed % 2 else 1) + seed
        code = "async (draws) => { const { splitRhat, ess } = await import('/studio/stats.js');"
        found = page.evaluate(code + " return [splitRhat(draws), ess(draws)]; }", draws.tolist())
        assert found == pytest.approx([split_rhat(draws), ess(draws)])


def test_a_link_repeats_a_run(page: Any, browser: Any) -> None:
    write(page, "snow mountain", chains=4, steps=25)
    page.locator("#panel-write input[name=seed]").fill("7")
    page.get_by_role("button", name="Write", exact=True).click()
    done(page, "write")
    page.locator("#panel-write").get_by_role("button", name="Copy link").click()
    expect(page.locator("#said")).to_have_text("Copied")
    with page_at(browser, clipboard(page)) as other:
        done(other, "write")
        assert sentences(other) == sentences(page)
        assert other.locator("#panel-write input[name=seed]").input_value() == "7"


HOSTILE = "<img/src=x/onerror=alert(1)>"


def test_text_is_only_text(page: Any) -> None:
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    write(page, f"{HOSTILE} snow", chains=2, steps=5)
    done(page, "write")
    assert HOSTILE in sentences(page)[0]
    assert page.locator("main img, main script").count() == 0
    page.get_by_role("tab", name="Correct").click()
    page.get_by_label("Your text").fill(f"She have two cat {HOSTILE}.")
    page.keyboard.press("Control+Enter")
    done(page, "correct")
    assert HOSTILE in page.locator("#panel-correct .corrected").inner_text().lower()  # a model may write "Alert"
    assert page.locator("main img, main script").count() == 0


def test_by_keyboard_alone(page: Any) -> None:
    expect(page.get_by_label("Words that the sentence must contain")).to_be_focused()
    page.keyboard.type("snow")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-write .answers li").first).to_be_visible()
    page.get_by_role("tab", name="Write").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Paraphrase")).to_be_focused()
    assert page.locator("#panel-paraphrase").is_visible()
    page.keyboard.press("End")
    assert page.locator("#panel-inside").is_visible()
    page.keyboard.press("Home")
    first = page.locator("#panel-write .answers li").first.locator(".word").first
    first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#panel-write .answers li").first.locator(".word").nth(1)).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(browser: Any, served: Served, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    # axe needs to run a script of its own, which the page's policy forbids.
    with page_at(browser, served.url, color_scheme=scheme, bypass_csp=True) as page:
        write(page, "letter friend", chains=3, steps=10)
        done(page, "write")
        place = page.locator("#panel-write .answers li").first.locator(".word").last
        place.click()
        page.get_by_role("tab", name="Correct").click()
        page.get_by_label("Your text").fill("She have two cat.")
        page.keyboard.press("Control+Enter")
        done(page, "correct")
        page.locator("#panel-correct .text button.edit").first.click()
        page.get_by_role("tab", name="Paraphrase").click()
        page.get_by_label("A sentence to say in other words").fill("Who won against Brazil in 1998?")
        expect(page.locator("#panel-paraphrase .fact").first).to_be_visible()
        page.get_by_role("tab", name="Inside").click()
        page.get_by_label("Run").select_option("from Write")
        expect(page.locator(".ratio h3")).to_be_visible()
        for tab in ("Write", "Paraphrase", "Correct", "Inside"):
            page.get_by_role("tab", name=tab).click()
            found = Axe().run(page)
            assert found.violations_count == 0, f"{tab}: {found.generate_report()}"


def test_on_a_phone(browser: Any, served: Served) -> None:
    with page_at(browser, served.url, viewport={"width": 390, "height": 800}, has_touch=True) as page:
        write(page, "letter friend", chains=3, steps=10)
        done(page, "write")
        for tab in ("Write", "Paraphrase", "Correct", "Inside"):
            page.get_by_role("tab", name=tab).click()
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 390, tab
        low = page.evaluate(
            "() => [...document.querySelectorAll('button:not(.word, .edit)')]"
            ".filter((button) => button.offsetParent && button.offsetHeight < 24).length"
        )
        assert low == 0  # buttons that a finger would miss


def test_two_tabs_at_once(browser: Any, served: Served) -> None:
    with page_at(browser, served.url) as one, page_at(browser, served.url) as other:
        write(one, "snow", chains=8, steps=60)
        write(other, "river", chains=8, steps=60)
        done(one, "write")
        done(other, "write")
        assert all("snow" in text.lower() for text in sentences(one))
        assert all("river" in text.lower() for text in sentences(other))


def test_the_server_is_killed_and_started_again(browser: Any) -> None:
    server = Served()
    try:
        with page_at(browser, server.url) as page:
            write(page, "letter friend", chains=8, steps=150)
            expect(page.locator("#panel-write .answers li").first).to_be_visible()
            server.kill()
            expect(page.locator("#panel-write .status")).to_contain_text("cannot be reached")
            server.start()
            done(page, "write")
            texts = [
                result["text"]
                for result in server.ask("keywords", words=["letter", "friend"], n=8, chains=8, steps=150)["results"]
            ]
            assert sentences(page) == texts
    finally:
        server.kill()


def test_a_server_with_a_key(browser: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CGMH_API_KEY", "a-long-enough-key")
    server = Served()
    try:
        with page_at(browser, server.url) as page:
            write(page, "snow", chains=2, steps=3)
            page.get_by_role("textbox", name="Key", exact=True).fill("a-long-enough-key")
            page.get_by_role("button", name="Use it").click()
            done(page, "write")
    finally:
        server.kill()
