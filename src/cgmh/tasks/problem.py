"""What a task hands to the sampler, whatever the task."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

from ..draws import Seed
from ..models.load import Models
from ..models.protocols import WordModel
from ..models.text.masked import MaskedModel
from ..models.word.recurrent import RecurrentModel
from ..models.word.shared import SharedWords
from ..models.word.two_stage import TextTarget, TwoStageModel
from ..proposals import FillHead, Leap, MaskedFiller, Mixture, OwnWords, WordEdits
from ..ranking import Run
from ..result import Result
from ..sampling.kernel import Kernel
from ..settings import Rule, Settings, Use
from ..target import Target
from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.vocabulary import Vocabulary

WINDOW = 1  # words after an edit that the first stage of delayed acceptance looks at
LEAPS = 0.05  # of the steps, where the user has hard constraints
MASKED_SHARE = 0.3  # of the steps, for a masked language model that proposes

Input = TypeVar("Input", contravariant=True)
Source = TypeVar("Source")


class InputType(Protocol):
    """What the class of an input has, beside its fields; `str(input)` is how the input is named in a result."""

    @property
    def defaults(self) -> Settings:
        """The settings of a run that gives none."""
        ...

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The ways to select that the task has; the report of its problems knows them."""
        ...

    @property
    def uses(self) -> tuple[Use, ...]:
        """What a big model may do; the first unless told otherwise."""
        ...


class Report(Protocol):
    """What becomes of the run of one input. `Ranked` is the default."""

    def result(self, run: Run) -> Result: ...


@dataclass(frozen=True)
class Standing:
    """Where the chains of a source stand, and what was worked out about it, both in the ids of a lexicon."""

    sentences: Sequence[Sequence[int]]  # of each chain
    worked_out: Any = None


@dataclass(frozen=True)
class Problem:
    """A target, a way to step, where the chains start, and a report of what they did.

    The chains of an input stand side by side in `start`, input by input.
    """

    lexicon: Lexicon
    words: RecurrentModel  # the word model, which proposes
    target: Target
    moves: Callable[[WordModel], Mixture]  # the proposal; it reads words from the model of whatever target it serves
    start: Sentences
    report: Report
    about: str = ""  # what was asked beyond the input itself, for the signature
    steepest: float | None = None  # nats that the model may lose in a step: a search, no sampling
    own: OwnWords = ()  # the words that each input brings along and the vocabulary lacks
    grown: Callable[[], Sentences] | None = None  # other starts, for rules of the user's that `start` breaks
    # Sentences for each input that a big model wrote, to start some of the chains at.
    written: Callable[[], Sequence[Sequence[Sequence[int]]]] | None = None
    likely: Callable[[], Sentences] | None = None  # other starts, for who wants the likeliest sentence and no sample
    worked_out: Sequence[Any] = ()  # about each input, at some cost: posed again, it need not be found anew

    def chosen_by(self, rule: Rule) -> "Problem":
        """The problem of who selects by this rule: where chains start is free, and may serve the rule."""
        return replace(self, start=self.likely()) if rule == "likeliest" and self.likely is not None else self

    def standing(self, number: int) -> Standing:
        """An input as it was posed."""
        rows = self.start.select((self.start.inputs == number).nonzero()[:, 0]).to_lists()
        return Standing(rows, self.worked_out[number] if self.worked_out else None)

    def kernel(self, target: Target, masked: MaskedModel | None = None) -> Kernel:
        """The step of the chains under a target: the problem's own, or the same with the user's constraints."""
        model = target.model
        proposal = self.moves(model)
        given = self.target.constraints
        if any(constraint.hard and constraint not in given for constraint in target.constraints):
            # Whatever the user's own may be, single edits may not lead to every sentence that it allows.
            proposal = proposal.beside(Leap(WordEdits(FillHead(model, own=self.own)), model), LEAPS)
        if masked is not None:
            proposal = proposal.beside(WordEdits(MaskedFiller(masked, self.lexicon, model)), MASKED_SHARE)
        window, trust = (model.window, model.trust) if isinstance(model, TwoStageModel) else (WINDOW, 1.0)
        return Kernel(target, proposal, window, trust=trust, steepest=self.steepest)


class Task(Protocol[Input, Source]):
    """Poses problems: inputs of one type (see `InputType`) become a target, a proposal and starting sentences."""

    @property
    def name(self) -> str: ...

    @property
    def settles(self) -> bool:
        """Whether chains on a big target should first walk on the word model."""
        ...

    def check(self, inputs: Sequence[Input]) -> None:
        """Raise `BadInput` for inputs that one run cannot take together."""
        ...

    def read(self, input: Input, vocabulary: Vocabulary) -> list[Source] | Result:
        """What is sampled for an input: one source, or one for each sentence of a text; or, if nothing is, its result.

        Raises `BadInput` for an input that cannot be answered.
        """
        ...

    def pose(self, sources: Sequence[Source], models: Models, chains: int, seed: Seed) -> Problem:
        """The problem of some sources; `seed` is one for all of them, or one for each."""
        ...

    def join(self, sources: Sequence[Source], results: Sequence[Result]) -> Result:
        """The result of an input from those of its sources."""
        ...


class JoiningTask(Task[Input, Source], Protocol[Input, Source]):
    """A task whose sources may join those of a problem that is being sampled."""

    @property
    def searches_starts(self) -> bool:
        """Whether chains start at sentences that are searched for, which takes a while, and which may be answers."""
        ...

    def pose(
        self,
        sources: Sequence[Source],
        models: Models,
        chains: int,
        seed: Seed,
        lexicon: Lexicon | None = None,
        standing: Sequence[Standing] | None = None,
    ) -> Problem:
        """The problem of some sources, over the words of a lexicon if one is given; with `standing`, chains start where
        they stand, whatever `chains` and `seed` are."""
        ...


def target_model(models: Models, words: RecurrentModel, lexicon: Lexicon) -> WordModel:
    """The language model that is sampled: the text model where that is the target, otherwise the word model."""
    if models.use != "target" or models.text is None:
        return for_chains(words)
    return TextTarget(words, models.text, lexicon)


def for_chains(words: RecurrentModel) -> WordModel:
    """The word model as chains ask it. On a CPU they share what is read; a GPU reads faster than Python remembers."""
    return SharedWords(words) if words.device.type == "cpu" else words
