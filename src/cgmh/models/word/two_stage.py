"""Targets in two stages: the word model proposes and screens, a better scorer decides.

The scorer is the target. The word model fills gaps, and its forward gain is the first stage of delayed acceptance, so
that the scorer is asked only about candidates that pass it. The kernel corrects for the first stage exactly
(sampling/acceptance.py): what is sampled is the scorer's distribution, whatever the word model thinks. The scorer is a
text model (`TextTarget`), or several readings, those of the word model and of a text model (`ProductOfExperts`).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, blaming
from ...text.lexicon import Lexicon
from ...text.sentences import MAX_READ, Sentences, by_length, rows_within
from ...text.tokenizer import join
from ..protocols import Begun, Fill, PrefixModel, TextModel, ask, whose
from .recurrent import RecurrentEncoding, RecurrentModel, total
from .shared import SharedWords

WHOLE = 1_000_000  # a window that holds the whole sentence: the first stage sees all of the word model's gain
MAX_BATCH = 256  # sentences that are read together
MAX_REMEMBERED = 200_000  # sentences whose values are remembered
MAX_REMEMBERED_OF_CHAIN = 10_000  # the same, of one chain
MIN_LOG_FILL = -20.0  # log probability of a word that does not fit at all


@dataclass
class TwoStageEncoding:
    """What both models keep about B sentences; the scorer is asked when its log probability first is."""

    words: Any
    sentences: Sentences
    log_prob: Tensor | None = None  # [B] float64 on the CPU: the scorer's
    # The cache of a text model that reuses prefixes: of the last texts that it read for the chains and they went to.
    prefixes: Any = None
    # What the scorer has said to each chain: about one candidate in five is one that the chain has asked about before.
    known: list[dict[tuple[int, ...], float]] = field(default_factory=list)
    num_readings: Tensor | None = None  # [B]: sentences that the scorer was asked about for each chain, its start too

    def select(self, rows: Tensor) -> "TwoStageEncoding":
        selected = TwoStageEncoding(self.words.select(rows), self.sentences.select(rows))
        if self.log_prob is not None and self.num_readings is not None:
            here = rows.cpu()
            selected.log_prob, selected.num_readings = self.log_prob[here], self.num_readings[here]
            selected.known = [dict(self.known[row]) for row in rows.tolist()] if self.known else []
            selected.prefixes = None if self.prefixes is None else self.prefixes.select(rows)
        return selected


@dataclass
class TwoStagePending:
    """R candidates that the word model has scored, and of the K that passed, what the scorer said."""

    rows: Tensor  # [R]
    sentences: Sentences
    words: Any
    passed: Tensor | None = None  # [K], into R
    log_prob: Tensor | None = None  # [K] float64 on the CPU
    read: Tensor | None = None  # [M], into K: those that it was asked about, the others being known
    prefixes: Any = None  # of these M, where it reuses prefixes

    @property
    def log_gain(self) -> Tensor:
        gain: Tensor = self.words.log_gain
        return gain


class TwoStageModel(ABC):
    """A word model that proposes and screens, with a better scorer as the target."""

    name: str
    _prefixes: PrefixModel | None = None  # the scorer, if it keeps what it read of the current texts
    _remembers = True  # what it said to each chain
    window, trust = WHOLE, 0.5  # of the first stage: the two models often disagree (benchmarks/delayed.py)

    def __init__(self, words: RecurrentModel, lexicon: Lexicon | None = None) -> None:
        self.words = words
        self.screen: Any = words  # the word model as the chains ask it
        self._lexicon = lexicon
        self.vocabulary, self.num_words, self.special_ids = words.vocabulary, words.num_words, words.special_ids
        self.device = words.device

    @abstractmethod
    def bound(self, lexicon: Lexicon) -> "TwoStageModel":
        """The same models, reading the words of a lexicon."""

    @abstractmethod
    def _score(self, sentences: Sentences) -> Tensor:
        """[N] float64 on the CPU: the scorer's log p of sentences, each distinct one asked about once."""

    def encode(self, sentences: Sentences) -> TwoStageEncoding:
        return TwoStageEncoding(self.screen.encode(sentences), sentences)

    def log_prob(self, encoding: TwoStageEncoding) -> Tensor:
        if encoding.log_prob is None:
            if self._prefixes is None:
                encoding.log_prob = self._score(encoding.sentences)
            else:
                with blaming(whose(self._prefixes), BadModel):
                    encoding.prefixes = self._prefixes.begin(self.texts(encoding.sentences))
                    encoding.log_prob = encoding.prefixes.log_prob.clone()
            encoding.num_readings = torch.ones(len(encoding.sentences), dtype=torch.int64)
            if self._remembers:
                rows = zip(encoding.sentences.to_lists(), encoding.log_prob.tolist(), strict=True)
                encoding.known = [{tuple(ids): log_prob} for ids, log_prob in rows]
        return encoding.log_prob.to(self.device)

    def fill(self, encoding: TwoStageEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Fill:
        fill: Fill = self.screen.fill(encoding.words, rows, left, right)
        return fill

    def candidates(self, encoding: TwoStageEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        candidates: Tensor = self.screen.candidates(encoding.words, rows, left, right)
        return candidates

    def score(
        self,
        encoding: TwoStageEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> TwoStagePending:
        screened = self.screen.score(encoding.words, rows, sentences, same_left, same_right, window)
        return TwoStagePending(rows, sentences, screened)

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        """[R]: the scorer's log probability where `keep`, 0 elsewhere."""
        log_prob = torch.zeros(len(keep), dtype=torch.float64, device=keep.device)
        pending.passed = passed = keep.nonzero()[:, 0]
        if not len(passed):
            return log_prob
        self.log_prob(encoding)  # begins, if nobody has asked about the current sentences yet
        candidates, chains = pending.sentences.select(passed), pending.rows[passed].cpu()  # [K]
        if self._remembers:
            known = [encoding.known[chain] for chain in chains.tolist()]
            asked = list(zip(known, map(tuple, candidates.to_lists()), strict=True))
            new = [at for at, (said, ids) in enumerate(asked) if ids not in said]
            pending.read = torch.tensor(new, dtype=torch.int64)
            if new:
                log_new = self._ask(encoding, pending, chains[new], candidates.select(pending.read.to(passed.device)))
                for at, value in zip(new, log_new.tolist(), strict=True):
                    said, ids = asked[at]
                    if len(said) >= MAX_REMEMBERED_OF_CHAIN:
                        said.clear()
                    said[ids] = value
            pending.log_prob = torch.tensor([said[ids] for said, ids in asked], dtype=torch.float64)
        else:
            pending.read = torch.arange(len(chains))
            pending.log_prob = self._ask(encoding, pending, chains, candidates)
        return log_prob.index_copy(0, passed, pending.log_prob.to(keep.device))

    def _ask(
        self, encoding: TwoStageEncoding, pending: TwoStagePending, chains: Tensor, candidates: Sentences
    ) -> Tensor:
        """[M] float64 on the CPU: the scorer's log p of a candidate for each of the `chains` [M]."""
        if encoding.num_readings is not None:
            encoding.num_readings.index_add_(0, chains, torch.ones_like(chains))
        if self._prefixes is None:
            return self._score(candidates)
        with blaming(whose(self._prefixes), BadModel):
            pending.prefixes = self._prefixes.extend(encoding.prefixes, chains, self.texts(candidates))
        log_prob: Tensor = pending.prefixes.log_prob
        return log_prob

    def commit(self, encoding: TwoStageEncoding, pending: TwoStagePending, accepted: Tensor) -> None:
        self.screen.finish(encoding.words, pending.words, accepted)  # its states must be whole
        self.screen.commit(encoding.words, pending.words, accepted)
        rows = pending.rows[accepted]
        current = encoding.sentences
        ids, lengths = current.ids.clone(), current.lengths.clone()
        ids[rows], lengths[rows] = pending.sentences.ids[accepted], pending.sentences.lengths[accepted]
        encoding.sentences = Sentences(ids, lengths, current.inputs)
        if encoding.log_prob is None or pending.passed is None or pending.log_prob is None or pending.read is None:
            return
        taken = accepted[pending.passed].cpu()  # [K]
        encoding.log_prob[pending.rows[pending.passed].cpu()[taken]] = pending.log_prob[taken]
        # A chain that goes back to what it knows keeps the prefix of another text: the next reading starts from that.
        if self._prefixes is not None and len(pending.read):
            with blaming(whose(self._prefixes), BadModel):
                self._prefixes.keep(encoding.prefixes, pending.prefixes, taken[pending.read])

    def texts(self, sentences: Sentences) -> list[str]:
        """The natural texts of sentences: that is what a text model reads."""
        return self._texts(sentences.to_lists())

    def _texts(self, sentences: Iterable[Sequence[int]]) -> list[str]:
        if self._lexicon is None:
            raise ValueError("a text model reads the words of a lexicon: use `bound(lexicon)`")
        return [join(self._lexicon.words(ids)) for ids in sentences]


class TextTarget(TwoStageModel):
    """A text model is the target."""

    def __init__(self, words: RecurrentModel, text_model: TextModel, lexicon: Lexicon | None = None) -> None:
        super().__init__(words, lexicon)
        self.text_model = text_model
        self._prefixes = text_model if isinstance(text_model, PrefixModel) else None
        self.name = f"{text_model.name} screened by {words.name}"

    def bound(self, lexicon: Lexicon) -> "TextTarget":
        return TextTarget(self.words.bound(lexicon), self.text_model, lexicon)

    def _score(self, sentences: Sentences) -> Tensor:
        texts = self.texts(sentences)
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        log_prob = ask(self.text_model, list(numbers))
        return log_prob[torch.tensor([numbers[text] for text in texts], dtype=torch.int64)]


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
    screens; the others are asked about what passes, and about each sentence once.
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
    ) -> None:
        super().__init__(words, lexicon)
        self.screen = SharedWords(words)
        self._weights, self._text_model, self._text_weight = weights, text_model, text_weight
        self.name = words.name if text_model is None else f"{text_model.name} beside {words.name}"
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def reads_ahead(self) -> bool:
        """Whether steps may be tried after one that is read: most are refused, and a reading in vain costs little."""
        return self._text_model is None

    @property
    def weight(self) -> float:
        """What all readings count together."""
        return sum(self._weights) + (0.0 if self._text_model is None else self._text_weight)

    def bound(self, lexicon: Lexicon) -> "ProductOfExperts":
        words = self.words.bound(lexicon)
        return ProductOfExperts(words, self._weights, self._text_model, self._text_weight, lexicon)

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
            self._known = other._known  # noqa: SLF001
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
        return torch.tensor([known[ids] for ids in asked], dtype=torch.float64)

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
        if self._text_model is not None:
            total += self._text_weight * ask(self._text_model, self._texts(sentences))
        return total
