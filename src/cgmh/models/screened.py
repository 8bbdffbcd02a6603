"""A word model that proposes and screens for a big model of texts.

The big model is the target; the small one fills gaps, and its gain is the first stage of delayed acceptance, so that
the big one is asked only about candidates that the small one lets through. The kernel corrects for the first stage
exactly (sampling/acceptance.py): what is sampled is the big model's distribution, whatever the small one thinks.
"""

from collections.abc import Sequence
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
    """What both models keep about B sentences; the big one is asked when its log probability first is."""

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
    """Candidates that the small model has scored, and of those kept, what the big one said."""

    rows: Tensor  # [R]
    sentences: Sentences
    small: Any
    kept: Tensor | None = None  # [K], into R
    big: Any = None

    @property
    def log_gain(self) -> Tensor:
        gain: Tensor = self.small.log_gain
        return gain


class Screened:
    """The big model as a word model, with the small one in front of it."""

    def __init__(self, small: RecurrentModel, big: TextModel, lexicon: Lexicon | None = None) -> None:
        self.small, self.big = small, big
        self._lexicon = lexicon
        self.vocabulary, self.num_words, self.special_ids = small.vocabulary, small.num_words, small.special_ids
        self.device = small.device
        self.name = f"{big.name} screened by {small.name}"

    def bound(self, lexicon: Lexicon) -> "Screened":
        """The same models, reading the words of a lexicon."""
        return Screened(self.small.bound(lexicon), self.big, lexicon)

    def texts(self, sentences: Sentences) -> list[str]:
        """The natural text of each sentence: that is what the big model reads."""
        if self._lexicon is None:
            raise ValueError("a screened model reads the words of a lexicon: use `bound(lexicon)`")
        return [join(self._lexicon.words(ids)) for ids in sentences.to_lists()]

    def encode(self, sentences: Sentences) -> ScreenedEncoding:
        return ScreenedEncoding(self.small.encode(sentences), sentences)

    def log_prob(self, encoding: ScreenedEncoding) -> Tensor:
        if encoding.big is None:
            texts = self.texts(encoding.sentences)
            encoding.big = self.big.begin(texts) if isinstance(self.big, PrefixModel) else self._ask(texts)
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
        """[R]: the big model's log probability where `keep`, 0 elsewhere."""
        self.small.finish(encoding.small, pending.small, keep)  # its states must be whole before a commit
        log_prob = torch.zeros(len(keep), dtype=torch.float64, device=keep.device)
        pending.kept = kept = keep.nonzero()[:, 0]
        if not len(kept):
            return log_prob
        texts = self.texts(pending.sentences.select(kept))
        if isinstance(self.big, PrefixModel):
            self.log_prob(encoding)
            pending.big = self.big.extend(encoding.big, pending.rows[kept].cpu(), texts)
            found = pending.big.log_prob
        else:
            found = pending.big = self._ask(texts)
        return log_prob.index_copy(0, kept, found.to(keep.device))

    def commit(self, encoding: ScreenedEncoding, pending: ScreenedPending, accepted: Tensor) -> None:
        self.small.commit(encoding.small, pending.small, accepted)
        rows = pending.rows[accepted]
        current = encoding.sentences
        ids, lengths = current.ids.clone(), current.lengths.clone()
        ids[rows], lengths[rows] = pending.sentences.ids[accepted], pending.sentences.lengths[accepted]
        encoding.sentences = Sentences(ids, lengths, current.inputs)
        if pending.kept is None or not len(pending.kept):
            return
        taken = accepted[pending.kept].cpu()  # [K]
        if isinstance(self.big, PrefixModel):
            self.big.keep(encoding.big, pending.big, taken)
        elif encoding.big is not None:  # otherwise nobody has asked about the current sentences yet
            encoding.big[pending.rows[pending.kept].cpu()[taken]] = pending.big[taken]

    def _ask(self, texts: Sequence[str]) -> Tensor:
        """[N]: log p of texts, each distinct one asked about once."""
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        found = self.big.log_prob(list(distinct)).cpu().double()
        return found[torch.tensor([distinct[text] for text in texts], dtype=torch.int64)]
