"""The word model read from all sides: forward, backward, and each word from both sides of it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from ..text.lexicon import Lexicon
from ..text.sentences import Sentences
from ..text.tokenizer import join
from .protocols import TextModel
from .recurrent import RecurrentModel
from .screened import Screening

ROWS = 256  # sentences that are read together
KEPT = 200_000  # sentences whose values are remembered
LEAST = -20.0  # log probability of a word that does not fit at all


def features(
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


class AllSides(Screening):
    """log p is a weighted sum of the log probabilities of several readings: a product of experts, not normalised.

    The readings are the word model's three (`weights`) and, if there is one, that of a big model of texts. The forward
    reading screens; the others are asked about what it lets through, and about each sentence once.
    """

    window = 2

    def __init__(
        self,
        small: RecurrentModel,
        weights: tuple[float, float, float],
        big: TextModel | None = None,
        big_weight: float = 0.0,
        lexicon: Lexicon | None = None,
    ) -> None:
        super().__init__(small, lexicon)
        self._weights, self._big, self._big_weight = weights, big, big_weight
        self.name = small.name if big is None else f"{big.name} beside {small.name}"
        self._known: dict[tuple[int, ...], float] = {}

    @property
    def weight(self) -> float:
        """What all readings count together."""
        return sum(self._weights) + (0.0 if self._big is None else self._big_weight)

    def bound(self, lexicon: Lexicon) -> "AllSides":
        return AllSides(self.small.bound(lexicon), self._weights, self._big, self._big_weight, lexicon)

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
            sides = features(sentences, self.small, shapes=True)
            readings = torch.stack([one.double() for one in sides], -1).cpu()  # [N,3]
            total += readings @ torch.tensor(self._weights, dtype=torch.float64)
        if self._big is not None:
            if self._lexicon is None:
                raise ValueError("a big model reads the words of a lexicon: use `bound(lexicon)`")
            total += self._big_weight * self._big.log_prob([join(self._lexicon.words(ids)) for ids in sentences])
        return total
