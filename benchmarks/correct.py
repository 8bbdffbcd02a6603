"""Corrections of learners' sentences: GLEU with what people wrote, how often edits are right, and how fast it goes.

    python benchmarks/correct.py --set jfleg/dev --limit 200 --plot calibration.svg

The set is a folder with source, ref0, ref1 ..., or the beginning of the names of such files: DIR/dev for DIR/dev.src,
DIR/dev.ref0 ... A sentence is answered once, however often it is there. Beside the answers stand the untouched source
and, if there is a DIR/dev.spellchecked.src, that. --correct-references feeds people's corrections, which should stay
as they are. Writes benchmarks/results/correct.json, and beside it a .jsonl as it goes: --resume goes on with that one.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from cgmh.api import solve
from cgmh.choice import as_model
from cgmh.errors import BadInput, CgmhError
from cgmh.evaluation.corrections import (
    Bin,
    CorrectionSet,
    calibration,
    calibration_error,
    plot_calibration,
    read_corrections,
    read_edits,
    sample_corrections,
    spread_references,
)
from cgmh.evaluation.gleu import DRAWS, gleu
from cgmh.evaluation.journal import Journal
from cgmh.settings import RULES

PRESETS = ("default", "paper")


@dataclass(frozen=True)
class Answer:
    """What came of one text: the correction, its words, and its edits as `--json` prints them."""

    text: str
    words: Sequence[str]
    edits: Sequence[Mapping[str, Any]]
    signature: str = ""
    refused: str = ""


def correct(texts: Sequence[str], preset: str, args: argparse.Namespace) -> Iterator[Answer]:
    """The answers to the texts in their order, all of them solved together; what is refused stays as it is."""
    from cgmh.settings import CORRECT, PAPER_CORRECT
    from cgmh.tasks import Correct, CorrectInput

    model = as_model(args.model)
    given = {} if args.threshold is None else {"threshold": args.threshold}
    chosen = {"seed": args.seed} if args.rule is None else {"seed": args.seed, "select": args.rule}
    settings = replace(PAPER_CORRECT if preset == "paper" else CORRECT, **chosen)
    refused: dict[str, str] = {}
    for text in texts:
        try:
            Correct().check([CorrectInput(text, **given)], model)
        except BadInput as error:
            refused[text] = str(error)
    inputs = [CorrectInput(text, **given) for text in texts if text not in refused]
    results = solve(Correct(), inputs, settings, model=model, progress=True)
    for text in texts:
        if text in refused:
            yield Answer(text, text.split(), (), refused=refused[text])
        else:
            result = next(results)
            edits = [edit.to_dict() for edit in result.best.edits]
            yield Answer(result.best.text, result.best.words, edits, signature=result.signature)


def answer(texts: Sequence[str], journal: Journal, args: argparse.Namespace) -> None:
    """Answer the texts that the journal lacks, and write each answer down as it comes."""
    missing = [text for text in dict.fromkeys(texts) if text not in journal.records]
    began = time.perf_counter()
    for text, given in zip(missing, correct(missing, args.preset, args), strict=True):
        now = time.perf_counter()
        journal.add(text, {**asdict(given), "seconds": round(now - began, 4)})
        began = now


def totals(texts: Sequence[str], records: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """How much was changed in the texts, and how long that took."""
    distinct = [records[text] for text in dict.fromkeys(texts)]
    num_edits = sum(len(records[text]["edits"]) for text in texts)
    seconds = sum(some["seconds"] for some in distinct)
    return {
        "sentences": len(texts),
        "changed": sum(records[text]["text"] != text for text in texts) / len(texts),
        "edits_per_sentence": num_edits / len(texts),
        "edits_per_word": num_edits / sum(len(text.split()) for text in texts),
        "refused": sum(bool(some["refused"]) for some in distinct),
        "seconds": round(seconds, 2),
        "sentences_per_second": len(distinct) / max(seconds, 1e-9),
    }


def scores(corrections: CorrectionSet, outputs: Sequence[str]) -> dict[str, float]:
    """GLEU of the answers, and of what there was before them."""
    sources = [text.split() for text in corrections.sources]
    references = [[text.split() for text in some] for some in corrections.references]
    systems = {"source": corrections.sources, "spellchecked": corrections.spellchecked, "ours": outputs}
    return {
        name: gleu(sources, [text.split() for text in texts], references)
        for name, texts in systems.items()
        if texts is not None
    }


def report(corrections: CorrectionSet, records: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Any], list[Bin]]:
    """Every number of the set, printed; and the edits by their probability."""
    texts = corrections.sources
    found = scores(corrections, [records[text]["text"] for text in texts])
    for name, value in found.items():
        print(f"GLEU {name:14}{value:6.2f}")
    about = totals(texts, records)
    show(about)
    bins = calibration([read_edits(records[text]["edits"]) for text in texts], texts, corrections.references)
    num_edits = sum(some.num_edits for some in bins)
    right = sum(some.num_found for some in bins) / num_edits if bins else None
    error = calibration_error(bins) if bins else None
    if bins:
        print(f"{right:.1%} of {num_edits} edits are in some reference; expected calibration error {error:.3f}")
    for some in bins:
        print(f"  {some.low:.1f}-{some.high:.1f}{some.num_edits:7} edits{some.share:8.1%} right")
    rows = [{**asdict(some), "share": some.share} for some in bins]
    return {"gleu": found, **about, "edits_right": right, "calibration_error": error, "calibration": rows}, bins


def show(about: Mapping[str, Any]) -> None:
    print(
        "{changed:.1%} of {sentences} changed; {edits_per_sentence:.2f} edits a sentence, {edits_per_word:.3f} a word; "
        "{refused} refused\n{seconds:.1f} s, {sentences_per_second:.2f} sentences/s".format(**about)
    )


def speed(texts: Sequence[str], args: argparse.Namespace) -> dict[str, Any]:
    """Sentences a second of the default and of the paper's settings, one after the other on the same sentences."""
    rates: dict[str, float] = {}
    for preset in PRESETS:
        list(correct(texts[:1], preset, args))  # models are loaded before the clock starts
        began = time.perf_counter()
        list(correct(texts, preset, args))
        rates[preset] = len(texts) / (time.perf_counter() - began)
        print(f"{preset:10}{rates[preset]:10.3f} sentences/s over the first {len(texts)}")
    ratio = rates["default"] / rates["paper"]
    print(f"ratio of the default to the paper: {ratio:.1f}")
    return {"sentences": len(texts), "sentences_per_second": rates, "ratio": ratio}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, required=True, metavar="PREFIX_OR_FOLDER")
    parser.add_argument("--limit", type=int, help="sentences, drawn at random; the same ones for every --seed")
    parser.add_argument("--model", help="a name or a path; the embedded one unless given")
    parser.add_argument("--rule", choices=RULES, help="which of the samples is shown")
    parser.add_argument("--threshold", type=float, help="probability that an edit must have to be made")
    parser.add_argument("--preset", choices=PRESETS, default="default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--correct-references", type=int, metavar="N", help="feed N references too, all different")
    parser.add_argument("--speed", type=int, metavar="N", help="time the first N sentences beside the paper's settings")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a figure of the calibration, .svg or .png")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "correct.json")
    parser.add_argument("--resume", action="store_true", help="go on with the .jsonl beside --output")
    args = parser.parse_args()
    if args.speed is not None and args.speed < 1:
        parser.error(f"--speed {args.speed}: at least one sentence is needed")
    return args


def main() -> None:
    args = parse()
    whole = read_corrections(args.set)
    corrections = sample_corrections(whole, args.limit)
    people = [] if args.correct_references is None else spread_references(whole, args.correct_references)
    if args.plot:
        plot_calibration([], args.plot)  # a missing matplotlib is known before the long part
    run = {name: getattr(args, name) for name in ("preset", "model", "rule", "threshold", "seed")}
    journal = Journal(args.output.with_suffix(".jsonl"), run, resume=args.resume)
    answer([*corrections.sources, *people], journal, args)
    found, bins = report(corrections, journal.records)
    if people:
        print("people's corrections:")
        found["references"] = totals(people, journal.records)
        show(found["references"])
    if args.speed is not None:
        found["speed"] = speed(corrections.sources[: args.speed], args)
    line = next((some["signature"] for some in journal.records.values() if some["signature"]), "")
    line += f" | preset {args.preset} | {len(corrections.sources)} sentences of {args.set.name}"
    line += f" | GLEU draws {DRAWS}, seed 0, references {len(corrections.references[0])}"
    print(line)
    # Counts only: the sentences, which belong to the data set, stay in the journal.
    args.output.write_text(
        json.dumps({"signature": line, **found}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    if args.plot:
        plot_calibration(bins, args.plot)


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"correct: {error}")
