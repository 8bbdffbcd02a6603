"""`cgmh rate` as raters have it: the real command, a real browser, keys alone; nothing is lost when it is killed."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browsers import SECONDS, browsing, needs_chromium, page_at

pytestmark = needs_chromium
OUTPUTS = [
    {"input": "snow", "group": "cold", "outputs": {"ours": "Snow fell <b>all</b> night.", "theirs": "It snow."}},
    {"input": "river", "group": "wet", "outputs": {"ours": "The river is wide.", "theirs": "A river river."}},
]


class Study:
    """The command on one file, on a port of its own."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "results.jsonl"
        self.file.write_text("".join(json.dumps(line) + "\n" for line in OUTPUTS), encoding="utf-8")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        command = [sys.executable, "-m", "cgmh", "rate", str(self.file), "--ask", "both", "--no-browser"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen([*command, "--port", str(self.port)], text=True, **pipes)  # type: ignore[call-overload]
        assert "rate at" in self.process.stderr.readline()

    def clicks(self) -> list[dict[str, Any]]:
        lines = self.file.with_name("results.ratings.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def end(self, how: signal.Signals) -> str:
        self.process.send_signal(how)
        output: str = self.process.communicate(timeout=SECONDS)[0]
        return output


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing() as found:
        yield found


def expect(locator: Any) -> Any:
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=1000 * SECONDS)
    return expected(locator)


def begin(page: Any, name: str) -> None:
    page.keyboard.type(name)
    page.keyboard.press("Enter")


def test_two_raters_and_a_crash(browser: Any, tmp_path: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    study = Study(tmp_path)
    study.start()
    try:
        with page_at(browser, study.url, bypass_csp=True) as page:
            begin(page, "Ann")
            expect(page.locator(".status")).to_have_text("0 of 4 rated")
            assert "ours" not in page.content()
            for number in range(3):
                expect(page.locator(".status")).to_have_text(re.compile(f"{number // 2} of 4"))
                page.keyboard.press("4")
                expect(page.locator("main h2").nth(2)).to_have_text(
                    re.compile("Relevance" if number % 2 else "Fluency")
                )
                assert len(study.clicks()) == number + 1  # before the next one shows
            assert Axe().run(page).violations_count == 0
            study.end(signal.SIGKILL)
            page.keyboard.press("5")
            expect(page.get_by_role("alert")).to_contain_text("not saved")
            study.start()
            page.keyboard.press("5")
            expect(page.locator(".status")).to_have_text("2 of 4 rated")
            assert [click["score"] for click in study.clicks()] == [0.75, 0.75, 0.75, 1.0]
            page.keyboard.press("Backspace")  # the text before, once more
            expect(page.get_by_role("button", name="The text before")).to_be_disabled()
            page.keyboard.press("1")
            expect(page.locator("main h2").nth(2)).to_have_text(re.compile("Fluency"))
            page.keyboard.press("1")
            expect(page.locator("main h2").nth(2)).to_have_text(re.compile("Relevance"))
            expect(page.locator(".status")).to_have_text("2 of 4 rated")
            for _ in range(2):
                page.keyboard.press("3")
                expect(page.locator("main h2").nth(2)).to_have_text(re.compile("Fluency"))
                page.keyboard.press("3")
                expect(page.locator("main")).to_contain_text(re.compile("3 of 4 rated|Thank you"))
            expect(page.locator("main")).to_contain_text("Thank you")
            assert page.locator("main b").count() == 0
            assert page.locator("main table").first.inner_text().count("[") == 4
            assert "cold" in page.locator("main table").nth(1).inner_text()
            page.set_viewport_size({"width": 390, "height": 844})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
            assert Axe().run(page).violations_count == 0
            page.keyboard.press("Backspace")  # the last click can be mended too
            expect(page.locator(".status")).to_have_text("4 of 4 rated")
            page.keyboard.press("2")
            expect(page.locator("main h2").nth(2)).to_have_text(re.compile("Fluency"))
            page.keyboard.press("2")
            expect(page.locator("main")).to_contain_text("Thank you")
            assert [click["score"] for click in study.clicks()][-2:] == [0.25, 0.25]
        with page_at(browser, study.url) as page:
            begin(page, "Bob")
            expect(page.locator(".status")).to_have_text("0 of 4 rated")
            page.keyboard.press("2")
            expect(page.locator("main h2").nth(2)).to_have_text(re.compile("Fluency"))
    finally:
        output = study.end(signal.SIGINT)
    assert re.search(r"ours +[\d.]+ \[", output)
    assert "Ann 8, Bob 1" in output
    assert "relevance   ours – theirs:" in output
