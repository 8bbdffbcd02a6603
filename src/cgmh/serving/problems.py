"""What goes wrong with a request, in both dialects: problem details (RFC 9457), or LanguageTool's plain text."""

import asyncio
import json
import re
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from ..errors import CgmhError
from .protocols import EngineLost, Overloaded

MEDIA_TYPE = "application/problem+json"
_ARGUMENT = re.compile(r"`([a-z_]+)`")
_CLIENT_GONE = 499  # what nginx writes down for a client that did not wait; nobody receives it


class ClientGone(Exception):
    """The client has closed the connection; nobody reads an answer."""


class Refusal(Exception):
    """Why a request is not answered: a status, a code that stays the same, and what to do about it."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        *,
        errors: list[dict[str, str]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.errors, self.headers = errors or [], headers or {}

    def problem(self) -> dict[str, Any]:
        """The problem details; `errors` names each field with what is wrong with it and what to do."""
        record: dict[str, Any] = {
            "type": f"urn:cgmh:problem:{self.code}",
            "title": self.code.replace("-", " ").capitalize(),
            "status": self.status,
            "detail": self.detail,
        }
        return {**record, "errors": self.errors} if self.errors else record

    def response(self, path: str) -> Response:
        """The answer, in the dialect of the path."""
        if is_languagetool(path):
            return PlainTextResponse(f"Error: {self.detail}", _LANGUAGETOOL.get(self.status, self.status), self.headers)
        content = json.dumps(self.problem(), ensure_ascii=False)
        return Response(content, self.status, self.headers, media_type=MEDIA_TYPE)


# LanguageTool's clients know fewer statuses: 400, 403, 413, 500 and 503.
_LANGUAGETOOL = {401: 403, 408: 400, 421: 403, 422: 400, 429: 503, 504: 503}


def is_languagetool(path: str) -> bool:
    """Whether a path is LanguageTool's."""
    return path == "/v2" or path.startswith("/v2/")


def wrong_field(field: str, detail: str) -> Refusal:
    """One field that is wrong."""
    return Refusal(422, "invalid-field", f"{field}: {detail}", errors=[{"field": field, "detail": detail}])


def refusal_of(error: BaseException, seconds: float) -> Refusal | None:
    """What an error of the engine is to a client; None for what should not happen."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, ClientGone):
        return Refusal(_CLIENT_GONE, "client-gone", "the client has closed the connection")
    if isinstance(error, Overloaded):
        wait = {"Retry-After": str(error.retry_after)}
        detail = f"the server is busy: {error}; try again in {error.retry_after} seconds"
        return Refusal(429, "overloaded", detail, headers=wait)
    if isinstance(error, asyncio.CancelledError):  # the server has to go before it has come to an answer
        error = EngineLost("the server is shutting down")
    if isinstance(error, EngineLost):
        return Refusal(503, "engine-lost", str(error), headers={"Retry-After": "1"})
    if isinstance(error, TimeoutError | asyncio.TimeoutError):
        detail = f"it took longer than {seconds:g} seconds; ask for fewer inputs, chains or steps, or a shorter text"
        return Refusal(504, "out-of-time", detail)
    if isinstance(error, CgmhError):
        return refused_input(str(error))
    return None


def refused_input(message: str, field: str | None = None) -> Refusal:
    """What a message of the package says, which names arguments in backticks: the fields are called the same.

    `field` is the one that it is about if it names none.
    """
    fields = list(dict.fromkeys(_ARGUMENT.findall(message))) or ([field] if field else [])
    plain = _ARGUMENT.sub(r"\1", message)
    return Refusal(422, "invalid-input", plain, errors=[{"field": field, "detail": plain} for field in fields])


def refused_by_framework(request: Request, status: int, methods: list[str]) -> Response:
    """An unknown path, or another method than a path has."""
    phrase = HTTPStatus(status).phrase
    allowed = ", ".join(methods or ["GET"])
    details = {
        404: "there is nothing at this path; /openapi.json lists what there is",
        405: f"this path takes {allowed}, not {request.method}",
    }
    headers = {"Allow": allowed} if status == 405 else {}
    code = phrase.lower().replace(" ", "-")
    return Refusal(status, code, details.get(status, phrase), headers=headers).response(request.url.path)
