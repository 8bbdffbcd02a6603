"""The table of sentences from keywords: ours beside the paper's settings, searches, and people.

News: 1 to 4 keywords of held-out sentences, as in the paper. CommonGen: everyday concepts, in any form, with several
references for each.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...api import solve
from ...errors import BadInput
from ...inputs import KeywordInput
from ...models.load import Models, load_models
from ...models.protocols import TextModel, ask
from ...models.pull.store import entry_of, path_of
from ...models.text.llama import load_llama
from ...ranking import signature
from ...settings import Settings
from ...text.tokenizer import split
from ...text.vocabulary import is_counted
from ..bleu import bleu_counts, bleu_from_counts
from ..checkers import covers
from ..datasets import KeywordSet, concept_sets, keyword_sets
from ..experiment import (
    Answer,
    Column,
    Experiment,
    Floats,
    Measured,
    Published,
    Sums,
    System,
    mean_of,
    mean_seconds,
)
from ..folder import DataFolder, file_hash
from ..judges import NgramJudge
from ..rivals.backward_forward import BackwardForward
from ..rivals.grid_beam import GridBeam
from ..rivals.paper_kernel import PaperKernel
from ..rivals.recorded import Recorded, read_recorded, shipped

SYSTEMS = ("ours", "ours-likeliest", "ours-big", "paper", "paper-time", "gbs", "sep", "asyn", "human")
USUAL = ("ours", "gbs", "sep", "asyn", "human")  # the paper's kernel takes several times as long as all others
BIG = "gemma3-270m"  # of ours-big
TOGETHER = 8  # sets that ours is given at once: their chains run together
READER = "smollm2"  # a text model that no system uses
NLL = "NLL"
PULL_READER = f"for a column by {READER}, which no system uses, run: cgmh models pull {READER}"
DISTINCT = "% of all bigrams that differ; fewer, the more sentences there are, hence no interval"
PUBLISHED = {
    "CGMH": (7.04, 7.57, 8.26, 7.92),
    "GBS": (7.42, 8.72, 8.59, 9.63),
    "sep-B/F": (7.80,),
    "asyn-B/F": (8.30,),
}
Set = Literal["news", "commongen"]
_WEIGHTS = "give the `weights` that recipes/rivals/backward_forward.py trains"


class _NotRecorded(Exception):
    """A system whose weights do not come with us has no answers to these items."""


def key_of(item: KeywordSet) -> str:
    """A set by the line that it was drawn from, and its words."""
    return f"{item.line}: {' '.join(item.keywords)}"


def show(item: KeywordSet) -> str:
    return ", ".join(item.keywords)


@dataclass(frozen=True)
class Ours:
    """The package at its default settings, on the embedded model alone or with a big model as the target.

    Grid beam search and the paper look for the sentence of the lowest perplexity; with `select` likeliest, ours looks
    for a probable sentence too.
    """

    models: Models
    settings: Settings
    options: Mapping[str, Any] = field(default_factory=dict)  # of a `KeywordInput`

    @property
    def name(self) -> str:
        if self.settings.select == "likeliest":
            return "ours-likeliest"
        return "ours" if self.models.text is None else "ours-big"

    @property
    def about(self) -> str:
        by = "alone" if self.models.text is None else f"and {self.models.text.name} as the target"
        chosen = ", the most probable per word" if self.settings.select == "likeliest" else ""
        return f"cgmh keywords at its default settings, {self.models.words.name} {by}{chosen}"

    @property
    def signature(self) -> str:
        asked = ", ".join(f"{name} {value}" for name, value in self.options.items())
        return signature("keywords", self.models, self.settings, asked)

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer]:
        for at in range(0, len(items), TOGETHER):
            inputs = [KeywordInput(item.keywords, **self.options) for item in items[at : at + TOGETHER]]
            began = time.perf_counter()
            results = list(solve(inputs, self.settings, model=self.models.words, big=self.models.text))
            seconds = (time.perf_counter() - began) / len(inputs)
            yield from (Answer(result.best.text, seconds) for result in results)

    def seconds(self, item: KeywordSet) -> float:
        """How long one set takes alone."""
        (answer,) = self.answer([item])
        return answer.seconds or 0.0


@dataclass(frozen=True)
class Human:
    """What people wrote: the sentence that the keywords are from, or the first reference."""

    name: str = "human"
    about: str = "written by people: the sentence that the keywords are from, or the first of the references"
    signature: str = "human"

    def answer(self, items: Sequence[KeywordSet]) -> Iterator[Answer]:
        return (Answer(item.references[0], details={"reference": 0}) for item in items)


def keyword_table(
    data: DataFolder,
    judge: NgramJudge,
    systems: Sequence[str] = USUAL,
    *,
    which: Set = "news",
    limit: int | None = 100,
    seed: int = 0,
    added: Sequence[tuple[str, Path]] = (),
    paper_time: float = 1.0,
    weights: Path | None = None,
    min_words: int = KeywordInput.min_words,
    max_words: int = KeywordInput.max_words,
) -> Experiment[KeywordSet]:
    """The experiment; `weights` are those of the backward and forward models, in place of their recorded answers.

    Lengths are those that our sampler, the paper's kernel and grid beam search keep to.
    """
    inflect = which == "commongen"
    options = {"inflect": inflect, "min_words": min_words, "max_words": max_words}
    path = data.file(which)
    items = concept_sets(path, None) if inflect else keyword_sets(path, None, seed)
    if inflect:
        items = [items[at] for at in np.random.default_rng(seed).permutation(len(items)).tolist()]
    chosen = items if limit is None else items[:limit]
    notes = []
    rows: list[System[KeywordSet]] = []
    for name in systems:
        if name in ("sep", "asyn"):
            try:
                rows.append(_backward_forward(name, which, items, weights))
            except _NotRecorded as reason:
                notes.append(f"{name} is left out: {reason}")
        else:
            rows.append(_system(name, options, seed, paper_time))
    rows += [read_recorded(name, file, items, key_of) for name, file in added]
    sizes = Counter(len(item.keywords) for item in chosen)
    groups: dict[str, Sequence[int]] = {
        f"{size} keyword{'s' * (size > 1)}": [at for at, item in enumerate(chosen) if len(item.keywords) == size]
        for size in sorted(sizes)
    }
    if not rows:
        raise BadInput(f"`systems`: {'; '.join(notes) or 'none is named'}")
    reader = load_llama(path_of(READER)) if entry_of(READER).kind == "installed" else None
    return Experiment(
        name=f"keywords ({which})",
        items=chosen,
        key=key_of,
        systems=rows,
        columns=_columns(judge, reader, inflect=inflect),
        groups={**groups, "all": range(len(chosen))},
        signature=f"keywords|{which}|sha256:{file_hash(path)}|seed:{seed}|{judge.signature}",
        published=[] if inflect else _published(),
        show=show,
        notes=[*notes, *([PULL_READER] if reader is None else [])],
    )


def _system(name: str, options: Mapping[str, Any], seed: int, paper_time: float) -> System[KeywordSet]:
    settings = replace(KeywordInput.defaults, seed=seed, n=1)
    if name == "human":
        return Human()
    if name == "ours-big":
        if entry_of(BIG).kind != "installed":
            raise BadInput(f"`systems` ours-big needs {BIG}; run: cgmh models pull {BIG}")
        models = load_models(big=BIG, uses=KeywordInput.uses)
        return Ours(models, replace(settings, readings=settings.budget), options)
    models = load_models()
    if name == "ours-likeliest":
        return Ours(models, replace(settings, select="likeliest"), options)
    if name == "gbs":
        return GridBeam(models.words, **options)
    if name == "paper":
        return PaperKernel(models, seed, options)
    if name == "paper-time":
        budget = Ours(models, settings, options).seconds
        return PaperKernel(models, seed, options, settings.temperature, budget, paper_time)
    return Ours(models, settings, options)


def _backward_forward(
    name: str, which: Set, items: Sequence[KeywordSet], weights: Path | None
) -> "BackwardForward | Recorded[KeywordSet]":
    way: Literal["sep", "asyn"] = "sep" if name == "sep" else "asyn"
    if weights is not None:
        return BackwardForward.load(way, weights, load_models().words.vocabulary)
    file = shipped("keywords", name)
    if which != "news" or file is None:
        raise _NotRecorded(f"no answers of it to the set {which} come with the package; {_WEIGHTS}")
    try:
        recorded = read_recorded(name, file, items, key_of)
    except BadInput:
        raise _NotRecorded(f"it has answered another draw of keywords (`seed` 0); {_WEIGHTS}") from None
    return replace(recorded, about=f"{name}-B/F (Mou et al. 2015), as recorded; recipes/rivals/backward_forward.py")


def _columns(judge: NgramJudge, reader: TextModel | None, *, inflect: bool) -> list[Column[KeywordSet]]:
    columns = [Column[KeywordSet](NLL, "lower", _nll(judge), f"mean nats per token, by the judge ({judge.signature})")]
    if reader is not None:
        about = f"mean nats per word, by {reader.name}, which no system used"
        columns.append(Column(f"NLL {READER}", "lower", _reader_nll(reader), about))
    if inflect:
        columns.append(
            Column("BLEU-4", "higher", _bleu, "of the corpus in lower case, all references; people without their own")
        )
    return [
        *columns,
        Column("coverage", "higher", _coverage(inflect=inflect), "% with all keywords", 1),
        Column("length", "", _length, "words, marks not counted", 1),
        Column("distinct-2", "higher", _distinct, DISTINCT, 1, interval=False),
        Column("repetition", "lower", _repetition, "% with a bigram twice or a word twice in a row", 1),
        Column("seconds", "lower", mean_seconds, "per sentence, on this machine"),
    ]  # fmt: skip


Measure = Callable[[Sequence[KeywordSet], Sequence[Answer]], Measured | None]


def _nll(judge: NgramJudge) -> Measure:
    return lambda _, answers: mean_of(judge.nll([answer.text for answer in answers]))


def _reader_nll(reader: TextModel) -> Measure:
    def measure(_: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured:
        texts = [answer.text for answer in answers]
        log_probs = ask(reader, texts).numpy()
        return mean_of([-log / (len(split(text)) + 1) for log, text in zip(log_probs, texts, strict=True)])

    return measure


def _coverage(*, inflect: bool) -> Measure:
    def measure(items: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured:
        pairs = zip(items, answers, strict=True)
        return mean_of([covers(answer.text, item.keywords, inflect=inflect) for item, answer in pairs], 100)

    return measure


def _length(_: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured:
    return mean_of([sum(map(is_counted, split(answer.text))) for answer in answers])


def _bigrams(text: str) -> list[tuple[str, str]]:
    return list(pairwise(word.lower() for word in split(text)))


@dataclass(frozen=True)
class Distinct:
    """The share of bigrams that differ, of all sentences together."""

    bigrams: Sequence[Sequence[tuple[str, str]]]

    def score(self, weights: Floats) -> Floats:
        shares = []
        for row in weights:
            pairs = [pair for each, weight in zip(self.bigrams, row, strict=True) if weight for pair in each]
            shares.append(100 * len(set(pairs)) / len(pairs) if pairs else np.nan)
        return np.array(shares)


def _distinct(_: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured:
    return Distinct([_bigrams(answer.text) for answer in answers])


def _repetition(_: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured:
    repeats = []
    for answer in answers:
        pairs = _bigrams(answer.text)
        repeats.append(len(set(pairs)) < len(pairs) or any(one == two for one, two in pairs))
    return mean_of(repeats, 100)


def _bleu(items: Sequence[KeywordSet], answers: Sequence[Answer]) -> Measured | None:
    """BLEU-4 of the corpus against all references; an answer that is one of them is compared with the others."""
    references = [
        [_lower(text) for at, text in enumerate(item.references) if at != answer.details.get("reference")]
        for item, answer in zip(items, answers, strict=True)
    ]
    if not all(references):
        return None
    return Sums(bleu_counts([_lower(answer.text) for answer in answers], references), bleu_from_counts)


def _lower(text: str) -> str:
    return " ".join(split(text)).lower()


def _published() -> list[Published]:
    about = "as printed in the paper, by an n-gram model of another text over sentences of models of another text"
    return [
        Published(
            f"{name} (paper)",
            {f"{size} keyword{'s' * (size > 1)}": {NLL: value} for size, value in enumerate(values, start=1)},
            about,
        )
        for name, values in PUBLISHED.items()
    ]
