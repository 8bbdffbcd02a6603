"""The command as a whole: exit codes, and one line for every mistake."""

import sys

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
        (("models", "pull"), ("missing argument 'NAME'", "(see: cgmh models pull --help")),
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
