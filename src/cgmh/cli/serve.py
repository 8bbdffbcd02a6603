"""`cgmh serve`."""

import os
import platform
import shlex
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ..errors import BadInput, MissingExtra
from ..serving.configuration import CAPACITY, DEFAULT_PORT, ServerSettings
from .output import uncollected

if TYPE_CHECKING:
    from ..serving.protocols import Engine

KEY_VARIABLE = "CGMH_API_KEY"
_LIMITS = {
    "max_bytes": "Bytes of a request's body.",
    "max_characters": "Characters of a text to correct or to check.",
    "max_words": "Words of a sentence to paraphrase; keywords of a set.",
    "max_inputs": "Inputs of a request.",
    "max_chains": "Chains for each input.",
    "max_steps": "Steps of each chain.",
    "max_readings": "Readings of a big model for each input.",
    "max_seconds": "Seconds that a request may take.",
    "max_streams": "Event streams that are read at the same time.",
}


def _limit_options(command: Any) -> Any:
    for name, help in reversed(_LIMITS.items()):
        usual = getattr(ServerSettings, name)
        kind = click.FloatRange(min=0.1) if isinstance(usual, float) else click.IntRange(min=1)
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, type=kind, default=usual, show_default=True, metavar="N", help=help)(command)
    return command


port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on; 0 for any that is free.",
)


@contextmanager
def with_extra() -> Iterator[None]:
    """Within it, what serves is imported; where a package of the extra is missing, that is said."""
    try:
        with uncollected():
            yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("fastapi", "pydantic", "starlette", "uvicorn"):
            raise
        raise MissingExtra(str(error.name), "serve") from error


@click.command("serve", short_help="Answer over HTTP: an API, and a grammar checker for editors.")
@click.option("--host", default=ServerSettings.host, show_default=True, help="Address to listen on.")
@port_option
@click.option(
    "--api-key",
    metavar="KEY",
    help=f"What clients have to show. Better set {KEY_VARIABLE}: others on this machine can read the command line.",
)
@click.option("--insecure", is_flag=True, help="Listen on another address than this machine's own without a key.")
@click.option(
    "--allow-origin",
    multiple=True,
    metavar="ORIGIN",
    help="Web pages or browser add-ons that may ask: https://example.org, moz-extension://*; * for all. Repeat it for "
    "more.",
)
@click.option(
    "--allow-host",
    multiple=True,
    metavar="NAME",
    help="A name by which a proxy asks for this server, beside 127.0.0.1 and localhost. Repeat it for more.",
)
@click.option(
    "--processes", type=click.IntRange(1, 256), metavar="N", help="Engine processes; one per core if not given."
)
@click.option(
    "--capacity",
    type=click.IntRange(1, 100_000),
    default=CAPACITY,
    show_default=True,
    metavar="N",
    help="Inputs that are worked on or wait; more are refused at once.",
)
@click.option("--open", "opens", is_flag=True, help="Show the studio in a browser, once the server is ready.")
@_limit_options
def serve_command(
    allow_origin: tuple[str, ...],
    allow_host: tuple[str, ...],
    processes: int | None,
    capacity: int,
    opens: bool,
    **options: Any,
) -> None:
    """Answer over HTTP, offline: what the commands do as JSON, and LanguageTool's protocol for editors.

    \b
    cgmh serve                                       on http://127.0.0.1:8765
    cgmh serve --open                                and the studio in a browser
    cgmh serve --port 0                              on any port that is free
    CGMH_API_KEY=... cgmh serve --host 0.0.0.0       for others too, with a key
    cgmh serve --allow-origin https://example.org    also for pages of this site

    \b
    curl http://127.0.0.1:8765/v1/correct -d '{"text": "i has two apple."}'
    curl http://127.0.0.1:8765/v2/check -d language=en-US -d 'text=i has two apple.'

    Editors that can use a LanguageTool server (VS Code with LTeX+, Obsidian, Vim, browsers) take the same address:
    docs/editors.md. docs/serving.md describes the rest; /openapi.json is the exact description.

    Only programs of this machine and the studio are answered, and no other web page, unless options say otherwise. What
    users send is never written to a log. Ctrl-C or SIGTERM ends it: what is in flight has a few seconds.
    """
    api_key = options.pop("api_key") or os.environ.get(KEY_VARIABLE) or None
    settings = ServerSettings(api_key=api_key, allow_origins=allow_origin, allow_hosts=allow_host, **options)
    serve(settings, processes, capacity, opens=opens)


def serve(settings: ServerSettings, processes: int | None, capacity: int, *, opens: bool) -> None:
    """Serve until told to stop; with `opens`, show the studio in a browser."""
    with with_extra():
        from ..serving.app import build_app
        from ..serving.server import Server, address_of, listen
    listening = listen(settings)
    address = address_of(listening)
    click.echo("cgmh: opening the models ...", err=True)
    app = build_app(_engine(processes, capacity), settings)

    def ready() -> None:
        _say_ready(address, settings)
        if opens:
            open_browser(address)

    server = Server(app, settings, ready=ready)
    server.run(sockets=[listening])
    if not server.started:
        raise BadInput("the server could not start; see above")


def open_browser(address: str) -> None:
    """Show a page in the user's browser, which may take its time; say where it is if there is none."""

    def show() -> None:
        if not webbrowser.open(address):
            click.echo(f"cgmh: no browser was found; open {address} in one", err=True)

    threading.Thread(target=show, daemon=True).start()


def _engine(processes: int | None, capacity: int) -> "Engine":
    if platform.system() == "Linux":
        from ..serving.pool import Pool

        return Pool(processes, capacity)
    from ..serving.inline import InlineEngine  # elsewhere a process that uses matrix products cannot be forked

    return InlineEngine(capacity)


def _say_ready(address: str, settings: ServerSettings) -> None:
    key = f' -H "Authorization: Bearer ${KEY_VARIABLE}"' if settings.api_key else ""
    example = shlex.quote('{"text": "i has two apple."}')
    click.echo(f"cgmh: serving on {address} (Ctrl-C ends it)", err=True)
    click.echo(f"  try:  curl {address}/v1/correct{key} -d {example}", err=True)
    click.echo(f"  the studio, a page to write and to watch, is at {address}/", err=True)
    click.echo(f"  or give {address} to your editor as a LanguageTool server", err=True)
