"""What every request passes: whether it may come in, how long it takes, and what happens if something breaks.

A page of another site must not be able to use a server on this machine. Browsers say in `Origin` and `Sec-Fetch-Site`
where a request comes from; what was not allowed is refused before anything is done, not only hidden from the page.
"""

import asyncio
import hmac
import logging
import re
import time
from collections.abc import Mapping
from traceback import extract_tb

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .configuration import ServerSettings
from .metrics import Metrics
from .problems import Refusal, refusal_of

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/openapi.json", "/v2/healthcheck"})  # without a key
_KEY_IN_BODY = "/v2/check"  # its handler looks for the key, which may be a field of the form
_log = logging.getLogger("cgmh.serving")


class Gate:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["path"] = path_of(scope["path"])
        began, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-content-type-options", b"nosniff")]
            await send(message)

        try:
            if refusal := self._refusal(scope):
                await refusal.response(scope["path"])(scope, receive, watched)
            else:
                await self._app(scope, receive, watched)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - a server goes on
            refusal = refusal_of(error, self._settings.max_seconds) or _broken(error)
            if not status:
                await refusal.response(scope["path"])(scope, receive, watched)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            self._metrics.add(path, status, time.perf_counter() - began)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers, settings = Headers(scope=scope), self._settings
        if not settings.knows_host(headers.get("host", "")):
            detail = "this Host is not served; ask for 127.0.0.1 or localhost, or start the server with --allow-host"
            return Refusal(421, "unknown-host", detail)
        if not _may_ask(headers, settings):
            detail = "pages of this origin may not ask; start the server with --allow-origin for it"
            return Refusal(403, "origin-not-allowed", detail)
        if is_open(scope["path"]) or scope["path"] == _KEY_IN_BODY or has_key(headers, settings):
            return None
        return missing_key()


def is_open(path: str) -> bool:
    """Whether a path is answered without a key: it holds nothing of anybody's."""
    return path in OPEN_PATHS or path == "/" or path.startswith("/studio/")


def path_of(path: str) -> str:
    """The path that is meant where a client was given an address with a slash at its end.

    The VS Code linter then asks for //v2/check, LTeX for /check.
    """
    plain = re.sub("/+", "/", path)
    return _KEY_IN_BODY if plain == "/check" else plain


def _may_ask(headers: Headers, settings: ServerSettings) -> bool:
    """Whether a request comes from no web page, from one of this server, or from one that was allowed."""
    origin = headers.get("origin")
    if origin is not None:
        is_own = origin.partition("://")[2] == headers.get("host", "")
        return is_own or re.fullmatch(settings.origins, origin) is not None
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):  # a link may be followed, an image not loaded
        return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return True


def has_key(headers: Headers, settings: ServerSettings, fields: Mapping[str, str] | None = None) -> bool:
    """Whether a request shows the key: as a bearer token, in X-Api-Key, or in LanguageTool's field `apiKey`."""
    if settings.api_key is None:
        return True
    scheme, _, token = headers.get("authorization", "").partition(" ")
    shown = [
        token.strip() if scheme.lower() == "bearer" else "",
        headers.get("x-api-key", ""),
        (fields or {}).get("apiKey", ""),
    ]
    key = settings.api_key.encode()
    matches = [hmac.compare_digest(given.encode("utf-8", "replace"), key) for given in shown]
    return any(matches)


def missing_key() -> Refusal:
    """The answer to a request without the key."""
    detail = "the API key is missing or wrong; send it as 'Authorization: Bearer KEY' or 'X-Api-Key: KEY'"
    return Refusal(401, "key-needed", detail, headers={"WWW-Authenticate": "Bearer"})


def _broken(error: BaseException) -> Refusal:
    """What should not happen; written down without a word of what users sent, which messages of errors may quote."""
    places = [f"{place.filename}:{place.lineno}" for place in extract_tb(error.__traceback__)]
    _log.error("%s at %s", type(error).__name__, " <- ".join(reversed(places[-5:])))
    return Refusal(500, "internal-error", "something broke; the server's log says where")
