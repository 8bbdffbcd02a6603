"""Runs that are watched: the events of each in a bounded buffer, from which a reader can go on where it stopped.

A run goes on while nobody reads it for a while only: `linger_seconds`. After its end it is kept for `keep_seconds`.
"""

import asyncio
import json
import math
import secrets
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from .bodies import disconnected, within
from .configuration import ServerSettings
from .pace import Steering
from .problems import Refusal, refusal_of
from .protocols import Event

_PING = b": still here\n\n"
_PING_SECONDS = 10.0


class Run:
    """The events of one run, numbered from 1; the oldest are dropped when they take too much room."""

    def __init__(self, events: AsyncIterator[Event], settings: ServerSettings) -> None:
        self.id = secrets.token_urlsafe(12)
        self.status = "running"  # then ended, failed or cancelled
        self._settings, self._source = settings, events
        self._events: deque[bytes] = deque()
        self._last = 0  # the number of the newest event
        self._size = 0
        self._readers = 0
        self._news = asyncio.Event()
        self.task = asyncio.create_task(self._follow())
        self._timer: asyncio.TimerHandle | None = None
        self._wait_for_reader()

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "status": self.status, "last_event": self._last, "events": f"/v1/runs/{self.id}/events"}

    @property
    def is_over(self) -> bool:
        return self.status != "running"

    def steer(self, asked: Steering) -> None:
        """Let it go on as asked; what came of it is told by an event."""
        steer = getattr(self._source, "steer", None)
        if self.is_over or steer is None:
            reason = "it has ended" if self.is_over else "the engine of this server runs a job in one go"
            raise Refusal(409, "cannot-steer", f"this run cannot be steered: {reason}; start another one")
        steer(asked)

    async def cancel(self) -> None:
        """End it now; its engine stops working on it."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)
        if not self.is_over:  # it had not begun
            await self._end("cancelled")

    async def _follow(self) -> None:
        status = "cancelled"
        try:
            async for event in self._source:
                self._add(event)
                if event["event"] == "end":
                    status = "ended"
        except Exception as error:  # noqa: BLE001 - told to whoever reads
            status = "failed"
            refusal = refusal_of(error, self._settings.max_seconds)
            refusal = refusal or Refusal(500, "internal-error", "something broke; start the run again")
            self._add({"event": "error", "problem": refusal.problem()})
        finally:
            await self._end(status)

    async def _end(self, status: str) -> None:
        self.status = status
        if status != "ended":
            self._add({"event": "end", "status": status})
        self._tell()
        if (close := getattr(self._source, "aclose", None)) is not None:
            await close()

    def _add(self, event: Event) -> None:
        self._last += 1
        try:
            data = json.dumps(event, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except ValueError:  # an impossible step has a log ratio of minus infinity, which JSON does not know
            data = json.dumps(_finite(event), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = f"id: {self._last}\nevent: {event['event']}\ndata: {data}\n\n".encode()
        self._events.append(line)
        self._size += len(line)
        while self._size > self._settings.buffer_bytes and len(self._events) > 1:
            self._size -= len(self._events.popleft())
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _wait_for_reader(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(self._settings.linger_seconds, self.task.cancel)

    async def read(self, after: int) -> AsyncIterator[bytes]:
        """The events after a number, and then each as it comes; where some were dropped, first `gap` says which."""
        self._readers += 1
        if self._timer is not None:
            self._timer.cancel()
        try:
            at = after
            while True:
                first = self._last - len(self._events) + 1
                if at + 1 < first:
                    gap = json.dumps({"event": "gap", "from": at + 1, "to": first - 1})
                    yield f"event: gap\ndata: {gap}\n\n".encode()
                    at = first - 1
                if at < self._last:
                    line = self._events[at + 1 - first]
                    at += 1
                    yield line
                elif self.is_over:
                    return
                else:
                    news = self._news
                    try:
                        await within(_PING_SECONDS, news.wait())
                    except TimeoutError:
                        yield _PING
        finally:
            self._readers -= 1
            if not self._readers and not self.is_over:
                self._wait_for_reader()


def _finite(value: Any) -> Any:
    """The same with null in place of numbers that JSON does not know."""
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Runs:
    """The runs that are known, up to a number."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._runs: dict[str, Run] = {}
        self.streams = 0  # that are read

    def check_room(self) -> None:
        """Refuse a run where too many are known, unless one that is over can go."""
        if len(self._runs) >= self._settings.max_runs:
            over = next((run for run in self._runs.values() if run.is_over), None)
            if over is None:
                most = f"this server keeps {self._settings.max_runs} runs"
                raise _too_many(f"{most}; wait, or cancel one by DELETE /v1/runs/ID")
            del self._runs[over.id]

    def add(self, events: AsyncIterator[Event]) -> Run:
        """Begin to follow a run."""
        run = Run(events, self._settings)
        self._runs[run.id] = run
        run.task.add_done_callback(lambda _: self._forget_later(run))
        return run

    def _forget_later(self, run: Run) -> None:
        asyncio.get_running_loop().call_later(self._settings.keep_seconds, self._runs.pop, run.id, None)

    def __getitem__(self, id: str) -> Run:
        if id not in self._runs:
            raise Refusal(404, "no-such-run", "there is no run of this id, or no longer; POST /v1/runs starts one")
        return self._runs[id]

    def stream(self, run: Run, after: int) -> "EventStream":
        """The events of a run as an answer."""
        if self.streams >= self._settings.max_streams:
            raise _too_many(f"{self.streams} event streams are read, as many as this server has; close one, or wait")
        return EventStream(self, run, after, self._settings.write_seconds)

    async def cancel(self, id: str) -> None:
        """Cancel a run and forget it."""
        await self[id].cancel()
        self._runs.pop(id, None)

    async def close(self) -> None:
        """Cancel all."""
        await asyncio.gather(*(run.cancel() for run in self._runs.values()))


def _too_many(detail: str) -> Refusal:
    return Refusal(429, "too-many", detail, headers={"Retry-After": "5"})


class EventStream(Response):
    """Server-sent events. It ends when the run does, the client goes away, or reads too slowly."""

    media_type = "text/event-stream"

    def __init__(self, runs: Runs, run: Run, after: int, write_seconds: float) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._runs, self._run, self._after, self._write_seconds = runs, run, after, write_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._runs.streams += 1
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            await asyncio.wait([sending, gone], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._runs.streams -= 1
            sending.cancel()
            gone.cancel()
            await asyncio.gather(sending, gone, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        lines = self._run.read(self._after)
        try:
            async for line in lines:
                part = {"type": "http.response.body", "body": line, "more_body": True}
                await within(self._write_seconds, _sent(send, part))
        finally:
            await lines.aclose()  # type: ignore[attr-defined]
        await send({"type": "http.response.body", "body": b""})


async def _sent(send: Send, part: Message) -> None:
    await send(part)
