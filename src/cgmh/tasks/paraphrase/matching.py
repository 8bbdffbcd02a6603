"""The matching functions that an input asks for, as constraints."""

from collections.abc import Sequence
from functools import cached_property

from ...constraints import Constraint, Requirement, similarity
from ...inputs import Match, read_matches
from ...models.meaning import load_meaning
from ...models.meaning.minilm import load_minilm
from ...text.lexicon import Lexicon
from ..wordlists import WordLists
from .source import Source

COMMON, RAREST = 4.0, 12.0  # -log frequency: up to the first a word counts nothing, from the second on no more


class Matching:
    """What the inputs of one batch keep of their sources. All inputs of a batch match alike."""

    def __init__(self, sources: Sequence[Source], lexicon: Lexicon, lists: WordLists) -> None:
        self._sources, self._lexicon = sources, lexicon
        self.matches: tuple[Match, ...] = read_matches(sources[0].input.match)
        self._meaning = load_meaning()
        self._rows, self._counts = lists.rows, lists.spoken  # [ids]
        self._functions: dict[str, similarity.Similarity] = {}

    def function(self, name: str) -> similarity.Similarity:
        """A matching function by its name; made once."""
        if name not in self._functions:
            self._functions[name] = self._make(name)
        return self._functions[name]

    def _make(self, name: str) -> similarity.Similarity:
        ids = [source.ids for source in self._sources]
        if name == "kw":
            keywords = [[self._phrase([source.words[at]]) for at in source.keywords] for source in self._sources]
            return similarity.KeywordsKept(keywords)
        if name == "st":
            return similarity.SentenceVectors(ids, self._rows, self._meaning.encoder)
        if name == "minilm":
            return similarity.TextVectors(ids, self._lexicon, load_minilm())
        if name == "cw":
            return self.content_words
        return similarity.WordVectors(ids, self._rows, self._meaning.vectors, self._counts, minimum=name == "wvm")

    @cached_property
    def content_words(self) -> similarity.ContentWords:
        """How well the content words of a sentence and of its source are found in the other."""
        importance = (self._meaning.rarity[self._rows].clamp(max=RAREST) - COMMON).clamp(min=0) * self._counts
        sources = [source.ids for source in self._sources]
        return similarity.ContentWords(sources, self._rows, self._meaning.vectors, importance)

    def required(self, number: int) -> list[Requirement]:
        """What every answer to an input contains: its facts, its keywords if all of them must stay, and words that the
        vocabulary lacks: nothing proposes those, so that a chain could never go back to one it had lost."""
        source = self._sources[number]
        covered = {at for fact in source.facts for at in range(fact.start, fact.end)}
        kept = set(source.keywords) if any(match.keeps_all for match in self.matches) else set()
        kept |= {at for at, id in enumerate(source.ids) if id >= len(self._lexicon.vocabulary)}
        facts = [source.phrase(fact, self._lexicon) for fact in source.facts]
        return [*facts, *(self._phrase([source.words[at]]) for at in sorted(kept - covered))]

    @property
    def bounded(self) -> bool:
        """Whether a similarity must not fall below a bound: single edits may not lead everywhere then."""
        return any(match.hard and not match.keeps_all for match in self.matches)

    def constraints(self) -> list[Constraint]:
        """The matching functions as factors of the target; keywords that must all stay are required word by word."""
        return [
            (similarity.AtLeast if match.hard else similarity.Weighted)(self.function(match.name), match.value)
            for match in self.matches
            if not match.keeps_all
        ]

    def keywords(self, number: int) -> list[str]:
        """The keywords of an input, beside its protected words, if they are asked for."""
        source = self._sources[number]
        return [source.words[at] for at in source.keywords] if any(m.name == "kw" for m in self.matches) else []

    def _phrase(self, words: Sequence[str]) -> Requirement:
        """The words side by side, in any casing."""
        return [[frozenset(self._lexicon.casings(word)) for word in words]]
