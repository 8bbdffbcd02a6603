"""`cgmh rate`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..serving.configuration import ServerSettings
from .output import print_record
from .serve import open_browser, with_extra

if TYPE_CHECKING:
    from ..evaluation.ratings import Ratings


@click.command("rate", short_help="Rate outputs of several systems blindly, on a page; means, agreement, p-values.")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--ask",
    type=click.Choice(["score", "both"]),
    default="score",
    show_default=True,
    help="One score from 0 to 1, or both relevance and fluency.",
)
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where every click is kept; by default beside the first file, as NAME.ratings.jsonl. It is gone on with.",
)
@click.option("--report", "only_report", is_flag=True, help="Print the tables of the clicks so far, and open no page.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port of the page; any that is free."
)
@click.option("--no-browser", is_flag=True, help="Only say where the page is.")
def rate_command(
    files: tuple[Path, ...],
    ask: str,
    out: Path | None,
    only_report: bool,
    as_json: bool,
    port: int,
    no_browser: bool,
) -> None:
    """Rate what several systems wrote, without knowing which did.

    \b
    cgmh rate results.jsonl                        a page: one text at a time, keys 1 to 5
    cgmh rate ours.jsonl theirs.jsonl --ask both   relevance and fluency; files of cgmh ... --json
    cgmh rate results.jsonl --report               means, intervals, agreement, p-values

    A line of a file is {"input": ..., "system": ..., "text": ...}, or {"input": ..., "outputs": {"A": ..., "B": ...}},
    or what --json prints: then the file's name is the system's. Where lines have a "group", each group of inputs has
    means and p-values of its own. Texts come in a shuffled order, another one for each rater; a text that several
    systems wrote comes once. Every click is on the disk before the next text shows. Ctrl-C ends it and prints the
    tables; started again, it goes on where each rater stopped. Clicks of raters on other machines are joined by putting
    the lines of their files into one.
    """
    from ..evaluation.ratings import QUESTIONS, Ratings, read_items

    kept = out or files[0].with_name(f"{files[0].stem}.ratings.jsonl")
    ratings = Ratings(read_items(files), QUESTIONS[ask], kept)
    ratings.clicks()  # a file that is none is told now
    if not only_report:
        _serve(ratings, port, opens=not no_browser)
    from ..evaluation.agreement import report, tables

    found = report(ratings)
    if as_json:
        print_record(found.to_dict())
    else:
        click.echo(tables(found))


def _serve(ratings: "Ratings", port: int, *, opens: bool) -> None:
    """Show the page until told to stop."""
    with with_extra():
        from ..serving.rating import build_rating_app
        from ..serving.server import Server, address_of, listen
    settings = ServerSettings(port=port)
    listening = listen(settings)
    address = address_of(listening)

    def ready() -> None:
        click.echo(f"cgmh: rate at {address} (Ctrl-C ends it and prints the tables)", err=True)
        if opens:
            open_browser(address)

    Server(build_rating_app(ratings, settings), settings, ready).run(sockets=[listening])
