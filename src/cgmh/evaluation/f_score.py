"""F0.5 of corrections in the format M2, against what annotators marked.

Two ways to compare, both with the annotator of each sentence who is best for the score of the corpus so far:

- by *spans*, as ERRANT compares: an edit is right if the annotator has one of the same tokens with the same correction;
- by *maximum match*, as the M2 scorer of Dahlmeier and Ng (2012) compares: only the corrected tokens count. Edits are
  read off the shortest alignments of them with the source, neighbouring ones joined in whichever way finds most of the
  annotator's edits.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import BadInput
from ..text.m2 import M2Edit, M2Sentence

BETA = 0.5  # what is found counts half as much as being right
MAX_UNCHANGED = 2  # tokens that stay within an edit that was joined from several
_UNKNOWN = "UNK"  # a mistake that the annotator found but did not correct
_Key = tuple[int, int, str]  # start, end, correction
_Node = tuple[int, int]  # so many tokens of the source and of the target are done
_Steps = dict[_Node, list[_Node]]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """Edits that are right, wrong, and missing."""

    right: int = 0
    wrong: int = 0
    missing: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.right + other.right, self.wrong + other.wrong, self.missing + other.missing)

    @property
    def precision(self) -> float:
        """The share of the edits made that are right; 1 if none was made."""
        return self.right / (self.right + self.wrong) if self.wrong else 1.0

    @property
    def recall(self) -> float:
        """The share of the edits wanted that were made; 1 if none was wanted."""
        return self.right / (self.right + self.missing) if self.missing else 1.0

    def f_score(self, beta: float = BETA) -> float:
        return float(f_scores(np.array(astuple(self), dtype=np.float64), beta))


@dataclass(frozen=True)
class FScores:
    """The counts of a corpus, and of each type; what is right counts for the type that the annotator gave it."""

    total: Counts = Counts()
    types: dict[str, Counts] = field(default_factory=dict)


Compare = Callable[[M2Sentence, Sequence[M2Edit]], dict[str, Counts]]  # a hypothesis with one annotator: by type


def score_m2(
    hypotheses: Sequence[M2Sentence], gold: Sequence[M2Sentence], *, max_match: bool = False, beta: float = BETA
) -> FScores:
    """The scores of the first annotator of the hypotheses; block by block they are of the same sentences.

    By maximum match, an edit that was joined in another way than the hypothesis has it is of the type "joined".
    """
    if len(hypotheses) != len(gold):
        raise BadInput(f"{len(hypotheses)} sentences in the answers, {len(gold)} in the gold file; give the same ones")
    for number, (hypothesis, wanted) in enumerate(zip(hypotheses, gold, strict=True), start=1):
        if hypothesis.tokens != wanted.tokens:
            raise BadInput(
                f"sentence {number}: the answer is of {' '.join(hypothesis.tokens)!r}, the gold file has "
                f"{' '.join(wanted.tokens)!r}; the tokens must be the same"
            )
    ways = [compared(*blocks, max_match=max_match) for blocks in zip(hypotheses, gold, strict=True)]
    sums = [[sum(way.values(), Counts()) for way in of_sentence] for of_sentence in ways]
    totals, chosen = corpus_counts(sums, np.ones((1, len(sums))), beta)
    by_type: dict[str, Counts] = {}
    for of_sentence, best in zip(ways, chosen[0].tolist(), strict=True):
        for type, counts in of_sentence[best].items():
            by_type[type] = by_type.get(type, Counts()) + counts
    return FScores(Counts(*map(int, totals[0])), dict(sorted(by_type.items())))


def compared(hypothesis: M2Sentence, wanted: M2Sentence, *, max_match: bool = False) -> list[dict[str, Counts]]:
    """The counts of a sentence with each annotator, by type."""
    compare: Compare = _by_match if max_match else _by_spans
    return [compare(hypothesis, edits) for edits in wanted.edits.values()]


def corpus_counts(
    sums: Sequence[Sequence[Counts]], weights: Floats, beta: float = BETA
) -> tuple[Floats, NDArray[np.int64]]:
    """[R,3]: right, wrong and missing edits of a corpus, where each sentence counts as often as `weights` [R,N] say.

    ``sums[sentence]`` are its counts with each annotator. [R,N]: the annotator of each sentence who was best for the
    score of the corpus so far; of equal ones the one with more right, fewer wrong and fewer missing edits.
    """
    totals = np.zeros((len(weights), 3))
    chosen = np.zeros(weights.shape, dtype=np.int64)
    for at, of_sentence in enumerate(sums):
        preferred = sorted(
            range(len(of_sentence)),
            key=lambda own: (-of_sentence[own].right, of_sentence[own].wrong, of_sentence[own].missing),
        )
        counts = np.array([astuple(of_sentence[own]) for own in preferred])  # [A,3]
        after = totals[:, None] + weights[:, at, None, None] * counts  # [R,A,3]
        best = np.round(f_scores(after, beta), 4).argmax(1)  # [R]; the first of equal ones
        totals = after[np.arange(len(weights)), best]
        chosen[:, at] = np.array(preferred)[best]
    return totals, chosen


def f_scores(counts: Floats, beta: float = BETA) -> Floats:
    """[...]: the F scores of counts [...,3] of right, wrong and missing edits."""
    right, wrong, missing = np.moveaxis(counts, -1, 0)
    precision = np.where(wrong > 0, right / np.maximum(right + wrong, 1), 1.0)
    recall = np.where(missing > 0, right / np.maximum(right + missing, 1), 1.0)
    both = beta**2 * precision + recall
    scores: Floats = np.where(both > 0, (1 + beta**2) * precision * recall / np.where(both > 0, both, 1), 0.0)
    return scores


def _by_spans(hypothesis: M2Sentence, wanted: Sequence[M2Edit]) -> dict[str, Counts]:
    made = {_keys(edit)[0]: edit.type for edit in _scored(_only(hypothesis))}
    return _counted(made, _scored(wanted))


def _by_match(hypothesis: M2Sentence, wanted: Sequence[M2Edit]) -> dict[str, Counts]:
    scored = _scored(wanted)
    keys = {key for edit in scored for key in _keys(edit)}
    found = best_edits(hypothesis.tokens, hypothesis.corrected(next(iter(hypothesis.edits))), keys)
    kinds = {_keys(edit)[0]: edit.type for edit in _scored(_only(hypothesis))}
    return _counted({key: kinds.get(key, "joined") for key in found}, scored)


def _counted(made: dict[_Key, str], wanted: Sequence[M2Edit]) -> dict[str, Counts]:
    """The counts of the edits made, each with its type."""
    counts: dict[str, Counts] = {}
    matched: set[_Key] = set()
    for edit in wanted:
        hits = [key for key in _keys(edit) if key in made]
        matched.update(hits)
        counts[edit.type] = counts.get(edit.type, Counts()) + (Counts(right=1) if hits else Counts(missing=1))
    for key, type in made.items():
        if key not in matched:
            counts[type] = counts.get(type, Counts()) + Counts(wrong=1)
    return counts


def _only(hypothesis: M2Sentence) -> tuple[M2Edit, ...]:
    return next(iter(hypothesis.edits.values()))


def _scored(edits: Sequence[M2Edit]) -> list[M2Edit]:
    return [edit for edit in edits if not edit.is_noop and edit.type != _UNKNOWN]


def _keys(edit: M2Edit) -> list[_Key]:
    return [(edit.start, edit.end, correction) for correction in edit.corrections]


def best_edits(source: Sequence[str], target: Sequence[str], wanted: set[_Key]) -> list[_Key]:
    """The edits that turn the source into the target, chosen so that most of them are wanted.

    Then the shortest alignment counts, then how few edits there are. At most `MAX_UNCHANGED` tokens stay within one.
    """
    steps = _lattice(source, target)
    # From each node on, by what is better: minus the edits that are wanted, the length of the alignment, the number of
    # edits, the tokens that stay within one; and the edits.
    best: dict[_Node, tuple[tuple[int, int, int, int], tuple[_Key, ...]]] = {}
    best[len(source), len(target)] = ((0, 0, 0, 0), ())
    for node in sorted(steps, reverse=True):
        ways = []
        for end, num_kept, num_changed in _reached(steps, node, source, target):
            (negative, length, number, kept), edits = best[end]
            if num_changed:
                key = (node[0], end[0], " ".join(target[node[1] : end[1]]))
                if key in wanted:  # its length does not count, for nothing else could be as good
                    cost = (negative - 1, length, number + 1, kept + num_kept)
                else:
                    cost = (negative, length + num_kept + num_changed, number + 1, kept + num_kept)
                ways.append((cost, (key, *edits)))
            elif num_kept == 1:
                ways.append(((negative, length + 1, number, kept), edits))
        best[node] = min(ways)
    return list(best[0, 0][1])


def _lattice(source: Sequence[str], target: Sequence[str]) -> _Steps:
    """The nodes (i, j) on a shortest alignment, with those that come next on one.

    Shortest is what costs least where replacing costs as much as inserting, or as inserting and deleting.
    """
    steps: _Steps = {}
    for replacing in (1, 2):
        rest = _distances(source, target, replacing)
        reached = {(0, 0)}
        for i in range(len(source) + 1):
            for j in range(len(target) + 1):
                if (i, j) not in reached:
                    continue
                nexts = steps.setdefault((i, j), [])
                for way, cost in _ways(source, target, i, j, replacing):
                    if rest[i][j] == cost + rest[way[0]][way[1]]:
                        reached.add(way)
                        if way not in nexts:
                            nexts.append(way)
    del steps[len(source), len(target)]
    return steps


def _ways(source: Sequence[str], target: Sequence[str], i: int, j: int, replacing: int) -> Iterator[tuple[_Node, int]]:
    if i < len(source) and j < len(target):
        yield (i + 1, j + 1), 0 if source[i] == target[j] else replacing
    if i < len(source):
        yield (i + 1, j), 1
    if j < len(target):
        yield (i, j + 1), 1


def _distances(source: Sequence[str], target: Sequence[str], replacing: int) -> list[list[int]]:
    """What it costs to turn the source from i on into the target from j on."""
    rest = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in reversed(range(len(source) + 1)):
        for j in reversed(range(len(target) + 1)):
            ways = _ways(source, target, i, j, replacing)
            rest[i][j] = min((cost + rest[at][to] for (at, to), cost in ways), default=0)
    return rest


def _reached(
    steps: _Steps, start: _Node, source: Sequence[str], target: Sequence[str]
) -> Iterator[tuple[_Node, int, int]]:
    """The nodes that one edit or one kept token may lead to, and how many steps to each keep a token or change one."""
    seen: set[tuple[_Node, int, int]] = set()
    waiting = [(start, 0, 0)]
    while waiting:
        node, kept, changed = waiting.pop()
        for end in steps.get(node, ()):
            keeps = end == (node[0] + 1, node[1] + 1) and source[node[0]] == target[node[1]]
            after = (end, kept + keeps, changed + (not keeps))
            if after not in seen and after[1] <= MAX_UNCHANGED:
                seen.add(after)
                waiting.append(after)
                yield after
