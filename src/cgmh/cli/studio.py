"""`cgmh studio`."""

import click

from ..serving.configuration import CAPACITY, ServerSettings
from .serve import port_option, serve


@click.command("studio", short_help="A page in the browser: write, paraphrase, correct, and watch the chains.")
@port_option
@click.option("--no-browser", is_flag=True, help="Only say where the page is.")
@click.option(
    "--processes", type=click.IntRange(1, 256), metavar="N", help="Engine processes; one per core if not given."
)
def studio_command(port: int, no_browser: bool, processes: int | None) -> None:
    """Open the studio: one page in the browser, served by this machine for this machine, offline.

    \b
    cgmh studio                 on http://127.0.0.1:8765/
    cgmh studio --port 0        where that port is taken

    Write sentences around keywords, paraphrase, correct a text, and look inside: a Markov chain over sentences, step by
    step. docs/studio.md shows it. `cgmh serve --open` is the same with all options of the server. Ctrl-C ends it.
    """
    serve(ServerSettings(port=port), processes, CAPACITY, opens=not no_browser)
