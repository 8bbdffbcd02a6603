"""The server under the application: a socket, signals, and an end that waits for what is in flight, but not long."""

import asyncio
import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Protocol

import uvicorn
from fastapi import FastAPI

from ..errors import BadInput
from .configuration import ServerSettings
from .connection import Connection

GRACE = 6.0  # seconds that jobs in flight have when the server is told to stop
_CLOSING = 8  # seconds after which connections that are still open are cut
_HEADER_BYTES = 256 << 10  # of a request line and headers: a text may stand in the query of GET /v2/check


def listen(settings: ServerSettings) -> socket.socket:
    """A socket that listens where the settings say; `BadInput` where that cannot be."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
    except (OSError, UnicodeError) as error:
        raise BadInput(
            f"`host` {settings.host}: no such address; give 127.0.0.1, or an address of this machine"
        ) from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # cuts off who does not read; connections inherit it
            milliseconds = int(settings.write_seconds * 1000)
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
        listening.bind(address)
        listening.listen(2048)
    except OSError as error:
        listening.close()
        reason = error.strerror or str(error)
        raise BadInput(
            f"`port` {settings.port} of {settings.host} cannot be used ({reason}); choose another one, or 0 for any"
        ) from error
    listening.setblocking(False)
    return listening


def address_of(listening: socket.socket) -> str:
    """The address to ask for what listens there."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


class Stoppable(Protocol):
    """What an application has in flight."""

    async def stop(self, grace: float) -> None:
        """Let it end, for so many seconds; may be called again."""


class Server(uvicorn.Server):
    """Told to stop, it lets the engine end what is in flight at once, and not only after all connections are closed."""

    def __init__(self, app: FastAPI, settings: ServerSettings, ready: Callable[[], None] = lambda: None) -> None:
        """`ready` is called once requests are answered."""
        app.state.read_seconds = settings.read_seconds
        config = uvicorn.Config(
            app,
            lifespan="on",
            loop="asyncio",  # engine processes are forked beside it
            http=Connection,
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=settings.max_connections,
            timeout_graceful_shutdown=_CLOSING,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
        super().__init__(config)
        self._service: Stoppable = app.state.service
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but a stop that was asked for is no failure: the signal is not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        handlers = {number: signal.signal(number, self.handle_exit) for number in signals}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        stopping = asyncio.ensure_future(self._service.stop(GRACE))
        await super().shutdown(sockets)
        await stopping
