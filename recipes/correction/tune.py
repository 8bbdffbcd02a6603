"""What each kind of mistake should cost: a search on development sets.

    python recipes/correction/tune.py --set JFLEG/dev 1 200 --set FCE_DEV 0.5 150 --limit 754 --texts texts.txt
    python recipes/correction/visit.py texts.txt pools.jsonl
    python recipes/correction/tune.py --set JFLEG/dev 1 200 --set FCE_DEV 0.5 150 --pools pools.jsonl

A set comes with what its GLEU counts, and with how many of people's corrections of it should stay as they are. Costs
are changed one at a time; the candidates of each sentence are weighed anew, the edits of half the weight are made, and
GLEU says what came of it. Prints the costs, for cgmh/tasks/correct/costs.py.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from cgmh.evaluation.corrections import CorrectionSet, read_corrections, sample_corrections, spread_references
from cgmh.inputs import CorrectInput
from cgmh.models.word.checkpoint import load_model
from cgmh.tasks import Correct
from cgmh.tasks.correct import BIG, MEANT, READINGS, READINGS_BESIDE_BIG, READINGS_BESIDE_MEANT
from cgmh.tasks.correct.confusions import MARKS, Confusions, load_confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, COSTS_MEANT, Costs
from cgmh.tasks.correct.source import (
    HYPHEN,
    CorrectionSource,
    TypedSentence,
    first_factor,
    is_strange,
    kind_of,
    make_channel,
)
from cgmh.text.edits import Edit, Ids, Words, splice, write_edits
from cgmh.text.gleu import drawn_gleu, reference_statistics
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences

Vector = NDArray[np.float64]
# By what a big model reads: a sentence by itself, or as what was meant by the one that was typed.
BIG_COSTS = {
    "plain": (COSTS_BIG, (*READINGS_BESIDE_BIG, BIG)),
    "meant": (COSTS_MEANT, (*READINGS_BESIDE_MEANT, MEANT)),
}
STEPS = (-4.0, -2.0, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 2.0, 4.0)
MIN_GAIN = 0.02  # GLEU that a change of a cost must bring
FAR = 0.1  # GLEU that a cost must bring for each nat that it goes away from what it was
DRAWS = 50
THRESHOLD = 0.5
TOGETHER = 24  # sources of one channel
STRICT = 60.0  # GLEU that changing all sentences that are right would cost, beyond the share allowed


def flat(costs: Costs) -> dict[str, float]:
    """The costs by name: replace.casing, first."""
    prices: dict[str, float] = {}
    for field in fields(costs):
        value = getattr(costs, field.name)
        if isinstance(value, Mapping):
            prices |= {f"{field.name}.{kind}": cost for kind, cost in value.items()}
        else:
            prices[field.name] = value
    return prices


def deep(values: Mapping[str, float]) -> Costs:
    """The costs from what `flat` makes of them."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        table, _, kind = name.partition(".")
        if kind:
            nested.setdefault(table, {})[kind] = value
        else:
            nested[table] = value
    return Costs(**nested)


@dataclass
class Pool:
    """The candidates of one sentence: what was said of each, how often each cost is paid, which edits it makes."""

    typed: TypedSentence
    readings: Vector  # [C,R]
    paid: Vector  # [C,K]
    rest: Vector  # [C]: costs that are not tuned
    made: list[list[int]]  # [C], into `edits`
    edits: list[Edit[Words]]

    def tokens(self, chosen: Sequence[int]) -> list[str]:
        """The sentence with some edits made, split at blanks."""
        passage, sentence = self.typed.passage, self.typed.sentence
        edits = sorted((self.edits[at] for at in chosen), key=lambda edit: (edit.start, edit.end))
        whole = splice(passage.text, [edit for _, edit in write_edits(passage, self.typed.number, edits)])
        return whole[sentence.start : len(whole) - (len(passage.text) - sentence.end)].split()


def read_pools(paths: Sequence[Path], start: dict[str, float]) -> Iterator[Pool]:
    """The pools of some files."""
    vocabulary = load_model().vocabulary
    known = load_confusions(vocabulary)
    rows = [
        json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ]
    for at in tqdm(range(0, len(rows), TOGETHER), desc="pools", unit="batch"):
        batch_rows, lexicon = rows[at : at + TOGETHER], Lexicon(vocabulary)
        typed = [Correct().read(CorrectInput(row["text"]), vocabulary)[row["number"]] for row in batch_rows]
        sources = [CorrectionSource.read(sentence, lexicon, known) for sentence in typed]
        batches = [
            Sentences.from_lists(ids, max(map(len, ids)) + 1, [number] * len(ids))
            for number, row in enumerate(batch_rows)
            for ids in [[[lexicon.add(word) for word in words] for words in row["candidates"]]]
        ]
        channel = make_channel(sources, lexicon, known, deep(start))
        for number, (row, batch) in enumerate(zip(batch_rows, batches, strict=True)):
            aligned = [[in_words(edit, lexicon) for edit in edits] for edits in channel.align(batch)]
            paid = np.stack([
                paid_for(sources[number], words, edits, known, list(start))
                for words, edits in zip(row["candidates"], aligned, strict=True)
            ])  # fmt: skip
            numbers = {edit: at for at, edit in enumerate(dict.fromkeys(edit for edits in aligned for edit in edits))}
            rest = -channel.log_factor(batch).numpy() - paid @ np.array(list(start.values()))
            if not np.allclose(rest, HYPHEN * np.round(rest / HYPHEN), atol=1e-6):  # hyphens are not tuned
                raise ValueError(f"{row['text']}: costs that no price explains: {rest}")
            made = [[numbers[edit] for edit in edits] for edits in aligned]
            yield Pool(typed[number], np.array(row["readings"]), paid, rest, made, list(numbers))


def in_words(edit: Edit[Ids], lexicon: Lexicon) -> Edit[Words]:
    original, replacement = (tuple(lexicon.words(ids)) for ids in (edit.original, edit.replacement))
    return Edit(edit.start, edit.end, original, replacement, edit.kind)


def paid_for(
    source: CorrectionSource,
    words: Sequence[str],
    edits: Sequence[Edit[Words]],
    known: Confusions,
    names: Sequence[str],
) -> Vector:
    """[K]: how often each cost is paid on the way from a source to a candidate."""
    paid: Counter[str] = Counter()
    if edits:
        paid["first"] = first_factor(len(source.words))
    paid["strange"] = sum(is_strange(word, known) for word in words)
    for edit in edits:
        old, new = edit.original, edit.replacement
        lost = len(old) == 1 and is_strange(old[0], known)
        if edit.kind == "order":
            paid["order"] += 1
        elif not old:
            paid.update(f"insert.{kind_of(word)}" for word in new)
        elif not new:
            paid[f"delete.{edit.kind}"] += 1
            paid["dropped"] += lost
        elif edit.kind == "word" and new[0] in MARKS and any(c.isalnum() for c in old[0]):
            paid[f"delete.{kind_of(old[0])}"] += 1
            paid[f"insert.{kind_of(new[0])}"] += 1
            paid["dropped"] += lost
        else:
            paid[f"replace.{edit.kind}"] += 1
            paid["dropped"] += lost and edit.kind == "word"
            meant = [confusion for confusion in source.meant[edit.start] if confusion.words == new and len(old) == 1]
            paid["letter"] += meant[0].distance - 1 if meant and meant[0].distance else 0
    return np.array([float(paid[name]) for name in names])


class Judge:
    """What a choice of costs and weights is worth on all sets together."""

    def __init__(
        self, pools: list[Pool], sets: Sequence[tuple[CorrectionSet, float]], right: Sequence[list[str]], most: float
    ):
        self.pools, self.most = pools, most
        self.of: dict[str, list[int]] = {}
        for at, pool in enumerate(pools):
            self.of.setdefault(pool.typed.passage.text, []).append(at)
        for places in self.of.values():
            places.sort(key=lambda at: pools[at].typed.number)
        self.right = [[text for text in texts if text in self.of] for texts in right]
        self.sets = [(corrections, weight) for corrections, weight in sets if weight]
        sizes = [len(pool.rest) for pool in pools]
        self.first = np.cumsum([0, *sizes[:-1]])
        self.owner = np.repeat(np.arange(len(pools)), sizes)
        self.readings = np.concatenate([pool.readings for pool in pools])
        self.paid = np.concatenate([pool.paid for pool in pools])
        self.rest = np.concatenate([pool.rest for pool in pools])
        offsets = np.cumsum([0, *(len(pool.edits) for pool in pools)])
        self.offsets = offsets
        self.rows = np.array(
            [c + first for pool, first in zip(pools, self.first, strict=True)
             for c, made in enumerate(pool.made) for _ in made]
        )  # fmt: skip
        self.columns = np.array(
            [at + offset for pool, offset in zip(pools, offsets[:-1], strict=True)
             for made in pool.made for at in made]
        )  # fmt: skip
        self._written: dict[tuple[int, tuple[int, ...]], list[str]] = {}
        self._statistics: dict[tuple[int, int, tuple[Any, ...]], NDArray[np.int64]] = {}

    def outputs(self, costs: Vector, weights: Vector) -> list[tuple[int, ...]]:
        """The edits that are made in each pool."""
        value = self.readings @ weights - self.paid @ costs - self.rest
        value -= np.maximum.reduceat(value, self.first)[self.owner]
        share = np.exp(value)
        share /= np.add.reduceat(share, self.first)[self.owner]
        total = np.bincount(self.columns, share[self.rows], minlength=self.offsets[-1])
        made = np.flatnonzero(total > THRESHOLD)
        edits: list[list[int]] = [[] for _ in self.pools]
        owners = np.searchsorted(self.offsets, made, side="right") - 1
        for owner, at in zip(owners.tolist(), made.tolist(), strict=True):
            edits[owner].append(at - int(self.offsets[owner]))
        return [tuple(own) for own in edits]

    def tokens(self, text: str, outputs: Sequence[tuple[int, ...]]) -> list[str]:
        tokens: list[str] = []
        for at in self.of[text]:
            key = (at, outputs[at])
            if key not in self._written:
                self._written[key] = self.pools[at].tokens(outputs[at])
            tokens += self._written[key]
        return tokens

    def __call__(self, costs: Vector, weights: Vector) -> tuple[float, list[float], list[float]]:
        """The worth; of each set GLEU, and the share of right sentences that are changed."""
        outputs = self.outputs(costs, weights)
        scores = []
        for number, (corrections, _) in enumerate(self.sets):
            rows = []
            for at, (text, references) in enumerate(zip(corrections.sources, corrections.references, strict=True)):
                if text in self.of:
                    key = (number, at, tuple(outputs[place] for place in self.of[text]))
                    if key not in self._statistics:
                        written = [reference.split() for reference in references]
                        self._statistics[key] = reference_statistics(text.split(), self.tokens(text, outputs), written)
                    rows.append(self._statistics[key])
            scores.append(drawn_gleu(rows, DRAWS))
        changed = [
            float(np.mean([self.tokens(text, outputs) != text.split() for text in texts]))
            for texts in self.right
            if texts
        ]
        worth = sum(weight * score for score, (_, weight) in zip(scores, self.sets, strict=True))
        return worth - sum(STRICT * max(0.0, share - self.most) + share for share in changed), scores, changed


def search(judge: Judge, start: dict[str, float], weights: Vector, rounds: int, seed: int) -> dict[str, float]:
    """Change one cost at a time for the better, until none can be."""
    names, best = list(start), np.array(list(start.values()))
    value, origin = judge(best, weights), best
    print("start", *value)
    chance = np.random.default_rng(seed)
    for number in range(rounds):
        before = best
        for at in tqdm(chance.permutation(len(names)), desc=f"round {number + 1}", unit="cost", leave=False):
            tried = [best + step * np.eye(len(names))[at] for step in STEPS if best[at] + step >= 0]
            worths = [judge(costs, weights) for costs in tried]
            gains = [
                worth - value[0] - FAR * (abs(costs - origin).sum() - abs(best - origin).sum())
                for costs, (worth, _, _) in zip(tried, worths, strict=True)
            ]
            top = max(range(len(tried)), key=lambda number: gains[number])
            if gains[top] > MIN_GAIN:
                best, value = tried[top], worths[top]
        print(f"round {number + 1}", *value)
        if best is before:
            break
    return dict(zip(names, best.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=("PREFIX", "WEIGHT", "RIGHT"))
    parser.add_argument("--limit", type=int, help="sentences of a set, drawn at random")
    parser.add_argument("--texts", type=Path, help="write the texts that `visit.py` should see, and stop")
    parser.add_argument("--pools", type=Path, nargs="+", default=[])
    parser.add_argument("--big", choices=BIG_COSTS, help="the costs beside a big model that the pools tell of")
    parser.add_argument("--changed", type=float, default=0.085, help="share of right sentences that may be changed")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    sets: list[tuple[CorrectionSet, float]] = []
    right: list[list[str]] = []
    for prefix, weight, num_right in args.set:
        whole = read_corrections(prefix)
        sets.append((sample_corrections(whole, args.limit), float(weight)))
        right.append(spread_references(whole, int(num_right)) if int(num_right) else [])
    if args.texts:
        texts = dict.fromkeys(
            [
                *(text for corrections, _ in sets for text in corrections.sources),
                *(text for texts in right for text in texts),
            ]
        )
        args.texts.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return
    if not args.pools:
        parser.error("give --pools, which `visit.py` writes, or --texts")
    costs_before, readings = BIG_COSTS[args.big] if args.big else (COSTS, READINGS)
    start, weights = flat(costs_before), np.array(readings)
    judge = Judge(list(read_pools(args.pools, start)), sets, right, args.changed)
    costs = search(judge, start, weights, args.rounds, args.seed)
    print(json.dumps({name: round(value, 1) for name, value in costs.items()}, indent=1))


if __name__ == "__main__":
    main()
