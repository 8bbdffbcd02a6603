"""How well the ranking of answers to keywords agrees with readers: their verdicts on what was shown, ranked anew.

    python benchmarks/verdicts.py
    python benchmarks/verdicts.py --big gemma3-270m

Reads docs/readings-everyday-*.jsonl: answers to sets of everyday words, each with the verdicts of two readers. The
score is that of the embedded model alone or, with --big, that beside a big model after its usual context: as a target
ranks what it found itself, else as one that reads what others found. Printed for
each way in which the answers were found, for starts of chains, and for all different sentences of a set together: how
often the better one of two sentences of a set has the higher score, how many of 40 sentences on top are good, and what
share of the first five. Mostly what a ranking had chosen was read, so a score that was fitted to these verdicts may do
worse on everything that chains visit. Writes benchmarks/results/verdicts.json, or verdicts-BIG.json.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from cgmh import __version__
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded, open_model
from cgmh.models.protocols import TextModel, ask
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.readings import read_words
from cgmh.selection import LENGTH_OFFSET
from cgmh.settings import Settings
from cgmh.tasks.keywords.report import KeywordReport
from cgmh.tasks.keywords.source import ids_of, read_keywords
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.tokenizer import split, truecase

READINGS = Path(__file__).parents[1] / "docs"
STARTS, TOGETHER = "starts", "all sentences of a set"


class Answer(NamedTuple):
    """A sentence that was read, and by what share of the readers it was found good."""

    way: str
    keywords: str
    sentence: str
    good: float


def read_answers() -> list[Answer]:
    rows = [
        json.loads(line)
        for path in sorted(READINGS.glob("readings-everyday-*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return [
        Answer(row.get("way", STARTS), row["keywords"], row["sentence"], sum(row["verdicts"]) / len(row["verdicts"]))
        for row in rows
    ]


def scores(answers: Sequence[Answer], words: RecurrentModel, big: TextModel | None) -> tuple[list[float], list[float]]:
    """How good each sentence is, as answers of its way are ranked, and as all are that others found."""
    vocabulary, lexicon = words.vocabulary, Lexicon(words.vocabulary)
    sets = {text: at for at, text in enumerate(dict.fromkeys(answer.keywords for answer in answers))}
    inputs = [KeywordInput(tuple(text.split()), inflect=True) for text in sets]
    given = [frozenset(ids_of(read_keywords(input, vocabulary).bound(lexicon))) for input in inputs]
    ids = [tuple(map(lexicon.add, truecase(split(answer.sentence), vocabulary.is_ordinary))) for answer in answers]
    bound = words.bound(lexicon)
    report = KeywordReport(lexicon, bound, given)
    batch = Sentences.from_lists(ids, max(map(len, ids)) + 1, [sets[answer.keywords] for answer in answers])
    readings = read_words(ids, bound)
    both = list(zip(readings.fluency(), report.merit(batch, readings).tolist(), strict=True))
    if big is None:
        own = [fluency + merit for fluency, merit in both]
        return own, own
    log_probs = ask(big, [answer.sentence for answer in answers]).tolist()
    by_way, alike = [], []
    for answer, log_prob, each, (fluency, merit) in zip(answers, log_probs, ids, both, strict=True):
        of_way = report.beside_target if answer.way.startswith("target") else report.beside_reader
        for values, (own_weight, merit_weight) in ((by_way, of_way), (alike, report.beside_reader)):
            values.append(log_prob / (len(each) + LENGTH_OFFSET) + own_weight * fluency + merit_weight * merit)
    return by_way, alike


def agreement(rated: Iterable[tuple[Answer, float]]) -> dict[str, float]:
    """Of sentences and their scores: better one of two first, good of 40 on top, per cent good of the first five."""
    by_set = defaultdict(list)
    for answer, score in rated:
        by_set[answer.keywords].append((score, answer.good))
    pairs = [
        (better > worse) + 0.5 * (better == worse)
        for some in by_set.values()
        for (better, good), (worse, bad) in product(some, some)
        if good == 1 and bad == 0
    ]
    ranked = [sorted(some, key=lambda each: -each[0])[:5] for some in by_set.values()]
    first_five = [good for some in ranked for _, good in some]
    return {
        "sentences": sum(map(len, by_set.values())),
        "better first": round(sum(pairs) / len(pairs), 3),
        "on top": round(40 * sum(some[0][1] for some in ranked) / len(ranked), 1),
        "first five": round(100 * sum(first_five) / len(first_five), 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--big", help="a name of `cgmh models list` or a directory")
    args = parser.parse_args()
    words, big = load_embedded(), open_model(args.big) if args.big else None
    if isinstance(big, RecurrentModel):
        parser.error(f"{args.big} is a word model; give a big one")
    big = Models(words, big).after(Settings().context).text
    answers = read_answers()
    by_way, alike = scores(answers, words, big)
    rated = list(zip(answers, by_way, strict=True))
    groups = {
        way: [each for each in rated if each[0].way == way] for way in dict.fromkeys(answer.way for answer in answers)
    }
    different = {
        (answer.keywords, answer.sentence): (answer, score) for answer, score in zip(answers, alike, strict=True)
    }
    groups[TOGETHER] = list(different.values())
    record = {name: agreement(some) for name, some in groups.items()}
    for name, figures in record.items():
        print(f"{name:24}", *(f"{figure}: {value:g}" for figure, value in figures.items()), sep="  ")
    models = [model.name for model in (words, big) if model is not None]
    out = Path(__file__).parent / "results" / ("verdicts.json" if big is None else f"verdicts-{args.big}.json")
    text = json.dumps({"cgmh": __version__, "models": models, "agreement": record}, indent=1)
    out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
