"""Where the package indexes keep a file, and how this machine reaches them.

What pip was told, by its variables or its configuration files, goes for us too: indexes, certificates, proxy. The page
of a project is HTML (PEP 503) or JSON (PEP 691), on the web or on disk.
"""

import ast
import base64
import http.client
import os
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import unescape
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit, urlunsplit

from ... import __version__
from ...errors import BadInput, BadModel
from ...files import parse_json
from .store import expanded

PYPI = "https://pypi.org/simple/"
TIMEOUT = 30.0  # seconds without an answer or a byte
_MAX_PAGE = 32 << 20  # bytes of the page of a project
# Links and what they are relative to, in a time that grows with the page alone; `html.parser` may take its square.
_TAG = re.compile(r"""<(a|base)\s((?:[^<>"']|"[^"<]*"|'[^'<]*')*)>""", re.IGNORECASE)
_HREF = re.compile(r"""(?<!\S)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"


@dataclass(frozen=True)
class NetworkSettings:
    """Where packages come from and how to get there."""

    indexes: tuple[str, ...] = (PYPI,)
    certificates: str | None = None
    proxy: str | None = None


def pip_settings() -> NetworkSettings:
    """The settings of pip: its environment variables, then its configuration files."""
    files = _pip_configuration()

    def option(name: str) -> str | None:
        return os.environ.get(f"PIP_{name.upper().replace('-', '_')}") or files.get(name)

    indexes = [option("index-url") or PYPI, *(option("extra-index-url") or "").split()]
    # SSL_CERT_FILE is read by ssl itself.
    certificates = option("cert") or os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or None
    return NetworkSettings(tuple(dict.fromkeys(indexes)), certificates, option("proxy"))


def _pip_configuration() -> dict[str, str]:
    """The options in pip's configuration files; none without pip."""
    safe = "-P" if sys.version_info >= (3, 11) else "-I"  # nothing from the current directory is run
    command = [sys.executable, safe, "-m", "pip", "config", "list"]
    try:
        ran = subprocess.run(  # noqa: S603 - our own Python
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT,
            check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}, "download": {}}
    for line in ran.stdout.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.partition(".")
        with suppress(ValueError, SyntaxError):
            sections.get(section, {})[option] = str(ast.literal_eval(value))
    return sections["global"] | sections["install"] | sections["download"]


class Unreachable(BadModel):
    """An address that does not give its file, now."""

    def __init__(self, url: str, why: str, status: int | None = None) -> None:
        super().__init__(f"{without_secrets(url)}: {why}")
        self.status = status


@contextmanager
def reaching(url: str) -> Iterator[None]:
    """Whatever goes wrong on the way to an address is `Unreachable`: no route, no answer, an answer cut short."""
    try:
        yield
    except urllib.error.HTTPError as error:
        error.close()
        raise Unreachable(url, f"HTTP {error.code} {error.reason}".strip(), error.code) from error
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise Unreachable(url, _reason(error)) from error


def _reason(error: BaseException) -> str:
    """Why a request failed, in a few words."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, BaseException):
        return _reason(error.reason)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}; name your certificates in SSL_CERT_FILE"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, http.client.IncompleteRead | http.client.RemoteDisconnected | ConnectionResetError):
        return "the connection was lost"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


class Client:
    """Opens http, https and file addresses, with the user's certificates, proxy and passwords."""

    def __init__(self, settings: NetworkSettings, timeout: float = TIMEOUT) -> None:
        self.settings, self._timeout = settings, timeout
        handlers: list[urllib.request.BaseHandler] = [
            urllib.request.HTTPSHandler(context=_ssl_context(settings.certificates))
        ]
        if settings.proxy:
            proxy = settings.proxy if "://" in settings.proxy else f"http://{settings.proxy}"
            handlers.append(urllib.request.ProxyHandler({"http": proxy, "https": proxy}))
        self._opener = urllib.request.build_opener(*handlers)
        # Passwords of the indexes also open the files that they keep on the same host.
        self._passwords = {_host(url): password for url in settings.indexes if (password := _password(url))}

    def open(self, url: str, headers: Mapping[str, str]) -> Any:
        """The answer to a request, to be closed, or `Unreachable`."""
        parts = split_url(url)
        if parts.scheme not in ("http", "https", "file"):
            raise BadInput(f"{without_secrets(url)}: not an address that starts with https://, http:// or file://")
        request = urllib.request.Request(  # noqa: S310 - the scheme is checked above
            urlunsplit(parts._replace(netloc=_host(url), fragment="")),
            headers={"User-Agent": f"cgmh/{__version__}", **headers},
        )
        if password := _password(url) or self._passwords.get(_host(url)):
            request.add_unredirected_header("Authorization", password)  # never sent on to another host
        with reaching(url):
            return self._opener.open(request, timeout=self._timeout)


def split_url(url: str) -> SplitResult:
    """The parts of an address."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise BadInput(f"{url!r}: not an address ({error})") from error


def without_secrets(url: str) -> str:
    """An address to show, without user, password, query and fragment."""
    return urlunsplit(split_url(url)._replace(netloc=_host(url), query="", fragment=""))


def _host(url: str) -> str:
    return split_url(url).netloc.rpartition("@")[2]


def _password(url: str) -> str | None:
    """The header for user and password in an address."""
    user, at, _ = split_url(url).netloc.rpartition("@")
    return "Basic " + base64.b64encode(unquote(user).encode()).decode() if at else None


def _ssl_context(certificates: str | None) -> ssl.SSLContext:
    """Which certificates are trusted: those of the user, otherwise those of the system."""
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
        with suppress(ImportError):  # a Python without certificates of its own, as some on macOS
            import certifi

            context.load_verify_locations(certifi.where())
    return context


def file_urls(client: Client, project: str, file: str, problems: list[str]) -> Iterator[str]:
    """Where the indexes keep a file of a project, in the order of the indexes; `problems` is told why one does not."""
    for index in client.settings.indexes:
        page = f"{index.rstrip('/')}/{project}/" + ("index.html" if index.startswith("file:") else "")
        try:
            urls = [url for url in _links(client, page) if unquote(urlsplit(url).path.rpartition("/")[2]) == file]
        except BadModel as error:
            problems.append(str(error))
            continue
        if not urls:
            problems.append(f"{without_secrets(page)}: it has no {file}")
        yield from urls


def _links(client: Client, page: str) -> list[str]:
    """The addresses of all files on the page of a project."""
    with client.open(page, {"Accept": _ACCEPT}) as answer, reaching(page):
        data, base, kind = answer.read(_MAX_PAGE + 1), answer.geturl(), answer.headers.get_content_type()
    if len(data) > _MAX_PAGE:
        raise BadModel(f"{without_secrets(page)}: too large for the page of a project")
    text = data.decode("utf-8", "replace")
    if kind.endswith("json"):
        try:
            targets = [str(file["url"]) for file in parse_json(text)["files"]]
        except (ValueError, KeyError, TypeError) as error:
            raise BadModel(f"{without_secrets(page)}: not the page of a package index") from error
    else:
        found = [
            (tag.lower(), unescape("".join(quoted)))  # in one of two kinds of quotes, or in none
            for tag, attributes in _TAG.findall(text)
            for quoted in _HREF.findall(attributes)
        ]
        base = next((target for tag, target in found if tag == "base"), base)
        targets = [target for tag, target in found if tag == "a"]
    urls = []
    for target in targets:
        with suppress(ValueError):  # another file's broken address does not matter
            urls.append(urljoin(base, target))
    return urls
