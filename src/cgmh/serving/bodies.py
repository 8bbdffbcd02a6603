"""What clients send: bodies of bounded size, JSON that is nothing else, and whether the client is still there."""

import asyncio
import json
import re
from collections.abc import Coroutine
from typing import Any, NoReturn, TypeVar

from starlette.requests import Request
from starlette.types import Receive

from ..files import parse_json
from .configuration import ServerSettings
from .problems import ClientGone, Refusal

_DISCARDED = 64 << 20  # bytes of a body that are read and dropped, so that its sender hears the answer
_MAX_DEPTH = 20  # of lists and objects within each other
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
Answer = TypeVar("Answer")


async def read_body(request: Request, settings: ServerSettings) -> bytes:
    """The whole body, however it is sent; refused as soon as it is larger than a body may be."""
    try:
        return await within(settings.read_seconds, _read(request, settings.max_bytes))
    except TimeoutError as error:
        raise Refusal(
            408, "body-late", f"the body did not arrive within {settings.read_seconds:g} seconds; send it again"
        ) from error


async def _read(request: Request, most: int) -> bytes:
    chunks: list[bytes] = []
    size, more = 0, True
    while more and size <= _DISCARDED:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk = message.get("body", b"")
        size += len(chunk)
        more = message.get("more_body", False)
        if size > most:
            chunks.clear()
        else:
            chunks.append(chunk)
    if size > most:
        raise Refusal(413, "body-too-large", f"the body is larger than {most:,} bytes; send less at a time")
    return b"".join(chunks)


def read_object(data: bytes | str) -> dict[str, Any]:
    """The JSON object in a text; `Refusal` says why it is none.

    NaN and Infinity, halves of characters and deep nesting are refused, which Python's parser lets through.
    """
    raw = data.encode() if isinstance(data, str) else data
    try:
        found = parse_json(raw.decode("utf-8-sig"), parse_constant=_refuse_constant)
    except UnicodeDecodeError as error:
        raise _no_json("it is not UTF-8") from error
    except ValueError as error:
        raise _no_json(_reason(error)) from error
    if not isinstance(found, dict):
        raise _no_json("it is no object: {...}")
    if _depth(found) > _MAX_DEPTH:
        raise _no_json("lists or objects are nested too deeply")
    if _SURROGATE.search(raw) and _has_surrogates(found):
        raise _no_json("it has halves of characters (lone surrogates)")
    return found


def _no_json(reason: str) -> Refusal:
    return Refusal(400, "not-json", f"the body cannot be read as JSON: {reason}; send one object in UTF-8")


def _reason(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at line {error.lineno}, column {error.colno}"
    return str(error) if "digits" not in str(error) else "a number has too many digits"


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _depth(found: Any) -> int:
    """How deep lists and objects are nested; found level by level, so that depth costs no stack."""
    depth, level = 0, [found]
    while level := [part for part in level if isinstance(part, dict | list)]:
        depth += 1
        if depth > _MAX_DEPTH:
            break
        level = [part for whole in level for part in (whole.values() if isinstance(whole, dict) else whole)]
    return depth


def _has_surrogates(found: Any) -> bool:
    return has_halves(json.dumps(found, ensure_ascii=False))


def has_halves(text: str) -> bool:
    """Whether a text has halves of characters, which no encoding can write."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


async def within(seconds: float, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What the work comes to; `TimeoutError` where it takes longer, and then it is cancelled.

    `asyncio.wait_for` would swallow a cancellation that comes just when the work is done, before Python 3.12: a stream
    whose reader has gone would go on for ever.
    """
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait([working], timeout=seconds)
        if not working.done():
            raise TimeoutError
        return working.result()
    finally:
        working.cancel()


async def unless_gone(request: Request, work: Coroutine[Any, Any, Answer]) -> Answer:
    """What the work comes to; it is cancelled as soon as the client goes away. The body must have been read."""
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(disconnected(request.receive))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientGone
    finally:
        gone.cancel()
        working.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def disconnected(receive: Receive) -> None:
    """Return when the client has closed the connection."""
    while (await receive())["type"] != "http.disconnect":
        pass
