"""What every request passes."""

import asyncio
from typing import Any

from starlette.types import Message

from cgmh.serving.configuration import ServerSettings
from cgmh.serving.gate import Gate
from cgmh.serving.metrics import Metrics


def test_a_request_that_is_cut_off_at_the_end_is_told_so() -> None:
    """A server that has to go cancels what it has not answered yet."""
    sent: list[Message] = []

    async def work(*_: Any) -> None:
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    async def cut_off() -> None:
        headers = [(b"host", b"127.0.0.1")]
        scope: dict[str, Any] = {"type": "http", "path": "/v1/correct", "method": "POST", "headers": headers}
        task = asyncio.ensure_future(Gate(work, ServerSettings(), Metrics())(scope, receive, send))
        await asyncio.sleep(0)
        task.cancel()
        await task

    asyncio.run(cut_off())
    assert sent[0]["status"] == 503
    assert b"shutting down" in sent[1]["body"]
