"""What the options of a command come to: settings, a big model, kinds of facts."""

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from cgmh.cli.options import (
    SENTENCE_CHOICES,
    given_options,
    model_options,
    output_options,
    protect_option,
    sampling_options,
    wanted_kinds,
    wanted_settings,
)
from cgmh.errors import BadInput
from cgmh.inputs import CorrectInput, KeywordInput
from cgmh.settings import Settings

DEFAULTS = Settings(n=3, steps=70, chains=5, temperature=0.5, context=("Usual.",))


def read(*arguments: str, uses: Any = KeywordInput.uses, defaults: Settings = DEFAULTS) -> tuple[Settings, Any]:
    """The settings and the options of a command that has all of them."""
    read: list[tuple[Settings, dict[str, Any]]] = []

    @click.command()
    @click.option("--n", default=DEFAULTS.n)
    @sampling_options(DEFAULTS, "sentence", has_budget=True)
    @model_options(uses)
    @output_options("sentence")
    @protect_option(("names",), "What stays")
    @click.pass_context
    def command(ctx: click.Context, /, **options: Any) -> None:
        assert given_options(ctx, options) == {
            argument[2:].replace("-", "_") for argument in arguments if argument[:2] == "--"
        }
        read.append((wanted_settings(ctx, options, defaults, uses), options))

    result = CliRunner().invoke(command, arguments)
    if result.exception:
        raise result.exception
    ((settings, options),) = read
    return settings, options


def test_without_options_the_settings_are_the_defaults() -> None:
    settings, options = read("--quiet")
    assert settings == DEFAULTS
    assert (options["big"], options["progress"]) == (None, False)
    preset = Settings(n=1, chains=1, select="first")
    assert read(defaults=preset)[0] == preset  # what was not given says nothing


def test_options_that_are_given_override_the_defaults() -> None:
    settings, _ = read("--n", "7", "--steps", "9", "--temperature", "1", "--select", "last", "--seed", "4")
    assert settings == Settings(n=7, steps=9, chains=5, seed=4, temperature=1.0, select="last", context=("Usual.",))
    assert read("--chains", "5", defaults=Settings(chains=1))[0].chains == 5  # the same as the default, but given
    with pytest.raises(BadInput, match="`steps` 0 is out of range"):
        read("--steps", "0")


def test_traces() -> None:
    assert [read(*given)[0].trace for given in ([], ["--trace"], ["--trace-all"])] == ["none", "accepted", "all"]


def test_a_big_model_is_one_that_was_named() -> None:
    assert read("--big", "none")[1]["big"] is None
    settings, options = read("--big", "mine", "--use", "target")
    assert (settings.use, options["big"]) == ("target", "mine")
    with pytest.raises(BadInput, match="`use` rerank needs a big model; run: cgmh models pull gemma3-270m"):
        read("--use", "rerank")
    with pytest.raises(BadInput, match="`readings` need a big model; run: cgmh models pull gemma3-270m"):
        read("--readings", "9")
    assert read("--readings", "9", "--big", "mine")[0].readings == 9
    settings, options = read("--use", "target", uses=CorrectInput.uses)
    assert (settings.use, options["big"]) == ("target", None)  # where nothing ranks, none is looked for


def test_a_context_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("One.\n\n Two.\n", encoding="utf-8")
    assert read("--context", str(file), "--big", "mine")[0].context == ("One.", " Two.")
    assert read("--context", str(file), "--model", "mine")[0].context == ("One.", " Two.")
    assert read("--context", "none")[0].context == ()
    with pytest.raises(BadInput, match="`context` is read by a big model only"):
        read("--context", str(file))
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"has no lines; for no context give `context` none"):
        read("--context", str(file), "--big", "mine")


def test_kinds_of_facts() -> None:
    assert read()[1]["protect"] == ("names",)
    assert wanted_kinds(["names,numbers", "quotes+names"]) == ("names", "numbers", "quotes")
    assert wanted_kinds(["none"]) == ()
    with pytest.raises(BadInput, match="`protect` is empty"):
        wanted_kinds([","])
    with pytest.raises(BadInput, match="`protect` none stands alone"):
        wanted_kinds(["none", "names"])


def test_every_rule_says_what_it_takes() -> None:
    @click.command()
    @sampling_options(DEFAULTS, "sentence", anneals=False)
    def command(**_: Any) -> None: ...

    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert f"[{'|'.join(SENTENCE_CHOICES)}]" in shown
    assert all(f"{rule}: {taken}" in shown for rule, taken in SENTENCE_CHOICES.items())
    assert "--anneal" not in shown
