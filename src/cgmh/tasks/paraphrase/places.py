"""Facts in their places: those of a kind in their order, each beside what belongs to it, no number newly qualified."""

from collections.abc import Iterator, Sequence

from torch import Tensor

from ...constraints import Constraint, ContainsWords, NeverBeside, Requirement
from ...constraints.words import Alternative
from ...text.belonging import QUALIFY_AFTER, QUALIFY_BEFORE, is_preposition
from ...text.facts import KINDS, Fact
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from .source import Source

MIN_BLOCK = 3  # words of the blocks that change places, at least


class Places:
    """What the places of facts ask of the answers to some sources; `required` is what the answers contain anyway."""

    def __init__(self, sources: Sequence[Source], lexicon: Lexicon, required: Sequence[Sequence[Requirement]]) -> None:
        self._required = required
        asked = "places" in sources[0].input.protect
        # [kind][source]: the phrases of a kind that stay in order
        phrases = {
            kind: [
                [source.phrase(fact, lexicon) for fact in source.belonging if fact.kind == kind] for source in sources
            ]
            for kind in KINDS
        }
        self._phrases = {kind: of_kind for kind, of_kind in phrases.items() if asked and any(of_kind)}
        self._ordered = [ContainsWords(of_kind, ordered=True) for of_kind in self._phrases.values()]
        self.constraints: list[Constraint] = [*self._ordered]
        # [source]: required words and phrases that may stand anywhere
        in_order = [sum(asked and fact.kind in KINDS for fact in source.facts) for source in sources]
        self._num_free = [len(own) - num for own, num in zip(required, in_order, strict=True)]
        if "numbers" in self._phrases:
            self.constraints += self._unqualified(sources, lexicon)

    def _unqualified(self, sources: Sequence[Source], lexicon: Lexicon) -> list[Constraint]:
        """Beside a number stands nothing that qualifies it, but what stood there before or has to stay anyway."""
        before, after = [], []
        bare: list[list[Requirement]] = []  # numbers without a preposition: what stands before those may qualify them
        for source, required in zip(sources, self._required, strict=True):
            numbers = [fact for fact in source.belonging if fact.kind == "numbers"]
            fixed = {id for (phrase,) in required for place in phrase for id in place}
            words = [word.lower() for word in source.words]
            spans = list(_occurrences(words, numbers))
            left = {word for start, _ in spans for word in words[:start][-1:]}
            right = {word for _, end in spans for word in words[end:][:1]}
            before.append({id for word in QUALIFY_BEFORE - left for id in lexicon.vocabulary.casings(word)} - fixed)
            after.append({id for word in QUALIFY_AFTER - right for id in lexicon.vocabulary.casings(word)} - fixed)
            bare.append([source.phrase(fact, lexicon) for fact in numbers if not is_preposition(words[fact.start])])
        return [NeverBeside(bare, before, after=False), NeverBeside(self._phrases["numbers"], after, after=True)]

    def pinned(self, sentences: Sentences) -> Tensor:
        """[B,L] bool: words that cannot be lost alone."""
        pinned = sentences.present & False
        for ordered in self._ordered:
            pinned = pinned | ordered.pinned(sentences)
        return pinned

    def casings(self, number: int) -> list[frozenset[int]]:
        """For each word that a source requires, its casings."""
        return list(dict.fromkeys(frozenset(place) for phrase in self._all(number) for place in phrase))

    def longest(self, number: int) -> int:
        """How long a block is that may have to change places: as the longest phrase, unless all are in one order."""
        orders = sum(bool(of_kind[number]) for of_kind in self._phrases.values())
        if orders + self._num_free[number] < 2:
            return MIN_BLOCK
        return max([MIN_BLOCK, *map(len, self._all(number))])

    def _all(self, number: int) -> list[Alternative]:
        """The phrases that a source requires, with and without what belongs to them."""
        in_order = [requirement for of_kind in self._phrases.values() for requirement in of_kind[number]]
        return [phrase for requirement in (*self._required[number], *in_order) for phrase in requirement]


def _occurrences(words: Sequence[str], facts: Sequence[Fact]) -> Iterator[tuple[int, int]]:
    """Where the words of a fact stand: "5" also within "more than 5"."""
    for fact in facts:
        wanted = words[fact.start : fact.end]
        for at in range(len(words) - len(wanted) + 1):
            if words[at : at + len(wanted)] == wanted:
                yield at, at + len(wanted)
