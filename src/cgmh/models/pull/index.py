"""How this machine reaches package indexes: what pip was told goes for us too, by its variables or its files.

A file of a project on the package indexes: PEP 503 (HTML) and PEP 691 (JSON) pages, on the web or on disk.
"""

import ast
import base64
import http.client
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from ...errors import BadInput, BadModel
from ...version import __version__
from .store import expanded

PYPI = "https://pypi.org/simple/"
TIMEOUT = 30.0  # seconds without an answer or a byte


class Unreachable(BadModel):
    """An address that does not give its file, now."""

    def __init__(self, url: str, why: str, status: int | None = None) -> None:
        super().__init__(f"{shown(url)}: {why}")
        self.status = status


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Whatever goes wrong on the way to an address is `Unreachable`: no route, no answer, an answer cut short."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise Unreachable(url, _reason(error), error.code) from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise Unreachable(url, _reason(error)) from error


@dataclass(frozen=True)
class NetworkSettings:
    """Where packages come from and how to get there."""

    indexes: tuple[str, ...] = (PYPI,)
    certificates: str | None = None
    proxy: str | None = None


def network_settings() -> NetworkSettings:
    """The settings of pip: its environment variables, then its configuration files."""
    files = _pip_configuration()

    def option(name: str) -> str | None:
        return os.environ.get(f"PIP_{name.upper().replace('-', '_')}") or files.get(name)

    indexes = [option("index-url") or PYPI, *(option("extra-index-url") or "").split()]
    bundles = (option("cert"), *(os.environ.get(name) for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")))
    certificates = next((bundle for bundle in bundles if bundle), None)  # SSL_CERT_FILE is read by ssl itself
    return NetworkSettings(tuple(dict.fromkeys(indexes)), certificates, option("proxy"))


def _pip_configuration() -> dict[str, str]:
    """The options in pip's configuration files; none without pip."""
    try:
        command = [sys.executable, "-P", "-m", "pip", "config", "list"]
        ran = subprocess.run(  # noqa: S603 - our own Python, -P: nothing from the current directory
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}, "download": {}}
    for line in ran.stdout.splitlines() if ran.returncode == 0 else []:
        key, _, value = line.partition("=")
        section, _, option = key.partition(".")
        try:
            sections.get(section, {})[option] = str(ast.literal_eval(value))
        except (ValueError, SyntaxError):
            continue
    return sections["global"] | sections["install"] | sections["download"]


class Connection:
    """Opens http, https and file addresses, with the user's certificates, proxy and passwords."""

    def __init__(self, settings: NetworkSettings, timeout: float = TIMEOUT) -> None:
        self.settings, self._timeout = settings, timeout
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.HTTPSHandler(context=_trust(settings.certificates))
        ]
        if settings.proxy:
            proxy = settings.proxy if "://" in settings.proxy else f"http://{settings.proxy}"
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        self._opener = urllib.request.build_opener(*handlers)
        # Passwords of the indexes also open the files that they keep on the same host.
        keys = {split_url(url).netloc.rpartition("@")[2]: _password(url) for url in settings.indexes}
        self._passwords = {host: password for host, password in keys.items() if password}

    def open(self, url: str, headers: Mapping[str, str]) -> Any:
        """The answer to a request, to be closed, or `Unreachable`."""
        parts = split_url(url)
        if parts.scheme not in ("http", "https", "file"):
            raise BadInput(f"{shown(url)}: not an address that starts with https://, http:// or file://")
        host = parts.netloc.rpartition("@")[2]
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            urlunsplit(parts._replace(netloc=host, fragment="")),
            headers={"User-Agent": f"cgmh/{__version__}", **headers},
        )
        if password := _password(url) or self._passwords.get(host):
            request.add_unredirected_header("Authorization", password)  # never sent on to another host
        with reaching(url):
            return self._opener.open(request, timeout=self._timeout)


def split_url(url: str) -> SplitResult:
    """The parts of an address."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise BadInput(f"{url!r}: not an address ({error})") from error


def _password(url: str) -> str | None:
    """The header for user and password in an address."""
    user, at, _ = split_url(url).netloc.rpartition("@")
    return "Basic " + base64.b64encode(unquote(user).encode()).decode() if at else None


def _trust(certificates: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if certificates:
        path = expanded(certificates)
        try:
            context.load_verify_locations(**{"capath" if path.is_dir() else "cafile": str(path)})
        except OSError as error:
            raise BadInput(
                f"{certificates}: no certificates there ({error}); mend PIP_CERT or REQUESTS_CA_BUNDLE"
            ) from error
    elif not any(ssl.get_default_verify_paths()[:2]) and sys.platform != "win32":
        try:  # a Python without certificates of its own, as some on macOS
            import certifi

            context.load_verify_locations(certifi.where())
        except ImportError:
            return context
    return context


def shown(url: str) -> str:
    """An address without what may be secret in it."""
    parts = split_url(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _reason(error: BaseException) -> str:
    """Why a request failed, in a few words."""
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} {error.reason}".strip()
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}; name your certificates in SSL_CERT_FILE"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected | ConnectionResetError):
        return "the connection was lost"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error) or type(error).__name__


_LARGEST_PAGE = 32 << 20
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


def addresses(connection: Connection, project: str, file: str) -> Iterator[str]:
    """Where the indexes keep a file, in the order of the indexes; BadModel at the end if none has it."""
    troubles, found = [], False
    for index in connection.settings.indexes:
        page = f"{index.rstrip('/')}/{project}/"
        if index.startswith("file:"):
            page += "index.html"
        try:
            urls = [url for url in _links(connection, page) if _file_name(url) == file]
        except BadModel as error:
            troubles.append(str(error))
            continue
        if not urls:
            troubles.append(f"{shown(page)}: it has no {file}")
        found = found or bool(urls)
        yield from urls
    if not found:
        raise BadModel("; ".join(troubles))


def _file_name(url: str) -> str:
    return unquote(url.partition("#")[0].partition("?")[0].rpartition("/")[2])


def _links(connection: Connection, page: str) -> list[str]:
    """The addresses of all files on the page of a project."""
    with connection.open(page, {"Accept": _ACCEPT}) as answer, reaching(page):
        data, base, kind = answer.read(_LARGEST_PAGE + 1), answer.geturl(), answer.headers.get_content_type()
    if len(data) > _LARGEST_PAGE:
        raise BadModel(f"{shown(page)}: too large for the page of a project")
    text = data.decode("utf-8", "replace")
    if not kind.endswith("json"):
        links = _Links()
        links.feed(text)
        return [url for target in links.found if (url := _joined(links.base or base, target))]
    try:
        return [url for file in json.loads(text)["files"] if (url := _joined(base, str(file["url"])))]
    except (ValueError, KeyError, TypeError) as error:
        raise BadModel(f"{shown(page)}: not the page of a package index") from error


def _joined(base: str, target: str) -> str | None:
    try:
        return urljoin(base, target)
    except ValueError:
        return None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.base, self.found = "", list[str]()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        target = dict(attributes).get("href") or ""
        if tag == "base":
            self.base = target
        elif tag == "a":
            self.found.append(target)
