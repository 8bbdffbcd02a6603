"""LanguageTool's protocol, so that editors and its clients work with this server.

Its clients send forms, JSON, or a form that is labelled JSON: what a body is decides how it is read, not its label.
"""

import asyncio
import json
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from .. import __version__
from ..errors import BadInput
from ..text.passages import Span, sentence_spans
from ..text.tokenizer import has_controls
from .annotated import AnnotatedText
from .bodies import has_halves, read_body, read_object
from .documents import CHECK, CHECK_BY_GET, INFO, LANGUAGES, LENGTH, TEXT
from .gate import has_key, missing_key
from .matches import find_spots, rule_of, write_match
from .problems import Refusal
from .protocols import Outcome
from .requests import CorrectRequest
from .service import service_of

router = APIRouter(prefix="/v2", tags=["LanguageTool"])
MAX_SENTENCE_WORDS = 120  # of the task `correct`; longer sentences are passed over
_VARIANTS = {
    "en-US": "English (US)", "en-GB": "English (GB)", "en-AU": "English (Australian)", "en-CA": "English (Canadian)",
    "en-NZ": "English (New Zealand)", "en-ZA": "English (South African)", "en": "English",
}  # fmt: skip
_BY_NAME = {code.lower(): code for code in _VARIANTS}
LISTS = ("enabledRules", "disabledRules", "enabledCategories", "disabledCategories", "preferredVariants")
_YES = {"yes": True, "true": True, "no": False, "false": False, "": False}
_MAX_FIELDS = 100
_BAD = 400


@dataclass(frozen=True)
class Check:
    """What a client asks for."""

    source: AnnotatedText
    language: str  # a variant of English
    picky: bool
    enabled: frozenset[str]  # rules and categories
    disabled: frozenset[str]
    enabled_only: bool

    @classmethod
    def read(cls, fields: dict[str, str]) -> "Check":
        """The request in its fields."""
        if ("text" in fields) == ("data" in fields):
            raise _wrong("send either the field 'text', or 'data' with annotations")
        if "text" in fields:
            source = AnnotatedText.plain(fields["text"])
        else:
            try:
                source = AnnotatedText.read(read_object(fields["data"]))
            except BadInput as error:
                raise _wrong(str(error).replace("`", "'")) from error
        language = _language(fields)
        level = fields.get("level", "default").lower()
        if level not in ("default", "picky"):
            raise _wrong("'level' is neither default nor picky")
        enabled_only = fields.get("enabledOnly", "").lower()
        if enabled_only not in _YES:
            raise _wrong("'enabledOnly' is neither true nor false")
        enabled, disabled = (
            _listed(fields, f"{which}Rules", f"{which}Categories") for which in ("enabled", "disabled")
        )
        if _YES[enabled_only] and not enabled:
            raise _wrong("'enabledOnly' needs 'enabledRules' or 'enabledCategories'")
        return cls(source, language, level == "picky", enabled, disabled, _YES[enabled_only])

    def wants(self, kind: str) -> bool:
        """Whether matches of this kind of mistake are asked for."""
        rule = rule_of(kind)
        names = {rule.id, rule.category}
        return not names & self.disabled and (not self.enabled_only or bool(names & self.enabled))


def _wrong(detail: str) -> Refusal:
    return Refusal(_BAD, "bad-request", detail)


def _listed(fields: dict[str, str], *names: str) -> frozenset[str]:
    parts = (part.strip() for name in names for part in fields.get(name, "").split(","))
    found = {re.sub(r"_EN_(?:GB|AU|CA|NZ|ZA)$", "_EN_US", part) for part in parts}
    return frozenset(found - {""})


def _language(fields: dict[str, str]) -> str:
    asked = fields.get("language", "auto").strip()
    if asked.lower() != "auto":
        code = _BY_NAME.get(asked.lower())
        if code is None:
            raise _wrong(f"'language' {asked[:20]!r} is not checked here; give {', '.join(_VARIANTS)} or auto")
        return code
    preferred = (part.strip().lower() for part in fields.get("preferredVariants", "").split(","))
    return next((_BY_NAME[part] for part in preferred if part in _BY_NAME), "en-US")


def read_fields(query: bytes, body: bytes) -> dict[str, str]:
    """The fields of a request, whatever they came as; what the body says counts more than the query."""
    fields = _form(query)
    if body.lstrip().startswith(b"{"):
        found = ((name, _as_field(name, value)) for name, value in read_object(body).items())
        fields |= {name: value for name, value in found if value is not None}
        return fields
    return fields | _form(body.strip())


def _as_field(name: str, value: Any) -> str | None:
    """What a form would have in place of a value of JSON; None where it would have nothing."""
    if isinstance(value, str) or (value is None and name not in ("text", "data")):
        return value
    if isinstance(value, dict) and name == "data":
        return json.dumps(value)
    if isinstance(value, bool) and name == "enabledOnly":
        return str(value).lower()
    if isinstance(value, list) and name in LISTS and all(isinstance(part, str) for part in value):
        return ",".join(value)
    raise _wrong(f"the field {name[:40]!r} is no string")


def _form(data: bytes) -> dict[str, str]:
    try:
        pairs = parse_qsl(data.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except UnicodeDecodeError as error:
        raise _wrong("the request is not a form in UTF-8, percent-encoded, nor a JSON object") from error
    except ValueError as error:
        raise _wrong("the form cannot be read, or has too many fields") from error
    if any(has_halves(value) for _, value in pairs):
        raise _wrong("the form has halves of characters (lone surrogates)")
    return dict(pairs)


@router.post("/check", **CHECK)
async def check(request: Request) -> Response:
    """Check a text. `text`, or `data` with markup; offsets and lengths are UTF-16 code units.

    `rule.confidence` and `replacements[].confidence` are probabilities. With `level` picky, edits below the threshold
    are matches too.
    """
    service = service_of(request)
    body = await read_body(request, service.settings)
    fields = read_fields(request.scope["query_string"], body)
    if not has_key(request.headers, service.settings, fields):
        raise missing_key()
    asked = Check.read(fields)
    if len(asked.source.original) > service.settings.max_characters:
        most = service.settings.max_characters
        raise Refusal(413, "too-long", f"the text has more than {most:,} characters; send it in parts")
    readable, sentences = await asyncio.to_thread(_readable, asked.source.text)
    job = CorrectRequest.model_validate({"text": readable}).job(service.settings)
    (outcome,) = await service.solve(request, job)
    return JSONResponse(await asyncio.to_thread(_response, asked, outcome, sentences, readable))


@router.get("/check", **CHECK_BY_GET)
async def check_by_get(request: Request) -> Response:
    """The same, with the fields in the query; only for short texts."""
    return await check(request)


def _readable(text: str) -> tuple[str, list[Span]]:
    """The text with blanks in place of what would be refused: control characters, sentences that are too long.

    A document is checked although a part of it cannot be. Places stay. Beside it, where its sentences stand.
    """
    if has_controls(text):
        text = "".join(" " if has_controls(c) else c for c in text)
    spans = []
    for (start, end), num_words in sentence_spans(text, MAX_SENTENCE_WORDS):
        if num_words > MAX_SENTENCE_WORDS:
            text = text[:start] + " " * (end - start) + text[end:]
        spans.append((start, end))
    return text, spans


def _response(asked: Check, outcome: Outcome, sentences: list[Span], readable: str) -> dict[str, Any]:
    source = asked.source
    spots = find_spots(source.text, outcome.get("edits", ()), outcome.get("doubtful", ()), picky=asked.picky)
    starts = [start for start, _ in sentences]
    matches = []
    for spot in spots:
        if asked.wants(spot.kind):
            number = bisect_right(starts, max(spot.start, 0)) - 1
            start, end = sentences[number] if number >= 0 else (spot.start, spot.end)
            match = write_match(spot, source, source.text[start:end], asked.language)
            matches += [match] if match else []
    ranges = [[source.utf16(low), source.utf16(high)] for low, high in _original(source, sentences)]
    is_read = "error" not in outcome
    name, code = _VARIANTS[asked.language], asked.language
    return {
        "software": {
            "name": "cgmh", "version": __version__, "buildDate": "", "apiVersion": 1, "premium": False,
            "premiumHint": "", "status": "",
        },
        "warnings": {"incompleteResults": not is_read or readable != source.text},
        "language": {
            "name": name,
            "code": code,
            "detectedLanguage": {
                "name": name, "code": code, "confidence": float(is_read), "source": "cgmh",
            },
        },
        "matches": sorted(matches, key=lambda match: (match["offset"], match["length"])),
        "sentenceRanges": ranges,
        "extendedSentenceRanges": [
            {"from": low, "to": high, "detectedLanguages": [{"language": "en", "rate": 1.0}]} for low, high in ranges
        ],
    }  # fmt: skip


def _original(source: AnnotatedText, sentences: list[Span]) -> list[Span]:
    """Where sentences stand in what was sent; without those that markup was read as."""
    places = (source.places(start, end) for start, end in sentences if start < end)
    return [(place[0], place[1]) for place in places if place]


@router.get("/languages", responses=LANGUAGES)
async def languages() -> Response:
    """The languages that are checked."""
    return JSONResponse([{"name": name, "code": "en", "longCode": code} for code, name in _VARIANTS.items()])


@router.get("/healthcheck", response_class=PlainTextResponse, responses=TEXT)
async def healthcheck(request: Request) -> Response:
    """OK, once requests are answered."""
    service_of(request).check_ready()
    return PlainTextResponse("OK")


@router.get("/maxtextlength", response_class=PlainTextResponse, responses=LENGTH)
async def max_text_length(request: Request) -> Response:
    """How many characters a text may have."""
    return PlainTextResponse(str(service_of(request).settings.max_characters))


@router.get("/info", responses=INFO)
async def info() -> Response:
    """What this server is."""
    return JSONResponse({"software": {"name": "cgmh", "version": __version__, "buildDate": "", "premium": False}})
