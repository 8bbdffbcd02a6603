"""Masked language models of Hugging Face: what may stand in one gap of a text (extra `hf`)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ...errors import BadInput, BadModel
from ...text.tokenizer import first_word, join
from .hub import Pretrained, in_batches, load_pretrained

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
        start: list[str] = [] if opening else ["a"]
        texts = [join([*start, word]) for word in words]
        lead = self._pieces([join(start)], specials=False)[0] if start else []
        never = {-1, *self._pretrained.tokenizer.all_special_ids}
        found = []
        for piece in self._pieces(texts, specials=False):
            whole = len(piece) == len(lead) + 1 and piece[:-1] == lead and piece[-1] not in never
            found.append(piece[-1] if whole else -1)
        return torch.tensor(found, dtype=torch.int64)

    def logits(self, texts: Sequence[str]) -> Tensor:
        """[N,T] on the device of the model, float32 at least: the logits at the mask of each text."""
        if not texts:
            return torch.empty(0, self._pretrained.vocabulary_size, device=self._pretrained.device)
        pieces = self._pieces(texts, specials=True)
        for text, piece in zip(texts, pieces, strict=True):
            if len(piece) > self._pretrained.context:
                raise BadInput(
                    f"{text[:60]!r}…: too long for {self.name}, which reads {self._pretrained.context} tokens"
                )
        places = [piece.index(self._mask_id) for piece in pieces]
        found: dict[int, Tensor] = {}

        def score(some: list[int]) -> None:
            with torch.inference_mode():
                logits = self._score([pieces[at] for at in some], [places[at] for at in some])
            found.update(zip(some, logits, strict=True))

        in_batches(self._pretrained, [len(piece) for piece in pieces], score)
        return torch.stack([found[at] for at in range(len(pieces))])

    def _score(self, pieces: list[list[int]], places: list[int]) -> Tensor:
        longest = max(map(len, pieces))
        rows = [[*piece, *[self._padding] * (longest - len(piece))] for piece in pieces]
        ids = torch.tensor(rows, device=self._pretrained.device)  # [N,L]
        lengths = torch.tensor([len(piece) for piece in pieces], device=ids.device)
        present = torch.arange(longest, device=ids.device) < lengths[:, None]  # [N,L]
        logits: Tensor = self._pretrained.network(input_ids=ids, attention_mask=present.long()).logits  # [N,L,T]
        logits = logits[torch.arange(len(rows), device=ids.device), torch.tensor(places, device=ids.device)]
        return logits if logits.dtype is torch.float64 else logits.float()

    def _pieces(self, texts: Sequence[str], *, specials: bool) -> list[list[int]]:
        found: list[list[int]] = self._pretrained.tokenizer(
            list(texts),
            add_special_tokens=specials,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return found


def load_masked(name_or_path: str | Path, device: str | torch.device = "cpu") -> MaskedModel:
    """A masked language model from a directory or from the hub (extra `hf`).

    Weights must be safetensors; code that comes with a model is never run.
    """
    return MaskedModel(load_pretrained("masked", name_or_path, device))
