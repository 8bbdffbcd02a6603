"""Masked language models of Hugging Face: what may stand in one gap of a text (extra `hf`)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ...errors import BadModel
from ...text.tokenizer import first_word, join
from .pretrained import Pretrained, load_pretrained

_GAP = "\ue000"  # a private character: no text that was normalised holds it, and `join` gives it no capital


class MaskedModel:
    """A masked language model that is asked about one word between the words before it and those after it."""

    def __init__(self, pretrained: Pretrained) -> None:
        tokenizer = pretrained.tokenizer
        self.name = pretrained.name
        if tokenizer.mask_token_id is None:
            raise BadModel(f"{self.name}: its tokenizer has no mask token, so it is no masked language model")
        self._mask, self._mask_id = str(tokenizer.mask_token), int(tokenizer.mask_token_id)
        self._padding = int(tokenizer.pad_token_id or 0)
        self._pretrained = pretrained
        if not bool(self.logits([self.text(["a"], ["."])]).isfinite().all()):
            raise BadModel(f"{self.name}: its logits are not numbers; the weights are damaged")

    @staticmethod
    def opens(before: Sequence[str]) -> bool:
        """Whether a word after these carries the capital of the sentence."""
        return first_word([*before, "a"]) == len(before)

    def text(self, before: Sequence[str], after: Sequence[str]) -> str:
        """The natural text with the mask in the gap; a mask that the words spell out is taken out."""
        left, _, right = join([*before, _GAP, *after]).partition(_GAP)
        return left.replace(self._mask, "") + self._mask + right.replace(self._mask, "")

    def tokens(self, words: Sequence[str], *, opening: bool) -> Tensor:
        """[W] int64: the token that is the whole word in a gap, -1 where there is none.

        A word that opens a sentence is read with its capital, as the text has it.
        """
        before: list[str] = [] if opening else ["a"]
        lead = self._pretrained.tokens([join(before)], add_special_tokens=False)[0] if before else []
        never = {-1, *self._pretrained.tokenizer.all_special_ids}
        tokens = []
        for row in self._pretrained.tokens([join([*before, word]) for word in words], add_special_tokens=False):
            is_whole = len(row) == len(lead) + 1 and row[:-1] == lead and row[-1] not in never
            tokens.append(row[-1] if is_whole else -1)
        return torch.tensor(tokens, dtype=torch.int64)

    def logits(self, texts: Sequence[str]) -> Tensor:
        """[N,T] on the device of the model, float32 at least: the logits at the mask of each text."""
        if not texts:
            return torch.empty(0, self._pretrained.vocabulary_size, device=self._pretrained.device)
        rows = self._pretrained.tokens(texts, self._pretrained.context, add_special_tokens=True)
        return self._pretrained.in_batches(list(map(len, rows)), lambda batch: self._score([rows[at] for at in batch]))

    def _score(self, rows: list[list[int]]) -> Tensor:
        """[N,T]: the logits at the first mask of each row of tokens."""
        places = torch.tensor([row.index(self._mask_id) for row in rows], device=self._pretrained.device)
        logits = self._pretrained.logits(*self._pretrained.padded(rows, self._padding))  # [N,L,T]
        return logits[torch.arange(len(rows), device=logits.device), places]


def load_masked(name_or_path: str | Path, device: str | torch.device = "cpu") -> MaskedModel:
    """A masked language model from a directory or from the hub."""
    return MaskedModel(load_pretrained("masked", name_or_path, device))
