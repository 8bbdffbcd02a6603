"""Paraphrases of questions: BLEU with what people wrote, BLEU with the source, fluency, and what was kept.

    python benchmarks/paraphrase.py --pairs quora/val.tsv --limit 200 --judge JUDGE

The pairs are a file of Treebank tokens: a source, a tab, a reference. A source is answered once, however many
references it has, and its best answer counts. JUDGE was made by recipes/judge.py. Writes
benchmarks/results/paraphrase.json, and beside it a .jsonl as it goes: --resume goes on with that one. The exit code is
1 if an answer lost something that must be kept.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from cgmh.api import solve_each
from cgmh.errors import BadInput, CgmhError
from cgmh.evaluation.checkers import KINDS, FactReport, check_facts
from cgmh.evaluation.datasets import sample
from cgmh.evaluation.journal import Journal
from cgmh.evaluation.judges import NgramJudge
from cgmh.evaluation.paraphrases import (
    Pair,
    Scores,
    as_line,
    as_question,
    from_treebank,
    measure,
    read_pairs,
    sources,
)
from cgmh.inputs import STARTS, ParaphraseInput
from cgmh.models.load import load_embedded, open_model
from cgmh.models.protocols import TextModel
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.result import Result
from cgmh.settings import RULES, Settings
from cgmh.text.vocabulary import Vocabulary

INPUT_OPTIONS = ("match", "max_overlap", "difference", "start", "gibbs")  # of a `ParaphraseInput`
SETTINGS = ("n", "steps", "chains", "seed", "temperature", "select", "anneal")
SHOWN = 20  # failures that are printed
NAME = re.compile(r"[^\W\d_]+(?:\.[^\W\d_]+)*")  # india, b.tech


def record(source: str, result: Result, limit: float, seconds: float) -> dict[str, Any]:
    """What came of one source. Without an answer the source itself stands in, and counts as too close to itself."""
    lines = [as_line(some.words, source) for some in result.sentences]
    overlaps = [some.overlap for some in result.sentences]
    return {
        "output": lines[0] if lines else source,
        "others": lines[1:],
        "over_limit": not lines or overlaps[0] >= limit,
        "overlap": overlaps[0] if lines else 100.0,
        "similarity": result.sentences[0].similarity if lines else 1.0,
        "seconds": round(seconds, 3),
        **{name: value for name, value in result.to_dict().items() if name not in ("input", "results")},
    }


def words_of(small: RecurrentModel | TextModel) -> RecurrentModel:
    """The word model: the embedded one proposes to a model of texts."""
    return small if isinstance(small, RecurrentModel) else load_embedded()


def answer(
    some: Sequence[str],
    small: RecurrentModel | TextModel,
    big: TextModel | None,
    journal: Journal,
    asked: ParaphraseInput,
    settings: Settings,
) -> None:
    """Answer the sources that the journal lacks, and write each answer down as it comes."""
    missing = [source for source in some if source not in journal.records]
    inputs = [replace(asked, text=from_treebank(source)) for source in missing]
    outcomes = solve_each(inputs, settings, model=small, big=big, progress=True)
    began = time.perf_counter()
    for source, outcome in zip(missing, outcomes, strict=True):
        now = time.perf_counter()
        if isinstance(outcome, BadInput):
            journal.add(source, {"output": source, "others": [], "over_limit": True, "refused": str(outcome)})
        else:
            journal.add(source, record(source, outcome, asked.max_overlap, now - began))
        began = now


def acceptance(records: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The mean acceptance rate of each move, over the inputs in which it was tried."""
    rates: dict[str, list[float]] = {}
    for some in records:
        for move, rate in some.get("acceptance", {}).items():
            if rate is not None:
                rates.setdefault(move, []).append(rate)
    return {move: float(np.mean(some)) for move, some in rates.items()}


def kept(
    some: Sequence[str], records: Mapping[str, Mapping[str, Any]], vocabulary: Vocabulary
) -> tuple[FactReport, FactReport]:
    """What all answers kept, not only the best; and the same with unknown words for names.

    The data has no capitals: a name is a word that the vocabulary knows with capitals only. A word that it does not
    know is often one too, and as often a plain word that is rare or misspelled.
    """
    pairs = [(source, line) for source in some for line in (records[source]["output"], *records[source]["others"])]
    return (
        check_facts(pairs, lambda word: word not in vocabulary.ids and bool(vocabulary.casings(word))),
        check_facts(pairs, lambda word: not vocabulary.casings(word) and NAME.fullmatch(word) is not None),
    )


def row(name: str, scores: Scores, nll: float | None) -> str:
    return (
        f"{name:10}{scores.bleu_ref:9.2f}{scores.bleu_ori:10.2f}{scores.ibleu:7.2f}"
        f"{scores.sentence_bleu_ref:12.2f}{scores.sentence_bleu_ori:10.2f}{scores.mean_length:8.1f}{scores.copies:8.1%}"
        + ("" if nll is None else f"{nll:7.3f}")
    )


def wanted(args: argparse.Namespace) -> tuple[ParaphraseInput, Settings]:
    """What every source is asked for, and how it is answered: the preset, and over it what was given."""
    paper = args.preset == "paper"
    given = {name: value for name, value in vars(args).items() if value is not None}
    asked = {name: given[name] for name in INPUT_OPTIONS if name in given}
    settings = {name: given[name] for name in SETTINGS if name in given}
    return (
        ParaphraseInput("", **{**(ParaphraseInput.paper if paper else {}), **asked}),
        replace(ParaphraseInput.paper_defaults if paper else ParaphraseInput.defaults, **settings),
    )


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--limit", type=int, help="pairs, drawn at random; the same ones for every --seed")
    parser.add_argument("--match", action="append", help="as in cgmh paraphrase; may be given several times")
    parser.add_argument("--max-overlap", type=float)
    parser.add_argument("--difference", type=float, help="power of 1 - overlap in the target")
    parser.add_argument("--preset", choices=["default", "paper"], default="default")
    parser.add_argument("--start", choices=STARTS)
    parser.add_argument("--gibbs", action=argparse.BooleanOptionalAction, help="step by the paper's kernel, or by ours")
    parser.add_argument("--n", type=int)
    parser.add_argument("--chains", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--select", choices=RULES)
    parser.add_argument("--anneal", action="store_true", default=None)
    parser.add_argument("--model", help="a name or a path; the embedded one unless given")
    parser.add_argument("--big")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--judge", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "paraphrase.json")
    parser.add_argument("--resume", action="store_true", help="go on with the .jsonl beside --out")
    args = parser.parse_args()
    args.match = tuple(args.match) if args.match else None
    return args


def report(pairs: Sequence[Pair], records: Mapping[str, Mapping[str, Any]], judge: NgramJudge | None) -> dict[str, Any]:
    """Every number, and the table of them on stdout."""
    systems = {
        "copy": [pair.source for pair in pairs],
        "people": [pair.reference for pair in pairs],
        "ours": [records[pair.source]["output"] for pair in pairs],
    }
    head = (
        f"{'':10}{'BLEU-ref':>9}{'BLEU-ori':>10}{'iBLEU':>7}{'mean s-ref':>12}{'s-ori':>10}{'tokens':>8}{'copies':>8}"
    )
    print(head + ("" if judge is None else f"{'NLL':>7}"))
    rows = {}
    for name, lines in systems.items():
        scores = measure(lines, pairs)
        nll = None if judge is None else float(judge.nll([as_question(line) for line in lines]).mean())
        print(row(name, scores, nll))
        rows[name] = {**asdict(scores), "nll": nll}
    distinct = [records[source] for source in sources(pairs)]
    rates = acceptance(distinct)
    seconds = float(np.mean([some["seconds"] for some in distinct if "seconds" in some] or [0]))
    over = float(np.mean([some["over_limit"] for some in distinct]))
    refused = sum("refused" in some for some in distinct)
    print("acceptance  " + "  ".join(f"{move} {rate:.1%}" for move, rate in rates.items()))
    print(f"{seconds:.2f} s a sentence; none under the limit for {over:.1%}; {refused} refused")
    return {
        "rows": rows, "acceptance": rates, "seconds_per_sentence": seconds, "over_limit": over, "refused": refused,
    }  # fmt: skip


def _shown(value: Any) -> str:
    return ("+".join(value) or "none") if isinstance(value, tuple) else str(value)


def main() -> int:
    args = parse()
    pairs = sample(read_pairs(args.pairs), args.limit)
    some = sources(pairs)
    judge = NgramJudge.load(args.judge) if args.judge else None
    measure([pair.source for pair in pairs[:1]], pairs[:1])  # a missing sacrebleu is known before the long part
    asked, settings = wanted(args)
    small = open_model(args.model, args.device, "float32")
    big = open_model(args.big, args.device) if args.big else None
    about = {"preset": args.preset, **{name: value for name, value in asdict(asked).items() if name != "text"}}
    run = {**about, **{name: getattr(settings, name) for name in SETTINGS}}
    run |= {name: getattr(args, name) for name in ("model", "big", "device")}
    journal = Journal(args.out.with_suffix(".jsonl"), run, resume=args.resume)
    answer(some, small, big, journal, asked, settings)
    found = report(pairs, journal.records, judge)
    facts, terms = kept(some, journal.records, words_of(small).vocabulary)
    for kind in KINDS:
        print("{0:10}{kept} of {expected} kept, {added} added".format(kind, **facts.counts(kind)))
    print(f"{'unknown':10}{terms.kept['names']} of {terms.expected['names']} words kept")
    for failure in [*facts.lost, *facts.added][:SHOWN]:
        print(json.dumps(asdict(failure), ensure_ascii=False))
    line = next((other["signature"] for source in some if "signature" in (other := journal.records[source])), "")
    line += "".join(f" | {name} {_shown(value)}" for name, value in about.items())
    line += f" | {len(pairs)} pairs, {len(some)} sources of {args.pairs.name} | {found['rows']['ours']['signature']}"
    line += f" | {judge.signature}" if judge else ""
    print(line)
    # Counts only: the sentences, which belong to the data set, stay in the journal.
    whole = {"signature": line, **found, "facts": facts.to_dict(), "unknown_words": terms.counts("names")}
    args.out.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if facts.is_clean else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CgmhError as error:
        sys.exit(f"paraphrase: {error}")
