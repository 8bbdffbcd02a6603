"""A word model that proposes and screens for a better judge: a big model of texts, or all that it knows itself.

The judge is the target; the word model fills gaps, and its forward gain is the first stage of delayed acceptance, so
that the judge is asked only about candidates that it lets through. The kernel corrects for the first stage exactly
(sampling/acceptance.py): what is sampled is the judge's distribution, whatever the screen thinks.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import join
from .protocols import Fill, PrefixModel, TextModel
from .recurrent import RecurrentModel

WHOLE = 1_000_000  # a window that holds the whole sentence: the screen is all of the small model's gain


@dataclass
class ScreenedEncoding:
    """What both keep about B sentences; the judge is asked when its log probability first is."""

    small: Any
    sentences: Sentences
    big: Any = None  # the cache of a model that reuses prefixes, otherwise the log probabilities [B]

    def select(self, rows: Tensor) -> "ScreenedEncoding":
        big = self.big
        if isinstance(big, Tensor):
            big = big[rows.to(big.device)]
        elif big is not None:
            big = big.select(rows)
        return ScreenedEncoding(self.small.select(rows), self.sentences.select(rows), big)


@dataclass
class ScreenedPending:
    """Candidates that the small model has scored, and of those kept, what the judge said."""

    rows: Tensor  # [R]
    sentences: Sentences
    small: Any
    kept: Tensor | None = None  # [K], into R
    big: Any = None

    @property
    def log_gain(self) -> Tensor:
        gain: Tensor = self.small.log_gain
        return gain


class Screening(ABC):
    """A judge as a word model, with the small one in front of it."""

    name: str
    window, trust = WHOLE, 0.5  # how the screen looks: the two often disagree (benchmarks/delayed.py)

    def __init__(self, small: RecurrentModel, lexicon: Lexicon | None = None) -> None:
        self.small = small
        self._lexicon = lexicon
        self.vocabulary, self.num_words, self.special_ids = small.vocabulary, small.num_words, small.special_ids
        self.device = small.device

    @abstractmethod
    def bound(self, lexicon: Lexicon) -> "Screening":
        """The same models, reading the words of a lexicon."""

    @abstractmethod
    def _said(self, sentences: Sentences) -> Tensor:
        """[N] float64 on the CPU: the judge's log p of sentences, each distinct one asked about once."""

    def encode(self, sentences: Sentences) -> ScreenedEncoding:
        return ScreenedEncoding(self.small.encode(sentences), sentences)

    def log_prob(self, encoding: ScreenedEncoding) -> Tensor:
        if encoding.big is None:
            encoding.big = self._begin(encoding.sentences)
        held: Tensor = encoding.big if isinstance(encoding.big, Tensor) else encoding.big.log_prob
        return held.to(self.device)

    def fill(self, encoding: ScreenedEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Fill:
        return self.small.fill(encoding.small, rows, left, right)

    def candidates(self, encoding: ScreenedEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        return self.small.candidates(encoding.small, rows, left, right)

    def score(
        self,
        encoding: ScreenedEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> ScreenedPending:
        small = self.small.score(encoding.small, rows, sentences, same_left, same_right, window)
        return ScreenedPending(rows, sentences, small)

    def finish(self, encoding: ScreenedEncoding, pending: ScreenedPending, keep: Tensor) -> Tensor:
        """[R]: the judge's log probability where `keep`, 0 elsewhere."""
        log_prob = torch.zeros(len(keep), dtype=torch.float64, device=keep.device)
        pending.kept = kept = keep.nonzero()[:, 0]
        if not len(kept):
            return log_prob
        return log_prob.index_copy(0, kept, self._ask(encoding, pending, kept).to(keep.device))

    def commit(self, encoding: ScreenedEncoding, pending: ScreenedPending, accepted: Tensor) -> None:
        self.small.finish(encoding.small, pending.small, accepted)  # its states must be whole
        self.small.commit(encoding.small, pending.small, accepted)
        rows = pending.rows[accepted]
        current = encoding.sentences
        ids, lengths = current.ids.clone(), current.lengths.clone()
        ids[rows], lengths[rows] = pending.sentences.ids[accepted], pending.sentences.lengths[accepted]
        encoding.sentences = Sentences(ids, lengths, current.inputs)
        if pending.kept is not None and len(pending.kept):
            self._keep(encoding, pending, pending.kept, accepted[pending.kept].cpu())

    def _begin(self, sentences: Sentences) -> Any:
        """What the judge keeps of the current sentences."""
        return self._said(sentences)

    def _ask(self, encoding: ScreenedEncoding, pending: ScreenedPending, kept: Tensor) -> Tensor:
        """[K]: log p of the candidates `kept`."""
        pending.big = self._said(pending.sentences.select(kept))
        found: Tensor = pending.big
        return found

    def _keep(self, encoding: ScreenedEncoding, pending: ScreenedPending, kept: Tensor, taken: Tensor) -> None:
        """Of the candidates `kept`, those `taken` [K] become the current sentences."""
        if encoding.big is not None:  # otherwise nobody has asked about the current sentences yet
            encoding.big[pending.rows[kept].cpu()[taken]] = pending.big[taken]


class Screened(Screening):
    """A big model of texts as the judge."""

    def __init__(self, small: RecurrentModel, big: TextModel, lexicon: Lexicon | None = None) -> None:
        super().__init__(small, lexicon)
        self.big = big
        self.name = f"{big.name} screened by {small.name}"

    def bound(self, lexicon: Lexicon) -> "Screened":
        return Screened(self.small.bound(lexicon), self.big, lexicon)

    def texts(self, sentences: Sentences) -> list[str]:
        """The natural text of each sentence: that is what the big model reads."""
        if self._lexicon is None:
            raise ValueError("a screened model reads the words of a lexicon: use `bound(lexicon)`")
        return [join(self._lexicon.words(ids)) for ids in sentences.to_lists()]

    def _said(self, sentences: Sentences) -> Tensor:
        texts = self.texts(sentences)
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        found = self.big.log_prob(list(distinct)).cpu().double()
        return found[torch.tensor([distinct[text] for text in texts], dtype=torch.int64)]

    def _begin(self, sentences: Sentences) -> Any:
        return self.big.begin(self.texts(sentences)) if isinstance(self.big, PrefixModel) else self._said(sentences)

    def _ask(self, encoding: ScreenedEncoding, pending: ScreenedPending, kept: Tensor) -> Tensor:
        if not isinstance(self.big, PrefixModel):
            return super()._ask(encoding, pending, kept)
        self.log_prob(encoding)
        texts = self.texts(pending.sentences.select(kept))
        pending.big = self.big.extend(encoding.big, pending.rows[kept].cpu(), texts)
        found: Tensor = pending.big.log_prob
        return found

    def _keep(self, encoding: ScreenedEncoding, pending: ScreenedPending, kept: Tensor, taken: Tensor) -> None:
        if isinstance(self.big, PrefixModel):
            self.big.keep(encoding.big, pending.big, taken)
        else:
            super()._keep(encoding, pending, kept, taken)
