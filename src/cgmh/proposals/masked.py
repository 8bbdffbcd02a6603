"""Words from a masked language model, which reads both sides of the gap."""

import math
from pathlib import Path

import torch
from torch import Tensor

from ..constraints.tables import OnDevice
from ..draws import Draws
from ..errors import BadModel
from ..models.masked import MaskedModel, load_masked
from ..models.protocols import Fill, WordModel
from ..text.lexicon import Lexicon
from .floor import Floored, Uniform
from .protocols import View

__all__ = ["MaskedFiller", "load_masked"]


class MaskedFiller:
    """q = (1 - floor) softmax of the masked model over our words + floor uniform.

    The masked model reads the natural text of the words around the gap, with its mask in it; the word that stood there
    has no say. It knows those of our words that are one token of its own, with a capital where the gap opens the
    sentence; words that share a token share its probability evenly. All others, and no run-local word, come by the
    floor. Contexts that repeat within a call are read once.
    """

    def __init__(
        self, model: MaskedModel | str | Path, lexicon: Lexicon, word_model: WordModel, floor: float = 0.01
    ) -> None:
        if not 0 < floor < 1:
            raise ValueError(f"the floor must lie between 0 and 1, not {floor}")
        words = lexicon.vocabulary.words
        if len(words) != word_model.num_words:
            raise ValueError(f"the lexicon has {len(words)} words and the word model {word_model.num_words}")
        self._model = model if isinstance(model, MaskedModel) else load_masked(model)
        self._lexicon = lexicon
        self._uniform = Uniform(word_model)
        tokens = torch.stack([self._model.tokens(words, opening=opening) for opening in (False, True)])  # [2,V]
        tokens[:, word_model.special_ids.cpu()] = -1
        known = tokens >= 0
        if not bool(known.any(1).all()):
            raise BadModel(f"{self._model.name}: none of the words is one token of it; it is for another language")
        shares = torch.ones_like(tokens, dtype=torch.float64)  # [2,V]: how many words have the same token
        for row in range(2):
            shares[row, known[row]] = torch.bincount(tokens[row, known[row]])[tokens[row, known[row]]].double()
        self._tables = OnDevice(tokens=tokens.clamp(min=0), log_share=(-shares.log()).masked_fill(~known, -torch.inf))
        self._logs = OnDevice(
            rest=torch.tensor(math.log1p(-floor), dtype=torch.float64),
            floor=torch.tensor(math.log(floor), dtype=torch.float64),
        )

    def fill(self, view: View, left: Tensor, right: Tensor) -> Fill:
        logs = self._logs.at(left.device)
        contexts: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        places = zip(view.sentences.to_lists(), left.tolist(), right.tolist(), strict=True)
        which = [contexts.setdefault((tuple(ids[:a]), tuple(ids[b:])), len(contexts)) for ids, a, b in places]
        fill = Listed(
            self._log_words(list(contexts)).to(left.device),
            torch.tensor(which, dtype=torch.int64, device=left.device),
        )
        return Floored(fill, self._uniform, logs["rest"].expand(len(left)), logs["floor"].expand(len(left)))

    def _log_words(self, contexts: list[tuple[tuple[int, ...], tuple[int, ...]]]) -> Tensor:
        """[U,V] float64: log q of every word in each gap, without the floor."""
        pairs = [(self._lexicon.words(before), self._lexicon.words(after)) for before, after in contexts]
        logits = self._model.logits([self._model.text(before, after) for before, after in pairs])  # [U,T]
        tables = self._tables.at(logits.device)
        opens = torch.tensor([int(self._model.opens(before)) for before, _ in pairs], device=logits.device)  # [U]
        log_words = logits.double().gather(1, tables["tokens"][opens]) + tables["log_share"][opens]
        return log_words.log_softmax(-1)


class Listed:
    """A distribution over V words for each of U contexts, and the context of each of R rows."""

    def __init__(self, log_words: Tensor, which: Tensor) -> None:
        self._log_words, self._which = log_words, which  # [U,V], [R]

    def choose(self, draws: Draws) -> Tensor:
        return draws.choose(self._log_words[self._which], "word")

    def log_prob(self, word: Tensor) -> Tensor:
        known = word < self._log_words.shape[1]
        log_prob = self._log_words[self._which, torch.where(known, word, 0)]
        return log_prob.masked_fill(~known, -torch.inf)
