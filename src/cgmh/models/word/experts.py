"""A product of experts: a target of several readings of a sentence, those of the word model and of a text model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, blaming
from ...text.lexicon import Lexicon
from ...text.sentences import MAX_READ, Sentences, by_length, rows_within
from ..protocols import Begun, CorrectingModel, TextModel, ask, whose
from .recurrent import RecurrentEncoding, RecurrentModel, total
from .shared import SharedWords
from .two_stage import TwoStageEncoding, TwoStageModel, TwoStagePending

MAX_BATCH = 256  # sentences that are read together
MAX_REMEMBERED = 200_000  # sentences whose values are remembered
MIN_LOG_FILL = -20.0  # log probability of a word that does not fit at all


def log_readings(
    sentences: Sequence[Sequence[int]], model: RecurrentModel, *, shapes: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """[N] each: log p of whole sentences under the word model read forward, read backward, and filled word by word.

    A word outside the vocabulary does not fit any place; or, with `shapes`, as well as an unknown of its shape.
    """
    readings = torch.zeros(3, len(sentences), dtype=torch.float64, device=model.device)
    for places in by_length([len(ids) + 1 for ids in sentences], rows_within(MAX_READ, 1, model.device)):
        parts = _log_readings([sentences[at] for at in places], model, shapes=shapes)
        readings[:, places] = torch.stack([part.double() for part in parts])
    forward, backward, filled = readings
    return forward, backward, filled


def _log_readings(
    sentences: Sequence[Sequence[int]], model: RecurrentModel, *, shapes: bool
) -> tuple[Tensor, Tensor, Tensor]:
    batch = Sentences.from_lists(sentences, max(map(len, sentences)) + 1, device=model.device)
    return _log_readings_of(batch, model.encode(batch), model, shapes=shapes)


def _log_readings_of(
    batch: Sentences, encoding: RecurrentEncoding, model: RecurrentModel, *, shapes: bool
) -> tuple[Tensor, Tensor, Tensor]:
    forward = total(encoding.log_words)
    backward = model.backward_log_prob(encoding)
    rows, filled = log_fills(batch, encoding, model, shapes=shapes)
    return forward, backward, torch.zeros_like(forward).index_add_(0, rows, filled)


def log_fills(
    batch: Sentences, encoding: RecurrentEncoding, model: RecurrentModel, *, shapes: bool
) -> tuple[Tensor, Tensor]:
    """[M] each: of every word of every sentence, sentence by sentence, its row and its log probability in its place."""
    rows, at = batch.present.nonzero(as_tuple=True)
    filled = model.fill(encoding, rows, at, at + 1).log_prob(batch.ids[rows, at])
    unknown = (batch.ids[rows, at] >= model.num_words).nonzero()[:, 0]
    if shapes and len(unknown):
        row, place = rows[unknown], at[unknown]
        as_shapes = model.fill_log_prob(encoding, row, place, place + 1, encoding.ids[row, place]).double()
        filled = filled.index_copy(0, unknown, as_shapes)
    return rows, filled.clamp(min=MIN_LOG_FILL)


class ProductOfExperts(TwoStageModel):
    """log p is a weighted sum of the log probabilities of several readings: a product of experts, not normalised.

    The readings are the word model's three (`weights`) and, if there is one, that of a text model. The forward reading
    screens; the others are asked about what passes, and about each sentence once. With `typed`, one text for each
    input, the text model also reads a sentence as what was meant by that text, which counts `meant_weight`.
    """

    window = 1
    goes_ahead = True  # what a step refuses early costs little: several can be tried together
    _remembers = False  # for it remembers what it said to any

    def __init__(
        self,
        words: RecurrentModel,
        weights: tuple[float, float, float],
        text_model: TextModel | None = None,
        text_weight: float = 0.0,
        lexicon: Lexicon | None = None,
        typed: Sequence[str] | None = None,
        meant_weight: float = 0.0,
    ) -> None:
        super().__init__(words, lexicon)
        self.screen = SharedWords(words)
        self._weights, self._text_model, self._text_weight = weights, text_model, text_weight
        self._typed, self._meant_weight = typed, meant_weight
        self.name = words.name if text_model is None else f"{text_model.name} beside {words.name}"
        self._known: dict[tuple[int, ...], float] = {}  # but for what depends on what was typed
        self._known_meant: dict[tuple[str, tuple[int, ...]], float] = {}  # that: the text model's, weighted

    @property
    def reads_ahead(self) -> bool:
        """Whether steps may be tried after one that is read: most are refused, and a reading in vain costs little."""
        return self._text_model is None

    @property
    def weight(self) -> float:
        """What all readings count together."""
        of_text = 0.0 if self._text_model is None else self._text_weight
        return sum(self._weights) + of_text + (0.0 if self._typed is None else self._meant_weight)

    def bound(self, lexicon: Lexicon) -> "ProductOfExperts":
        return ProductOfExperts(
            self.words.bound(lexicon),
            self._weights,
            self._text_model,
            self._text_weight,
            lexicon,
            self._typed,
            self._meant_weight,
        )

    @property
    def known(self) -> dict[tuple[int, ...], float]:
        """The log probabilities of all sentences that it has read."""
        return self._known

    def learn(self, known: Mapping[tuple[int, ...], float]) -> None:
        """Know what the same models have read elsewhere."""
        self._known |= known

    def encoding_of(self, sentences: Sentences, encoding: RecurrentEncoding) -> TwoStageEncoding:
        """What `encode` makes of sentences, from an encoding of the word model."""
        return TwoStageEncoding(self.screen.encoding_of(sentences, encoding), sentences)

    def recall(self, encoding: TwoStageEncoding, other: object, before: Any) -> None:
        """Know what another one of the same models and lexicon has read, whose encoding was `before`."""
        if isinstance(other, ProductOfExperts):
            self._known, self._known_meant = other._known, other._known_meant  # noqa: SLF001
            encoding.words.recall(before.words)

    def log_prob(self, encoding: TwoStageEncoding) -> Tensor:
        """[B]: what is held of sentences that nobody has asked about is not read again."""
        if encoding.log_prob is None and any(self._weights):
            for states, keys in encoding.words.held():
                new = [at for at, key in enumerate(keys) if key not in self._known]
                if new:
                    batch = Sentences.from_lists(keys, states.ids.shape[1], device=states.ids.device)
                    forward, backward, filled = _log_readings_of(batch, states, self.words, shapes=True)
                    unknown = [keys[at] for at in new]
                    log_prob = self._weighted(unknown, (forward[new], backward[new], filled[new]))
                    self._known.update(zip(unknown, log_prob.tolist(), strict=True))
        return super().log_prob(encoding)

    def begin(
        self,
        encoding: TwoStageEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> Begun:
        """What is known about candidates that nothing has been read for."""
        words, most_gain, _ = self.screen.begin(encoding.words, rows, sentences, same_left, same_right, window)
        known = [self._known.get(key, math.nan) for key in words.keys]
        if self._typed is not None:
            asked = zip(known, self._asked(sentences, words.keys), strict=True)
            known = [value + self._known_meant.get(each, math.nan) for value, each in asked]
        log_prob = torch.tensor(known, dtype=torch.float64, device=rows.device)
        return Begun(TwoStagePending(rows, sentences, words), most_gain, log_prob)

    def complete(
        self, encoding: TwoStageEncoding, pending: TwoStagePending, wanted: Tensor, least: Tensor | None = None
    ) -> None:
        """Find the gains of the first stage that are `wanted` [R] bool."""
        self.screen.complete(encoding.words, pending.words, wanted, least)

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        """[R]: the weighted sum of all readings where `keep`, 0 elsewhere.

        A sentence that nobody has asked about is read on from where it differs from the one that it came from, and what
        was read is there for the chain that goes to it.
        """
        words, known = pending.words, self._known
        kept = keep.nonzero()[:, 0].tolist()
        new_keys = {words.keys[at]: at for at in reversed(kept) if words.keys[at] not in known}
        asked = sorted(new_keys.values()) if any(self._weights) else []
        most = rows_within(MAX_READ, pending.sentences.capacity, keep.device)
        for at in range(0, len(asked), most):
            if new := self.screen.read_on(encoding.words, words, asked[at : at + most]):
                batch = Sentences.from_lists(new, pending.sentences.capacity, device=keep.device)
                states = self.screen.states_read(encoding.words, words)
                readings = _log_readings_of(batch, states, self.words, shapes=True)
                known.update(zip(new, self._weighted(new, readings).tolist(), strict=True))
        return super().finish(encoding, pending, keep)

    def _score(self, sentences: Sentences) -> Tensor:
        asked = [tuple(ids) for ids in sentences.to_lists()]
        if len(self._known) > MAX_REMEMBERED:
            self._known = {}  # not cleared: chains of another thread may be reading the old one
        known = self._known
        new = sorted({ids for ids in asked if ids not in known}, key=len)
        for first in range(0, len(new), MAX_BATCH):
            batch = new[first : first + MAX_BATCH]
            known.update(zip(batch, self._read(batch).tolist(), strict=True))
        log_prob = torch.tensor([known[ids] for ids in asked], dtype=torch.float64)
        return log_prob if self._typed is None else log_prob + self._meant(sentences, asked)

    def _asked(self, sentences: Sentences, ids: Sequence[tuple[int, ...]]) -> list[tuple[str, tuple[int, ...]]]:
        """Of each sentence what was typed, and its ids."""
        typed = self._typed or ()
        return [(typed[input], each) for input, each in zip(sentences.inputs.tolist(), ids, strict=True)]

    def _meant(self, sentences: Sentences, ids: Sequence[tuple[int, ...]]) -> Tensor:
        """[N] float64 on the CPU: the text model's reading of sentences as what was meant, weighted."""
        if not isinstance(self._text_model, CorrectingModel):
            raise TypeError(f"{self.name}: has no model that reads a sentence as what was meant by another one")
        asked, known = self._asked(sentences, ids), self._known_meant
        if len(known) > MAX_REMEMBERED:
            known = self._known_meant = {}
        new = sorted({each for each in asked if each not in known}, key=lambda each: (each[0], len(each[1])))
        if new:
            with blaming(whose(self._text_model), BadModel):
                log_prob = self._text_model.log_prob_of_meant(
                    [typed for typed, _ in new], self._texts(each for _, each in new)
                )
            known.update(zip(new, (self._meant_weight * log_prob).tolist(), strict=True))
        return torch.tensor([known[each] for each in asked], dtype=torch.float64)

    def _read(self, sentences: Sequence[tuple[int, ...]]) -> Tensor:
        """[N] float64 on the CPU: the weighted sum of all readings."""
        return self._weighted(
            sentences, log_readings(sentences, self.words, shapes=True) if any(self._weights) else None
        )

    def _weighted(self, sentences: Sequence[tuple[int, ...]], readings: tuple[Tensor, Tensor, Tensor] | None) -> Tensor:
        total = torch.zeros(len(sentences), dtype=torch.float64)
        if readings is not None:
            for weight, reading in zip(self._weights, readings, strict=True):
                total += weight * reading.double().cpu()
        if self._text_model is not None and self._text_weight:
            total += self._text_weight * ask(self._text_model, self._texts(sentences))
        return total
