"""F0.5 of corrections against what annotators marked, both in the format M2.

    grep '^S ' GOLD.m2 | cut -c 3- | cgmh correct --m2 > answers.m2
    python benchmarks/f_score.py answers.m2 GOLD.m2 --types

The sentences of a gold file are tokenised, one per line; `cgmh correct --m2` keeps such tokens. Edits are compared by
their spans, as ERRANT does, and by maximum match, as the M2 scorer of the CoNLL tasks does; see
src/cgmh/evaluation/f_score.py. Instead of a gold file, --set takes a set of corrections: a folder with source, ref0,
ref1 ..., or the beginning of the names of such files. Its edits are read off an alignment of ours, so the types are
missing, and the figure by spans cannot be compared with one of a file that people or ERRANT marked.
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from cgmh.errors import BadInput, CgmhError
from cgmh.evaluation.corrections import operations, read_corrections
from cgmh.evaluation.f_score import Counts, score_m2
from cgmh.text.m2 import M2Edit, M2Sentence, read_m2


def read(path: Path) -> list[M2Sentence]:
    try:
        return read_m2(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: cannot be read ({error})") from error


def aligned(source: tuple[str, ...], reference: tuple[str, ...]) -> tuple[M2Edit, ...]:
    """The edits from a source to a reference; operations on neighbouring tokens are one edit."""
    edits: list[tuple[int, int, list[str]]] = []
    for step in operations(source, reference).elements():
        if edits and edits[-1][1] == step.start:
            start, _, tokens = edits.pop()
            edits.append((start, step.end, [*tokens, *step.replacement]))
        else:
            edits.append((step.start, step.end, list(step.replacement)))
    return tuple(M2Edit(start, end, "edit", (" ".join(tokens),)) for start, end, tokens in edits)


def gold_of(where: Path, answers: list[M2Sentence]) -> list[M2Sentence]:
    """The references of a set as annotators, for those of its sentences that were answered, in their order."""
    whole = read_corrections(where)
    references = {tuple(text.split()): some for text, some in zip(whole.sources, whole.references, strict=True)}
    missing = [block for block in answers if block.tokens not in references]
    if missing:
        raise BadInput(f"{where}: has no sentence {' '.join(missing[0].tokens)!r}; give the set that was answered")
    return [
        M2Sentence(
            block.tokens,
            {at: aligned(block.tokens, tuple(text.split())) for at, text in enumerate(references[block.tokens])},
        )
        for block in answers
    ]


def show(name: str, counts: Counts) -> None:
    print(
        f"{name:14}{counts.right:7}{counts.wrong:7}{counts.missing:9}"
        f"{counts.precision:11.4f}{counts.recall:9.4f}{counts.f_score():9.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path, metavar="ANSWERS.m2")
    parser.add_argument("gold", type=Path, nargs="?", metavar="GOLD.m2")
    parser.add_argument("--set", type=Path, metavar="PREFIX_OR_FOLDER", help="references in place of a gold file")
    parser.add_argument("--types", action="store_true", help="also the scores of each type of edit")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write the counts there, too")
    args = parser.parse_args()
    if (args.gold is None) == (args.set is None):
        parser.error("give a gold file, or --set")
    answers = read(args.answers)
    gold = read(args.gold) if args.gold else gold_of(args.set, answers)
    print(f"{len(answers)} sentences")
    print(f"{'':14}{'right':>7}{'wrong':>7}{'missing':>9}{'precision':>11}{'recall':>9}{'F0.5':>9}")
    found = {}
    for name, max_match in (("spans", False), ("maximum match", True)):
        scores = score_m2(answers, gold, max_match=max_match)
        show(name, scores.total)
        for type, counts in scores.types.items() if args.types else ():
            show(f"  {type}", counts)
        found[name] = {**asdict(scores), "f0.5": scores.total.f_score()}
    if args.out:
        args.out.write_text(json.dumps({"sentences": len(answers), **found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"f_score: {error}")
