"""Pictures of the studio, and a short animation, made with a real browser: `python docs/make_studio_pictures.py`.

Needs Chromium (`apt-get install chromium`) and the extra "dev". A server of its own is started.
"""

import re
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from time import monotonic
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

FOLDER = Path(__file__).parent / "studio"
SIZE = {"width": 960, "height": 720}
FRAMES = 24  # of the animation, about one each 150 ms
TEXT = "She have two cat. I has went to school yesterday and meet my friend, who is a excellent cook."


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    expect.set_options(timeout=60_000)
    command = [sys.executable, "-m", "cgmh", "serve", "--port", "0"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert server.stderr is not None  # noqa: S101
        address = next(found[0] for line in server.stderr if (found := re.search(r"http://[\d.:]+", line)))
        for line in server.stderr:
            if "editor" in line:
                break
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=SIZE, color_scheme=scheme)
                page.goto(address)
                pictures(page, scheme)
            phone = browser.new_page(viewport={"width": 390, "height": 760}, device_scale_factor=2)
            phone.goto(address)
            write(phone)
            phone.screenshot(path=FOLDER / "phone.png")
            browser.close()
    finally:
        server.terminate()
        server.wait()
    for path in FOLDER.glob("*.png"):  # few colours: a third of the size
        Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def write(page: Page) -> None:
    page.get_by_label("Words that the sentence must contain").fill("letter friend")
    page.keyboard.press("Enter")
    expect(page.locator("#panel-write .status")).to_contain_text(re.compile(r"after [\d.]+ s"))


def pictures(page: Page, scheme: str) -> None:
    """All tabs in the light, Inside in the dark too."""
    if scheme == "light":
        animate(page)
        page.locator(".answers li .word").nth(1).click()
        expect(page.locator(".fills button").first).to_be_visible()
        page.screenshot(path=FOLDER / "write.png")
        page.get_by_role("tab", name="Correct").click()
        page.get_by_label("Your text").fill(TEXT)
        page.keyboard.press("Control+Enter")
        expect(page.locator("#panel-correct .status")).to_contain_text("after")
        page.locator("#panel-correct .text button.edit").nth(2).click()
        page.screenshot(path=FOLDER / "correct.png")
        page.get_by_role("tab", name="Paraphrase").click()
        page.get_by_label("A sentence to say in other words").fill("How can I learn to play the guitar before 2027?")
        expect(page.locator("#panel-paraphrase .fact").first).to_be_visible()
        page.keyboard.press("Enter")
        expect(page.locator("#panel-paraphrase .status")).to_contain_text("after")
        page.screenshot(path=FOLDER / "paraphrase.png")
    page.get_by_role("tab", name="Inside").click()
    if scheme == "light":
        page.get_by_label("Run").select_option("from Write")
    page.get_by_role("button", name=re.compile("^Watch")).click()
    expect(page.locator("#panel-inside .status")).to_contain_text("paused")
    page.get_by_label("Speed").select_option("as fast as it goes")
    page.get_by_role("button", name="Continue").click()
    expect(page.locator("#panel-inside .status")).to_contain_text(re.compile(r"step ([4-9]\d|1\d\d)"))
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#panel-inside .status")).to_contain_text(re.compile("paused|ended"))
    page.get_by_role("button", name="The change before").click()  # a step with all its terms
    page.screenshot(path=FOLDER / ("inside.png" if scheme == "light" else "inside-dark.png"), full_page=True)


def animate(page: Page) -> None:
    """Words are typed, and sentences rise."""
    frames: list[Any] = []

    def frame() -> None:
        frames.append(Image.open(BytesIO(page.screenshot())).convert("RGB").resize((720, 540)))

    box = page.get_by_label("Words that the sentence must contain")
    frame()
    for text in ("letter", "letter friend"):
        box.fill(text)
        frame()
    page.keyboard.press("Enter")
    until = monotonic() + 30
    while len(frames) < FRAMES and monotonic() < until:
        page.wait_for_timeout(150)
        frame()
    expect(page.locator("#panel-write .status")).to_contain_text(re.compile(r"after [\d.]+ s"))
    frame()
    small = [each.quantize(48, dither=Image.Dither.NONE) for each in frames]
    durations = [600, 400, 400, *[180] * (len(small) - 4), 3000]
    small[0].save(
        FOLDER / "write.gif", save_all=True, append_images=small[1:], duration=durations, loop=0, optimize=True
    )


if __name__ == "__main__":
    main()
