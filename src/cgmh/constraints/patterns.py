"""Where required words and phrases occur in a batch of sentences."""

from collections.abc import Collection, Sequence

import torch
from torch import Tensor

from ..text.sentences import Sentences
from .tables import OnDevice

Alternative = Sequence[Collection[int]]  # a phrase: at each place, the ids that will do
Requirement = Sequence[Alternative]  # any one of these phrases

# The normal form: sets are frozen, one-word alternatives are one set, repeats are gone.
Normal = tuple[tuple[frozenset[int], ...], ...]


def normalize(requirement: Requirement) -> Normal:
    """The same requirement with its one-word alternatives merged and the others in a fixed order."""
    phrases = {tuple(frozenset(place) for place in alternative) for alternative in requirement}
    if not phrases or any(not phrase or not all(phrase) for phrase in phrases):
        raise ValueError("a requirement needs at least one alternative, of at least one word")
    single: frozenset[int] = frozenset().union(*(phrase[0] for phrase in phrases if len(phrase) == 1))
    longer = sorted((phrase for phrase in phrases if len(phrase) > 1), key=lambda p: [sorted(place) for place in p])
    return (((single,),) if single else ()) + tuple(longer)


def all_ids(requirement: Normal) -> frozenset[int]:
    """Every id that some occurrence may use."""
    return frozenset().union(*(place for alternative in requirement for place in alternative))


class Patterns:
    """Padded tables of I inputs with R requirements of A alternatives of P places of S ids."""

    def __init__(self, requirements: Sequence[Sequence[Normal]]) -> None:
        flat = [requirement for some in requirements for requirement in some]
        phrases = [phrase for requirement in flat for phrase in requirement]
        self.num_requirements = max((len(some) for some in requirements), default=0)
        self.num_alternatives = max((len(requirement) for requirement in flat), default=0)
        self.num_places = max((len(phrase) for phrase in phrases), default=0)
        num_ids = max((len(place) for phrase in phrases for place in phrase), default=0)
        shape = (len(requirements), self.num_requirements, self.num_alternatives, self.num_places)
        words = torch.full((*shape, num_ids), -1, dtype=torch.int64)  # [I,R,A,P,S]
        free = torch.zeros(shape, dtype=torch.bool)  # [I,R,A,P]: past the end of the alternative
        spans = torch.zeros(shape[:3], dtype=torch.int64)  # [I,R,A]: words in the alternative
        for i, some in enumerate(requirements):
            for r, requirement in enumerate(some):
                for a, phrase in enumerate(requirement):
                    spans[i, r, a] = len(phrase)
                    free[i, r, a, len(phrase) :] = True
                    for p, place in enumerate(phrase):
                        words[i, r, a, p, : len(place)] = torch.tensor(sorted(place))
        # Past the end of a sentence the ids are 0, which is a word like any other: only then a mask is needed.
        self._masked = any(0 in place for phrase in phrases for place in phrase)
        self._tables = OnDevice(words=words, free=free, spans=spans, absent=(spans == 0).all(-1))

    def begins(self, sentences: Sentences) -> Tensor:
        """[P,B,R,L] bool: whether an occurrence of the requirement with p + 1 words starts at the place."""
        starts = self.starts(sentences)  # [B,R,A,L]
        if self.num_places == 1:
            return starts.any(2)[None]
        spans = self._tables.at(sentences.device)["spans"][sentences.inputs]  # [B,R,A]
        return torch.stack([(starts & (spans == p + 1)[..., None]).any(2) for p in range(self.num_places)])

    def absent(self, sentences: Sentences) -> Tensor:
        """[B,R] bool: the row's input has fewer requirements."""
        return self._tables.at(sentences.device)["absent"][sentences.inputs]

    def counts(self, sentences: Sentences) -> Tensor:
        """[B,R]: how many occurrences of each requirement there are, overlapping ones included."""
        if self.num_places == 1:  # the ids of a place are different, so a word matches at most one of them
            return self._matches(sentences).flatten(2).sum(-1)
        return self.starts(sentences).flatten(2).sum(-1)

    def starts(self, sentences: Sentences) -> Tensor:
        """[B,R,A,L] bool: whether an occurrence of the alternative starts at the place."""
        hits = self._matches(sentences).any(-2)  # [B,R,A,P,L]
        if self.num_places == 1:
            return hits[:, :, :, 0]
        free = self._tables.at(sentences.device)["free"].index_select(0, sentences.inputs)[..., None]  # [B,R,A,P,1]
        hits |= free
        starts = hits[:, :, :, 0]
        for p in range(1, self.num_places):
            shifted = torch.zeros_like(starts)
            shifted[..., :-p] = hits[:, :, :, p, p:]
            shifted[..., -p:] = free[:, :, :, p]
            starts = starts & shifted
        return starts

    def _matches(self, sentences: Sentences) -> Tensor:
        """[B,R,A,P,S,L] bool: which id of the tables stands where."""
        ids = sentences.ids
        if self._masked:
            ids = ids.masked_fill(~sentences.present, -2)
        words = self._tables.at(sentences.device)["words"].index_select(0, sentences.inputs)  # [B,R,A,P,S]
        return words[..., None] == ids[:, None, None, None, None, :]
