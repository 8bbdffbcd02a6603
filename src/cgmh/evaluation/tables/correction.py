"""The table of corrections: learners' sentences, what each system makes of them, and what people wrote."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch

from ...api import solve_each
from ...errors import BadInput
from ...inputs import CorrectInput
from ...models.load import Models, load_models, open_model
from ...ranking import signature
from ...settings import Settings
from ...text.gleu import DRAWS
from ..correction_scores import (
    Score,
    calibration_score,
    edits_right,
    f_score,
    gleu_score,
    num_edits,
)
from ..corrections import (
    CorrectionSet,
    calibration,
    calibration_svg,
    read_corrections,
    read_edits,
    spread_references,
)
from ..datasets import sample
from ..experiment import (
    Answer,
    Column,
    Experiment,
    Measured,
    OnlyOf,
    Published,
    Results,
    System,
    mean_of,
    mean_seconds,
)
from ..folder import DataFolder, Split, file_hash
from ..report import Figure
from ..rivals.recorded import read_recorded

TOGETHER = {"cpu": 40, "cuda": 1024}  # sentences that are timed together
BIG = {"ours+gemma": "gemma3-270m", "ours+smollm2": "smollm2"}
PEOPLE = "people's corrections"
PUBLISHED_FOR = "jfleg test"  # the title of the only set and part that the figures are of
_JFLEG = "JFLEG test, as printed by"
PUBLISHED = {
    "CGMH": (45.5, f"{_JFLEG} the paper: no parallel data"),
    "AMU": (44.85, f"{_JFLEG} the paper: 2.3M sentence pairs"),
    "CAMB14": (46.04, f"{_JFLEG} the paper: 155k sentence pairs"),
    "MLE": (52.75, f"{_JFLEG} the paper: 720k sentence pairs"),
    "NRL": (53.98, f"{_JFLEG} the paper: 720k sentence pairs"),
    "supervised": (64.7, "JFLEG test, the best supervised system that was published"),
    "people": (62.4, "JFLEG test, people against one another, as the authors of the set measured it"),
}


@dataclass(frozen=True)
class LearnerSentence:
    """A sentence, what people made of it, and a spelling checker; a person's own correction has no references."""

    key: str  # the number of its line
    source: str
    references: tuple[str, ...] = ()
    spellchecked: str | None = None


@dataclass(frozen=True)
class Given:
    """A system whose answers come with the data."""

    name: Literal["source", "spellcheck"]
    about: str
    signature: str = "as it comes with the data"

    def answer(self, items: Sequence[LearnerSentence]) -> Iterator[Answer | None]:
        for item in items:
            text = item.source if self.name == "source" else item.spellchecked
            yield None if text is None else Answer(text)


@dataclass(frozen=True)
class Corrector:
    """Our corrections: with the defaults, with a big model as the target, or with the paper's preset."""

    name: str
    about: str
    settings: Settings
    paper: bool = False
    model: str | None = None
    big: str | None = None
    device: str = "cpu"

    @cached_property
    def models(self) -> Models:
        if self.device == "cpu":
            return load_models(self.model, self.big, uses=CorrectInput.uses)
        big = open_model(self.big, self.device, "float32") if self.big else None
        return load_models(open_model(self.model, self.device, "float32"), big, uses=CorrectInput.uses)

    @property
    def signature(self) -> str:
        about = CorrectInput("", paper=self.paper).about
        return f"{signature('correct', self.models, self.settings, about)} | {self.device}"

    def answer(self, items: Sequence[LearnerSentence]) -> Iterator[Answer]:
        together = TOGETHER[self.device]
        list(self._outcomes(["He go ."], replace(self.settings, steps=1)))  # tables are loaded before the clock starts
        for at in range(0, len(items), together):
            batch = items[at : at + together]
            began = time.perf_counter()
            answers = list(self._outcomes([item.source for item in batch], self.settings))
            seconds = round((time.perf_counter() - began) / len(batch), 4)
            yield from (replace(answer, seconds=seconds) for answer in answers)

    def _outcomes(self, texts: Sequence[str], settings: Settings) -> Iterator[Answer]:
        """What came of each text; what is refused stays as it is."""
        inputs = [CorrectInput(text, paper=self.paper) for text in texts]
        outcomes = solve_each(inputs, settings, model=self.models.words, big=self.models.text)
        for text, outcome in zip(texts, outcomes, strict=True):
            if isinstance(outcome, BadInput):
                yield Answer(text, details={"edits": [], "doubtful": [], "refused": str(outcome)})
            elif self.paper:  # one sample gives no probabilities
                yield Answer(outcome.best.text)
            else:
                record = outcome.to_dict()
                yield Answer(outcome.best.text, details={name: record[name] for name in ("edits", "doubtful")})


def correctors(
    names: Sequence[str],
    *,
    big: Sequence[str] = (),
    seed: int = 0,
    steps: int | None = None,
    chains: int | None = None,
    threshold: float | None = None,
    model: str | None = None,
    device: str = "cpu",
) -> list[System[LearnerSentence]]:
    """The systems of these names, and ours with each of the `big` models."""
    if device != "cpu" and not torch.cuda.is_available():
        raise BadInput(f"`device` {device}: no GPU that torch can use; leave it out")
    given: dict[str, Any] = {"steps": steps, "chains": chains, "threshold": threshold}
    ours = replace(
        CorrectInput.defaults, seed=seed, **{name: value for name, value in given.items() if value is not None}
    )
    paper = replace(CorrectInput.paper_defaults, seed=seed, steps=steps or CorrectInput.paper_defaults.steps)
    made: dict[str, System[LearnerSentence]] = {
        "source": Given("source", "the sentence, untouched"),
        "spellcheck": Given("spellcheck", "the sentence after a spelling checker, as it comes with the data"),
        "paper": Corrector(
            "paper", "the paper's target and search: the last of 100 steps", paper, True, model, device=device
        ),
        "ours": Corrector("ours", "the embedded model, or the one given", ours, False, model, device=device),
    }
    wanted = BIG | {f"ours+{Path(name).name}": name for name in big}
    for name, target in wanted.items():
        about = f"ours with {target} as the target beside the word model"
        made[name] = Corrector(name, about, ours, False, model, target, device)
    return [made[name] for name in dict.fromkeys([*names, *(name for name in wanted if name not in BIG)])]


def read_set(data: DataFolder, name: str, split: Split | None) -> tuple[str, CorrectionSet, str]:
    """What a set is called, its sentences, and a hash of what it says; jfleg, fce, or one of the user's own."""
    if name == "jfleg":
        split = split or "test"
        files, title = data.files("jfleg", split), f"jfleg {split}"
        where = files[0].with_suffix("")
    elif name == "fce":
        if split == "test":
            raise BadInput("`split` test: the set fce has a development part only; leave it out, or give dev")
        files, title = data.files("fce"), "fce dev"
        where = files[0].parent
    else:
        if split is not None:
            raise BadInput(f"`split` {split}: of a set of your own; name its files by `set`, as {name}")
        where, title = data.root / name, name
        files = ()
    corrections = read_corrections(where)
    files = files or tuple(sorted(where.glob("*") if where.is_dir() else where.parent.glob(f"{where.name}.*")))
    return title, corrections, "+".join(file_hash(file)[:6] for file in files)


def make_experiment(
    title: str,
    corrections: CorrectionSet,
    contents: str,
    systems: Sequence[System[LearnerSentence]],
    *,
    add: Sequence[tuple[str, Path]] = (),
    limit: int | None = None,
    num_people: int = 0,
) -> Experiment[LearnerSentence]:
    """The table of a set; with `num_people` corrections of people fed in too, which should stay as they are."""
    checked: Sequence[str | None] = corrections.spellchecked or [None] * len(corrections.sources)
    whole = [
        LearnerSentence(str(line), source, tuple(texts), spelt)
        for line, (source, texts, spelt) in enumerate(
            zip(corrections.sources, corrections.references, checked, strict=True), start=1
        )
    ]
    recorded = [read_recorded(name, file, whole, _key) for name, file in add]
    items = list(sample(whole, limit))
    people = spread_references(corrections, num_people) if num_people else []
    groups = {PEOPLE: range(len(items), len(items) + len(people))} if people else {}
    groups[title] = range(len(items))
    figures = PUBLISHED if title == PUBLISHED_FOR else {}
    return Experiment(
        "correction",
        [*items, *(LearnerSentence(f"a person: {text}", text) for text in people)],
        _key,
        [*systems, *recorded],
        COLUMNS,
        groups,
        f"correction | {title} | {contents} | GLEU draws {DRAWS}, seed 0, references {len(whole[0].references)}",
        [Published(name, {title: {"GLEU": value}}, about) for name, (value, about) in figures.items()],
        show=lambda item: item.source,
        notes=list(_notes(systems, corrections, has_people=bool(people))),
    )


def _notes(
    systems: Sequence[System[LearnerSentence]], corrections: CorrectionSet, *, has_people: bool
) -> Iterator[str]:
    names = [system.name for system in systems]
    if "paper" in names:
        yield "paper is a search, no sampling: it refuses steps that lose much probability"
    if "spellcheck" in names and corrections.spellchecked is None:
        yield "spellcheck: the set comes without a spell-checked file, so there is no such row"
    if has_people:
        yield f"{PEOPLE}: fed in as they are; they should not be changed"


def _key(item: LearnerSentence) -> str:
    return item.key


def _of_learners(measure: Score) -> Callable[[Sequence[LearnerSentence], Sequence[Answer]], Measured | None]:
    """A figure that needs references."""

    def measured(items: Sequence[LearnerSentence], answers: Sequence[Answer]) -> Measured | None:
        members = [at for at, item in enumerate(items) if item.references]
        if not members:
            return None
        sources, texts = [items[at].source for at in members], [answers[at].text for at in members]
        return OnlyOf(members, measure(sources, texts, [items[at].references for at in members]))

    return measured


def _exact(sources: Sequence[str], answers: Sequence[str], references: Sequence[Sequence[str]]) -> Measured:  # noqa: ARG001
    return mean_of([answer in texts for answer, texts in zip(answers, references, strict=True)], 100)


def _calibration(items: Sequence[LearnerSentence], answers: Sequence[Answer]) -> Measured | None:
    members = [at for at, item in enumerate(items) if item.references]
    if not members or not all({"edits", "doubtful"} <= answers[at].details.keys() for at in members):
        return None
    sources, details = [items[at].source for at in members], [answers[at].details for at in members]
    return OnlyOf(members, calibration_score(sources, details, [items[at].references for at in members]))


def _changed(items: Sequence[LearnerSentence], answers: Sequence[Answer]) -> Measured:
    return mean_of([answer.text != item.source for item, answer in zip(items, answers, strict=True)], 100)


def _num_edits(items: Sequence[LearnerSentence], answers: Sequence[Answer]) -> Measured:
    return mean_of([num_edits(item.source, answer.text) for item, answer in zip(items, answers, strict=True)])


COLUMNS: Sequence[Column[LearnerSentence]] = (
    Column("GLEU", "higher", _of_learners(gleu_score), "the mean over draws of one reference for each sentence"),
    Column(
        "F0.5 spans", "higher", _of_learners(f_score),
        "edits of the same tokens into the same, as ERRANT compares; they are read off alignments of ours, so the "
        "figure is not one of files that people or ERRANT marked",
    ),
    Column(
        "F0.5 match", "higher", _of_learners(lambda *texts: f_score(*texts, max_match=True)),
        "edits joined as a reference has them, as the M2 scorer compares",
    ),
    Column("right %", "higher", _of_learners(edits_right), "changes of tokens that some reference has too", 1),
    Column("exact %", "higher", _of_learners(_exact), "answers that are what some person wrote", 1),
    Column("changed %", "", _changed, "sentences that were changed; of people's corrections, few should be", 1),
    Column("edits", "", _num_edits, "for each sentence; changes of neighbouring tokens are one"),
    Column(
        "calibration error", "lower", _calibration,
        "how far probabilities of edits are from the share that some reference has, on average over the edits, made or "
        "not", 3,
    ),
    Column("seconds", "lower", mean_seconds, "for each sentence, models loaded", 3),
)  # fmt: skip


def calibration_figures(results: Results[LearnerSentence]) -> list[Figure]:
    """How often edits are right by their probability, of the systems that have one."""
    sets = {}
    for name, answers in results.answers.items():
        pairs = [
            (item, answer)
            for item, answer in zip(results.experiment.items, answers, strict=True)
            if item.references and answer is not None and {"edits", "doubtful"} <= answer.details.keys()
        ]
        edits = [read_edits([*answer.details["edits"], *answer.details["doubtful"]]) for _, answer in pairs]
        sources, references = [item.source for item, _ in pairs], [item.references for item, _ in pairs]
        if any(edits):
            sets[name] = calibration(edits, sources, references)
    if not sets:
        return []
    caption = "Edits, made or doubtful, in bins of probability, and the share of each bin that some reference has."
    return [Figure("Calibration of the edits", calibration_svg(sets), caption)]
