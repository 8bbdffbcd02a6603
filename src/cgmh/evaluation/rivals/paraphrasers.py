"""Systems of the paraphrase table that answer when asked: our sampler with any options, annealing, the data itself."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ...api import solve_each
from ...errors import BadInput
from ...inputs import ParaphraseInput
from ...models.load import Models, load_models
from ...ranking import signature
from ...result import Result
from ...settings import Settings
from ..experiment import Answer
from ..paraphrases import Question, as_line, from_treebank
from . import annealing

IS_REFERENCE = "is_reference"  # in the details of what people wrote: BLEU with itself says nothing
_VARIANT = re.compile(r"([\w.+-]+):\s*(.*)")
_CHOSEN = (*ParaphraseInput.options, "gibbs")  # of a `ParaphraseInput`, in a variant
_BOOLEANS = {"yes": True, "true": True, "no": False, "false": False}


@dataclass(frozen=True)
class Fixed:
    """Answers that stand in the data: the source itself, or what people wrote."""

    name: str
    about: str
    text: Callable[[Question], str]
    is_reference: bool = False

    signature = "the data"

    def answer(self, items: Sequence[Question]) -> Iterator[Answer]:
        details = {IS_REFERENCE: True} if self.is_reference else {}
        return (Answer(self.text(item), details=details) for item in items)


@dataclass(frozen=True)
class Sampled:
    """Our sampler: what every source is asked for, how it is answered, and by which models."""

    name: str
    about: str
    asked: ParaphraseInput
    settings: Settings
    model: str | None = None
    big: str | None = None

    @cached_property
    def models(self) -> Models:
        return load_models(self.model, self.big, self.settings.use, ParaphraseInput.uses)

    @property
    def signature(self) -> str:
        settings = replace(self.settings, use=self.models.use)
        return signature("paraphrase", self.models, settings, f"{self.asked.about} | n {self.settings.n}")

    def answer(self, items: Sequence[Question]) -> Iterator[Answer]:
        sources = list(dict.fromkeys(item.source for item in items))
        inputs = [replace(self.asked, text=from_treebank(source)) for source in sources]
        outcomes = solve_each(inputs, self.settings, model=self.model, big=self.big)
        yield from _each(items, (_result(source, outcome) for source, outcome in zip(sources, outcomes, strict=True)))


@dataclass(frozen=True)
class Annealed:
    """The search of `rivals.annealing`."""

    seed: int
    name: str = "upsa"
    about: str = "simulated annealing after UPSA (Liu et al. 2020) with our model, edits and similarities: a search"

    @property
    def signature(self) -> str:
        settings = Settings(n=1, chains=1, steps=annealing.STEPS, seed=self.seed, temperature=1.0, anneal=True)
        about = ParaphraseInput("", **annealing.PRODUCT).about  # type: ignore[arg-type]
        return signature("paraphrase", load_models(), settings, f"{about} | cooled linearly")

    def answer(self, items: Sequence[Question]) -> Iterator[Answer]:
        sources = list(dict.fromkeys(item.source for item in items))
        found = annealing.search(list(map(from_treebank, sources)), load_models(), seed=self.seed)
        yield from _each(
            items,
            (
                Answer(source if words is None else as_line(words, source))
                for source, words in zip(sources, found, strict=True)
            ),
        )


def _result(source: str, outcome: Result | BadInput) -> Answer:
    """The best answer as a line like its source; without one, the source itself stands in."""
    if isinstance(outcome, BadInput):
        return Answer(source, details={"refused": str(outcome)})
    if not outcome.sentences:
        return Answer(source, details={"found": False})
    best = outcome.sentences[0]
    others = [as_line(other.words, source) for other in outcome.sentences[1:]]
    details = {"overlap": best.overlap, "similarity": best.similarity, "others": others}
    return Answer(as_line(best.words, source), details=details)


def _each(items: Sequence[Question], answers: Iterator[Answer]) -> Iterator[Answer]:
    """The answer to each pair, with its seconds, from those to the distinct sources in the order of the pairs."""
    known: dict[str, Answer] = {}
    for item in items:
        if item.source not in known:
            began = time.perf_counter()
            answer = next(answers)
            known[item.source] = replace(answer, seconds=time.perf_counter() - began)
        yield known[item.source]


def read_variant(text: str, seed: int = 0) -> Sampled:
    """A row of our sampler with other options, as ``NAME: OPTION=VALUE OPTION=VALUE``.

    An option is one of `ParaphraseInput` or `Settings`, `preset` (paper), `model` or `big`.
    """
    parts = _VARIANT.fullmatch(text.strip())
    if not parts:
        raise BadInput(f"`variant` {text}: give NAME: OPTION=VALUE ..., as in 'far: max_overlap=40 steps=160'")
    name, rest = parts[1], parts[2]
    given: dict[str, str] = {}
    for word in rest.split():
        option, mark, value = word.partition("=")
        if not mark or not value:
            raise BadInput(f"`variant` {name}: {word} is no OPTION=VALUE")
        given[option.replace("-", "_")] = value
    preset, model, big = (given.pop(option, None) for option in ("preset", "model", "big"))
    if preset not in (None, "paper"):
        raise BadInput(f"`variant` {name}: preset {preset}; the only one is paper")
    paper = preset == "paper"
    usual = ParaphraseInput("", **(ParaphraseInput.paper if paper else {}))
    settings = replace(ParaphraseInput.paper_defaults if paper else ParaphraseInput.defaults, seed=seed)
    known = (*_CHOSEN, *ParaphraseInput.settings)
    for option in given:
        if option not in known:
            listed = ", ".join((*known, "preset", "model", "big"))
            raise BadInput(f"`variant` {name}: no option {option}; there are {listed}")
    values = {option: _typed(name, option, value, usual, settings) for option, value in given.items()}
    asked = replace(usual, **{option: values[option] for option in _CHOSEN if option in values})
    chosen = {option: values[option] for option in ParaphraseInput.settings if option in values}
    return Sampled(name, f"cgmh with {rest}" if rest else "cgmh", asked, replace(settings, **chosen), model, big)


def _typed(name: str, option: str, value: str, asked: ParaphraseInput, settings: Settings) -> Any:
    """A value of the kind that the option has: a number, a word, words with commas between, yes or no."""
    usual = getattr(asked if option in _CHOSEN else settings, option)
    if isinstance(usual, tuple):
        return () if value == "none" and option != "match" else tuple(value.split(","))
    if isinstance(usual, bool):
        if value not in _BOOLEANS:
            raise BadInput(f"`variant` {name}: {option} is yes or no, not {value}")
        return _BOOLEANS[value]
    if isinstance(usual, int | float):
        try:
            return int(value) if isinstance(usual, int) else float(value)
        except ValueError as error:
            raise BadInput(f"`variant` {name}: {option} is a number, not {value}") from error
    return value
