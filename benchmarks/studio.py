"""How soon the studio shows a sentence, and how smoothly it shows 60 chains, in a real browser on this machine.

`python benchmarks/studio.py`; needs Chromium and the extra "dev". A server of its own is started.
"""

import re
import shutil
import statistics
import subprocess
import sys
from time import perf_counter

from playwright.sync_api import Browser, expect, sync_playwright

SETS = ("letter friend", "snow mountain", "river boat", "teacher book", "music night")
FRAMES = """async (seconds) => {
  const times = [];
  const until = performance.now() + 1000 * seconds;
  await new Promise((done) => {
    const tick = (now) => { times.push(now); if (now < until) requestAnimationFrame(tick); else done(); };
    requestAnimationFrame(tick);
  });
  return times.slice(1).map((time, at) => time - times[at]);
}"""


def main() -> None:
    expect.set_options(timeout=60_000)
    command = [sys.executable, "-m", "cgmh", "serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert server.stderr is not None
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://[\d.:]+", line)))
        for line in server.stderr:
            if "editor" in line:
                break
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            first_sentence(browser, address)
            smoothness(browser, address)
            browser.close()
    finally:
        server.terminate()
        server.wait()


def first_sentence(browser: Browser, address: str) -> None:
    firsts, ends = [], []
    for words in SETS:
        page = browser.new_page()
        page.goto(address)
        page.get_by_label("Words that the sentence must contain").fill(words)
        began = perf_counter()
        page.keyboard.press("Enter")
        page.locator("#panel-write .answers li").first.wait_for()
        firsts.append(perf_counter() - began)
        seen = page.locator("#panel-write .answers .sentence").first.inner_text()
        expect(page.locator("#panel-write .status")).to_contain_text(re.compile(r"after [\d.]+ s"))
        ends.append(perf_counter() - began)
        best = page.locator("#panel-write .answers .sentence").first.inner_text()
        print(f"{words:16} first after {firsts[-1]:.2f} s: {seen}   best after {ends[-1]:.2f} s: {best}")
        page.close()
    print(f"first sentence: median {statistics.median(firsts):.2f} s, slowest {max(firsts):.2f} s")


def smoothness(browser: Browser, address: str) -> None:
    page = browser.new_page()
    request = '#tab=inside&task="keywords"&words=["letter","friend"]&chains=60&steps=2000&temperature=0.75&seed=0'
    page.goto(f"{address}/{request}")
    expect(page.locator("#panel-inside .status")).to_contain_text("running")
    gaps = sorted(page.evaluate(FRAMES, 5))
    rate = 1000 * len(gaps) / sum(gaps)
    slowest = statistics.mean(gaps[-max(1, len(gaps) // 100) :])
    print(f"60 chains, as fast as they go: {rate:.0f} frames a second; slowest hundredth {1000 / slowest:.0f} a second")
    print(page.locator("#panel-inside .status").inner_text())
    page.close()


if __name__ == "__main__":
    main()
