"""The words of a run: those of the vocabulary, and others that keep their surface under ids that last for the run."""

from collections.abc import Iterable

import torch
from torch import Tensor

from .vocabulary import Vocabulary, is_special


class Lexicon:
    """A vocabulary and the words of this run that it lacks."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._extra: list[str] = []
        self._extra_ids: dict[str, int] = {}
        self._aliases: Tensor | None = None

    def __len__(self) -> int:
        return len(self.vocabulary) + len(self._extra)

    def __contains__(self, word: str) -> bool:
        return (word in self.vocabulary.ids and not is_special(word)) or word in self._extra_ids

    def add(self, word: str) -> int:
        """The id of a word: its own if the vocabulary holds it, otherwise one above the vocabulary."""
        if word in self.vocabulary.ids and not is_special(word):
            return self.vocabulary.ids[word]
        if word not in self._extra_ids:
            self._extra_ids[word] = len(self)
            self._extra.append(word)
            self._aliases = None
        return self._extra_ids[word]

    def casings(self, word: str) -> set[int]:
        """The ids of a word in every casing, itself included."""
        return {*self.vocabulary.casings(word), self.add(word)}

    def matches(self, word: str) -> frozenset[int]:
        """The ids that a typed word stands for: exactly it if it has capitals, otherwise every casing that is known."""
        if any(c.isupper() for c in word):
            return frozenset({self.add(word)})
        return frozenset(self.vocabulary.casings(word)) or frozenset({self.add(word)})

    def word(self, id: int) -> str:
        """The surface of an id."""
        known = len(self.vocabulary)
        return self.vocabulary.words[id] if id < known else self._extra[id - known]

    def words(self, ids: Iterable[int]) -> list[str]:
        return [self.word(id) for id in ids]

    def ordered(self, ids: Iterable[int]) -> list[int]:
        """The ids in an order that does not depend on when words were added: the vocabulary's, then by surface."""
        known = len(self.vocabulary)
        return sorted(set(ids), key=lambda id: (id, "") if id < known else (known, self.word(id)))

    @property
    def aliases(self) -> Tensor:
        """[V + extra] int64: the id the model reads, itself or the unknown of the word's shape."""
        if self._aliases is None:
            unknown = torch.tensor([self.vocabulary.id(word) for word in self._extra], dtype=torch.int64)
            self._aliases = torch.cat([torch.arange(len(self.vocabulary)), unknown])
        return self._aliases
