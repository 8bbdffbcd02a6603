"""The files of the studio: small, from nowhere else, and under a strict policy."""

import re

import httpx2
import pytest

from cgmh.serving.page import FOLDER, POLICY, files
from engines import ToyEngine
from servers import serving

MODULES = sorted(FOLDER.glob("*.js"))


def test_the_page_weighs_little() -> None:
    assert sum(len(content) for content, _ in files().values()) < 300_000
    assert {path.name for path in FOLDER.iterdir()} == set(files())


def test_the_page_and_its_files_are_served_under_a_policy() -> None:
    with serving(ToyEngine(), api_key="a-long-enough-key") as running:  # which the page itself does not need
        for path in ("/", *(f"/studio/{name}" for name in files())):
            answer = httpx2.get(running.url + path)
            assert answer.status_code == 200
            assert answer.headers["content-security-policy"] == POLICY
            assert answer.headers["x-content-type-options"] == "nosniff"
            again = httpx2.get(running.url + path, headers={"If-None-Match": answer.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
        types = [
            httpx2.get(f"{running.url}/studio/{name}").headers["content-type"] for name in ("api.js", "studio.css")
        ]
        assert types == ["text/javascript; charset=utf-8", "text/css; charset=utf-8"]
        for path in ("/studio/page.py", "/studio/..%2Fpage.py", "/studio/", "/studio/none.js"):
            assert httpx2.get(running.url + path).status_code == 404
        assert httpx2.post(f"{running.url}/").status_code == 405
        assert httpx2.get(f"{running.url}/v1/models").status_code == 401


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_modules_load_what_there_is_and_write_no_markup(path: object) -> None:
    text = path.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    for name in re.findall(r'from "(.+?)"', text):
        assert name.removeprefix("./") in files()
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|https?://(?!www\.w3)", text
    )


@pytest.mark.parametrize("name", ["index.html", "rate.html"])
def test_the_pages_hold_no_code_and_name_no_other_place(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert re.findall(r"<script(?![^>]*\bsrc=)", text) == []
    assert not re.search(r"\sstyle=|\son\w+=|https?://", text)
    for path in re.findall(r'(?:src|href)="(.+?)"', text):
        assert path.removeprefix("/studio/") in files()


def test_what_the_page_says_is_in_one_file() -> None:
    """Beside that one, no module has a text of two words that would be shown."""
    for path in MODULES:
        if path.name == "strings.js":
            continue
        code = re.sub(r"//.*|/\*[\s\S]*?\*/", "", path.read_text(encoding="utf-8"))
        shown = re.findall(r'(?:}|\),?)\s*"([A-Z][a-z]+ [a-z]+[^"]*)"|textContent = "(\w+ [^"]+)"', code)
        assert shown == [], path.name
