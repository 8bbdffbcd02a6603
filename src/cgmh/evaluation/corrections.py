"""Corrections against what people wrote: sets of learners' sentences, and how well the probabilities of edits hold.

Texts are compared token by token as they stand, split at blanks, casing kept. What turns one into another is a bag of
*operations* on single tokens: replace one, delete one, insert one at a gap. They are read off the cheapest alignment:
inserting and deleting cost 1 each, replacing costs 1 to 1.9, the less the more two words have in common at their ends,
and next to nothing where only casing differs; tokens that are equal are matched as early as can be. A reference
*contains* an edit if the operations of the text with that edit alone are among its own: "price" -> "prices are" is in
one that writes "prices are", and so are "price" -> "prices" and the insertion of "are" after it, each by itself.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..text.edits import Edit, Words
from ..text.m2 import M2Edit, M2Sentence
from ..training.corpus import read_lines
from .datasets import sample
from .plots import empty_drawing, to_svg

NUM_BINS = 10
_EDGES = [at / NUM_BINS for at in range(NUM_BINS)]
# Costs are whole numbers, so that equal ones are equal.
_INSERT = _DELETE = 100
_RECASE = 10
_MIN_REPLACE, _MAX_REPLACE = 100, 190
_FIELDS = ("start", "end", "original", "replacement", "kind", "probability", "share")


@dataclass(frozen=True)
class CorrectionSet:
    """Sentences, for each the corrections that people wrote, and, where there are some, those of a spelling checker."""

    sources: list[str]
    references: list[list[str]]  # one list for each sentence, the annotators in the same order
    spellchecked: list[str] | None = None


@dataclass(frozen=True)
class Bin:
    """How many edits have a probability of at least `low` and below `high` (or 1), and how many of these are right.

    An edit is right if one of the references contains it.
    """

    low: float
    high: float
    num_edits: int
    num_found: int
    mean_probability: float

    @property
    def share(self) -> float:
        return self.num_found / self.num_edits


def read_corrections(where: Path | str) -> CorrectionSet:
    """A set in files of one sentence per line: PREFIX.src and PREFIX.ref0, PREFIX.ref1 ..., as JFLEG has them.

    There may be a PREFIX.spellchecked.src. Instead of a prefix, `where` may be a folder with source and ref0, ref1 ...
    """
    where = Path(where)
    folder, prefix = (where, "") if where.is_dir() else (where.parent, f"{where.name}.")
    source = f"{prefix}src" if prefix else "source"
    if not (folder / source).is_file():
        raise BadInput(
            f"{where}: no set of corrections, for there is no file {folder / source}; give a folder with source, ref0, "
            "ref1 ..., or the beginning of the names of such files: DIR/dev for DIR/dev.src, DIR/dev.ref0 ..."
        )
    sources = _read(folder / source)
    columns: list[list[str]] = []
    while (path := folder / f"{prefix}ref{len(columns)}").is_file():
        columns.append(_read(path, like=(source, len(sources))))
    if not columns:
        raise BadInput(f"{where}: no references; there must be at least {path}")
    checked = folder / f"{prefix}spellchecked.src"
    spellchecked = _read(checked, like=(source, len(sources))) if checked.is_file() else None
    return CorrectionSet(sources, [list(texts) for texts in zip(*columns, strict=True)], spellchecked)


def sample_corrections(corrections: CorrectionSet, num_sentences: int | None, seed: int = 0) -> CorrectionSet:
    """`num_sentences` of the sentences, drawn at random, in their order; a smaller sample is part of a larger one."""
    chosen = sample(range(len(corrections.sources)), num_sentences, seed)
    checked = corrections.spellchecked
    return CorrectionSet(
        [corrections.sources[at] for at in chosen],
        [corrections.references[at] for at in chosen],
        checked and [checked[at] for at in chosen],
    )


def spread_references(corrections: CorrectionSet, num_texts: int) -> list[str]:
    """Distinct references: the first annotator's, spread evenly over the set, then the second's, and so on."""
    if num_texts < 1:
        raise BadInput(f"{num_texts} references; at least one is needed")
    chosen: dict[str, None] = {}
    for column in zip(*corrections.references, strict=True):
        fresh = [text for text in dict.fromkeys(column) if text not in chosen]
        wanted = min(num_texts - len(chosen), len(fresh))
        chosen |= dict.fromkeys(fresh[at * len(fresh) // wanted] for at in range(wanted))
    if len(chosen) < num_texts:
        raise BadInput(f"{num_texts} references: the set has {len(chosen)} distinct ones; ask for no more than that")
    return list(chosen)


def operations(source: Sequence[str], target: Sequence[str]) -> Counter[Edit[Words]]:
    """The operations that turn the source into the target: edits of at most one token into at most one token."""
    return Counter(_steps(source, target))


def _steps(source: Sequence[str], target: Sequence[str]) -> list[Edit[Words]]:
    """The same in their order; several insertions at one gap follow one another."""
    # The cheapest way from each pair of places to both ends, and its first step: tokens of the source and the target.
    # Of ways that cost the same, the one that goes on in both comes first, then the one that deletes.
    best: list[list[tuple[int, int, int]]] = [[(0, 0, 0)] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in reversed(range(len(source) + 1)):
        for j in reversed(range(len(target) + 1)):
            ways = []
            if i < len(source) and j < len(target):
                ways.append((best[i + 1][j + 1][0] + _replacing(source[i], target[j]), 1, 1))
            if i < len(source):
                ways.append((best[i + 1][j][0] + _DELETE, 1, 0))
            if j < len(target):
                ways.append((best[i][j + 1][0] + _INSERT, 0, 1))
            if ways:
                best[i][j] = min(ways, key=lambda way: way[0])
    steps: list[Edit[Words]] = []
    i = j = 0
    while i < len(source) or j < len(target):
        _, taken, put = best[i][j]
        if not (taken and put and source[i] == target[j]):
            steps.append(Edit(i, i + taken, tuple(source[i : i + taken]), tuple(target[j : j + put])))
        i, j = i + taken, j + put
    return steps


def edit_operations(text: str, edit: Edit[str]) -> Counter[Edit[Words]]:
    """What one edit of characters does to the tokens of a text; nothing, if it only moves blanks."""
    if not 0 <= edit.start <= edit.end <= len(text) or text[edit.start : edit.end] != edit.original:
        raise BadInput(
            f"an edit of characters {edit.start} to {edit.end} says that {edit.original!r} stands there; "
            f"in {text!r} it does not: give the text that the edits were made for"
        )
    return operations(text.split(), (text[: edit.start] + edit.replacement + text[edit.end :]).split())


def aligned(source: str, texts: Sequence[str]) -> M2Sentence:
    """A sentence with what each text makes of it, as if its writer had marked it: an annotator for each text.

    Operations on neighbouring tokens are one edit.
    """
    tokens = tuple(source.split())
    edits = {at: tuple(_joined(_steps(tokens, text.split()))) for at, text in enumerate(texts)}
    return M2Sentence(tokens, edits)


def _joined(steps: Sequence[Edit[Words]]) -> Iterator[M2Edit]:
    waiting: list[Edit[Words]] = []
    for step in [*steps, None]:  # None is the end
        if waiting and (step is None or step.start != waiting[-1].end):
            text = " ".join(word for each in waiting for word in each.replacement)
            yield M2Edit(waiting[0].start, waiting[-1].end, "edit", (text,))
            waiting.clear()
        waiting += [] if step is None else [step]


def read_edits(records: Sequence[Mapping[str, Any]]) -> list[Edit[str]]:
    """The edits of a text as `--json` prints them."""
    try:
        return [Edit(**{name: record[name] for name in _FIELDS}) for record in records]
    except (KeyError, TypeError) as error:
        raise BadInput(f"not a list of edits ({error!r}); give what stands under `edits` in the JSON") from error


def judged(
    edits: Sequence[Sequence[Edit[str]]], sources: Sequence[str], references: Sequence[Sequence[str]]
) -> list[list[tuple[Edit[str], bool]]]:
    """For each sentence its edits, each with whether it is right; an edit that changes no token is left out."""
    found = []
    for of_source, source, texts in zip(edits, sources, references, strict=True):
        wanted = [operations(source.split(), text.split()) for text in texts] if of_source else []
        own = [(edit, edit_operations(source, edit)) for edit in of_source]
        found.append([(edit, any(bag <= other for other in wanted)) for edit, bag in own if bag])
    return found


def calibration(
    edits: Sequence[Sequence[Edit[str]]], sources: Sequence[str], references: Sequence[Sequence[str]]
) -> list[Bin]:
    """The edits of all the sentences in bins of probability; an edit that changes no token counts nowhere."""
    each = judged(edits, sources, references)
    return binned([(edit.probability, is_right) for some in each for edit, is_right in some])


def binned(edits: Iterable[tuple[float, bool]]) -> list[Bin]:
    """Edits, each with its probability and whether it is right, in bins 0.1 wide; those without edits are left out."""
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(NUM_BINS)]
    for probability, is_right in edits:
        if not 0 <= probability <= 1:
            raise BadInput(f"an edit has the probability {probability}; it must lie between 0 and 1")
        bins[bisect_right(_EDGES, probability) - 1].append((probability, is_right))
    return [
        Bin(
            low=_EDGES[at],
            high=(at + 1) / NUM_BINS,
            num_edits=len(members),
            num_found=sum(right for _, right in members),
            mean_probability=sum(probability for probability, _ in members) / len(members),
        )
        for at, members in enumerate(bins)
        if members
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """How far probabilities and shares lie apart, on average over the edits (expected calibration error)."""
    if not bins:
        raise BadInput("no edits, so nothing says how far their probabilities are right")
    apart = sum(part.num_edits * abs(part.share - part.mean_probability) for part in bins)
    return apart / sum(part.num_edits for part in bins)


def calibration_svg(sets: Mapping[str, Sequence[Bin]]) -> str:
    """A figure: the share of edits that are right by probability, and how many edits there are.

    The first set is drawn with the number of its edits, others as lines beside it.
    """
    drawing = empty_drawing(7.2, 2.8)
    shares, counts = drawing.subplots(1, 2)
    shares.plot([0, 1], [0, 1], ":", color="gray", label="perfectly calibrated")
    for (name, bins), line in zip(sets.items(), cycle(("o-", "s--", "^-."))):
        shares.plot([part.mean_probability for part in bins], [part.share for part in bins], line, label=name)
    shares.set(xlim=(0, 1), ylim=(0, 1), xlabel="probability of an edit", ylabel="share in some reference")
    shares.legend()
    first = next(iter(sets.values()), [])
    counts.bar([part.low for part in first], [part.num_edits for part in first], width=1 / NUM_BINS, align="edge")
    counts.set(xlim=(0, 1), xlabel="probability of an edit", ylabel="number of edits")
    for axes in (shares, counts):
        axes.grid(alpha=0.3)
    return to_svg(drawing)


def _replacing(old: str, new: str) -> int:
    """What it costs to write one token for another; always less than deleting the one and inserting the other."""
    if old == new:
        return 0
    old, new = old.lower(), new.lower()
    if old == new:
        return _RECASE
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    end = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    return _MAX_REPLACE - (_MAX_REPLACE - _MIN_REPLACE) * (start + end) // max(len(old), len(new))


def _read(path: Path, like: tuple[str, int] | None = None) -> list[str]:
    """The lines of a file, none of them empty; as many as the file `like` has, of which name and size are given."""
    lines = [line.rstrip() for line in read_lines(path)] or [""]
    if like and len(lines) != like[1]:
        raise BadInput(f"{path}: {len(lines)} lines, but {like[0]} has {like[1]}; line by line they belong together")
    if "" in lines:
        raise BadInput(f"{path}, line {lines.index('') + 1}: empty; fill it in, or drop the line in every file")
    return lines
