"""A real server on this machine, in a thread of the test's process."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any

from cgmh.serving.app import build_app
from cgmh.serving.configuration import ServerSettings
from cgmh.serving.protocols import Engine
from cgmh.serving.server import Server, address_of, listen
from cgmh.serving.service import Service


@dataclass(frozen=True)
class Running:
    url: str
    service: Service
    server: Server

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(engine: Engine, **settings: Any) -> Iterator[Running]:
    """A server with this engine, until the block ends."""
    told = ServerSettings(port=0, **settings)
    listening = listen(told)
    app = build_app(engine, told)
    ready = threading.Event()
    server = Server(app, told, ready=ready.set)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        assert ready.wait(120)
        yield Running(address_of(listening), app.state.service, server)
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive()


def soon(condition: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether a condition comes true within a while: what other threads do is waited for, not slept through."""
    until = monotonic() + seconds
    while monotonic() < until:
        if condition():
            return True
        sleep(0.005)
    return condition()
