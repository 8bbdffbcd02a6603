"""`cgmh serve` as a process: what it says, how it is refused, and how it ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import pytest

from commands import run
from servers import soon


@contextmanager
def started(*options: str, **variables: str) -> Iterator[tuple["subprocess.Popen[str]", str, list[str]]]:
    """The command, its address, and what it said until it was ready."""
    command = [sys.executable, "-m", "cgmh", "serve", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **variables})
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "editor" in line:
                break
        address = re.search(r"http://[\d.]+:\d+", "".join(said))
        assert address, said
        yield process, address[0], said
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def ask(address: str, **headers: str) -> dict[str, str]:
    body = json.dumps({"text": "She have a cat.", "chains": 2, "steps": 2}).encode()
    request = urllib.request.Request(f"{address}/v1/correct", body, headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        found: dict[str, str] = json.load(answer)["results"][0]
        return found


def test_it_serves_and_ends_when_told() -> None:
    key = "a-long-enough-key"
    with started("--max-chains", "4", CGMH_API_KEY=key) as (process, address, said):
        assert said[1] == f"cgmh: serving on {address} (Ctrl-C ends it)\n"
        assert said[2].startswith(f'  try:  curl {address}/v1/correct -H "Authorization: Bearer $CGMH_API_KEY" -d ')
        assert key not in "".join(said)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(address)
        assert ask(address, **{"X-Api-Key": key})["text"] == "She has a cat."
        answers: list[str] = []
        asking = threading.Thread(target=lambda: answers.append(ask(address, **{"X-Api-Key": key})["text"]))
        asking.start()
        running = f"{address}/metrics"
        request = urllib.request.Request(running, headers={"X-Api-Key": key})  # noqa: S310
        assert soon(lambda: b"cgmh_running 1" in urllib.request.urlopen(request).read() or bool(answers))  # noqa: S310
        began = monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        assert monotonic() - began < 10
        asking.join(5)
        assert answers == ["She has a cat."]
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        answer = run("serve", "--port", str(port))
    assert answer.code == 2
    assert answer.errors.startswith(f"cgmh: --port {port} of 127.0.0.1 cannot be used (")
    assert answer.errors.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--host", "::"], "--host :: can be reached by others: give an --api-key"),
        (["--host", "no.such.name.invalid", "--insecure"], "--host no.such.name.invalid: no such address"),
        (["--api-key", "short"], "--api-key must have at least 8 characters"),
        (["--allow-origin", "example.org"], "--allow-origin example.org: give scheme://host"),
        (["--port", "70000"], "invalid value for '--port'"),
        (["--max-chains", "0"], "invalid value for '--max-chains'"),
    ],
)
def test_what_is_refused(options: list[str], error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CGMH_API_KEY", raising=False)
    answer = run("serve", *options)
    assert answer.code == 2
    assert answer.errors.startswith(f"cgmh: {error}")
    assert answer.errors.count("\n") == 1


def test_without_the_extra() -> None:
    code = "import sys; sys.modules['fastapi'] = None; from cgmh.cli import main; main(['serve', '--port', '0'])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "cgmh: fastapi is not installed; run: pip install 'cgmh[serve]' (in a clone: '.[serve]')\n"
