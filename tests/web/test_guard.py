"""Whom a server answers, and how much it takes: keys, hosts, origins, sizes, queues, clients that go away."""

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from engines import ToyEngine
from servers import Running, serving, soon

KEY = "a-long-enough-key"


@pytest.fixture(scope="module")
def toy() -> Iterator[Running]:
    with serving(ToyEngine(), max_bytes=2_000, max_characters=100) as running:
        yield running


def post(running: Running, path: str = "/v1/correct", **more: Any) -> httpx2.Response:
    return httpx2.post(running.url + path, **{"json": {"text": "some text"}, **more})


def test_keys() -> None:
    with serving(ToyEngine(), api_key=KEY) as running:
        for headers in ({}, {"Authorization": f"Bearer {KEY}x"}, {"X-Api-Key": "ü"}, {"Authorization": f"Basic {KEY}"}):
            refused = post(running, headers={k: v.encode() for k, v in headers.items()})
            assert refused.status_code == 401
            assert refused.headers["www-authenticate"] == "Bearer"
            assert "key" in refused.json()["detail"]
            assert httpx2.get(f"{running.url}/metrics", headers={}).status_code == 401
        for headers in ({"Authorization": f"bearer {KEY}"}, {"X-Api-Key": KEY}):
            assert post(running, headers=headers).status_code == 200
        check = {"text": "some text", "language": "en-US"}
        refused = httpx2.post(f"{running.url}/v2/check", data=check)
        assert (refused.status_code, refused.text[:7]) == (403, "Error: ")
        assert httpx2.get(f"{running.url}/v2/languages").status_code == 403
        assert httpx2.post(f"{running.url}/v2/check", data={**check, "apiKey": KEY}).status_code == 200
        assert httpx2.get(f"{running.url}/v2/check", params={**check, "apiKey": KEY}).status_code == 200
        for path in ("/healthz", "/readyz", "/v2/healthcheck", "/openapi.json"):
            assert httpx2.get(running.url + path).status_code == 200
        schemes = httpx2.get(f"{running.url}/openapi.json").json()["components"]["securitySchemes"]
        assert set(schemes) == {"bearer", "header"}


@pytest.mark.parametrize("path", ["/v1/models", "/v2/languages", "/healthz", "/openapi.json"])
def test_a_page_whose_name_points_here_is_refused(toy: Running, path: str) -> None:
    refused = httpx2.get(toy.url + path, headers={"Host": "rebound.example:80"})
    assert refused.status_code == (403 if path.startswith("/v2") else 421)
    assert httpx2.get(toy.url + path, headers={"Host": f"localhost:{toy.port}"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({}, 200),
    ],
)
def test_pages_of_other_sites_are_refused(toy: Running, headers: dict[str, str], status: int) -> None:
    assert httpx2.get(f"{toy.url}/v1/models", headers=headers).status_code == status
    if "Origin" in headers:
        assert post(toy, headers=headers).status_code == status
        assert httpx2.post(f"{toy.url}/v2/check", data={"text": "a"}, headers=headers).status_code == status


def test_a_page_of_this_server_may_ask(toy: Running) -> None:
    answer = post(toy, headers={"Origin": toy.url})
    assert answer.status_code == 200
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_origins_that_are_allowed() -> None:
    with serving(ToyEngine(), allow_origins=("https://good.example", "moz-extension://*"), api_key=KEY) as running:
        for origin in ("https://good.example", "moz-extension://1234"):
            preflight = httpx2.options(
                f"{running.url}/v2/check",
                headers={
                    "Origin": origin, "Access-Control-Request-Method": "POST",
                    "Access-Control-Request-Headers": "authorization,content-type",
                },
            )  # fmt: skip
            assert preflight.status_code == 200
            assert preflight.headers["access-control-allow-origin"] == origin
            answered = post(running, headers={"Origin": origin, "X-Api-Key": KEY})
            assert answered.headers["access-control-allow-origin"] == origin
        refused = post(running, headers={"Origin": "https://evil.example", "X-Api-Key": KEY})
        assert refused.status_code == 403
        assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize("path", ["/v1/correct", "/v2/check"])
def test_bodies_that_are_too_large(toy: Running, path: str) -> None:
    exact = json.dumps({"text": "a" * 80}).ljust(2_000).encode()
    assert httpx2.post(toy.url + path, content=exact).status_code == 200
    for body in (exact + b" ", b"x" * 10_000_000):
        sent = httpx2.post(toy.url + path, content=body)
        chunked = httpx2.post(toy.url + path, content=iter([body[:1500], body[1500:]]))
        assert sent.status_code == chunked.status_code == 413
    too_long = httpx2.post(toy.url + path, json={"text": "a" * 101})
    assert too_long.status_code == (413 if path == "/v2/check" else 422)


def test_a_body_that_does_not_arrive() -> None:
    with serving(ToyEngine(), read_seconds=0.2) as running, raw(running, b'{"text"', length=100) as connection:
        assert connection.recv(100).startswith(b"HTTP/1.1 408 ")


GARBAGE = [
    b"\x00\xff\xfe\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/correct HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
    b"POST /v1/correct HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 400_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/runs/%ff%00/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v2/check?text=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/models HTTP/1.1\r\n\r\n",
]


@pytest.mark.parametrize("sent", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage(toy: Running, sent: bytes) -> None:
    with socket.create_connection(("127.0.0.1", toy.port), timeout=10) as connection:
        with contextlib.suppress(OSError):  # it may be cut off while it sends
            connection.sendall(sent)
        with contextlib.suppress(ConnectionResetError):
            answer = connection.recv(1000)
            assert answer.startswith(b"HTTP/1.1 4")
    assert post(toy).status_code == 200


def raw(running: Running, body: bytes, *, path: str = "/v1/correct", length: int | None = None) -> socket.socket:
    """A connection on which a request was sent."""
    connection = socket.create_connection(("127.0.0.1", running.port), timeout=10)
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    connection.sendall(head.encode() + body)
    return connection


def test_more_than_there_is_room_for() -> None:
    engine = ToyEngine(capacity=2, holds=True)
    with serving(engine) as running:
        with raw(running, b'{"text": "a"}'), raw(running, b'{"text": "b"}'):
            assert soon(lambda: engine.held == 2)
            refused = post(running)
            assert refused.status_code == 429
            assert refused.headers["retry-after"] == "3"
            assert "try again in 3 seconds" in refused.json()["detail"]
            assert post(running, "/v1/runs", json={"task": "correct", "text": "a"}).status_code == 429
            busy = httpx2.post(f"{running.url}/v2/check", data={"text": "a"})
            assert (busy.status_code, busy.text[:7], busy.headers["retry-after"]) == (503, "Error: ", "3")
            assert httpx2.get(f"{running.url}/healthz").status_code == 200
        assert soon(lambda: engine.held == 0)
        assert engine.cancelled == 2
        assert post(running, json={"texts": ["a", "b", "c"]}).status_code == 429  # three inputs count as three


@pytest.mark.parametrize("path", ["/v1/correct", "/v2/check"])
def test_a_client_that_goes_away(path: str) -> None:
    engine = ToyEngine(holds=True)
    with serving(engine) as running:
        for times in (1, 2):
            with raw(running, b'{"text": "a"}', path=path):
                assert soon(lambda: engine.held == 1)
            assert soon(lambda: engine.held == 0)
            assert engine.cancelled == times


def test_a_client_that_goes_away_while_it_sends() -> None:
    engine = ToyEngine()
    with serving(engine) as running:
        raw(running, b'{"text"', length=100).close()
        assert post(running).status_code == 200
        assert len(engine.jobs) == 1


def test_time_is_over() -> None:
    with serving(ToyEngine(holds=True), max_seconds=0.1) as running:
        late = post(running)
        assert late.status_code == 504
        assert "longer than 0.1 seconds; ask for fewer" in late.json()["detail"]
        assert httpx2.post(f"{running.url}/v2/check", data={"text": "a"}).status_code == 503


def test_stopping_ends_what_is_in_flight() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine) as running:
        answers: list[int] = []
        asking = threading.Thread(target=lambda: answers.append(post(running).status_code))
        asking.start()
        assert soon(lambda: engine.held == 1)
        running.server.should_exit = True
        asking.join(5)
        assert answers == [200]


class Broken(ToyEngine):
    """An engine with a mistake, whose message quotes the user."""

    async def solve(self, job: Any, seconds: float) -> Any:
        raise ValueError(f"secret {job.inputs[0].text}")


def test_what_should_not_happen_is_logged_without_the_text(caplog: pytest.LogCaptureFixture) -> None:
    with serving(Broken()) as running:
        answer = post(running, json={"text": "my diary"})
        assert answer.status_code == 500
        assert httpx2.post(f"{running.url}/v2/check", data={"text": "my diary"}).status_code == 500
        assert post(running, "/nowhere", json={"text": "my diary"}).status_code == 404
    assert "ValueError at" in caplog.text
    assert "diary" not in answer.text + caplog.text
    assert "secret" not in answer.text + caplog.text
