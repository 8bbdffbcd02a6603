"""Runs and their events: resumed, cancelled, dropped, and read by someone who reads slowly or goes away."""

import json
import socket
from typing import Any

import httpx2
import pytest

from engines import ToyEngine
from servers import Running, serving, soon

BODY = {"task": "correct", "text": "some text"}


def start(running: Running) -> str:
    response = httpx2.post(f"{running.url}/v1/runs", json=BODY)
    assert response.status_code == 201
    assert response.headers["location"] == f"/v1/runs/{response.json()['id']}"
    return running.url + response.headers["location"]


def events(address: str, last: str | None = None) -> list[tuple[int, dict[str, Any]]]:
    """The events of a whole stream, with their ids."""
    response = httpx2.get(f"{address}/events", headers={} if last is None else {"Last-Event-ID": last}, timeout=10)
    assert response.headers["content-type"].startswith("text/event-stream")
    read = []
    for block in response.text.strip().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        event = json.loads(fields["data"])
        assert event["event"] == fields["event"]
        read.append((int(fields.get("id", 0)), event))
    return read


def test_a_run_from_start_to_end() -> None:
    engine = ToyEngine()
    with serving(engine) as running:
        address = start(running)
        read = events(address)
        assert [number for number, _ in read] == [1, 2, 3, 4, 5, 6]
        assert [event["event"] for _, event in read] == ["start", "moves", "moves", "moves", "result", "end"]
        assert read[1][1]["moves"] == [{"text": "", "log_ratio": None}]
        assert events(address, "4") == read[4:]
        assert events(address) == read
        assert httpx2.get(address).json()["status"] == "ended"
        assert httpx2.delete(address).status_code == 204
        assert httpx2.get(address).status_code == httpx2.delete(address).status_code == 404
        assert soon(lambda: engine.held == 0)


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 40, "٣".encode()])
def test_what_is_no_id(last: Any) -> None:
    with serving(ToyEngine()) as running:
        refused = httpx2.get(f"{start(running)}/events", headers={"Last-Event-ID": last})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["field"] == "Last-Event-ID"


def test_what_was_dropped_is_said() -> None:
    with serving(ToyEngine(events=100, padding=500), buffer_bytes=5_000) as running:
        address = start(running)
        assert soon(lambda: httpx2.get(address).json()["status"] == "ended")
        read = events(address)
        assert read[0][1]["event"] == "gap"
        assert read[0][1]["to"] + 1 == read[1][0]
        assert [event["event"] for _, event in read[-2:]] == ["result", "end"]
        assert len(read) < 20


def test_cancelling() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine) as running:
        address = start(running)
        with httpx2.stream("GET", f"{address}/events") as response:
            lines = response.iter_lines()
            assert next(lines) == "id: 1"
            assert httpx2.delete(address).status_code == 204
            assert '"status":"cancelled"' in [line for line in lines if line.startswith("data")][-1]
        assert (engine.held, engine.cancelled) == (0, 1)


def test_a_run_that_fails() -> None:
    with serving(ToyEngine(holds=True), max_seconds=0.1) as running:
        read = [event for _, event in events(start(running))]
        assert read[-2]["problem"]["status"] == 504
        assert read[-1] == {"event": "end", "status": "failed"}


def test_nobody_reads() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine, linger_seconds=0.2) as running:
        address = start(running)
        assert soon(lambda: engine.cancelled == 1)
        assert httpx2.get(address).json()["status"] == "cancelled"


def test_a_reader_that_goes_away_and_comes_back_or_not() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine, linger_seconds=1.5) as running:
        address = start(running)
        for _ in range(2):
            with httpx2.stream("GET", f"{address}/events") as response:
                lines = response.iter_lines()  # held, for its end would close the stream
                next(lines)
                assert running.service.runs.streams == 1
            assert soon(lambda: running.service.runs.streams == 0)
            assert engine.cancelled == 0
        assert soon(lambda: engine.cancelled == 1)


def test_runs_are_forgotten() -> None:
    with serving(ToyEngine(), keep_seconds=0.1) as running:
        address = start(running)
        assert soon(lambda: httpx2.get(address).status_code == 404)


def test_too_many_runs_and_streams() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine, max_streams=1, max_runs=2) as running:
        first, second = start(running), start(running)
        assert httpx2.post(f"{running.url}/v1/runs", json=BODY).status_code == 429
        with httpx2.stream("GET", f"{first}/events") as response:
            lines = response.iter_lines()
            next(lines)
            refused = httpx2.get(f"{second}/events")
            assert refused.status_code == 429
            assert refused.headers["retry-after"]
        httpx2.delete(first)
        assert httpx2.post(f"{running.url}/v1/runs", json=BODY).status_code == 201


def test_a_slow_reader_is_cut_off() -> None:
    engine = ToyEngine(events=400, padding=100_000)
    with serving(engine, write_seconds=0.3, buffer_bytes=100 << 20) as running:
        path = start(running).removeprefix(running.url)
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", running.port))
        with connection:
            connection.sendall(f"GET {path}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert connection.recv(8) == b"HTTP/1.1"  # and no more
            assert soon(lambda: running.service.runs.streams == 0)
        assert events(running.url + path)[-1][1]["event"] == "end"


def test_a_run_that_cannot_be_steered_says_why() -> None:
    engine = ToyEngine(holds=True)
    with serving(engine) as running:
        address = start(running)
        refused = httpx2.post(f"{address}/steer", json={"steps": 1})
        assert refused.status_code == 409
        assert "in one go" in refused.json()["detail"]
        for wrong in ({"steps": 0}, {"temperature": 0}, {"steps_per_second": -1}, {"paused": 1}, {"other": 1}):
            assert httpx2.post(f"{address}/steer", json=wrong).status_code == 422
        assert httpx2.post(f"{running.url}/v1/runs/none/steer", json={"steps": 1}).status_code == 404
        engine.let_go.set()
        events(address)
        over = httpx2.post(f"{address}/steer", json={"steps": 1})
        assert over.status_code == 409
        assert "has ended" in over.json()["detail"]
