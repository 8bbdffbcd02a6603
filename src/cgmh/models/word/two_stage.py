"""Targets in two stages: the word model proposes and screens, a better scorer decides.

The scorer is the target. The word model fills gaps, and its forward gain is the first stage of delayed acceptance, so
that the scorer is asked only about candidates that pass it. The kernel corrects for the first stage exactly
(sampling/acceptance.py): what is sampled is the scorer's distribution, whatever the word model thinks. The scorer is a
text model (`TextTarget`), or several readings, those of the word model and of a text model (experts.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from ...errors import BadModel, blaming
from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.tokenizer import join
from ..protocols import Fill, PrefixModel, TextModel, ask, whose
from .recurrent import RecurrentModel

WHOLE = 1_000_000  # a window that holds the whole sentence: the first stage sees all of the word model's gain
MAX_REMEMBERED_OF_CHAIN = 10_000  # sentences whose values are remembered for one chain


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
