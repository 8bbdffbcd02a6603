"""A client that sends slowly does not hold a connection; on real sockets."""

import socket
from collections.abc import Iterator
from itertools import chain, repeat
from time import monotonic

import httpx2
import pytest

from engines import ToyEngine
from servers import Running, serving, soon

SECONDS = 0.4  # that a request has to arrive
HEADER = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"


@pytest.fixture(scope="module")
def toy() -> Iterator[Running]:
    with serving(ToyEngine(), read_seconds=SECONDS) as running:
        yield running


def connect(running: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", running.port), timeout=0.02)


def trickle(connection: socket.socket, sent: Iterator[bytes]) -> bytes:
    """Send something every 20 ms until the server closes the connection; what it said."""
    heard, end = b"", monotonic() + 10
    while monotonic() < end:
        try:
            connection.sendall(next(sent))
            if not (received := connection.recv(1 << 16)):
                return heard
            heard += received
        except TimeoutError:
            pass
        except ConnectionError:
            return heard
    raise AssertionError("the connection is still held")


def test_a_header_that_comes_byte_by_byte(toy: Running) -> None:
    began = monotonic()  # the server's clock runs from the connection on
    with connect(toy) as connection:
        heard = trickle(connection, chain((bytes([byte]) for byte in HEADER), [b"X-Slow: "], repeat(b"a")))
        assert monotonic() - began >= SECONDS
    assert heard.startswith(b"HTTP/1.1 408 ")
    assert soon(lambda: not toy.server.server_state.connections)


def test_a_client_that_sends_nothing(toy: Running) -> None:
    with connect(toy) as connection:
        assert trickle(connection, repeat(b"")) == b""


@pytest.mark.parametrize(("path", "status"), [("/v1/correct", b"408"), ("/healthz", b"405"), ("/v2/nothing", b"404")])
def test_a_body_that_comes_byte_by_byte(toy: Running, path: str, status: bytes) -> None:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n".encode()
    with connect(toy) as connection:
        heard = trickle(connection, chain([head], repeat(b" ")))
    assert heard.startswith(b"HTTP/1.1 " + status)
    assert heard.count(b"HTTP/1.1") == 1


def test_a_second_header_that_comes_byte_by_byte(toy: Running) -> None:
    with connect(toy) as connection:
        heard = trickle(connection, chain([HEADER + b"\r\n" + HEADER], repeat(b"X")))
    assert heard.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 408 " in heard


def test_an_answer_that_takes_longer_is_waited_for() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine, read_seconds=0.1, max_seconds=0.5) as running:
        body = {"text": "some text"}
        with httpx2.Client() as client:
            assert client.post(f"{running.url}/v1/correct", json=body).status_code == 504
            assert client.get(f"{running.url}/healthz").status_code == 200
