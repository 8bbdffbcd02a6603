"""What each kind of mistake should cost, and how the readings count: fitted to development sets.

    SETS="--set JFLEG/dev 1 700 --set FCE_DEV 0.5 400"
    python recipes/correction/tune.py $SETS --texts texts.txt
    python recipes/correction/visit.py texts.txt pools.jsonl --temperature 2.5 --most 60 --read gemma3-270m
    python recipes/correction/tune.py $SETS --pools pools.jsonl --strict 22
    python recipes/correction/tune.py $SETS --pools pools.jsonl --big meant --strict 18 --pull 0.01 --shrink 0.6

A set comes with what its GLEU counts, and with how many of people's corrections of it should stay as they are. The
candidates of each sentence are weighed by costs and readings, and these are fitted to their expected GLEU
(expected.py). Printed are, of each set, GLEU and the share of right sentences that are changed, where the edits of half
the weight are made: as it was, fitted without the sentences that are judged (folds), and fitted to all; then weights
and costs, for cgmh/tasks/correct.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from expected import Candidates, Vector, fit, gleu_worth, lows
from numpy.typing import NDArray
from tqdm import tqdm

from cgmh.evaluation.corrections import CorrectionSet, read_corrections, sample_corrections, spread_references
from cgmh.inputs import CorrectInput
from cgmh.models.word.checkpoint import load_model
from cgmh.tasks import Correct
from cgmh.tasks.correct import BIG, BY_ITSELF, MEANT, READINGS, READINGS_BESIDE_BIG, READINGS_BESIDE_MEANT
from cgmh.tasks.correct.confusions import MARKS, Confusions, load_confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG, COSTS_MEANT, Costs
from cgmh.tasks.correct.source import (
    HYPHEN,
    NEVER,
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

# By what a big model reads: a sentence by itself, or also as what was meant by the one that was typed. The readings of
# the pools are the word model's three, those of what was meant, and those of the sentence by itself.
WAYS = {
    "none": (COSTS, READINGS, (0, 1, 2)),
    "plain": (COSTS_BIG, (*READINGS_BESIDE_BIG, BIG), (0, 1, 2, -1)),
    "meant": (COSTS_MEANT, (*READINGS_BESIDE_MEANT, MEANT, BY_ITSELF), (0, 1, 2, 3, 4)),
}
DRAWS = 50
THRESHOLD = 0.5
TOGETHER = 24  # sources of one channel


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
            cost = -channel.log_factor(batch).numpy()
            rest = cost - paid @ np.array(list(start.values()))
            # Hyphens are not tuned; a candidate that changes what is protected by now costs NEVER.
            explained = np.where(cost >= NEVER, 0.0, rest)
            if not np.allclose(explained, HYPHEN * np.round(explained / HYPHEN), atol=1e-6):
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
    paid["comma"] = -sum(kind_of(word) == "comma" for word in words)  # a gain
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
    """What costs and weights make of the sentences of all sets, and what that is worth."""

    def __init__(
        self,
        pools: list[Pool],
        sets: Sequence[tuple[CorrectionSet, float]],
        right: Sequence[list[str]],
        readings: Sequence[int] = (0, 1, 2),
    ):
        self.pools = pools
        self.of: dict[str, list[int]] = {}
        for at, pool in enumerate(pools):
            self.of.setdefault(pool.typed.passage.text, []).append(at)
        for places in self.of.values():
            places.sort(key=lambda at: pools[at].typed.number)
        self.sets, self.right = list(sets), [[text for text in texts if text in self.of] for texts in right]
        sizes = [len(pool.rest) for pool in pools]
        self.first = np.cumsum([0, *sizes[:-1]])
        self.owner = np.repeat(np.arange(len(pools)), sizes)
        self.readings = np.concatenate([pool.readings[:, list(readings)] for pool in pools])
        self.paid = np.concatenate([pool.paid for pool in pools])
        self.rest = np.concatenate([pool.rest for pool in pools])
        self.offsets = np.cumsum([0, *(len(pool.edits) for pool in pools)])
        self.rows = np.array(
            [c + first for pool, first in zip(pools, self.first, strict=True)
             for c, made in enumerate(pool.made) for _ in made]
        )  # fmt: skip
        self.columns = np.array(
            [at + offset for pool, offset in zip(pools, self.offsets[:-1], strict=True)
             for made in pool.made for at in made]
        )  # fmt: skip
        self._written: dict[tuple[int, tuple[int, ...]], list[str]] = {}
        self._statistics: dict[tuple[int, int, tuple[Any, ...]], NDArray[np.int64]] = {}

    def values(self, weights: Vector, costs: Vector) -> Vector:
        """[N]: the log weight of each candidate."""
        return self.readings @ weights - self.paid @ costs - self.rest

    def outputs(self, values: Vector) -> list[tuple[int, ...]]:
        """The edits that are made in each pool."""
        share = np.exp(values - np.maximum.reduceat(values, self.first)[self.owner])
        share /= np.add.reduceat(share, self.first)[self.owner]
        total = np.bincount(self.columns, share[self.rows], minlength=self.offsets[-1])
        made = np.flatnonzero(total > THRESHOLD)
        edits: list[list[int]] = [[] for _ in self.pools]
        owners = np.searchsorted(self.offsets, made, side="right") - 1
        for owner, at in zip(owners.tolist(), made.tolist(), strict=True):
            edits[owner].append(at - int(self.offsets[owner]))
        return [tuple(own) for own in edits]

    def tokens(self, text: str, outputs: Sequence[tuple[int, ...]]) -> list[str]:
        return [token for at in self.of[text] for token in self._tokens(at, outputs[at])]

    def _tokens(self, at: int, made: tuple[int, ...]) -> list[str]:
        if (at, made) not in self._written:
            self._written[at, made] = self.pools[at].tokens(made)
        return self._written[at, made]

    def __call__(self, values: Vector) -> list[tuple[float, float]]:
        """Of each set GLEU, and the share of right sentences that are changed."""
        outputs, figures = self.outputs(values), []
        for number, ((corrections, _), texts) in enumerate(zip(self.sets, self.right, strict=True)):
            rows = []
            for at, (text, references) in enumerate(zip(corrections.sources, corrections.references, strict=True)):
                if text in self.of:
                    key = (number, at, tuple(outputs[place] for place in self.of[text]))
                    if key not in self._statistics:
                        written = [reference.split() for reference in references]
                        self._statistics[key] = reference_statistics(text.split(), self.tokens(text, outputs), written)
                    rows.append(self._statistics[key])
            changed = [self.tokens(text, outputs) != text.split() for text in texts]
            figures.append((drawn_gleu(rows, DRAWS), float(np.mean(changed)) if changed else 0.0))
        return figures

    def worth(self, values: Vector, strict: float) -> Vector:
        """[N]: the GLEU that each candidate brings, near what has these values now; a right sentence that is changed
        costs `strict`. Texts of several sentences do not count."""
        worth = np.zeros(len(values))
        for (corrections, weight), texts in zip(self.sets, self.right, strict=True):
            places, statistics, chosen = [], [], []
            for text, references in zip(corrections.sources, corrections.references, strict=True):
                if len(self.of.get(text, ())) == 1:
                    (at,) = self.of[text]
                    written = [reference.split() for reference in references]
                    made = [self._tokens(at, tuple(edits)) for edits in self.pools[at].made]
                    rows = [reference_statistics(text.split(), tokens, written).mean(0) for tokens in made]
                    places.append(at)
                    statistics.append(np.array(rows))
                    chosen.append(int(np.argmax(values[self._part(at)])))
            for at, each in zip(places, gleu_worth(statistics, chosen), strict=True):
                worth[self._part(at)] += weight * each / len(places)
            right = [at for text in texts for at in self.of[text]]
            for at in right:
                worth[self._part(at)] -= [strict * bool(edits) / len(right) for edits in self.pools[at].made]
        return worth

    def _part(self, at: int) -> slice:
        return slice(self.first[at], self.first[at] + len(self.pools[at].rest))

    def candidates(self, worth: Vector, kept: NDArray[np.bool_]) -> Candidates:
        """The candidates of the pools that are `kept` [P]."""
        rows = kept[self.owner]
        owner = (np.cumsum(kept) - 1)[self.owner[rows]]
        # The mean over fewer sentences is taken for that over all.
        part = worth[rows] / kept.mean()
        return Candidates(self.readings[rows], self.paid[rows], self.rest[rows], owner, part)


def folds_of(judge: Judge, num_folds: int, seed: int) -> NDArray[np.int64]:
    """[P]: the fold of each pool; a sentence and what people made of it are in one."""
    fold = np.zeros(len(judge.pools), dtype=np.int64)
    for corrections, _ in judge.sets:
        numbers = np.random.default_rng(seed).permutation(len(corrections.sources)) % num_folds
        for number, text, references in zip(numbers, corrections.sources, corrections.references, strict=True):
            for each in (text, *references):
                fold[judge.of.get(each, [])] = number
    return fold


def show(name: str, figures: Sequence[tuple[float, float]]) -> None:
    print(f"{name:16}", *(f"GLEU {gleu:.2f}, of right ones changed {changed:.1%};" for gleu, changed in figures))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs=3, action="append", required=True, metavar=("PREFIX", "WEIGHT", "RIGHT"))
    parser.add_argument("--limit", type=int, help="sentences of a set, drawn at random")
    parser.add_argument("--texts", type=Path, help="write the texts that `visit.py` should see, and stop")
    parser.add_argument("--pools", type=Path, nargs="+", default=[])
    parser.add_argument("--big", choices=WAYS, default="none", help="what a big model beside the word model reads")
    parser.add_argument("--strict", type=float, default=24.0, help="GLEU that changing all right sentences would cost")
    parser.add_argument("--pull", type=float, default=0.03, help="towards what costs and weights were before")
    parser.add_argument("--shrink", type=float, default=0.8, help="multiplies the result, so that shares are not all 1")
    parser.add_argument("--folds", type=int, default=5)
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
    costs_before, readings, numbers = WAYS[args.big]
    start, weights = flat(costs_before), np.array(readings)
    costs = np.array(list(start.values()))
    judge = Judge(list(read_pools(args.pools, start)), sets, right, numbers)
    values, least = judge.values(weights, costs), lows(start, args.shrink)
    show("as it was", judge(values))
    worth, fold = judge.worth(values, args.strict), folds_of(judge, args.folds, args.seed)
    crossed = np.zeros_like(values)
    for number in tqdm(range(args.folds), desc="folds"):
        found = fit(judge.candidates(worth, fold != number), weights, costs, least, args.pull)
        crossed = np.where(fold[judge.owner] == number, judge.values(*found), crossed)
    show("out of fold", judge(crossed * args.shrink))
    every = np.ones(len(judge.pools), dtype=bool)
    weights, costs = (
        args.shrink * each for each in fit(judge.candidates(worth, every), weights, costs, least, args.pull)
    )
    show("fitted to all", judge(judge.values(weights, costs)))
    print("weights", np.round(weights, 2).tolist())
    print(json.dumps({name: round(value, 2) for name, value in zip(start, costs.tolist(), strict=True)}, indent=1))


if __name__ == "__main__":
    main()
