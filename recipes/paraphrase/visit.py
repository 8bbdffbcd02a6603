"""The sentences that chains visit on their way to a paraphrase, with what a ranking may weigh.

    python recipes/paraphrase/visit.py quora/train.tsv POOLS --limit 200
    python recipes/paraphrase/visit.py quora/train.tsv POOLS --again       the same sentences, features computed again

The pairs are a file of Treebank tokens: a source, a tab, a reference. POOLS receives a line of JSON for each source:
`source`, `references`, `words` of the visited sentences under the limit of overlap, the same as `candidates` (lines
like the source), and `features`: for each feature, a number for each candidate. `fit.py` weighs them.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from cgmh.errors import BadInput
from cgmh.evaluation.datasets import sample
from cgmh.evaluation.paraphrases import as_line, from_treebank, read_pairs, sources
from cgmh.inputs import ParaphraseInput
from cgmh.models.load import Models, load_models
from cgmh.models.word.experts import log_readings
from cgmh.readings import READING_OFFSET
from cgmh.sampling import Constant
from cgmh.sampling.runs import Record, run
from cgmh.selection import LENGTH_OFFSET, POOL_SIZE
from cgmh.tasks import Paraphrase, Problem
from cgmh.tasks.paraphrase.report import Paraphrases
from cgmh.tasks.paraphrase.source import Source
from cgmh.text.sentences import Sentences

TOGETHER = 8  # sources

Ids = tuple[int, ...]


def read(lines: Sequence[str], models: Models) -> Iterator[tuple[str, Source]]:
    """The lines that can be paraphrased, and what was read of them."""
    for line in lines:
        try:
            (source,) = Paraphrase().read(ParaphraseInput(from_treebank(line)), models.words.vocabulary)
        except BadInput as error:
            tqdm.write(f"{line!r} {error}")
        else:
            yield line, source


def shown(problem: Problem, number: int, record: Record, starts: Sequence[Ids]) -> list[Ids]:
    """What the chains of a source visited and may be shown, the most probable first; then rewrites they began at."""
    taken = record.steps["changed"].nonzero()[:, 0]
    proposed, log_target = record.proposed.select(taken).to_lists(), record.steps["log_target"][taken].tolist()
    visited = dict(zip(map(tuple, proposed), log_target, strict=True))
    visited |= zip(map(tuple, record.final.to_lists()), record.finals["log_target"].tolist(), strict=True)
    best = sorted(visited, key=lambda ids: -visited[ids] / (len(ids) + LENGTH_OFFSET))
    report = problem.report
    assert isinstance(report, Paraphrases)
    best = [best[at] for at in (report.objection(batch(best, number)) <= 0).nonzero()[:POOL_SIZE, 0].tolist()]
    rewrites = [ids for ids in report.always(number) if ids in {*visited, *starts} and ids not in best]
    if not rewrites:
        return best
    may_be_shown = report.objection(batch(rewrites, number)) <= 0
    return best + [ids for ids, may in zip(rewrites, may_be_shown.tolist(), strict=True) if may]


def batch(sentences: Sequence[Ids], number: int) -> Sentences:
    return Sentences.from_lists(sentences, max(map(len, sentences)) + 1, [number] * len(sentences))


def described(problem: Problem, number: int, line: str, visited: Sequence[Ids]) -> dict[str, Any]:
    """What is written of a source."""
    report, candidates = problem.report, batch(visited, number)
    assert isinstance(report, Paraphrases)
    per_word = candidates.lengths + READING_OFFSET
    readings = zip(("forward", "backward", "fill"), log_readings(visited, problem.words), strict=True)
    features = {name: reading.double() / per_word for name, reading in readings} | report.weighs.features(candidates)
    words = [problem.lexicon.words(ids) for ids in visited]
    return {
        "source": line,
        "words": words,
        "candidates": [as_line(report.write(number, list(own))[1], line) for own in words],
        "features": {name: [round(value, 4) for value in column.tolist()] for name, column in features.items()},
    }


def visit(lines: Sequence[str], models: Models, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The pools of some lines, which are sampled together."""
    some = list(read(lines, models))
    if some:
        problem = Paraphrase().pose([source for _, source in some], models, args.chains, args.seed)
        chains = torch.arange(args.chains).repeat(len(some))
        kernel = problem.kernel(problem.target)
        record = run(kernel, problem.start, args.steps, args.seed, Constant(1.0), chains)
        for number, (line, _) in enumerate(some):
            own = (problem.start.inputs == number).nonzero()[:, 0]
            starts = [tuple(ids) for ids in problem.start.select(own).to_lists()]
            visited = shown(problem, number, record.of(number), starts)
            if visited:
                yield described(problem, number, line, visited)


def visit_again(pool: dict[str, Any], models: Models) -> dict[str, Any]:
    """A pool with its features computed again."""
    ((line, source),) = read([pool["source"]], models)
    problem = Paraphrase().pose([source], models, 1, 0)
    return described(problem, 0, line, [tuple(map(problem.lexicon.add, words)) for words in pool["words"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("pools", type=Path)
    parser.add_argument("--limit", type=int, help="pairs, drawn at random")
    parser.add_argument("--again", action="store_true", help="compute the features of POOLS again")
    parser.add_argument("--chains", type=int, default=ParaphraseInput.defaults.chains)
    parser.add_argument("--steps", type=int, default=ParaphraseInput.defaults.steps)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    pairs, models = read_pairs(args.pairs), load_models()
    if args.again:
        old = [json.loads(line) for line in args.pools.read_text(encoding="utf-8").splitlines()]
        pools = (visit_again(pool, models) for pool in tqdm(old))
    else:
        lines = sources(sample(pairs, args.limit))
        starts = tqdm(range(0, len(lines), TOGETHER))
        pools = (pool for at in starts for pool in visit(lines[at : at + TOGETHER], models, args))
    with args.pools.open("w", encoding="utf-8") as file, torch.inference_mode():
        for pool in pools:
            references = [pair.reference for pair in pairs if pair.source == pool["source"]]
            file.write(json.dumps({**pool, "references": references}, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
