"""The command as a whole: exit codes, and one line for every mistake."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cgmh import __version__, cli
from cgmh.errors import BadInput
from commands import run


def test_the_version_and_the_help() -> None:
    version = run("--version")
    assert (version.code, version.output) == (0, f"cgmh, version {__version__}\n")
    shown = run("--help")
    assert shown.code == 0
    assert all(f"  {name} " in shown.output for name in cli.group.commands)
    assert run("-h") == shown


@pytest.mark.parametrize("name", cli.group.commands)
def test_the_help_of_a_command_keeps_its_lines(name: str) -> None:
    """What stands after the mark of an example is not filled as a paragraph is."""
    assert "\\b" not in run(name, "--help").output


def test_without_a_command_the_help_says_what_there_is() -> None:
    answer = run()
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors.startswith("Usage: cgmh ")
    assert "keywords" in answer.errors


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("nothing",), ("no such command", "nothing", "(see: cgmh --help")),
        (("--nothing",), ("no such option", "--nothing", "(see: cgmh --help")),
        (("keywords", "--chains", "many"), ("'--chains'", "'many'", "(see: cgmh keywords --help")),
        (("keywords", "--chains"), ("'--chains' requires an argument", "(see: cgmh")),
        (("models", "pull"), ("give the model a NAME: cgmh models pull NAME",)),
    ],
)
def test_a_mistake_in_the_arguments_is_one_line(arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    answer = run(*arguments)
    assert (answer.code, answer.output) == (2, "")
    assert len(answer.errors.splitlines()) == 1
    assert answer.errors.startswith("cgmh: ")
    assert answer.errors[6].islower() or answer.errors[6] == "'"
    for part in parts:
        assert part in answer.errors


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (BadInput("`max_words` is odd"), 2, "cgmh: --max-words is odd\n"),
        (KeyboardInterrupt(), 130, "cgmh: interrupted\n"),
    ],
)
def test_what_ends_a_command(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_invoke", fails)
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert (stop.value.code, *capsys.readouterr()) == (code, "", message)


def test_a_mistake_of_ours_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(cli, "_invoke", fails)
    with pytest.raises(RuntimeError, match="shapes"):
        cli.main([])


def test_without_arguments_those_of_the_process_are_taken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cgmh", "--version"])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert not stop.value.code
    assert __version__ in capsys.readouterr().out


def process(*arguments: str, stdout: int = subprocess.PIPE, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own, with these variables set."""
    plain = {name: os.environ[name] for name in os.environ if not name.startswith(("PYTHONIO", "PYTHONUTF8", "LC_"))}
    command = [sys.executable, "-m", "cgmh", *arguments]
    return subprocess.run(command, env={**plain, **environment}, stdout=stdout, stderr=subprocess.PIPE, check=False)


FULL = Path("/dev/full")
WITHOUT_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "environment", [{}, {"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": ":strict"}, WITHOUT_LOCALE]
)
def test_a_pipe_is_utf8_whatever_the_locale(environment: dict[str, str]) -> None:
    ran = process("correct", "--help", **environment)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert "→ replaced" in ran.stdout.decode()


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_what_an_encoding_lacks_is_escaped_and_that_is_said(encoding: str) -> None:
    ran = process("correct", "--help", PYTHONIOENCODING=encoding)
    assert ran.returncode == 0
    assert "\\u2192 replaced" in ran.stdout.decode(encoding)
    (note,) = ran.stderr.decode().splitlines()
    assert "which lacks characters; they are written as \\u2192; to keep them" in note
    quiet = process("correct", "--help", PYTHONIOENCODING=f"{encoding}:replace")  # someone who says what he wants
    assert (quiet.returncode, quiet.stderr) == (0, b"")
    assert "? replaced" in quiet.stdout.decode(encoding)


def test_json_keeps_every_character_in_any_encoding() -> None:
    """The words of the issue: a thumb in Latin-1."""
    arguments = ("keywords", "👍", "Zürich", "--chains", "1", "--steps", "1", "--n", "1")
    ran = process(*arguments, "--json", PYTHONIOENCODING="latin-1")
    assert ran.returncode == 0
    record = json.loads(ran.stdout.decode("ascii"))
    assert record["input"] == "👍 Zürich"
    assert all(word in record["results"][0]["text"] for word in ("👍", "Zürich"))


@pytest.mark.skipif(not FULL.exists(), reason="there is no full device here")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with FULL.open("wb") as full:
        ran = process("--help", stdout=full.fileno())
    assert (ran.returncode, ran.stderr) == (2, b"cgmh: cannot write the output (No space left on device)\n")
    with FULL.open("wb") as full:
        command = [sys.executable, "-m", "cgmh", "nothing"]
        assert subprocess.run(command, stderr=full, check=False).returncode == 2  # nobody can be told


def test_a_reader_who_leaves_is_no_mistake() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ran = process("--help", stdout=writing)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "cannot write the output (No space left on device)"),
        (OSError(errno.EACCES, "Permission denied", "/x/y"), "/x/y: cannot be read or written (Permission denied)"),
        (MemoryError(), "not enough memory; take fewer --chains or a smaller model"),
    ],
)
def test_an_error_of_the_system_names_what_it_is_about(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fails(_: object) -> None:
        raise error

    monkeypatch.setattr(cli, "_invoke", fails)
    monkeypatch.setattr(cli, "_drop", lambda _: None)  # the stream is the one of the tests
    with pytest.raises(SystemExit) as stop:
        cli.main([])
    assert (stop.value.code, capfd.readouterr().err) == (2, f"cgmh: {message}\n")


def test_a_name_that_no_file_can_have_is_no_trouble_with_the_output() -> None:
    answer = run("score", "It is.", "--model", "a" * 300)
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors == f"cgmh: {'a' * 300}: cannot be read (File name too long)\n"


def test_an_argument_that_is_no_text_is_not_scored() -> None:
    answer = run("score", "It is.", "It \udcff is.")
    assert (answer.code, answer.output) == (2, "")
    assert answer.errors == "cgmh: sentence 2: not UTF-8; type it in UTF-8, or convert it first\n"


def test_all_after_trace_is_a_keyword() -> None:
    answer = run("keywords", "snow", "--trace", "all", "--chains", "2", "--steps", "2")
    assert answer.code == 0
    assert "note: all is a keyword here; --trace-all is what prints every step" in answer.errors
