"""What a task hands to the sampler, whatever the task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..models.recurrent import RecurrentModel
from ..proposals import Proposal
from ..target import Target
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences

Input = TypeVar("Input")


@dataclass(frozen=True)
class Problem:
    """A target, a way to step, and where the chains start: `chains` rows for each input, input by input."""

    lexicon: Lexicon
    model: RecurrentModel
    target: Target
    proposal: Proposal
    start: Sentences


class Task(Protocol[Input]):
    """Poses problems: inputs of one kind become a target, a proposal and starting sentences."""

    @property
    def name(self) -> str: ...

    def check(self, inputs: Sequence[Input], model: RecurrentModel) -> None:
        """Raise `BadInput` for an input that cannot be answered."""
        ...

    def pose(self, inputs: list[Input], model: RecurrentModel, chains: int, seed: int, first: int = 0) -> Problem:
        """The problem of inputs number `first` on."""
        ...
