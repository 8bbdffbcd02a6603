"""A connection of the server: nobody holds it by sending nothing, or a byte now and then."""

import asyncio
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class Connection(H11Protocol):
    """Closed where no request is being answered and none has arrived, up to the end of its header, within a while.

    That goes for what is left of a body after its answer, too. A body whose request waits for it is timed by
    `bodies.read_body`, which can say so. The timer of uvicorn starts anew with every byte.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._seconds: float = config.app.state.read_seconds  # type: ignore[union-attr]
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.our_state in (h11.SEND_RESPONSE, h11.SEND_BODY):  # a request is being answered
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._wait()
        super().on_response_complete()  # the next request may have arrived by now

    def _wait(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(self._seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        if self.transport.is_closing():
            return
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:  # a part of a header
            self.transport.write(_LATE)
        self.transport.close()
