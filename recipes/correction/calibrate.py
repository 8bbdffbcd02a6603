"""The map from shares of samples to probabilities: how often edits of a share are right, on a development set.

    python recipes/correction/calibrate.py --set JFLEG/dev --beside FCE_DEV --plot docs/correction-calibration.svg
    python recipes/correction/calibrate.py --set JFLEG/dev --beside FCE_DEV --big gemma3-270m

Run it again whenever the weights of a model, the costs or the default settings of corrections change. The first set is
answered with the defaults, and each edit, made or doubtful, is judged: it is right if some reference contains it
(cgmh/evaluation/corrections.py). Kind, share and judgement of each go to RUNS/NAME.jsonl, so that fitting again takes a
second; --again answers anew. With --big, the map is for corrections beside that model. It goes to
cgmh/models/en/calibration.json, where maps of other models stay as they are. Printed is the expected calibration error
of the shares, of the map on what it was fitted to, and of maps fitted without the sentence that they are judged on; and
of the map on the second set.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from cgmh.api import solve_each
from cgmh.errors import BadInput, CgmhError
from cgmh.evaluation.corrections import (
    Bin,
    CorrectionSet,
    binned,
    calibration_error,
    calibration_svg,
    judged,
    read_corrections,
    sample_corrections,
)
from cgmh.evaluation.isotonic import NUM_FOLDS, Judged, Map, cross_fitted, fit_groups
from cgmh.evaluation.journal import Journal
from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_models
from cgmh.models.pull.store import EMBEDDED
from cgmh.tasks.correct.calibration import CALIBRATION, Calibration, models_named, write_calibration

GROUPS: Sequence[Sequence[str]] = ()  # of kinds that have a map of their own
SETTINGS = ("steps", "chains", "seed", "temperature")


def answered(corrections: CorrectionSet, models: Models) -> Iterator[list[list[Any]]]:
    """For each sentence, its edits: kind, share, and whether it is right."""
    texts, defaults = corrections.sources, CorrectInput.defaults
    inputs = [CorrectInput(text) for text in texts]
    outcomes = solve_each(inputs, defaults, model=models.words, big=models.text)
    for text, references, outcome in zip(texts, corrections.references, outcomes, strict=True):
        edits = [] if isinstance(outcome, BadInput) else [*(outcome.edits or ()), *outcome.doubtful]
        (own,) = judged([edits], [text], [references])
        yield [[edit.kind, round(edit.share, 6), is_right] for edit, is_right in own]


def collect(where: Path, limit: int | None, models: Models, runs: Path, *, again: bool) -> list[Judged]:
    """The judged edits of a set, from what is kept of an earlier run as far as there is one."""
    corrections = sample_corrections(read_corrections(where), limit)
    run = {"set": str(where), "limit": limit, "model": models_named(models)}
    run |= {name: getattr(CorrectInput.defaults, name) for name in SETTINGS}
    name = "-".join(["calibration", where.name, *([] if models.text is None else [models.text.name])])
    journal = Journal(runs / f"{name}.jsonl", run, resume=not again)
    missing = [at for at in range(len(corrections.sources)) if str(at) not in journal.records]
    rest = CorrectionSet([corrections.sources[at] for at in missing], [corrections.references[at] for at in missing])
    for at, edits in zip(missing, tqdm(answered(rest, models), total=len(missing), disable=not missing), strict=True):
        journal.add(str(at), {"edits": edits})
    return [
        Judged(int(number), *edit)
        for number, record in sorted(journal.records.items(), key=lambda item: int(item[0]))
        for edit in record["edits"]
    ]


def fit(edits: Sequence[Judged], models: Models) -> Calibration:
    return Calibration(models_named(models), CorrectInput.defaults.temperature, fit_groups(edits, GROUPS))


def short(where: Path) -> str:
    return "/".join(where.parts[-2:])


def show(name: str, edits: Sequence[Judged], probabilities: Sequence[float]) -> list[Bin]:
    rights = [edit.is_right for edit in edits]
    bins = binned(zip(probabilities, rights, strict=True))
    brier = sum((p - right) ** 2 for p, right in zip(probabilities, rights, strict=True)) / len(edits)
    print(f"{name:34}{len(edits):7} edits   calibration error {calibration_error(bins):.3f}   Brier {brier:.3f}")
    return bins


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", type=Path, required=True, metavar="PREFIX_OR_FOLDER")
    parser.add_argument("--limit", type=int, help="sentences, drawn at random")
    parser.add_argument("--beside", type=Path, metavar="PREFIX_OR_FOLDER", help="a second set, which is not fitted to")
    parser.add_argument("--limit-beside", type=int, default=700, help="sentences of it, drawn at random")
    parser.add_argument("--big", metavar="MODEL", help="beside the embedded model; such as gemma3-270m")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder of what is kept")
    parser.add_argument("--again", action="store_true", help="answer the sets anew, whatever is kept")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="a figure")
    parser.add_argument("--out", type=Path, default=EMBEDDED / CALIBRATION)
    args = parser.parse_args()
    models = load_models(None, args.big, uses=CorrectInput.uses)
    edits = collect(args.set, args.limit, models, args.runs, again=args.again)
    others = collect(args.beside, args.limit_beside, models, args.runs, again=args.again) if args.beside else []
    found = fit(edits, models)

    def fitted(some: Sequence[Judged]) -> Map:
        return fit(some, models).probability

    show(f"{short(args.set)}: shares", edits, [edit.share for edit in edits])
    show(f"{short(args.set)}: the map", edits, [found.probability(edit.share, edit.kind) for edit in edits])
    crossed = show(f"{short(args.set)}: out of {NUM_FOLDS} folds", edits, cross_fitted(edits, fitted))
    for part in crossed:
        print(f"  {part.low:.1f}-{part.high:.1f}{part.num_edits:7} edits{part.share:8.1%} right")
    sets = {f"{short(args.set)}, out of fold": crossed}
    if others:
        show(f"{short(args.beside)}: shares", others, [edit.share for edit in others])
        mapped = [found.probability(edit.share, edit.kind) for edit in others]
        sets[short(args.beside)] = show(f"{short(args.beside)}: that map", others, mapped)
    write_calibration(found, args.out)
    if args.plot:
        args.plot.write_text(calibration_svg(sets), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"calibrate: {error}")
