"""A real, headless Chromium, as Debian has it: `apt-get install chromium`."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
SECONDS = int(os.environ.get("CGMH_PATIENCE", "60"))  # that anything may take on a busy machine


def chromium() -> str | None:
    """Where it is; CGMH_CHROMIUM names another one."""
    return os.environ.get("CGMH_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


needs_chromium = pytest.mark.skipif(chromium() is None, reason="no Chromium here: apt-get install chromium")


@contextmanager
def browsing() -> Iterator[Any]:
    """The browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


class Watched:
    """A page that must not break: what it complains about is kept."""

    def __init__(self, browser: Any, url: str, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(1000 * SECONDS)
        self.complaints: list[str] = []
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.goto(url)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []


@contextmanager
def page_at(browser: Any, url: str, **options: Any) -> Iterator[Any]:
    """A page of its own; it fails if the page complains."""
    watched = Watched(browser, url, **options)
    yield watched.page
    watched.close()
