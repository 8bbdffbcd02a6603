"""Fluency of the sentences by a judge that is not the generator, beside the paper's kernel and what people wrote.

    python benchmarks/quality.py DATA JUDGE

DATA is a tokenised file of one sentence per line, JUDGE the directory that recipes/judge.py wrote. For 1 to 4 keywords,
mean negative log-likelihood per token of the top sentence, as in the paper's Table 1, with bootstrap intervals.

The paper's kernel (Gibbs over 100 candidates, replace, insert and delete one third each, no swap, every candidate
scored in full) runs on the same model and target, from the same starts, on the same cores, for the time that the
package's own kernel took for that set. It gets several numbers of chains; the best one counts. `lowest perplexity` is
the paper's rule of selection, `best` the package's; both look at everything a kernel visited. Writes
benchmarks/results/quality.json, which holds the sentences of the kernels; those of people are data and stay out.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tqdm import tqdm

from cgmh.api import WINDOW
from cgmh.constraints import ContainsWords
from cgmh.errors import CgmhError
from cgmh.evaluation.datasets import KeywordSet, keyword_sets
from cgmh.evaluation.judges import NgramJudge
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_models
from cgmh.proposals import GibbsOver, WordEdits
from cgmh.ranking import fluency, signature
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import SMALLEST_SHARD, Record, run
from cgmh.selection import Visit, choose
from cgmh.settings import Settings
from cgmh.tasks import Keywords, Problem
from cgmh.text.sentences import Sentences
from cgmh.text.tokenizer import join
from cgmh.threads import single_threaded

SIZES = (1, 2, 3, 4)
NUM_CANDIDATES = 100
HUMAN = "human"
RULES = ("best", "lowest perplexity")


@dataclass
class System:
    """The texts of one row of the table, one for each keyword set, and what it took to make them."""

    texts: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)


@dataclass
class Visited:
    """The sentences that the chains of one input visited, the last ones, and what that took: steps of all chains."""

    seen: list[Visit] = field(default_factory=list)
    final: list[Visit] = field(default_factory=list)
    seconds: float = 0.0
    steps: int = 0

    def add(self, record: Record, steps: int) -> None:
        self.final = _listed(record.final, record.finals)
        self.seen += _listed(record.proposed, record.steps) + self.final
        self.steps += steps


def _listed(sentences: Sentences, columns: dict[str, torch.Tensor]) -> list[Visit]:
    values = (columns[name].tolist() for name in ("log_target", "log_model", "chain"))
    return [Visit(tuple(ids), *rest) for ids, *rest in zip(sentences.to_lists(), *values, strict=True)]


@torch.inference_mode()
def top(rule: str, visited: Visited, problem: Problem) -> str:
    if rule == "best":
        visit = choose(
            "best", visited.seen, visited.final, lambda pool: fluency([visit.ids for visit in pool], problem.words), 1
        )[0]
    else:
        visit = max(visited.seen, key=lambda visit: visit.log_model / (len(visit.ids) + 1))
    return join(problem.lexicon.words(visit.ids))


def fill(problem: Problem, settings: Settings) -> Visited:
    """What the package's kernel visits at the default settings."""
    kernel = Kernel(problem.target, problem.moves(problem.target.model), window=WINDOW)
    beta = Constant(1 / settings.temperature)
    steps = settings.num_steps
    began = time.perf_counter()
    record = run(kernel, problem.start, steps, settings.seed, beta, torch.arange(settings.chains))
    visited = Visited(seconds=time.perf_counter() - began)
    visited.add(record, steps * settings.chains)
    return visited


def paper(problem: Problem, chains: int, seed: int, temperature: float, budget: float, *, pin: bool) -> Visited:
    """What the paper's kernel visits until `budget` seconds are spent; the chains are shared out to the cores."""
    contains = next(each for each in problem.target.constraints if isinstance(each, ContainsWords))
    filler = GibbsOver(problem.target.model, problem.target, NUM_CANDIDATES)
    edits = WordEdits(filler, (1 / 3, 1 / 3, 1 / 3), contains.pinned if pin else None)
    kernel, beta = Kernel(problem.target, edits, window=None), Constant(1 / temperature)
    ends = time.perf_counter() + budget

    def part(names: torch.Tensor) -> Visited:
        """Runs in stretches, each going on where the last one ended; the one that the end falls into counts in full."""
        state, visited = problem.start.select(names), Visited()
        began = time.perf_counter()
        stretch = 1
        while stretch:
            record = run(kernel, state, stretch, seed + visited.steps, beta, names)
            visited.add(record, stretch * len(names))
            state = record.final
            now = time.perf_counter()
            rounds = visited.steps / len(names)
            stretch = max(1, int(0.5 * (ends - now) * rounds / (now - began))) if now < ends else 0
        return visited

    began = time.perf_counter()
    shards = torch.arange(chains).chunk(min(chains, os.cpu_count() or 1))
    with ThreadPoolExecutor(len(shards), initializer=torch.set_num_threads, initargs=(1,)) as pool:
        parts = list(pool.map(part, shards))
    return Visited(
        [visit for visited in parts for visit in visited.seen],
        [visit for visited in parts for visit in visited.final],
        time.perf_counter() - began,
        sum(visited.steps for visited in parts),
    )


def measure(sets: Sequence[KeywordSet], models: Models, args: argparse.Namespace) -> dict[str, System]:
    settings = Settings(seed=args.seed)
    temperature = args.paper_temperature or settings.temperature
    systems: dict[str, System] = {}

    def add(name: str, problem: Problem, visited: Visited) -> None:
        for rule in RULES:
            system = systems.setdefault(f"{name}, {rule}", System())
            system.texts.append(top(rule, visited, problem))
            system.seconds.append(visited.seconds)
            system.steps.append(visited.steps)

    # The first answers are slower: libraries set themselves up.
    first = pose(sets[0], models, settings)
    fill(first, settings)
    paper(first, max(args.paper_chains), settings.seed, temperature, 0.5, pin=args.pin)
    for each in tqdm(sets, unit="set", file=sys.stderr):
        problem = pose(each, models, settings)
        own = fill(problem, settings)
        add("fill", problem, own)
        for chains in args.paper_chains:
            budget = own.seconds * args.factor
            visited = paper(problem, chains, settings.seed, temperature, budget, pin=args.pin)
            add(f"paper x{chains}", problem, visited)
    systems[HUMAN] = System([each.references[0] for each in sets])
    return systems


def pose(keywords: KeywordSet, models: Models, settings: Settings) -> Problem:
    sources = Keywords().read(KeywordInput(keywords.keywords), models.words.vocabulary)
    return Keywords().pose(sources, models, settings.chains, settings.seed)


def interval(values: NDArray[np.float64], strata: NDArray[np.int64], repeats: int = 10_000) -> tuple[float, float]:
    """95% bootstrap interval of the mean; resampled within the strata."""
    draws = np.random.default_rng(0)
    parts = [values[strata == which] for which in np.unique(strata)]
    sums = sum(part[draws.integers(len(part), size=(repeats, len(part)))].sum(1) for part in parts)
    low, high = np.percentile(sums / len(values), [2.5, 97.5])
    return float(low), float(high)


def summary(system: System, judge: NgramJudge, strata: NDArray[np.int64]) -> dict[str, Any]:
    """The numbers of one row: for each number of keywords, and for all."""
    nll = judge.nll(system.texts)
    cells = {}
    for name, rows in [*((str(size), strata == size) for size in SIZES), ("all", strata > 0)]:
        texts = [text for text, row in zip(system.texts, rows, strict=True) if row]
        cells[name] = {
            "nll": float(nll[rows].mean()),
            "interval": interval(nll[rows], strata[rows]),
            "unknown_rate": judge.unknown_rate(texts),
            "tokens": float(np.mean([len(log) for log in judge.log_probs(texts)])),
        }
    return {
        **cells,
        "seconds_per_set": float(np.mean(system.seconds)) if system.seconds else None,
        "steps_per_set": float(np.mean(system.steps)) if system.steps else None,
        "nll_of_sets": nll.round(4).tolist(),
    }


def table(rows: dict[str, dict[str, Any]]) -> str:
    """Mean NLL per token and half the width of its 95% interval, by number of keywords."""
    heads = [*map(str, SIZES), "all"]
    title = "".join(f"{head:>11}" for head in heads)
    lines = [f"{'NLL per token, keywords:':30}{title}  unknown  tokens   steps  seconds"]
    for name, row in rows.items():
        cells = [(row[head]["nll"], row[head]["interval"]) for head in heads]
        means = "".join(f"{mean:6.2f} ±{(high - low) / 2:.2f}" for mean, (low, high) in cells)
        took = f"{row['steps_per_set']:8.0f}{row['seconds_per_set']:9.2f}" if row["seconds_per_set"] else ""
        lines.append(f"{name:30}{means}{row['all']['unknown_rate']:9.2%}{row['all']['tokens']:8.1f}{took}")
    return "\n".join(lines)


def compare(rows: dict[str, dict[str, Any]], strata: NDArray[np.int64]) -> dict[str, dict[str, Any]]:
    """The package's answers against the best number of chains of the paper's kernel, by rule of selection; paired."""
    own = np.array(rows["fill, best"]["nll_of_sets"])
    gaps = {}
    for rule in RULES:
        names = [name for name in rows if name.startswith("paper") and name.endswith(rule)]
        best = min(names, key=lambda name: rows[name]["all"]["nll"])
        gap = own - np.array(rows[best]["nll_of_sets"])
        gaps[best] = {
            "fill_minus_paper": float(gap.mean()),
            "interval": interval(gap, strata),
            "fill_lower": float((gap < 0).mean()),
        }
    return gaps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("judge", type=Path)
    parser.add_argument("--sets", type=int, default=25, help="keyword sets of each size")
    parser.add_argument("--paper-chains", type=int, nargs="+", default=[2, 4, 16])
    parser.add_argument(
        "--factor", type=float, default=1.0, help="time of the paper's kernel, by that of the package's"
    )
    parser.add_argument("--paper-temperature", type=float, help="that of the package unless given")
    parser.add_argument("--pin", action="store_true", help="let the paper's kernel leave keywords alone, as ours does")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "quality.json")
    args = parser.parse_args()
    cores = os.cpu_count() or 1
    if max(args.paper_chains) >= 2 * SMALLEST_SHARD * cores:
        parser.error(
            f"--paper-chains: below {2 * SMALLEST_SHARD * cores}, or a run would share a core's part out again"
        )
    judge, models = NgramJudge.load(args.judge), load_models()
    sets = keyword_sets(args.data, args.sets * len(SIZES), args.seed, SIZES)
    strata = np.array([len(each.keywords) for each in sets])
    with single_threaded():
        systems = measure(sets, models, args)
    rows = {name: summary(system, judge, strata) for name, system in systems.items()}
    against = compare(rows, strata)
    settings = Settings(seed=args.seed)
    line = (
        f"{signature('keywords', models, settings)} | {args.sets} sets of each size | {cores} cores | "
        f"paper: gibbs over {NUM_CANDIDATES}, time x{args.factor:g}{', pinned' if args.pin else ''}, "
        f"temperature {args.paper_temperature or settings.temperature:g} | {judge.signature}"
    )
    print(table(rows))
    for name, gap in against.items():
        mean, (low, high), share = gap["fill_minus_paper"], gap["interval"], gap["fill_lower"]
        print(f"fill, best minus {name}: {mean:+.3f} [{low:+.3f}, {high:+.3f}], lower in {share:.0%} of the sets")
    print(line)
    shown = {name: system.texts for name, system in systems.items() if name != HUMAN}
    record = {
        "signature": line, "rows": rows, "against_paper": against,
        "sentences": [
            {"line": each.line, "keywords": each.keywords, **{name: texts[at] for name, texts in shown.items()}}
            for at, each in enumerate(sets)
        ],
    }  # fmt: skip
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"quality: {error}")
