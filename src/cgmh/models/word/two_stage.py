"""A word model that proposes and screens for a better judge: a big model of texts, or all that it knows itself.

The judge is the target; the word model fills gaps, and its forward gain is the first stage of delayed acceptance, so
that the judge is asked only about candidates that it lets through. The kernel corrects for the first stage exactly
(sampling/acceptance.py): what is sampled is the judge's distribution, whatever the screen thinks.

The word model read from all sides: forward, backward, and each word from both sides of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from ...text.lexicon import Lexicon
from ...text.sentences import Sentences
from ...text.tokenizer import join
from ..protocols import Fill, PrefixModel, TextModel
from .recurrent import RecurrentModel

WHOLE = 1_000_000  # a window that holds the whole sentence: the screen is all of the small model's gain


@dataclass
class TwoStageEncoding:
    """What both keep about B sentences; the judge is asked when its log probability first is."""

    words: Any
    sentences: Sentences
    big: Any = None  # the cache of a model that reuses prefixes, otherwise the log probabilities [B]

    def select(self, rows: Tensor) -> "TwoStageEncoding":
        big = self.big
        if isinstance(big, Tensor):
            big = big[rows.to(big.device)]
        elif big is not None:
            big = big.select(rows)
        return TwoStageEncoding(self.words.select(rows), self.sentences.select(rows), big)


@dataclass
class TwoStagePending:
    """Candidates that the small model has scored, and of those kept, what the judge said."""

    rows: Tensor  # [R]
    sentences: Sentences
    words: Any
    kept: Tensor | None = None  # [K], into R
    big: Any = None

    @property
    def log_gain(self) -> Tensor:
        gain: Tensor = self.words.log_gain
        return gain


class TwoStageModel(ABC):
    """A judge as a word model, with the small one in front of it."""

    name: str
    window, trust = WHOLE, 0.5  # how the screen looks: the two often disagree (benchmarks/delayed.py)

    def __init__(self, words: RecurrentModel, lexicon: Lexicon | None = None) -> None:
        self.words = words
        self._lexicon = lexicon
        self.vocabulary, self.num_words, self.special_ids = words.vocabulary, words.num_words, words.special_ids
        self.device = words.device

    @abstractmethod
    def bound(self, lexicon: Lexicon) -> "TwoStageModel":
        """The same models, reading the words of a lexicon."""

    @abstractmethod
    def _said(self, sentences: Sentences) -> Tensor:
        """[N] float64 on the CPU: the judge's log p of sentences, each distinct one asked about once."""

    def encode(self, sentences: Sentences) -> TwoStageEncoding:
        return TwoStageEncoding(self.words.encode(sentences), sentences)

    def log_prob(self, encoding: TwoStageEncoding) -> Tensor:
        if encoding.big is None:
            encoding.big = self._begin(encoding.sentences)
        held: Tensor = encoding.big if isinstance(encoding.big, Tensor) else encoding.big.log_prob
        return held.to(self.device)

    def fill(self, encoding: TwoStageEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Fill:
        return self.words.fill(encoding.words, rows, left, right)

    def candidates(self, encoding: TwoStageEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        return self.words.candidates(encoding.words, rows, left, right)

    def score(
        self,
        encoding: TwoStageEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> TwoStagePending:
        screened = self.words.score(encoding.words, rows, sentences, same_left, same_right, window)
        return TwoStagePending(rows, sentences, screened)

    def finish(self, encoding: TwoStageEncoding, pending: TwoStagePending, keep: Tensor) -> Tensor:
        """[R]: the judge's log probability where `keep`, 0 elsewhere."""
        log_prob = torch.zeros(len(keep), dtype=torch.float64, device=keep.device)
        pending.kept = kept = keep.nonzero()[:, 0]
        if not len(kept):
            return log_prob
        return log_prob.index_copy(0, kept, self._ask(encoding, pending, kept).to(keep.device))

    def commit(self, encoding: TwoStageEncoding, pending: TwoStagePending, accepted: Tensor) -> None:
        self.words.finish(encoding.words, pending.words, accepted)  # its states must be whole
        self.words.commit(encoding.words, pending.words, accepted)
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

    def _ask(self, encoding: TwoStageEncoding, pending: TwoStagePending, kept: Tensor) -> Tensor:
        """[K]: log p of the candidates `kept`."""
        pending.big = self._said(pending.sentences.select(kept))
        found: Tensor = pending.big
        return found

    def _keep(self, encoding: TwoStageEncoding, pending: TwoStagePending, kept: Tensor, taken: Tensor) -> None:
        """Of the candidates `kept`, those `taken` [K] become the current sentences."""
        if encoding.big is not None:  # otherwise nobody has asked about the current sentences yet
            encoding.big[pending.rows[kept].cpu()[taken]] = pending.big[taken]


class TextTarget(TwoStageModel):
    """A big model of texts as the judge."""

    def __init__(self, words: RecurrentModel, big: TextModel, lexicon: Lexicon | None = None) -> None:
        super().__init__(words, lexicon)
        self.big = big
        self.name = f"{big.name} screened by {words.name}"

    def bound(self, lexicon: Lexicon) -> "TextTarget":
        return TextTarget(self.words.bound(lexicon), self.big, lexicon)

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

    def _ask(self, encoding: TwoStageEncoding, pending: TwoStagePending, kept: Tensor) -> Tensor:
        if not isinstance(self.big, PrefixModel):
            return super()._ask(encoding, pending, kept)
        self.log_prob(encoding)
        texts = self.texts(pending.sentences.select(kept))
        pending.big = self.big.extend(encoding.big, pending.rows[kept].cpu(), texts)
        found: Tensor = pending.big.log_prob
        return found

    def _keep(self, encoding: TwoStageEncoding, pending: TwoStagePending, kept: Tensor, taken: Tensor) -> None:
        if isinstance(self.big, PrefixModel):
            self.big.keep(encoding.big, pending.big, taken)
        else:
            super()._keep(encoding, pending, kept, taken)


ROWS = 256  # sentences that are read together
KEPT = 200_000  # sentences whose values are remembered
LEAST = -20.0  # log probability of a word that does not fit at all


def log_readings(
    sentences: Sequence[Sequence[int]], model: RecurrentModel, *, shapes: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    """[N] each: what the word model says of whole sentences read forward, read backward, and filled word by word.

    A word outside the vocabulary does not fit any place; or, with `shapes`, as well as an unknown of its shape.
    """
    batch = Sentences.from_lists(sentences, max(map(len, sentences)) + 1, device=model.device)
    encoding = model.encode(batch)
    forward, backward = model.log_prob(encoding), model.backward_log_prob(encoding)
    rows, at = batch.present.nonzero(as_tuple=True)
    filled = model.fill(encoding, rows, at, at + 1).log_prob(batch.ids[rows, at])
    unknown = (batch.ids[rows, at] >= model.num_words).nonzero()[:, 0]
    if shapes and len(unknown):
        row, place = rows[unknown], at[unknown]
        said = model.fill_log_prob(encoding, row, place, place + 1, encoding.ids[row, place]).double()
        filled = filled.index_copy(0, unknown, said)
    filled = filled.clamp(min=LEAST)
    return forward, backward, torch.zeros_like(forward).index_add_(0, rows, filled)


class ProductOfExperts(TwoStageModel):
    """log p is a weighted sum of the log probabilities of several readings: a product of experts, not normalised.

    The readings are the word model's three (`weights`) and, if there is one, that of a big model of texts. The forward
    reading screens; the others are asked about what it lets through, and about each sentence once.
    """

    window = 2

    def __init__(
        self,
        words: RecurrentModel,
        weights: tuple[float, float, float],
        big: TextModel | None = None,
        big_weight: float = 0.0,
        lexicon: Lexicon | None = None,
    ) -> None:
        super().__init__(words, lexicon)
        self._weights, self._big, self._big_weight = weights, big, big_weight
        self.name = words.name if big is None else f"{big.name} beside {words.name}"
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def weight(self) -> float:
        """What all readings count together."""
        return sum(self._weights) + (0.0 if self._big is None else self._big_weight)

    def bound(self, lexicon: Lexicon) -> "ProductOfExperts":
        return ProductOfExperts(self.words.bound(lexicon), self._weights, self._big, self._big_weight, lexicon)

    def _said(self, sentences: Sentences) -> Tensor:
        wanted = [tuple(ids) for ids in sentences.to_lists()]
        if len(self._known) > KEPT:
            self._known = {}  # not cleared: chains of another thread may be reading the old one
        known = self._known
        new = sorted({ids for ids in wanted if ids not in known}, key=len)
        for first in range(0, len(new), ROWS):
            some = new[first : first + ROWS]
            known.update(zip(some, self._read(some).tolist(), strict=True))
        return torch.tensor([known[ids] for ids in wanted], dtype=torch.float64)

    def _read(self, sentences: Sequence[tuple[int, ...]]) -> Tensor:
        """[N]: all readings of sentences together."""
        total = torch.zeros(len(sentences), dtype=torch.float64)
        if any(self._weights):
            each = log_readings(sentences, self.words, shapes=True)
            readings = torch.stack([one.double() for one in each], -1).cpu()  # [N,3]
            total += readings @ torch.tensor(self._weights, dtype=torch.float64)
        if self._big is not None:
            if self._lexicon is None:
                raise ValueError("a big model reads the words of a lexicon: use `bound(lexicon)`")
            total += self._big_weight * self._big.log_prob([join(self._lexicon.words(ids)) for ids in sentences])
        return total
