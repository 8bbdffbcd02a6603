"""How close a sentence is in meaning to a source: a number from 0 to 1, as a hard or a soft constraint.

The matching functions of the CGMH paper. KW: the share of the source's keywords that the sentence has. WVA and WVM: the
average and the minimum, over the words of the sentence, of the best cosine to a word of the source. ST: the cosine of
two sentence vectors, of our own encoder or of one that reads texts. And one of ours, CW: what the content words of
either sentence find in the other, rare words counting for more.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Protocol

import torch
from torch import Tensor

from ..models.meaning import Encoder
from ..models.protocols import TextEncoder
from ..text.lexicon import Lexicon
from ..text.sentences import OnDevice, Sentences, pad
from ..text.tokenizer import join
from .words import Patterns, Requirement, normalize

MIN_SIMILARITY = 0.01  # a smaller one counts as this, so that its logarithm is finite
# Cosines are rounded, so that a sentence has one similarity whatever stands beside it in a batch. What is averaged is
# kept in whole millionths: their sum is exact in any order, where a rounded mean could fall on either side of a half.
DIGITS = 6
WHOLE = 1e6
MAX_REMEMBERED = 100_000  # sentences whose similarity is remembered, where asking takes milliseconds


class Similarity(Protocol):
    """A matching function."""

    @property
    def name(self) -> str: ...

    def __call__(self, sentences: Sentences) -> Tensor:
        """[B] float64 in 0..1: how close each sentence is to the source of its input."""
        ...


class AtLeast:
    """The similarity is at least `threshold`: a hard constraint."""

    hard = True

    def __init__(self, similarity: Similarity, threshold: float) -> None:
        self.name = similarity.name
        self._similarity, self._threshold = similarity, threshold

    def log_factor(self, sentences: Sentences) -> Tensor:
        similarity = self._similarity(sentences)
        return torch.zeros_like(similarity).masked_fill(similarity < self._threshold, -torch.inf)


class Weighted:
    """The similarity to the power of `weight`: a soft constraint."""

    hard = False

    def __init__(self, similarity: Similarity, weight: float) -> None:
        self.name = similarity.name
        self._similarity, self._weight = similarity, weight

    def log_factor(self, sentences: Sentences) -> Tensor:
        return self._weight * self._similarity(sentences).clamp(min=MIN_SIMILARITY).log()


class KeywordsKept:
    """KW: the share of the input's keywords that occur; 1 for an input without keywords."""

    name = "kw"

    def __init__(self, requirements: Sequence[Sequence[Requirement]]) -> None:
        self._patterns = Patterns([[normalize(requirement) for requirement in own] for own in requirements])

    def __call__(self, sentences: Sentences) -> Tensor:
        if not self._patterns.num_requirements:
            return torch.ones(len(sentences), dtype=torch.float64, device=sentences.device)
        wanted = ~self._patterns.absent(sentences)  # [B,R]
        met = (self._patterns.counts(sentences) > 0) & wanted
        share = met.sum(-1).double() / wanted.sum(-1).clamp(min=1)
        return torch.where(wanted.any(-1), share, 1.0)


class WordVectors:
    """WVA and WVM: the average or the minimum over words of the best cosine to a word of the source.

    `rows` [ids] is the row of each id in `vectors` [W+1, D], row 0 for none; `sources` are the ids of the inputs. A
    word without a vector is as close as can be to itself and not at all to others. Ids with `counts` false, such as
    punctuation, are passed over.
    """

    def __init__(
        self, sources: Sequence[Sequence[int]], rows: Tensor, vectors: Tensor, counts: Tensor, *, minimum: bool
    ) -> None:
        self.name = "wvm" if minimum else "wva"
        self._minimum = minimum
        best = torch.zeros(len(sources), len(rows), dtype=torch.float64)  # [I,ids]: whole millionths
        for number, source in enumerate(sources):
            counted = [id for id in source if bool(counts[id])]
            if counted:
                cosines = vectors @ vectors[rows[counted]].T  # [W+1,S]
                best[number] = (cosines.amax(-1).clamp(0, 1)[rows] * WHOLE).round()
            best[number, list(source)] = WHOLE
        self._tables = OnDevice(best=best, counts=counts)

    def __call__(self, sentences: Sentences) -> Tensor:
        tables = self._tables.at(sentences.device)
        counted = tables["counts"][sentences.ids] & sentences.present  # [B,L]
        best = tables["best"][sentences.inputs[:, None], sentences.ids]  # [B,L]
        if self._minimum:
            return best.masked_fill(~counted, WHOLE).amin(-1) / WHOLE
        mean = (best * counted).sum(-1) / (WHOLE * counted.sum(-1).clamp(min=1))
        return torch.where(counted.any(-1), mean, 1.0)


class ContentWords:
    """CW: the geometric mean of how well the source's words are found in the sentence, and the other way round.

    A word is found as well as the squared cosine to the nearest word of the other sentence says. `importance` [ids] is
    how much a word counts: nothing for function words, so that these are free to change.
    """

    name = "cw"

    def __init__(self, sources: Sequence[Sequence[int]], rows: Tensor, vectors: Tensor, importance: Tensor) -> None:
        own = pad(sources, -1)  # [I,S]
        self._tables = OnDevice(own=own, rows=rows, vectors=vectors, importance=importance.double())

    def __call__(self, sentences: Sentences) -> Tensor:
        (in_sentence, own_weights), (in_source, weights) = self._found(sentences)
        return (_mean(in_sentence, own_weights) * _mean(in_source, weights)).sqrt().round(decimals=DIGITS)

    def lost_and_added(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        """[B], [B]: how much is in the source and not in the sentence, and the other way round: a sum, not a mean."""
        lost, added = (((1 - found) * weights).sum(-1) for found, weights in self._found(sentences))
        return lost.round(decimals=DIGITS), added.round(decimals=DIGITS)

    def _found(self, sentences: Sentences) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """[B,S] twice, [B,L] twice: how well each word of the source is found in the sentence and how much it counts;
        the same of the words of the sentence."""
        tables = self._tables.at(sentences.device)
        own = tables["own"][sentences.inputs]  # [B,S]
        there, present = own >= 0, sentences.present
        own = own.clamp(min=0)
        vectors, rows = tables["vectors"], tables["rows"]
        cosine = vectors[rows[own]] @ vectors[rows[sentences.ids]].transpose(1, 2)  # [B,S,L]
        near = torch.where(own[:, :, None] == sentences.ids[:, None, :], 1.0, cosine.clamp(0, 1).square())
        near = near * (there[:, :, None] & present[:, None, :])
        importance = tables["importance"]
        return (near.amax(2), importance[own] * there), (near.amax(1), importance[sentences.ids] * present)


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """[B]: the weighted mean of values [B,N]; 1 where nothing counts."""
    total = weights.sum(-1)
    return torch.where(total > 0, (values * weights).sum(-1) / total.clamp(min=1e-9), 1.0)


class SentenceVectors:
    """ST: the cosine between the vectors of the sentence and of the source, 0 if it is negative."""

    name = "st"

    def __init__(self, sources: Sequence[Sequence[int]], rows: Tensor, encoder: Encoder) -> None:
        self._encoders = {torch.device("cpu"): encoder}  # it is shared, so it stays where it is
        with torch.no_grad():
            own = encoder(rows[pad(sources, 0)] * (pad(sources, -1) >= 0))  # [I,H]
        self._tables = OnDevice(own=own, rows=rows)

    def __call__(self, sentences: Sentences) -> Tensor:
        tables, device = self._tables.at(sentences.device), sentences.device
        if device not in self._encoders:
            self._encoders[device] = deepcopy(self._encoders[torch.device("cpu")]).to(device)
        with torch.no_grad():
            vectors = self._encoders[device](tables["rows"][sentences.ids] * sentences.present)  # [B,H]
            cosine: Tensor = (vectors * tables["own"][sentences.inputs]).sum(-1)
        return cosine.clamp(0, 1).round(decimals=DIGITS)


class TextVectors:
    """The cosine between the vectors of the sentence and of the source, written out as texts; 0 if it is negative."""

    name = "minilm"

    def __init__(self, sources: Sequence[Sequence[int]], lexicon: Lexicon, encoder: TextEncoder) -> None:
        self._lexicon, self._encoder = lexicon, encoder
        self._own = self._encode(sources)  # [I,H]
        self._known: dict[tuple[int, ...], float] = {}  # by input and words

    def _encode(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        return self._encoder.encode([join(self._lexicon.words(ids)) for ids in sentences])

    def __call__(self, sentences: Sentences) -> Tensor:
        inputs = sentences.inputs.tolist()
        keys = [(input, *ids) for input, ids in zip(inputs, sentences.to_lists(), strict=True)]
        known = self._known  # several threads may ask at once, and one of them may begin a new dictionary
        new = [key for key in dict.fromkeys(keys) if key not in known]
        if new:
            if len(known) + len(new) > MAX_REMEMBERED:
                known = self._known = {key: known[key] for key in keys if key in known}
            vectors = self._encode([key[1:] for key in new])  # [N,H]
            for key, vector in zip(new, vectors, strict=True):
                cosine = (vector * self._own[key[0]]).sum()
                known[key] = float(cosine.clamp(0, 1).round(decimals=DIGITS))
        return torch.tensor([known[key] for key in keys], dtype=torch.float64, device=sentences.device)
