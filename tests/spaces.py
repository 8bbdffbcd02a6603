"""Small spaces of sentences under constraints, each with a predicate that knows nothing of the package's code."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cgmh.constraints import (
    AtLeast,
    ContainsWords,
    ContentWords,
    Differs,
    EndsWith,
    Forbids,
    KeywordsKept,
    LengthBetween,
    Overlap,
    SentenceVectors,
    TextVectors,
    Weighted,
    WordVectors,
    constraint,
)
from cgmh.constraints.protocols import Constraint
from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel
from cgmh.target import Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from channels import MISSPELT, toy_channel
from channels import SOURCES as TYPED
from enumeration import all_sentences
from meanings import Letters, by_hand, classes, tables, toy_encoder
from toys import FIRST, ToyModel, variant_moves

A, B, C, D = range(FIRST, FIRST + 4)
OUT, OTHER = 20, 21  # run-local ids

Requirements = Sequence[Sequence[Sequence[Collection[int]]]]


def meets(words: Sequence[int], requirements: Requirements, *, ordered: bool = False) -> bool:
    """Whether every requirement finds an occurrence of its own: by trying everything."""

    def search(rest: Requirements, used: frozenset[int], after: int) -> bool:
        if not rest:
            return True
        for phrase in rest[0]:
            for start in range(after if ordered else 0, len(words) - len(phrase) + 1):
                places = frozenset(range(start, start + len(phrase)))
                fits = all(words[start + at] in allowed for at, allowed in enumerate(phrase))
                if fits and not places & used and search(rest[1:], used | places, start + len(phrase)):
                    return True
        return False

    return search(requirements, frozenset(), 0)


def word(*ids: int) -> list[list[set[int]]]:
    """A requirement: one word, in any of these forms."""
    return [[set(ids)]]


def phrase(*ids: int) -> list[list[set[int]]]:
    """A requirement: these words side by side."""
    return [[{id} for id in ids]]


class Favours:
    """A soft constraint: every C counts."""

    name, hard = "favours", False

    def log_factor(self, sentences: Sentences) -> torch.Tensor:
        return 0.8 * ((sentences.ids == C) & sentences.present).sum(-1).double()


class Early:
    """A soft constraint that is asked in the first stage of delayed acceptance: it counts A, more at the beginning."""

    name, hard, screens = "early", False, True

    def log_factor(self, sentences: Sentences) -> torch.Tensor:
        here = (sentences.ids == A) & sentences.present
        return (here / (1.0 + sentences.columns.double())).sum(-1) - 0.6 * sentences.lengths


@dataclass
class Space:
    """A model, constraints and every sentence that they allow."""

    model: ToyModel
    constraints: list[Constraint]
    states: Sentences
    groups: list[list[Collection[int]]]  # variants by input

    @property
    def target(self) -> Target:
        return Target(self.model, self.constraints)


def _space(
    constraints: list[Constraint],
    *keeps: Callable[[list[int]], bool],
    capacity: int = 4,
    words: Sequence[int] = (A, B, C, D),
    groups: Sequence[Collection[int]] = ((A, B),),
    seed: int = 0,
) -> Space:
    model = ToyModel(sum(some < OUT for some in words), seed=seed)
    return Space(model, constraints, all_sentences(words, capacity, keeps), [list(groups)] * len(keeps))


def _containing(*requirements: Any, ordered: bool = False, **settings: Any) -> Space:
    """One input a list of requirements."""
    keeps = [lambda words, some=some: meets(words, some, ordered=ordered) for some in requirements]
    return _space([ContainsWords(requirements, ordered=ordered)], *keeps, **settings)


def _sentence_like() -> Space:
    counts = torch.ones(FIRST + 4, dtype=torch.bool)
    counts[D] = False  # a full stop is no word
    constraints = [Forbids([[B], []]), LengthBetween([1, 2], [2, 2], counts), EndsWith([D])]

    def like(forbidden: int, least: int) -> Callable[[list[int]], bool]:
        def keeps(words: list[int]) -> bool:
            return forbidden not in words and least <= len([w for w in words if w != D]) <= 2 and words[-1] == D

        return keeps

    return _space(constraints, like(B, 1), like(-1, 2), groups=[(A, C)])


def _run_local() -> Space:
    """A word outside the vocabulary, in two forms, that only the variants can exchange."""
    return _space(
        [ContainsWords([[word(OUT, OTHER)]])],  # two of them cannot come about: nothing proposes one
        lambda words: sum(some in (OUT, OTHER) for some in words) == 1,
        words=(A, B, C, OUT, OTHER),
        groups=[(OUT, OTHER), (A, B)],
    )


SOURCES = [[A, B, D], [C, A]]  # B is a negation, D the mark that closes a sentence


def _paraphrase() -> Space:
    """What a paraphrase must obey: keywords, negations, marks and the ending stay, close in meaning, other words."""
    rows, _, _, _ = tables()
    negations, closing = (torch.arange(FIRST + 4) == some for some in (B, D))
    constraints = [
        ContainsWords([[word(A)], [word(C)]]),
        LengthBetween([1, 0], [1, 0], torch.cat([negations, torch.zeros(20, dtype=torch.bool)])),
        LengthBetween([1, 0], [1, 0], torch.cat([closing, torch.zeros(20, dtype=torch.bool)])),
        EndsWith([{D}, {A}]),
        Weighted(SentenceVectors(SOURCES, rows, toy_encoder()), 2.0),
        Differs(Overlap(SOURCES, classes()), 1.5),
    ]

    def like(keyword: int, count: int, last: int) -> Callable[[list[int]], bool]:
        def keeps(words: list[int]) -> bool:
            return keyword in words and words.count(B) == words.count(D) == count and words[-1] == last

        return keeps

    return _space(constraints, like(A, 1, D), like(C, 0, A), capacity=5, groups=[(A, C)])


def _close() -> Space:
    """Every similarity at once, hard and soft."""
    rows, vectors, counts, importance = tables()
    constraints = [
        AtLeast(WordVectors(SOURCES, rows, vectors, counts, minimum=False), 0.95),
        Weighted(WordVectors(SOURCES, rows, vectors, counts, minimum=True), 2.0),
        Weighted(ContentWords(SOURCES, rows, vectors, importance), 3.0),
        Weighted(KeywordsKept([[word(A), word(B)], [word(C)]]), 1.0),
        Differs(Overlap(SOURCES, classes()), 1.0),
    ]
    keeps = [lambda words, own=own: by_hand("wva", own, words) >= 0.95 for own in SOURCES]
    return _space(constraints, *keeps, seed=2)


@constraint(hard=True)
def varied(words: list[str]) -> bool:
    return len(set(words)) > 1


@constraint(weight=-0.4)
def short(words: list[str]) -> float:
    return float(len(words))


def _of_ones_own() -> Space:
    """Functions of the words and of the text, which see the names of ids."""
    lexicon = Lexicon(Vocabulary([*SPECIALS]))  # toy ids have any names
    close = Weighted(TextVectors([[A, B]], lexicon, Letters()), 6.0)
    return _space([varied.bound(lexicon), short.bound(lexicon), close], lambda words: len(set(words)) > 1)


# Most are too tight for edits of one word alone; the kernel for all of them also swaps and exchanges variants.
SPACES: dict[str, Callable[[], Space]] = {
    "free": lambda: _space([], lambda _: True),
    "one word": lambda: _containing([word(A)]),
    "any casing": lambda: _containing([word(A, B)]),
    "two words, no room": lambda: _containing([word(A), word(B), word(C)]),
    "repeated": lambda: _containing([word(A), word(A)]),
    "phrase": lambda: _containing([phrase(A, B)]),
    "phrase and word, no room": lambda: _containing([phrase(A, B), word(C)], groups=[]),
    "alternatives": lambda: _containing([[[{A}], [{B}, {C}]]]),
    "entangled": lambda: _containing([word(A), phrase(A, B)], capacity=5, words=(A, B, C), groups=[(B, C)]),
    "overlapping forms": lambda: _containing([word(A, B), word(B, C)]),
    "in order": lambda: _containing([word(A), word(B)], ordered=True),
    "phrase in order": lambda: _containing([phrase(A, B), word(A, C)], ordered=True, groups=[]),
    "sentence-like, two inputs": _sentence_like,
    "three inputs": lambda: _containing([word(A)], [phrase(B, C)], [word(C), word(C, D)]),
    "run-local": _run_local,
    "soft": lambda: _space([Favours()], lambda _: True),
    "soft and hard": lambda: _space(
        [ContainsWords([[word(A)]]), Favours()], lambda words: A in words, groups=[(B, C)], seed=3
    ),
    # The one that screens is neither the first constraint nor the first soft one.
    "soft that screens": lambda: _space(
        [ContainsWords([[word(B)]]), Favours(), Early()], lambda words: B in words, groups=[(A, C)], seed=1
    ),
    "paraphrase, two inputs": _paraphrase,
    "close, two inputs": _close,
    "of one's own": _of_ones_own,
    "channel, two inputs": lambda: _space([toy_channel(TYPED)], lambda _: True, lambda _: True, words=(A, B, C)),
    "channel, run-local": lambda: _space(
        [toy_channel([MISSPELT])], lambda _: True, words=(A, B, C, OUT), groups=[(A, OUT)]
    ),
}

UNEVEN = (1.0, 2.0, 0.7)  # replace, insert, delete: weights that must not cancel


def fill_edits(space: Space) -> WordEdits:
    return WordEdits(FillHead(space.model, floor=0.05), UNEVEN)


def gibbs_edits(space: Space) -> WordEdits:
    return WordEdits(GibbsOver(space.model, space.target, 2, floor=0.1), UNEVEN)


KERNELS: dict[str, Callable[[Space, int | None], Kernel]] = {
    "fill edits": lambda space, window: Kernel(space.target, fill_edits(space), window),
    "gibbs edits": lambda space, window: Kernel(space.target, gibbs_edits(space), window),
    "swap": lambda space, window: Kernel(
        space.target, Mixture([(fill_edits(space), 0.7), (SwapBlocks(2), 0.3)]), window
    ),
    "mixture": lambda space, window: Kernel(
        space.target,
        Mixture([(fill_edits(space), 0.6), (SwapBlocks(3), 0.25), (variant_moves(space.groups), 0.15)]),
        window,
    ),
    "gibbs mixture": lambda space, window: Kernel(
        space.target,
        Mixture([(gibbs_edits(space), 0.6), (SwapBlocks(2), 0.25), (variant_moves(space.groups), 0.15)]),
        window,
    ),
}
