"""A store of one's own, and a package index that has the model `tiny`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cgmh.models.pull.convert import convert_gguf
from cgmh.models.pull.registry import REGISTRY
from package_server import PackageServer, serving
from tiny_llama import wheel_of, write_gguf


@pytest.fixture(scope="session")
def gguf_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


@pytest.fixture(scope="session")
def llama_directory(gguf_file: Path) -> Path:
    """The same model in our form."""
    directory = gguf_file.with_suffix("")
    convert_gguf(gguf_file, directory, {"name": "tiny", "licence": "MIT", "source": "here"})
    return directory


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """CGMH_HOME, not made yet."""
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return tmp_path / "home"


@pytest.fixture
def wheel(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """The wheel that the name `tiny` of the registry stands for."""
    data, entry = wheel_of(gguf_file.read_bytes())
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    return data


@pytest.fixture
def server(wheel: bytes) -> Iterator[PackageServer]:
    with serving() as server:
        server.offer("tiny-wheel", "tiny_wheel-1.0-py3-none-any.whl", wheel)
        yield server
