"""What each kind of mistake should cost: a search on development sets.

    python recipes/correction/tune.py --set JFLEG/dev 1 200 --set FCE_DEV 0.5 150 --limit 754 --texts texts.txt
    python recipes/correction/visit.py texts.txt pools.jsonl
    python recipes/correction/tune.py --set JFLEG/dev 1 200 --set FCE_DEV 0.5 150 --pools pools.jsonl

A set comes with what its GLEU counts, and with how many of people's corrections of it should stay as they are. Costs
are changed one at a time; the candidates of each sentence are weighed anew, the edits of half the weight are made, and
GLEU says what came of it. Prints the costs, for cgmh/tasks/costs.py.
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

from cgmh.constraints.channel import Operation
from cgmh.evaluation.corrections import CorrectionSet, read_corrections, sample_corrections, spread_references
from cgmh.inputs import LONGEST, SentenceInput
from cgmh.models.word.checkpoint import load_model
from cgmh.tasks.correct import BIG, SIDES, SIDES_BIG
from cgmh.tasks.correct.confusions import MARKS, Confusions, load_confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, Costs
from cgmh.tasks.correct.report import Corrections
from cgmh.tasks.correct.source import HYPHEN, Mending, first_of, is_strange, kind_of, make_channel, read_mending
from cgmh.text.edits import Change
from cgmh.text.gleu import drawn_gleu, reference_statistics
from cgmh.text.lexicon import Lexicon
from cgmh.text.passages import read_passage
from cgmh.text.sentences import Sentences

Vector = NDArray[np.float64]
STEPS = (-4.0, -2.0, -1.0, -0.5, -0.2, 0.2, 0.5, 1.0, 2.0, 4.0)
LEAST = 0.02  # GLEU that a change of a cost must bring
FAR = 0.1  # GLEU that a cost must bring for each nat that it goes away from what it was
DRAWS = 50
THRESHOLD = 0.5
TOGETHER = 24  # sources of one channel
STRICT = 60.0  # GLEU that changing all sentences that are right would cost, beyond the share allowed


def flat(costs: Costs) -> dict[str, float]:
    """The costs by name: replace.casing, first."""
    found: dict[str, float] = {}
    for field in fields(costs):
        value = getattr(costs, field.name)
        if isinstance(value, Mapping):
            found |= {f"{field.name}.{kind}": cost for kind, cost in value.items()}
        else:
            found[field.name] = value
    return found


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
    """The candidates of one sentence: what was said of each, how often each cost is paid, which changes it makes."""

    text: str
    number: int
    readings: Vector  # [C,R]
    paid: Vector  # [C,K]
    rest: Vector  # [C]: costs that are not tuned
    changes: list[list[int]]  # [C], into `known`
    known: list[Change]
    answers: Corrections
    place: int  # of the sentence among the sources of `answers`

    def tokens(self, chosen: Sequence[int]) -> list[str]:
        """The sentence with some changes made, split at blanks."""
        some = sorted((self.known[at] for at in chosen), key=lambda change: (change.start, change.end))
        edits = [edit for _, edit in self.answers.edits(self.place, some)]
        return self.answers.written(self.place, edits)[0].split()


def read_pools(paths: Sequence[Path], start: dict[str, float]) -> Iterator[Pool]:
    """The pools of some files."""
    vocabulary = load_model().vocabulary
    known = load_confusions(vocabulary)
    rows = [
        json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    ]
    for at in tqdm(range(0, len(rows), TOGETHER), desc="pools", unit="batch"):
        some, lexicon = rows[at : at + TOGETHER], Lexicon(vocabulary)
        inputs = [SentenceInput(read_passage(row["text"], vocabulary, most=LONGEST), row["number"]) for row in some]
        mendings = [read_mending(input, lexicon, known) for input in inputs]
        batches = [
            Sentences.from_lists(ids, max(map(len, ids)) + 1, [number] * len(ids))
            for number, row in enumerate(some)
            for ids in [[[lexicon.add(word) for word in words] for words in row["candidates"]]]
        ]
        channel = make_channel(mendings, lexicon, known, deep(start))
        answers = Corrections(inputs, mendings, channel, lexicon)
        for number, (row, batch) in enumerate(zip(some, batches, strict=True)):
            ways = channel.align(batch)
            paid = np.stack([
                paid_for(mendings[number], words, way, known, list(start))
                for words, way in zip(row["candidates"], ways, strict=True)
            ])  # fmt: skip
            changes = [[change for change, _ in changes] for changes in answers.changes(batch)]
            listed = {change: at for at, change in enumerate(dict.fromkeys(c for some in changes for c in some))}
            rest = -channel.log_factor(batch).numpy() - paid @ np.array(list(start.values()))
            if not np.allclose(rest, HYPHEN * np.round(rest / HYPHEN), atol=1e-6):  # hyphens are not tuned
                raise ValueError(f"{row['text']}: costs that no price explains: {rest}")
            yield Pool(
                row["text"], row["number"], np.array(row["readings"]), paid, rest,
                [[listed[change] for change in some] for some in changes], list(listed), answers, number,
            )  # fmt: skip


def paid_for(
    mending: Mending, words: Sequence[str], way: Sequence[Operation], known: Confusions, names: Sequence[str]
) -> Vector:
    """[K]: how often each cost is paid on the way from a source to a candidate."""
    paid: Counter[str] = Counter()
    if way:
        paid["first"] = first_of(len(mending.words))
    paid["strange"] = sum(is_strange(word, known) for word in words)
    for one in way:
        new, old = tuple(words[one.at : one.until]), mending.words[one.start : one.end]
        lost = len(old) == 1 and is_strange(old[0], known)
        if one.kind == "order":
            paid["order"] += 1
        elif not old:
            paid[f"insert.{one.kind}"] += 1
        elif not new:
            paid[f"delete.{one.kind}"] += 1
            paid["dropped"] += lost
        elif one.kind == "word" and new[0] in MARKS and any(c.isalnum() for c in old[0]):
            paid[f"delete.{kind_of(old[0])}"] += 1
            paid[f"insert.{kind_of(new[0])}"] += 1
            paid["dropped"] += lost
        else:
            paid[f"replace.{one.kind}"] += 1
            paid["dropped"] += lost and one.kind == "word"
            far = [some.distance for some in mending.confusions[one.start] if some.words == new and len(old) == 1]
            paid["letter"] += far[0] - 1 if far and far[0] else 0
    return np.array([float(paid[name]) for name in names])


class Judge:
    """What a choice of costs and weights is worth on all sets together."""

    def __init__(
        self, pools: list[Pool], sets: Sequence[tuple[CorrectionSet, float]], right: Sequence[list[str]], most: float
    ):
        self.pools, self.most = pools, most
        self.of: dict[str, list[int]] = {}
        for at, pool in enumerate(pools):
            self.of.setdefault(pool.text, []).append(at)
        for some in self.of.values():
            some.sort(key=lambda at: pools[at].number)
        self.right = [[text for text in some if text in self.of] for some in right]
        self.sets = [(some, weight) for some, weight in sets if weight]
        sizes = [len(pool.rest) for pool in pools]
        self.first = np.cumsum([0, *sizes[:-1]])
        self.owner = np.repeat(np.arange(len(pools)), sizes)
        self.readings = np.concatenate([pool.readings for pool in pools])
        self.paid = np.concatenate([pool.paid for pool in pools])
        self.rest = np.concatenate([pool.rest for pool in pools])
        offsets = np.cumsum([0, *(len(pool.known) for pool in pools)])
        self.offsets = offsets
        self.rows = np.array(
            [c + first for pool, first in zip(pools, self.first, strict=True)
             for c, some in enumerate(pool.changes) for _ in some]
        )  # fmt: skip
        self.columns = np.array(
            [at + offset for pool, offset in zip(pools, offsets[:-1], strict=True)
             for some in pool.changes for at in some]
        )  # fmt: skip
        self._written: dict[tuple[int, tuple[int, ...]], list[str]] = {}
        self._statistics: dict[tuple[int, int, tuple[Any, ...]], NDArray[np.int64]] = {}

    def outputs(self, costs: Vector, weights: Vector) -> list[tuple[int, ...]]:
        """The changes that are made in each pool."""
        value = self.readings @ weights - self.paid @ costs - self.rest
        value -= np.maximum.reduceat(value, self.first)[self.owner]
        share = np.exp(value)
        share /= np.add.reduceat(share, self.first)[self.owner]
        total = np.bincount(self.columns, share[self.rows], minlength=self.offsets[-1])
        made = np.flatnonzero(total > THRESHOLD)
        found: list[list[int]] = [[] for _ in self.pools]
        owners = np.searchsorted(self.offsets, made, side="right") - 1
        for owner, at in zip(owners.tolist(), made.tolist(), strict=True):
            found[owner].append(at - int(self.offsets[owner]))
        return [tuple(some) for some in found]

    def tokens(self, text: str, outputs: Sequence[tuple[int, ...]]) -> list[str]:
        found: list[str] = []
        for at in self.of[text]:
            key = (at, outputs[at])
            if key not in self._written:
                self._written[key] = self.pools[at].tokens(outputs[at])
            found += self._written[key]
        return found

    def __call__(self, costs: Vector, weights: Vector) -> tuple[float, list[float], list[float]]:
        """The worth; of each set GLEU, and the share of right sentences that are changed."""
        outputs = self.outputs(costs, weights)
        scores = []
        for number, (some, _) in enumerate(self.sets):
            rows = []
            for at, (text, references) in enumerate(zip(some.sources, some.references, strict=True)):
                if text in self.of:
                    key = (number, at, tuple(outputs[place] for place in self.of[text]))
                    if key not in self._statistics:
                        written = [reference.split() for reference in references]
                        self._statistics[key] = reference_statistics(text.split(), self.tokens(text, outputs), written)
                    rows.append(self._statistics[key])
            scores.append(drawn_gleu(rows, DRAWS))
        changed = [
            float(np.mean([self.tokens(text, outputs) != text.split() for text in some])) for some in self.right if some
        ]
        worth = sum(weight * score for score, (_, weight) in zip(scores, self.sets, strict=True))
        return worth - sum(STRICT * max(0.0, share - self.most) + share for share in changed), scores, changed


def search(judge: Judge, start: dict[str, float], weights: Vector, rounds: int, seed: int) -> dict[str, float]:
    """Change one cost at a time for the better, until none can be."""
    names, best = list(start), np.array(list(start.values()))
    found, origin = judge(best, weights), best
    print("start", *found)
    chance = np.random.default_rng(seed)
    for number in range(rounds):
        before = best
        for at in tqdm(chance.permutation(len(names)), desc=f"round {number + 1}", unit="cost", leave=False):
            tried = [best + step * np.eye(len(names))[at] for step in STEPS if best[at] + step >= 0]
            worths = [judge(costs, weights) for costs in tried]
            gains = [
                worth - found[0] - FAR * (abs(costs - origin).sum() - abs(best - origin).sum())
                for costs, (worth, _, _) in zip(tried, worths, strict=True)
            ]
            top = max(range(len(tried)), key=lambda one: gains[one])
            if gains[top] > LEAST:
                best, found = tried[top], worths[top]
        print(f"round {number + 1}", *found)
        if best is before:
            break
    return dict(zip(names, best.tolist(), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=("PREFIX", "WEIGHT", "RIGHT"))
    parser.add_argument("--limit", type=int, help="sentences of a set, drawn at random")
    parser.add_argument("--texts", type=Path, help="write the texts that `visit.py` should see, and stop")
    parser.add_argument("--pools", type=Path, nargs="+", default=[])
    parser.add_argument("--big", action="store_true", help="the costs beside a big model, of which the pools tell")
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
            [*(text for some, _ in sets for text in some.sources), *(text for some in right for text in some)]
        )
        args.texts.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return
    if not args.pools:
        parser.error("give --pools, which `visit.py` writes, or --texts")
    start = flat(COSTS_BIG if args.big else COSTS)
    weights = np.array([*SIDES_BIG, BIG] if args.big else SIDES)
    judge = Judge(list(read_pools(args.pools, start)), sets, right, args.changed)
    found = search(judge, start, weights, args.rounds, args.seed)
    print(json.dumps({name: round(value, 1) for name, value in found.items()}, indent=1))


if __name__ == "__main__":
    main()
