"""The OpenAPI document: what requests and answers look like, with examples."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from .. import __version__
from .gate import OPEN_PATHS
from .problems import MEDIA_TYPE
from .requests import (
    CorrectRequest,
    CorrectRun,
    FactsRequest,
    FillsRequest,
    KeywordsRequest,
    KeywordsRun,
    KnownRequest,
    ParaphraseRequest,
    ParaphraseRun,
    RunRequest,
    SteerRequest,
)
from .schemas import SCHEMAS

_REF = "#/components/schemas/{model}"
_REQUESTS = (
    KeywordsRequest, ParaphraseRequest, CorrectRequest, KeywordsRun, ParaphraseRun, CorrectRun, SteerRequest,
    FillsRequest, FactsRequest, KnownRequest,
)  # fmt: skip
_STATUSES = {
    400: "The body is no JSON object.",
    401: "The API key is missing or wrong.",
    403: "Web pages of this origin may not ask.",
    404: "There is no such thing, or no longer.",
    408: "The body did not arrive in time.",
    409: "That cannot be done with it now.",
    413: "The body is too large.",
    421: "This Host is not served.",
    422: "A field is wrong; `errors` names it and says what to do.",
    429: "Too much at a time; try again after `Retry-After` seconds.",
    503: "The server is starting, shutting down, or has lost the process that worked on it.",
    504: "It took longer than the server allows; ask for less.",
}


def _of(schema: str) -> dict[str, Any]:
    return {"schema": {"$ref": _REF.format(model=schema)}}


def problems_of(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers of these statuses."""
    return {
        status: {
            "description": _STATUSES[status],
            "content": {MEDIA_TYPE: _of("Problem")},
            **({"headers": {"Retry-After": {"schema": {"type": "string"}}}} if status == 429 else {}),
        }
        for status in statuses
    }


def one_word(word: str) -> dict[int | str, dict[str, Any]]:
    """The answer of one word."""
    schema = {"type": "object", "required": ["status"], "properties": {"status": {"const": word}}}
    return {200: {"description": "So it is.", "content": {"application/json": {"schema": schema}}}}


def accepts(schema: str) -> dict[str, Any]:
    """A body of JSON."""
    return {"requestBody": {"required": True, "content": {"application/json": _of(schema)}}}


def answers(schema: str, description: str, problems: tuple[int, ...] = ()) -> dict[int | str, dict[str, Any]]:
    """The answer, and the problems there may be."""
    return {
        200: {"description": description, "content": {"application/json": _of(schema)}},
        **problems_of(*problems),
    }


_ASKED = (400, 408, 413, 422, 429, 503, 504)
ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One answer for one input, a list of answers for several.",
        "content": {
            "application/json": {
                "schema": {"anyOf": [{"$ref": "#/components/schemas/Answer"}, {"$ref": "#/components/schemas/Answers"}]}
            }
        },
    },
    **problems_of(*_ASKED),
}
RUN: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "The run has been started.",
        "content": {"application/json": _of("Run")},
        "headers": {"Location": {"required": True, "schema": {"type": "string"}}},
        "links": {
            name: {"operationId": operation, "parameters": {"id": "$response.body#/id"}}
            for name, operation in {
                "show": "show_run",
                "cancel": "cancel_run",
                "events": "run_events",
                "steer": "steer_run",
            }.items()
        },
    },
    **problems_of(*_ASKED),
}
MODELS = answers("Models", "The models.")
STEERED = answers("Run", "It is told; an event `steered` says what came of it.", (400, 404, 408, 409, 413, 422))
FILLS = answers("Fills", "The words.", _ASKED)
FACTS = answers("Facts", "The words.", _ASKED)
KNOWN = answers("Known", "Of each keyword, the words that the model does not know.", _ASKED)
EVENTS: dict[str, Any] = {
    "responses": {
        200: {"description": "Server-sent events.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
        **problems_of(404, 422, 429),
    },
    "openapi_extra": {
        "parameters": [
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "description": "The id of the last event that was read; those after it are sent.",
                "schema": {"type": "integer", "minimum": 0, "maximum": 10**15 - 1},
            }
        ]
    },
}


_PLAIN = {"text/plain": {"schema": {"type": "string"}}}


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """LanguageTool's errors: `Error: ...` in plain text."""
    described = {**_STATUSES, 400: "Something is wrong with a field.", 403: "The API key is missing or wrong."}
    described[503] = "The server is busy, or it took too long; try again later."
    return {status: {"description": described[status], "content": _PLAIN} for status in statuses}


def _json(schema: dict[str, Any], description: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": {"application/json": {"schema": schema}}}}


_STRING = {"type": "string"}
_RULES = {**_STRING, "description": "Separated by commas."}
_CHECKED: dict[str, Any] = {
    "text": {**_STRING, "description": "The text; or `data`."},
    "data": {**_STRING, "description": 'JSON: {"annotation": [{"text": "A "}, {"markup": "<b>", "interpretAs": ""}]}'},
    "language": {"enum": ["auto", "en-US", "en-GB", "en-AU", "en-CA", "en-NZ", "en-ZA", "en"]},
    "level": {"enum": ["default", "picky"]},
    "enabledRules": _RULES,
    "disabledRules": _RULES,
    "enabledCategories": _RULES,
    "disabledCategories": _RULES,
    "enabledOnly": {"enum": ["true", "false", "yes", "no", ""]},
    "preferredVariants": _RULES,
    "motherTongue": _STRING,
    "username": _STRING,
    "apiKey": _STRING,
}
_FORM: dict[str, Any] = {
    "type": "object",
    "properties": _CHECKED,
    "oneOf": [{"required": ["text"]}, {"required": ["data"]}],
    "examples": [{"text": "i has two apple.", "language": "en-US"}],
}
_NULLABLE = {"type": ["string", "null"]}
_LISTED = {"anyOf": [_RULES, {"type": "array", "items": _STRING}, {"type": "null"}]}
_OBJECT: dict[str, Any] = {
    **_FORM,
    "properties": {
        **{name: _LISTED if schema is _RULES else schema for name, schema in _CHECKED.items()},
        **dict.fromkeys(("motherTongue", "username", "apiKey"), _NULLABLE),
        **{name: {"enum": [*_CHECKED[name]["enum"], None]} for name in ("language", "level")},
        "data": {"type": ["string", "object"]},
        "enabledOnly": {"enum": [True, False, "true", "false", "yes", "no", "", None]},
    },
}
_MATCHES: dict[str, Any] = {
    "type": "object",
    "required": ["software", "warnings", "language", "matches", "sentenceRanges"],
    "properties": {
        "matches": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "offset", "length", "replacements", "context", "sentence", "rule"],
            },
        }
    },
}
_CHECK_RESPONSES = {**_json(_MATCHES, "The matches."), **_errors(400, 403, 413, 503)}
CHECK: dict[str, Any] = {
    "responses": _CHECK_RESPONSES,
    "openapi_extra": {
        "requestBody": {
            "required": True,
            "content": {
                "application/x-www-form-urlencoded": {"schema": _FORM},
                "application/json": {"schema": _OBJECT},
            },
        }
    },
}
CHECK_BY_GET: dict[str, Any] = {
    "responses": _CHECK_RESPONSES,
    "openapi_extra": {
        "parameters": [
            {"name": name, "in": "query", "required": name == "text", "schema": schema}
            for name, schema in _CHECKED.items()
            if name != "data"
        ]
    },
}
_LANGUAGE = {"type": "object", "required": ["name", "code", "longCode"]}
LANGUAGES = {**_json({"type": "array", "items": _LANGUAGE}, "The languages."), **_errors(403)}
INFO = {**_json({"type": "object", "required": ["software"]}, "What this server is."), **_errors(403)}
TEXT: dict[int | str, dict[str, Any]] = {200: {"description": "OK", "content": _PLAIN}, **_errors(403, 503)}
LENGTH: dict[int | str, dict[str, Any]] = {200: {"description": "Characters.", "content": _PLAIN}, **_errors(403)}


def openapi(app: FastAPI, *, with_key: bool) -> dict[str, Any]:
    """The document of the application; with a key, it says where to show it."""
    document = get_openapi(
        title="cgmh",
        version=__version__,
        summary="Sentences under constraints, and corrections with probabilities",
        routes=app.routes,
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    _, found = models_json_schema([(model, "validation") for model in _REQUESTS], ref_template=_REF)
    run = RunRequest.json_schema(ref_template=_REF)
    run.pop("$defs", None)
    schemas.update({**found.get("$defs", {}), **SCHEMAS, "RunRequest": run})
    always = problems_of(*((401, 403, 421) if with_key else (403, 421)))
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path.startswith("/v2/"):
                continue
            statuses = {status: answer for status, answer in always.items() if status != 401 or path not in OPEN_PATHS}
            operation["responses"].update({str(status): answer for status, answer in statuses.items()})
            if "422" in operation["responses"] and "HTTPValidationError" in str(operation["responses"]["422"]):
                operation["responses"].pop("422")
    if with_key:
        document["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "header": {"type": "apiKey", "in": "header", "name": "X-Api-Key"},
        }
        for path, operations in document["paths"].items():
            for operation in operations.values():
                operation["security"] = [] if path in OPEN_PATHS else [{"bearer": []}, {"header": []}]
    return document
