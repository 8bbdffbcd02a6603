"""Causal language models of Hugging Face as models of whole texts (extra `hf`)."""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from ...errors import BadInput, BadModel
from .pretrained import Pretrained, load_pretrained


class HuggingFaceModel:
    """log p(text) under a causal language model, in float32, sums in float64.

    A text begins with the tokenizer's BOS token, or with EOS where it has no BOS, and ends with EOS; between them stand
    the tokens of the text, without any that the tokenizer would add of itself. A special token spelled out in a text
    is read as its letters.
    """

    def __init__(self, pretrained: Pretrained, context: Sequence[str] = ()) -> None:
        tokenizer = pretrained.tokenizer
        self.name = pretrained.name
        if tokenizer.eos_token_id is None:
            raise BadModel(f"{self.name}: its tokenizer has no end-of-text token (eos_token), so no text can end")
        begin = tokenizer.bos_token_id
        self.end = int(tokenizer.eos_token_id)
        self.begin = self.end if begin is None else int(begin)
        self._pretrained = pretrained
        *lines, newline = self._encode([*context, "\n"])
        self._close = newline[-1] if context and newline else self.end  # what ends a text
        # What stands before every text.
        self._preamble = [self.begin, *(token for line in lines for token in (*line, self._close))]
        self._check_network()

    def after(self, context: Sequence[str]) -> "HuggingFaceModel":
        """The same model, reading a text as the line that follows the lines of `context`; a new line ends it."""
        model = HuggingFaceModel(self._pretrained, context)
        size, most = len(model._preamble), self._pretrained.context // 2
        if size > most:
            raise BadInput(f"the context has {size} tokens; {self.name} takes at most {most}")
        model.name = f"{self.name} after {len(context)} lines"
        return model

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), its end included. Memory bounds a batch, not the number of texts."""
        if not texts:
            return torch.empty(0, dtype=torch.float64)
        numbers = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        room = self._pretrained.context - len(self._preamble)  # the end is predicted and not read
        tokens = [[*self._preamble, *row, self._close] for row in self._encode(list(numbers), room)]
        log_prob = self._pretrained.in_batches(
            [len(row) - 1 for row in tokens], lambda batch: self._score([tokens[at] for at in batch])
        )
        return log_prob[[numbers[text] for text in texts]]

    def _encode(self, texts: list[str], room: int | None = None) -> list[list[int]]:
        """The tokens of each text alone."""
        for text in texts:
            if any("\ud800" <= letter <= "\udfff" for letter in text):  # what Python makes of bytes it cannot decode
                raise BadInput(f"{text!r}: not valid text; save it as UTF-8")
        return self._pretrained.tokens(texts, room, add_special_tokens=False, split_special_tokens=True)

    def _score(self, tokens: list[list[int]]) -> Tensor:
        """[N] float64 on the CPU: the sum of log p of every token after the preamble."""
        ids, present = self._pretrained.padded(tokens, self.end)  # [N,L]
        logits = self._pretrained.logits(ids[:, :-1], present[:, 1:], use_cache=False)  # [N,L-1,T]
        log_token = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(-1)  # [N,L-1]
        counted = present[:, 1:] & (torch.arange(1, ids.shape[1], device=ids.device) >= len(self._preamble))
        return log_token.double().masked_fill(~counted, 0.0).sum(-1).cpu()

    @torch.inference_mode()
    def _check_network(self) -> None:
        """Refuse a network that looks ahead, such as BERT as a decoder, and one whose numbers are none."""
        last = min(4, self._pretrained.vocabulary_size)
        ids = torch.tensor([[self.begin, self.end, at] for at in range(last)], device=self._pretrained.device)  # [N,3]
        # [N,2,T]: before the last token
        logits = self._pretrained.logits(ids, torch.ones_like(ids), use_cache=False)[:, :2]
        if not bool(logits.isfinite().all()):
            raise BadModel(f"{self.name}: its logits are not numbers; the weights are damaged")
        if not torch.allclose(logits, logits[:1].expand_as(logits), rtol=1e-3, atol=1e-3):
            raise BadModel(f"{self.name}: not a causal language model: what it expects depends on words further on")


def load_huggingface(name_or_path: str | Path, device: str | torch.device = "cpu") -> HuggingFaceModel:
    """A causal language model from a directory or from the hub."""
    return HuggingFaceModel(load_pretrained("causal", name_or_path, device))
