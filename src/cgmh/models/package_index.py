"""A file of a project on the package indexes: PEP 503 (HTML) and PEP 691 (JSON) pages, on the web or on disk."""

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin

from ..errors import BadModel
from .connection import Connection, reaching, shown

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
