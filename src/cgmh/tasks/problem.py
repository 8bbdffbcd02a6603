"""What a task hands to the sampler, whatever the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from torch import Tensor

from ..constraints import Constraint
from ..models.word.recurrent import RecurrentModel
from ..models.word.two_stage import TwoStageModel
from ..proposals import Mixture
from ..target import Target
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences

Input = TypeVar("Input")
SamplerModel = RecurrentModel | TwoStageModel  # what proposes words and scores sentences


@dataclass(frozen=True)
class Problem:
    """A target, a way to step, and where the chains start: `chains` rows for each input, input by input."""

    lexicon: Lexicon
    model: SamplerModel
    target: Target
    proposal: Mixture
    start: Sentences
    helper: str = ""  # the name of a model that proposes beside the word model
    about: str = ""  # what was asked beyond the input itself, for the signature
    wishes: tuple[Constraint, ...] = ()  # a user's own soft constraints, which count in the ranking too
    steepest: float | None = None  # nats that the model may lose in a step: a search, no sampling
    answers: "TaskAnswers | None" = None  # what the task says about its answers; None: any sentence may be one

    @property
    def words(self) -> RecurrentModel:
        """The word model, which proposes."""
        return self.model.words if isinstance(self.model, TwoStageModel) else self.model


class TaskAnswers(Protocol):
    """What a task says about its answers. Sentences are looked up by `sentences.inputs`."""

    @property
    def alike(self) -> float:
        """The share of common words beyond which two answers count as the same."""
        ...

    def objection(self, sentences: Sentences) -> Tensor:
        """[B]: what speaks against showing a sampled sentence; nothing if it is 0 or less."""
        ...

    def merit(self, sentences: Sentences) -> Tensor:
        """[B]: what counts beside fluency when answers are ranked."""
        ...

    def numbers(self, sentences: Sentences) -> dict[str, Tensor]:
        """[B] each: figures that go along with an answer."""
        ...

    def before(self, number: int) -> tuple[str, ...]:
        """Lines that a big model reads just before an answer to an input."""
        ...

    def notes(self, number: int) -> dict[str, Any]:
        """What goes along with the result of an input."""
        ...

    def write(self, number: int, words: list[str]) -> tuple[str, list[str]]:
        """The text and the words of an answer to an input."""
        ...


class Task(Protocol[Input]):
    """Poses problems: inputs of one kind become a target, a proposal and starting sentences."""

    @property
    def name(self) -> str: ...

    @property
    def settles(self) -> bool:
        """Whether chains on a big model should first walk on the word model."""
        ...

    def check(self, inputs: Sequence[Input], model: SamplerModel) -> None:
        """Raise `BadInput` for an input that cannot be answered."""
        ...

    def pose(self, inputs: list[Input], model: SamplerModel, chains: int, seed: int, first: int = 0) -> Problem:
        """The problem of inputs number `first` on."""
        ...
