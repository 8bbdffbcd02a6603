"""`cgmh train`: a model of one's own text."""

import os
import shlex
from pathlib import Path
from typing import Any

import click

from ..errors import BadInput
from .options import given_options

_FIXED = ("size", "words", "seed")  # decided when a training begins


@click.command(
    "train",
    short_help="Train a model on your own text.",
    epilog="Then: cgmh keywords --model DIR WORD ...",
)
@click.argument("corpus", type=click.Path(path_type=Path))
@click.option(
    "--out", "-o", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where the model goes."
)
@click.option(
    "--size",
    type=click.Choice(["small", "medium", "large"]),
    default="medium",
    show_default=True,
    help="Size of the network. small: a first try, minutes on a CPU. medium: a million words or more. "
    "large: that of the English model; wants a GPU and tens of millions of words.",
)
@click.option(
    "--words",
    type=click.IntRange(20, 1_000_000),
    default=50_000,
    show_default=True,
    help="Most words the vocabulary may have. A word seen only once is left out in any case.",
)
@click.option(
    "--epochs",
    type=click.IntRange(1, 10_000),
    help="Most passes over the corpus.  [default: 10, or as many as fit into --minutes]",
)
@click.option("--minutes", type=float, help="Most time to train.  [default: no limit]")
@click.option(
    "--patience",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="Stop early after so many checks (one an epoch or every 500 steps) in which the perplexity of held-out text "
    "did not get better.",
)
@click.option("--device", default="auto", show_default=True, help="auto (a GPU if there is one), cpu, cuda or cuda:N.")
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Seed of all chance.")
@click.option("--resume", is_flag=True, help="Go on with a training that was interrupted, from its last checkpoint.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
@click.pass_context
def train_command(ctx: click.Context, /, corpus: Path, out: Path, **options: Any) -> None:
    """Train a model on your own text, in any language that puts spaces between words.

    CORPUS is a UTF-8 text file (plain, .gz or .xz) with one sentence per line, in the order of the documents. Part of
    it is held out, in stretches, to measure the model by.

    DIR appears when the training is done, with the weights that predicted the held-out text best. Until then the run
    keeps its checkpoints in DIR.training: interrupt it with Ctrl-C and go on later with --resume.

    \b
    cgmh train news.txt --out news-model
    cgmh train news.txt.xz --out news-model --size small --minutes 30
    cgmh train news.txt --out news-model --resume
    """
    given = given_options(ctx, options)
    out = out.resolve()
    device = _device(options["device"])
    try:
        facts = (
            _resume(corpus, out, device, options, given) if options["resume"] else _train(corpus, out, device, options)
        )
    except KeyboardInterrupt:
        from ..training.loop import run_directory

        again = f"cgmh train {shlex.quote(str(corpus))} --out {shlex.quote(os.path.relpath(out))} --resume"
        kept = run_directory(out).exists()
        click.echo(f"interrupted; go on with: {again}" if kept else "interrupted; nothing was written", err=True)
        ctx.exit(130)
    if not options["quiet"]:
        held = facts["held_out"]
        numbers = ", ".join(f"{name} {held['perplexity'][name]:.1f}" for name in ("forward", "backward", "fill"))
        unknown = f"{held['unknown_rate']:.1%} of its words unknown"
        click.echo(f"{out}: perplexity on {held['words']:,} held-out words: {numbers}; {unknown}", err=True)


def _device(name: str) -> str:
    import torch

    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    kind, _, number = name.partition(":")
    if kind == "cpu" and not number:
        return name
    if kind != "cuda" or (number and not number.isdecimal()) or name.endswith(":"):
        raise BadInput(f"`device` {name}: not a device; use auto, cpu, cuda or cuda:N")
    if int(number or 0) >= torch.cuda.device_count():
        raise BadInput(f"`device` {name}: this machine has no such GPU; use `device` cpu")
    return name


def _train(corpus: Path, out: Path, device: str, options: dict[str, Any]) -> dict[str, Any]:
    from ..training.corpus import read_corpus
    from ..training.loop import TrainingPlan, check_free, network_of_size, plan_for, train

    check_free(out)
    asked = {name: options[name] for name in ("epochs", "minutes", "patience", "seed")}
    if asked["epochs"] is None and asked["minutes"] is None:
        asked["epochs"] = 10
    TrainingPlan(**asked)  # refuses what is out of range, before the corpus is read
    text = read_corpus(corpus, num_words=options["words"], quiet=options["quiet"])
    plan = plan_for(text, **asked)
    source = {"corpus": corpus.name, "corpus_bytes": corpus.stat().st_size}
    config = network_of_size(options["size"], text)
    return train(text, config, plan, out, device=device, facts=source, quiet=options["quiet"])


def _resume(corpus: Path, out: Path, device: str, options: dict[str, Any], given: set[str]) -> dict[str, Any]:
    from ..training.loop import read_run, resume

    facts = read_run(out).get("facts", {})
    if not corpus.is_file():
        raise BadInput(f"{corpus}: no such file")
    if (corpus.name, corpus.stat().st_size) != (facts.get("corpus"), facts.get("corpus_bytes")):
        raise BadInput(f"{corpus}: not the text that this training began with ({facts.get('corpus')})")
    for name in _FIXED:
        if name in given:
            raise BadInput(f"`{name}` was decided when the training began; leave it out with `resume`")
    changes = {name: options[name] for name in ("epochs", "minutes", "patience") if name in given}
    return resume(out, device=device, quiet=options["quiet"], **changes)
