"""Paraphrases from corrupted starts: how soon do chains forget where they began (paper, Section 4.4)?

    python benchmarks/corrupted_start.py --pairs quora/val.tsv --limit 100

Chains start at the source, at copies with 5% or 10% of the words replaced by random ones, or with all of them; keywords
and the mark at the end stay, the target allows nothing else. The target is the paper's (KW hard, WVM soft), the
proposal the default one, the temperature 1. Every few steps the sentences where the chains stand are scored, all chains
and pairs pooled: samples on their way, nothing is selected. Writes benchmarks/results/corrupted_start.json and
docs/corrupted-start.svg, which needs matplotlib (extra `evaluation`).
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from cgmh import __version__
from cgmh.api import ROWS, WINDOW
from cgmh.errors import BadInput, CgmhError, MissingExtra
from cgmh.evaluation.datasets import sample
from cgmh.evaluation.paraphrases import Pair, as_line, bleu, from_treebank, measure, read_pairs, sources
from cgmh.inputs import STARTS, ParaphraseInput
from cgmh.models.load import Models
from cgmh.models.word.checkpoint import load_model
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.sampling import Constant, Kernel, State
from cgmh.sampling import sample as run_chains
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.threads import single_threaded

ROOT = Path(__file__).parent.parent
MEASURES = {"bleu_ref": "BLEU-ref", "bleu_ori": "BLEU-ori", "nll": "nats per word"}
Point = tuple[list[str], list[float]]  # the lines of the chains, source by source, and their nats per word


def asked(source: str, start: str) -> ParaphraseInput:
    """The paper's target, stepped by the default proposal."""
    return ParaphraseInput(from_treebank(source), **{**ParaphraseInput.paper, "gibbs": False, "start": start})


def answerable(texts: Sequence[str], model: RecurrentModel) -> list[str]:
    """The texts that are not refused, as too long or too strange."""
    accepted = []
    for text in texts:
        try:
            Paraphrase().read(asked(text, "copy"), model.vocabulary)
            accepted.append(text)
        except BadInput as error:
            print(f"passed over: {text!r} {error}", file=sys.stderr)
    return accepted


def states(problem: Problem, args: argparse.Namespace) -> Iterator[tuple[int, State]]:
    """The states of the chains at the start and after every so many steps."""
    kernel = Kernel(problem.target, problem.moves(problem.target.model), WINDOW)
    chains = torch.arange(args.chains).repeat(len(problem.start) // args.chains)
    yield 0, kernel.init(problem.start)
    following = run_chains(kernel, problem.start, args.steps, args.seed, Constant(1.0), chains=chains)
    for number, (_, state, _) in enumerate(following, 1):
        if number % args.every == 0:
            yield number, state


def read_off(problem: Problem, state: State, texts: Sequence[str]) -> Point:
    """Where the chains stand, written like the sources, and what the word model says of it."""
    assert isinstance(problem.report, Paraphrases)
    lines = []
    for input, ids in zip(state.sentences.inputs.tolist(), state.sentences.to_lists(), strict=True):
        _, words = problem.report.write(input, problem.lexicon.words(ids))
        lines.append(as_line(words, texts[input]))
    nll = -state.log_factors.soft[:, 0] / (state.sentences.lengths + 1)  # [B]
    return lines, nll.tolist()


def curve(
    start: str, texts: Sequence[str], pairs: Sequence[Pair], model: RecurrentModel, args: argparse.Namespace
) -> list[dict[str, Any]]:
    """The scores of one start after each number of steps."""
    points: dict[int, Point] = {}
    together = max(1, ROWS // args.chains)
    for at in range(0, len(texts), together):
        part = texts[at : at + together]
        read = [source for text in part for source in Paraphrase().read(asked(text, start), model.vocabulary)]
        problem = Paraphrase().pose(read, Models(model), args.chains, args.seed)
        for step, state in states(problem, args):
            lines, nll = read_off(problem, state, part)
            before = points.setdefault(step, ([], []))
            before[0].extend(lines)
            before[1].extend(nll)
    row = {source: number * args.chains for number, source in enumerate(texts)}
    ori = [pair.source for pair in pairs for _ in range(args.chains)]
    ref = [pair.reference for pair in pairs for _ in range(args.chains)]
    rows = []
    for step, (lines, nll) in points.items():
        outputs = [lines[row[pair.source] + chain] for pair in pairs for chain in range(args.chains)]
        scores = {"bleu_ref": bleu(outputs, ref), "bleu_ori": bleu(outputs, ori), "nll": sum(nll) / len(nll)}
        rows.append({"step": step, **{name: round(value, 3) for name, value in scores.items()}})
    return rows


def table(curves: dict[str, list[dict[str, Any]]], measured: str) -> str:
    """A row for each number of steps, a column for each start."""
    lines = [f"{MEASURES[measured]:>13}" + "".join(f"{name:>11}" for name in curves)]
    lines += [
        f"{rows[0]['step']:13}" + "".join(f"{row[measured]:11.2f}" for row in rows)
        for rows in zip(*curves.values(), strict=True)
    ]
    return "\n".join(lines)


def plot(curves: dict[str, list[dict[str, Any]]], out: Path) -> None:
    """BLEU with the reference, and fluency, over the steps."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("matplotlib", "evaluation") from error
    # Text stays text, and the same numbers give the same file.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "cgmh", "font.size": 9}):
        figure = Figure(figsize=(7.2, 2.8), layout="constrained")
        for axes, measured in zip(figure.subplots(1, 2), ("bleu_ref", "nll"), strict=True):
            for (name, rows), style in zip(curves.items(), ("-", "--", "-.", ":"), strict=True):
                axes.plot([row["step"] for row in rows], [row[measured] for row in rows], style, label=name)
            axes.set(xlabel="steps", ylabel=MEASURES[measured])
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)
        axes.legend(title="start")
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=100, help="pairs, drawn at random (default: 100)")
    parser.add_argument("--chains", type=int, default=8, help="for each source (default: 8)")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--every", type=int, default=10, help="steps between two scores")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, help="a directory; the embedded model unless given")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "corrupted_start.json")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "corrupted-start.svg")
    return parser.parse_args()


def main() -> None:
    args = parse()
    pairs = sample(read_pairs(args.pairs), args.limit)
    model = load_model(args.model)
    texts = answerable(sources(pairs), model)
    pairs = [pair for pair in pairs if pair.source in set(texts)]
    if not pairs:
        raise BadInput(f"{args.pairs}: no source that can be answered; draw more by --limit")
    copies = measure([pair.source for pair in pairs], pairs)
    with torch.inference_mode(), single_threaded():
        curves = {start: curve(start, texts, pairs, model, args) for start in STARTS}
    for measured in MEASURES:
        print(table(curves, measured), end="\n\n")
    signature = (
        f"cgmh {__version__} | task paraphrase | model {model.name} | "
        f"match {'+'.join(ParaphraseInput.paper['match'])} | "
        f"chains {args.chains} | temperature 1 | select none | seed {args.seed} | torch {torch.__version__} | "
        f"{len(pairs)} pairs, {len(texts)} sources of {args.pairs.name} | {copies.signature}"
    )
    print(signature)
    whole = {"signature": signature, "copy_bleu_ref": round(copies.bleu_ref, 3), "starts": curves}
    args.out.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")
    plot(curves, args.plot)


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"corrupted_start: {error}")
