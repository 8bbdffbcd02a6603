"""The distribution asked for: pi(x) proportional to p(x)^beta times the constraints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from .arguments import items, shown, string, whole_number
from .constraints.protocols import (
    CLAIMS,
    Claim,
    Constraint,
    HardConstraint,
    bind,
    label,
    log_factor_of,
    require_constraint,
)
from .errors import BadInput, blaming
from .models.protocols import WordModel
from .text.lexicon import Lexicon
from .text.sentences import Sentences
from .text.tokenizer import join, split, truecase
from .text.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class LogFactors:
    """The factors of the target at B sentences, untempered; column 0 of `soft` is the language model."""

    hard: Tensor  # [B], 0 or -inf
    soft: Tensor  # [B,F]

    def total(self, beta: Tensor | float) -> Tensor:
        """[B]: log pi up to a constant; beta tempers the soft factors, never the hard ones."""
        soft = self.soft[:, 0] if self.soft.shape[1] == 1 else self.soft.sum(-1)
        return self.hard + beta * soft

    def select(self, rows: Tensor) -> "LogFactors":
        return LogFactors(self.hard.index_select(0, rows), self.soft.index_select(0, rows))


@runtime_checkable
class VocabularyModel(Protocol):
    """A word model whose words have names."""

    @property
    def vocabulary(self) -> Vocabulary: ...

    @property
    def device(self) -> torch.device: ...

    def bound(self, lexicon: Lexicon) -> WordModel:
        """The same model, reading the words of a lexicon."""
        ...


class Target:
    """A language model times constraints: ``Target(model, contains("river") * ends_with("."))``.

    Claims in words are bound to the ids of `lexicon`; without one, the target makes its own of the model's vocabulary.
    """

    def __init__(
        self, model: WordModel, constraints: Claim | Sequence[Constraint | Claim] = (), lexicon: Lexicon | None = None
    ) -> None:
        self.model, self._lexicon = model, lexicon
        if not callable(getattr(model, "fill", None)):
            raise BadInput(f"`model` takes a word model, not {shown(model)}")
        factors = [constraints] if isinstance(constraints, Claim) else items("constraints", constraints, CLAIMS)
        for factor in factors:
            if not isinstance(factor, Claim):
                require_constraint(factor)
        self.constraints = tuple(
            bind(factor, self.lexicon) if isinstance(factor, Claim) else factor for factor in factors
        )
        if isinstance(model, VocabularyModel) and any(isinstance(factor, Claim) for factor in factors):
            self.model = model.bound(self.lexicon)  # it has to read the words that the claims brought along
        self._hard = [constraint for constraint in self.constraints if constraint.hard]
        self._quick = [constraint for constraint in self._hard if isinstance(constraint, HardConstraint)]
        self._slow = [constraint for constraint in self._hard if not isinstance(constraint, HardConstraint)]
        self._soft = [constraint for constraint in self.constraints if not constraint.hard]
        # Those that cost next to nothing beside a model may screen: their places among the soft ones.
        self._screening = [at for at, constraint in enumerate(self._soft) if getattr(constraint, "screens", False)]

    @property
    def lexicon(self) -> Lexicon:
        """The words behind the ids."""
        if self._lexicon is None:
            if not isinstance(self.model, VocabularyModel):
                raise BadInput("a model without a vocabulary needs sentences and constraints in ids, not in words")
            self._lexicon = Lexicon(self.model.vocabulary)
        return self._lexicon

    def start(self, text: str, chains: int, max_words: int = 20) -> Sentences:
        """`chains` copies of a sentence, for chains to start from, with room for `max_words` words and marks."""
        chains, max_words = whole_number("chains", chains, 1), whole_number("max_words", max_words, 1)
        words = truecase(split(string("text", text)), self.lexicon.vocabulary.is_ordinary)
        for word in words:
            if word not in self.lexicon:
                raise BadInput(f"start: {word!r} is neither in the model's vocabulary nor in a constraint")
        if len(words) > max_words:
            raise BadInput(f"start: {len(words)} words and marks, more than `max_words` {max_words}; raise it")
        device = self.model.device if isinstance(self.model, VocabularyModel) else None
        ids = [self.lexicon.add(word) for word in words]
        return Sentences.from_lists([ids] * chains, max_words + 1, device=device)

    def texts(self, sentences: Sentences) -> list[str]:
        """The sentences as people write them."""
        return [join(self.lexicon.words(ids)) for ids in sentences.to_lists()]

    def possible(self, sentences: Sentences) -> Tensor:
        """[B] bool: every hard constraint holds, and the sentence is neither empty nor as long as the array."""
        holds = (sentences.lengths > 0) & (sentences.lengths < sentences.capacity)
        for constraint in self._quick:
            with blaming(label(constraint), BadInput):
                holds = holds & constraint.holds(sentences)
        if self._slow and bool(holds.any()):  # a function or a network is asked about what the others allow only
            rows = holds.nonzero()[:, 0]
            allowed = sentences.select(rows)
            for asked in self._slow:
                holds = holds.index_copy(0, rows, holds[rows] & (log_factor_of(asked, allowed) == 0))
        return holds

    def soft_factors(self, log_model: Tensor, sentences: Sentences) -> Tensor:
        """[B,F]: the language model beside the soft constraints."""
        return torch.stack([log_model.double(), *(log_factor_of(soft, sentences).double() for soft in self._soft)], -1)

    def screened_gain(self, sentences: Sentences, soft: Tensor) -> Tensor | float:
        """[R]: what the soft constraints that screen gain from current sentences with factors `soft` [R,F]."""
        gain: Tensor | float = 0.0
        for at in self._screening:
            gain = gain + log_factor_of(self._soft[at], sentences).double() - soft[:, 1 + at]
        return gain

    def broken(self, sentences: Sentences) -> list[str]:
        """Names of the hard constraints that some sentence breaks."""
        return list(dict.fromkeys(name for names in self.broken_by_each(sentences) for name in names))

    def broken_by_each(self, sentences: Sentences) -> list[list[str]]:
        """For each sentence, the names of the hard constraints that it breaks."""
        names: list[dict[str, None]] = [{} for _ in range(len(sentences))]  # two constraints may have the same name
        for hard in self._hard:
            for row in (log_factor_of(hard, sentences) != 0).nonzero()[:, 0].tolist():
                names[row][hard.name] = None
        return list(map(list, names))
