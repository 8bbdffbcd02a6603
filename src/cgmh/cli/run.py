"""`cgmh run`: a task for every row of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ..errors import BadInput
from .correct import correct_command, wanted_corrections
from .keywords import keywords_command, wanted_keywords
from .output import as_typed, print_record, uncollected
from .paraphrase import paraphrase_command, wanted_paraphrases

if TYPE_CHECKING:
    from tqdm import tqdm

    from ..jobs.job import Engine, Summary
    from ..jobs.rows import Asked
    from ..jobs.work import Work

SOME_FAILED = 3  # the exit code of a job that is done but for some rows
NAMED = 5  # failed rows whose reasons are printed
_OTHER = (
    "words",
    "texts",
    "file",
    "as_json",
    "trace",
    "trace_all",
    "diff",
    "m2",
    "quiet",
)  # of a command, not of a job
Wanted = Callable[[click.Context, dict[str, Any]], tuple[Any, Any]]


@click.group("run")
def run_group() -> None:
    """A task for every row of a file, on all cores or a cluster; stopped at any moment, it goes on where it was.

    \b
    cgmh run correct essays.txt --out corrected.txt             one text per line
    cgmh run paraphrase questions.jsonl --out out.jsonl         {"id": 7, "text": "...", "n": 3} on each line
    cgmh run keywords sets.csv --out out.csv --carry label      a column that goes along
    cgmh run paraphrase 'data/*.parquet' --out out.parquet      pip install 'cgmh[data]'
    cgmh run correct batch.jsonl --out out.jsonl --retry-errors the rows that failed, once more

    A row may have any option of its task as a field: {"keywords": ["letter", "friend"], "forbid": ["old"], "n": 3}. Its
    result depends on --seed and on its id (a field id or custom_id; otherwise its number), and on nothing else: not on
    the number of processes, the rows beside it, or restarts.

    What is done is kept in OUT.job. The same command again goes on from there, also after rows were added at the end of
    the input; with other options or another input it is refused. When all rows are done, OUT is written as a whole, and
    OUT.errors.jsonl has the rows that failed, with their places and the reasons.

    Exit codes: 0 all rows are done, 3 all but some that failed, 2 the job cannot run as it was asked for, 130 stopped.
    """


def _job_options(command: click.Command) -> list[click.Parameter]:
    """What a job takes beside the options of its task."""
    formats = ["jsonl", "csv", "tsv", "parquet", "text"]
    return [
        click.Argument(["inputs"], nargs=-1, required=True, metavar="INPUT..."),
        click.Option(
            ["--out"],
            required=True,
            metavar="OUT",
            help="The file to write: .jsonl, .csv, .tsv, .parquet or .txt; or - for stdout, in JSON lines.",
        ),
        click.Option(
            ["--input-format"], type=click.Choice(formats), help="What the inputs are, if their names do not tell."
        ),
        click.Option(["--column"], metavar="NAME", help="The column to work on, if it is not called as in Python."),
        click.Option(["--id-column"], metavar="NAME", help="The column that names a row; by default id or custom_id."),
        click.Option(["--carry"], multiple=True, metavar="NAME", help="A column that goes along; repeat it for more."),
        click.Option(["--workers"], type=click.IntRange(1), help="Processes; by default one for each core."),
        click.Option(
            ["--engine"],
            type=click.Choice(["local", "ray"]),
            default="local",
            show_default=True,
            help="Processes of this machine, or the actors of Ray Data: pip install 'cgmh[ray]'.",
        ),
        click.Option(["--address"], metavar="ADDRESS", help="A Ray cluster, or auto; by default this machine."),
        click.Option(
            ["--device"],
            type=click.Choice(["cpu", "cuda"]),
            default="cpu",
            show_default=True,
            help="Where the models compute; with cuda, each worker takes one GPU.",
        ),
        click.Option(
            ["--shard-rows"],
            type=click.IntRange(1),
            help="Rows that are kept together, at most; by default as many as take a process ten seconds.",
        ),
        click.Option(["--retry-errors"], is_flag=True, help="Also do the rows once more that failed before."),
        *(
            param
            for param in command.params
            if param.name not in _OTHER
        ),
        click.Option(["--quiet"], is_flag=True, help="No progress bar."),
    ]  # fmt: skip


def _job_command(command: click.Command, wanted: Wanted, example: str) -> click.Command:
    """A command of `cgmh run`, with the options of the command that does the same task once."""

    @click.pass_context
    def run(ctx: click.Context, /, **options: Any) -> None:
        ctx.exit(_run(ctx, options, wanted))

    run.__doc__ = (
        f"Do the task of `cgmh {command.name}` for every row of INPUT: a file, a directory, a pattern in quotes, or - "
        f"for stdin.\n\n\b\n{example}\n\nSee `cgmh run --help`; what is common to all tasks is said there."
    )
    short = f"The task of `cgmh {command.name}`, for every row of a file."
    return click.command(command.name, params=_job_options(command), short_help=short)(run)


for _command, _wanted, _example in (
    (keywords_command, wanted_keywords, "cgmh run keywords sets.jsonl --out out.jsonl"),
    (paraphrase_command, wanted_paraphrases, "cgmh run paraphrase questions.csv --out out.csv --n 3"),
    (correct_command, wanted_corrections, "cgmh run correct essays.txt --out corrected.txt"),
):  # fmt: skip
    run_group.add_command(_job_command(_command, _wanted, _example))


def _run(ctx: click.Context, options: dict[str, Any], wanted: Wanted) -> int:
    options |= {"trace": False, "trace_all": False}
    input, settings = wanted(ctx, options)
    with uncollected():
        from ..jobs.rows import Asked
    carried = tuple(dict.fromkeys(options["carry"]))
    asked = Asked(input, settings, options["column"], options["id_column"], carried, options["device"])
    if options["address"] and options["engine"] != "ray":
        raise BadInput("`address` is that of a Ray cluster; give `engine` ray, too")
    if options["out"] != "-":
        summary = _done(asked, options, options["out"])
        before = f" ({summary.num_known:,} of them before)" if summary.num_known else ""
        whole = f"{summary.num_rows - summary.num_failed:,} of {summary.num_rows:,} rows are done"
        click.echo(f"{options['out']}: {whole}{before}", err=True)
        if summary.errors:
            click.echo(f"cgmh: {summary.num_failed:,} rows failed; {summary.errors} says which and why", err=True)
        return SOME_FAILED if summary.num_failed else 0
    # Nobody can go on with what was printed, so nothing is kept.
    with TemporaryDirectory(prefix="cgmh-run-") as directory:
        out = Path(directory) / "stdout.jsonl"
        summary = _done(asked, options, str(out))
        with out.open(encoding="utf-8") as lines:
            for line in lines:
                print_record(json.loads(line))
        for line in summary.errors.read_text(encoding="utf-8").splitlines() if summary.errors else ():
            record = json.loads(line)
            reason = record["error"] if isinstance(record["error"], str) else record["error"]["message"]
            click.echo(as_typed(f"cgmh: {record['place']}: {reason}"), err=True)
    return SOME_FAILED if summary.num_failed else 0


def _done(asked: "Asked", options: dict[str, Any], out: str) -> "Summary":
    """Run a job to its end, with a progress bar for who watches."""
    from ..jobs.job import Job
    from ..jobs.workers import LocalWorkers
    from ..threads import num_cores

    models = {name: options.get(name) for name in ("model", "big", "masked")}
    job = Job(asked, options["inputs"], out, models, options["input_format"], options["shard_rows"])

    def engine(work: "Work") -> "Engine":
        if options["engine"] == "ray":
            from ..jobs.cluster import RayWorkers

            return RayWorkers(work, options["workers"] or num_cores(), options["address"])
        return LocalWorkers(work, options["workers"] or (num_cores() if asked.device == "cpu" else 1))

    progress = _Bar(shown=options["progress"])
    try:
        return job.run(engine, progress, retry_errors=options["retry_errors"])
    except KeyboardInterrupt:
        progress.close()
        if options["out"] != "-":
            click.echo("cgmh: what is done is kept; run the same command again to go on", err=True)
        raise
    finally:
        progress.close()


class _Bar:
    """A progress bar over the rows, with their rate and the time that is left."""

    def __init__(self, *, shown: bool) -> None:
        self._shown, self._num_failed = shown, 0
        self._bar: tqdm[NoReturn] | None = None

    def begin(self, num_rows: int, num_done: int) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=num_rows, initial=num_done, unit=" rows", disable=not self._shown, leave=False)

    def done(self, num_rows: int, num_failed: int) -> None:
        if self._bar is not None:
            self._num_failed += num_failed
            if self._num_failed:
                self._bar.set_postfix_str(f"{self._num_failed} failed", refresh=False)
            self._bar.update(num_rows)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
