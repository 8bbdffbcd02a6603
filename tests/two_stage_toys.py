"""Spaces of sentences whose target is a better scorer than the tiny word model that proposes and screens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import torch
from torch import Tensor

from cgmh.constraints import ContainsWords
from cgmh.constraints.protocols import Constraint
from cgmh.models.protocols import TextModel
from cgmh.models.word.experts import ProductOfExperts
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.shared import SharedWords
from cgmh.models.word.two_stage import TextTarget
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel
from cgmh.target import Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from enumeration import all_sentences
from recurrent_toys import WORDS
from toys import variant_moves

UNEVEN = (1.0, 2.0, 0.7)  # replace, insert, delete: weights that must not cancel
EXPERT_WEIGHTS = (0.5, 0.4, 0.3)  # forward, backward, filled: none like another


def likings(texts: Sequence[str]) -> list[float]:
    """A number of its own for every text, from its letters: nothing that the word model could know."""
    return [-0.12 * len(text) + 3 * crc32(text.encode()) / 2**32 for text in texts]


class Favours:
    """A soft constraint: every one of a word counts."""

    name, hard = "favours", False

    def __init__(self, word: int) -> None:
        self._word = word

    def log_factor(self, sentences: Sentences) -> Tensor:
        return 0.8 * ((sentences.ids == self._word) & sentences.present).sum(-1).double()


@dataclass
class ScreenedSpace:
    """A model with a first stage, constraints and every sentence that they allow."""

    model: Any  # a TextTarget, a ProductOfExperts or SharedWords
    constraints: list[Constraint]
    states: Sentences
    groups: list[list[list[int]]]  # variants by input

    @property
    def target(self) -> Target:
        return Target(self.model, self.constraints)

    def kernel(self, window: int | None, trust: float = 1.0) -> Kernel:
        edits = WordEdits(FillHead(self.model, floor=0.05), UNEVEN)
        parts = [(edits, 0.7), (SwapBlocks(2), 0.2), (variant_moves(self.groups), 0.1)]
        return Kernel(self.target, Mixture(parts), window, trust=trust)

    def start(self, rows: int) -> Sentences:
        return self.states.select(torch.arange(rows) * 7 % len(self.states))


SPACES = ("hard", "soft", "hard and soft", "run-local")


def screened_space(
    name: str, small: RecurrentModel, big: TextModel, kind: type[TextTarget] = TextTarget, capacity: int = 4
) -> ScreenedSpace:
    """The target is the text model `big`."""
    return _space(name, small, lambda words, lexicon: kind(words, big, lexicon), capacity)


def experts_space(
    name: str,
    small: RecurrentModel,
    kind: type[ProductOfExperts] = ProductOfExperts,
    weights: tuple[float, float, float] = EXPERT_WEIGHTS,
) -> ScreenedSpace:
    """The target is the product of the word model's three readings."""
    return _space(name, small, lambda words, lexicon: kind(words, weights, lexicon=lexicon), 4)


def shared_space(name: str, small: RecurrentModel, kind: type[SharedWords] = SharedWords) -> ScreenedSpace:
    """The target is the word model, as chains that share what they read ask it."""
    return _space(name, small, lambda words, _: kind(words), 4)


def _space(
    name: str, small: RecurrentModel, build: Callable[[RecurrentModel, Lexicon], Any], capacity: int
) -> ScreenedSpace:
    lexicon = Lexicon(small.vocabulary)
    words = [small.vocabulary.ids[word] for word in WORDS]
    contains, favours = ContainsWords([[[[{words[1]}]]]]), Favours(words[2])
    if name == "run-local":
        # Both read alike to the word model, which knows neither; only a text model tells them apart.
        odd = [lexicon.add("thec"), lexicon.add("thecat")]
        model, one = build(small.bound(lexicon), lexicon), ContainsWords([[[[set(odd)]]]])
        states = all_sentences([*words, *odd], 3, [lambda sentence: sum(word in odd for word in sentence) == 1])
        return ScreenedSpace(model, [one], states, [[odd]])
    model = build(small, lexicon)
    if name == "soft":
        return ScreenedSpace(model, [favours], all_sentences(words, 3), [[words[:2]]])
    states = all_sentences(words, capacity, [lambda sentence: words[1] in sentence])
    constraints: list[Constraint] = [contains] if name == "hard" else [contains, favours]
    return ScreenedSpace(model, constraints, states, [[words[2:]]])
