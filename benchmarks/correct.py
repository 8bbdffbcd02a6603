"""Corrections of learners' sentences: GLEU with what people wrote, how often edits are right, and how fast it goes.

    python benchmarks/correct.py --set jfleg/dev --limit 200 --plot calibration.svg

The set is a folder with source, ref0, ref1 ..., or the beginning of the names of such files: DIR/dev for DIR/dev.src,
DIR/dev.ref0 ... The texts are tokenised: GLEU splits them, and the answers, at blanks. A sentence is answered once,
however often it is there. Beside the answers stand the untouched source and, if there is a DIR/dev.spellchecked.src,
that. --correct-references feeds people's corrections, which should stay as they are. Writes
benchmarks/results/correct.json, and beside it a .jsonl as it goes: --resume goes on with that one.

A run takes one core. For two, answer the halves at the same time, then put them together:

    python benchmarks/correct.py --set jfleg/dev --part 1/2 &
    python benchmarks/correct.py --set jfleg/dev --part 2/2 & wait
    python benchmarks/correct.py --set jfleg/dev --merge benchmarks/results/correct-[12]of2.jsonl
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cgmh.api import solve_each
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
from cgmh.evaluation.journal import Journal
from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_models, open_model
from cgmh.settings import Settings
from cgmh.text.gleu import DRAWS, gleu

SETTINGS = ("steps", "chains", "seed", "temperature", "select", "threshold")
Record = Mapping[str, Any]


def correct(texts: Sequence[str], settings: Settings, models: Models, *, paper: bool) -> Iterator[Record]:
    """What came of each text, in their order, all of them sampled together; what is refused stays as it is."""
    inputs = [CorrectInput(text, paper=paper) for text in texts]
    outcomes = solve_each(inputs, settings, model=models.words, big=models.text, progress=True)
    for text, outcome in zip(texts, outcomes, strict=True):
        if isinstance(outcome, BadInput):
            yield {"text": text, "edits": [], "doubtful": [], "refused": str(outcome)}
        else:
            record = outcome.to_dict()
            yield {"text": outcome.best.text, **{name: record[name] for name in ("edits", "doubtful", "signature")}}


def answer(texts: Sequence[str], journal: Journal, settings: Settings, models: Models, *, paper: bool) -> None:
    """Answer the texts that the journal lacks, and write each answer down as it comes."""
    missing = [text for text in texts if text not in journal.records]
    began = time.perf_counter()
    for text, record in zip(missing, correct(missing, settings, models, paper=paper), strict=True):
        now = time.perf_counter()
        journal.add(text, {**record, "seconds": round(now - began, 4)})
        began = now


def merged(paths: Sequence[Path], run: Mapping[str, Any]) -> dict[str, Record]:
    """What several journals have, which must be of the same kind of run."""
    found: dict[str, Record] = {}
    for path in paths:
        if not path.is_file():
            raise BadInput(f"{path}: no such journal; --merge takes what --part wrote")
        found |= Journal(path, run, resume=True).records
    return found


def totals(texts: Sequence[str], records: Mapping[str, Record]) -> dict[str, Any]:
    """How much was changed in the texts, and how long that took."""
    distinct = [records[text] for text in dict.fromkeys(texts)]
    num_edits = sum(len(records[text]["edits"]) for text in texts)
    seconds = sum(some["seconds"] for some in distinct)
    return {
        "sentences": len(texts),
        "changed": sum(records[text]["text"] != text for text in texts) / len(texts),
        "edits_per_sentence": num_edits / len(texts),
        "edits_per_word": num_edits / sum(len(text.split()) for text in texts),
        "refused": sum("refused" in some for some in distinct),
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


def judged(
    corrections: CorrectionSet, records: Mapping[str, Record], kinds: Sequence[str], by: str = "probability"
) -> list[Bin]:
    """The edits of some kinds, made or doubtful, by their probability, or by their share of the samples."""
    texts = corrections.sources
    edits = [read_edits([edit for kind in kinds for edit in records[text][kind]]) for text in texts]
    edits = [[replace(edit, probability=getattr(edit, by)) for edit in some] for some in edits]
    return calibration(edits, texts, corrections.references)


def report(corrections: CorrectionSet, records: Mapping[str, Record]) -> tuple[dict[str, Any], list[Bin]]:
    """Every number of the set, printed; and all edits, made or not, by their probability."""
    texts = corrections.sources
    found = scores(corrections, [records[text]["text"] for text in texts])
    for name, value in found.items():
        print(f"GLEU {name:14}{value:6.2f}")
    about = totals(texts, records)
    show(about)
    same = sum(records[text]["text"] in some for text, some in zip(texts, corrections.references, strict=True))
    print(f"{same / len(texts):.1%} of the answers are what some person wrote")
    made, bins = judged(corrections, records, ["edits"]), judged(corrections, records, ["edits", "doubtful"])
    num_made = sum(some.num_edits for some in made)
    right = sum(some.num_found for some in made) / num_made if made else None
    error = calibration_error(bins) if bins else None
    raw = calibration_error(judged(corrections, records, ["edits", "doubtful"], by="share")) if bins else None
    if made:
        print(f"{right:.1%} of the {num_made} edits made are in some reference")
    if bins:
        print(f"all edits, made or not: expected calibration error {error:.3f}, of the shares {raw:.3f}")
    for some in bins:
        print(f"  {some.low:.1f}-{some.high:.1f}{some.num_edits:7} edits{some.share:8.1%} right")
    rows = [{**asdict(some), "share": some.share} for some in bins]
    about["as_some_reference"] = same / len(texts)
    errors = {"calibration_error": error, "calibration_error_of_shares": raw}
    return {"gleu": found, **about, "edits_right": right, **errors, "calibration": rows}, bins


def show(about: Mapping[str, Any]) -> None:
    print(
        "{changed:.1%} of {sentences} changed; {edits_per_sentence:.2f} edits a sentence, {edits_per_word:.3f} a word; "
        "{refused} refused\n{seconds:.1f} s, {sentences_per_second:.2f} sentences/s of one process".format(**about)
    )


def speed(texts: Sequence[str], num_paper: int, models: Models) -> dict[str, Any]:
    """Sentences a second with the default settings and then with the paper's search, on the same sentences."""
    runs = {
        "default": (texts, CorrectInput.defaults, models),
        "paper": (texts[:num_paper], CorrectInput.paper_defaults, Models(models.words)),
    }
    rates: dict[str, float] = {}
    for name, (some, settings, used) in runs.items():
        list(correct(some[:1], settings, used, paper=name == "paper"))  # tables are loaded before the clock starts
        began = time.perf_counter()
        list(correct(some, settings, used, paper=name == "paper"))
        rates[name] = len(some) / (time.perf_counter() - began)
        print(f"{name:10}{rates[name]:10.3f} sentences/s over the first {len(some)} of the set, one run")
    ratio = rates["default"] / rates["paper"]
    print(f"ratio of the default to the paper: {ratio:.1f}")
    counts = {name: len(some) for name, (some, _, _) in runs.items()}
    return {"sentences": counts, "sentences_per_second": rates, "ratio": ratio}


def _part(text: str) -> tuple[int, int]:
    number, _, total = text.partition("/")
    if not (number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total)):
        raise argparse.ArgumentTypeError(f"{text}: give K/N, the K-th of N parts")
    return int(number), int(total)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, required=True, metavar="PREFIX_OR_FOLDER")
    parser.add_argument("--limit", type=int, help="sentences, drawn at random; the same ones for every --seed")
    parser.add_argument("--preset", choices=["default", "paper"], default="default")
    parser.add_argument("--threshold", type=float, help="probability that an edit must have to be made")
    parser.add_argument("--select", choices=CorrectInput.rules, help="which of the samples is shown")
    parser.add_argument("--chains", type=int)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--temperature", type=float)
    parser.add_argument("--model", help="a name or a path; the embedded one unless given")
    parser.add_argument("--big", metavar="MODEL", help="a big model as the target, such as smollm2")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--correct-references", type=int, metavar="N", help="feed N references too, all different")
    parser.add_argument("--speed", type=int, metavar="N", help="time the first N sentences beside the paper's search")
    parser.add_argument("--speed-paper", type=int, metavar="N", help="and that, which is slow, on the first N of them")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a figure of the calibration, .svg or .png")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "correct.json")
    parser.add_argument("--resume", action="store_true", help="go on with the .jsonl beside --out")
    parser.add_argument("--part", type=_part, metavar="K/N", help="answer this part alone, into a .jsonl beside --out")
    parser.add_argument("--merge", type=Path, nargs="+", default=[], metavar="FILE", help="take over what parts wrote")
    args = parser.parse_args()
    for name in ("speed", "speed_paper"):
        if (value := getattr(args, name)) is not None and value < 1:
            parser.error(f"--{name.replace('_', '-')} {value}: at least one sentence is needed")
    return args


def opened(args: argparse.Namespace) -> Models:
    """The models, on the device; a big one may also come as the model."""
    big = open_model(args.big, args.device, "float32") if args.big else None
    return load_models(open_model(args.model, args.device, "float32"), big, uses=CorrectInput.uses)


def main() -> None:
    args = parse()
    whole = read_corrections(args.set)
    corrections = sample_corrections(whole, args.limit)
    people = [] if args.correct_references is None else spread_references(whole, args.correct_references)
    if args.plot:
        plot_calibration({}, args.plot)  # a missing matplotlib is known before the long part
    paper, models = args.preset == "paper", opened(args)
    given = {name: value for name in SETTINGS if (value := getattr(args, name)) is not None}
    settings = replace(CorrectInput.paper_defaults if paper else CorrectInput.defaults, **given)
    run = {name: getattr(args, name) for name in ("preset", "model", "big", "device")}
    run |= {name: getattr(settings, name) for name in SETTINGS}
    texts = list(dict.fromkeys([*corrections.sources, *people]))
    if args.part:
        number, total = args.part
        path = args.out.with_name(f"{args.out.stem}-{number}of{total}.jsonl")
        journal = Journal(path, run, resume=args.resume)
        answer(texts[number - 1 :: total], journal, settings, models, paper=paper)
        return
    parts = merged(args.merge, run)  # read before a journal is begun anew
    journal = Journal(args.out.with_suffix(".jsonl"), run, resume=args.resume)
    for text in [text for text in parts if text not in journal.records]:
        journal.add(text, parts[text])
    answer(texts, journal, settings, models, paper=paper)
    found, bins = report(corrections, journal.records)
    if people:
        print("people's corrections:")
        found["references"] = totals(people, journal.records)
        show(found["references"])
    if args.speed is not None:
        found["speed"] = speed(whole.sources[: args.speed], args.speed_paper or args.speed, models)
    line = next((some["signature"] for some in journal.records.values() if "signature" in some), "")
    line += f" | preset {args.preset} | {args.device} | {len(corrections.sources)} sentences of {args.set.name}"
    line += f" | GLEU draws {DRAWS}, seed 0, references {len(corrections.references[0])}"
    print(line)
    # Counts only: the sentences, which belong to the data set, stay in the journal.
    args.out.write_text(json.dumps({"signature": line, **found}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if args.plot:
        plot_calibration({"edits": bins}, args.plot)


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"correct: {error}")
