"""Causal language models of Hugging Face as models of whole texts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ...errors import BadInput, BadModel
from .hub import Pretrained, in_batches, load_pretrained


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
        *lines, newline = self._pieces([*context, "\n"])
        self._close = newline[-1] if context and newline else self.end  # what ends a text
        self._lead = [self.begin, *(token for line in lines for token in (*line, self._close))]  # what stands before it
        self._check_network()

    def after(self, context: Sequence[str]) -> "HuggingFaceModel":
        """The same model, reading a text as the line that follows the lines of `context`; a new line ends it."""
        found = HuggingFaceModel(self._pretrained, context)
        size, most = len(found._lead), self._pretrained.context // 2
        if size > most:
            raise BadInput(f"the context has {size} tokens; {self.name} takes at most {most}")
        found.name = f"{self.name} after {len(context)} lines"
        return found

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        """[N] float64 on the CPU: log p(text), its end included. Memory bounds a batch, not the number of texts."""
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        tokens = self._tokens(list(distinct))
        found = torch.empty(len(tokens), dtype=torch.float64)

        def score(some: list[int]) -> None:
            with torch.inference_mode():
                log_prob = self._score([tokens[at] for at in some])
            found[some] = log_prob.cpu()

        in_batches(self._pretrained, [len(one) - 1 for one in tokens], score)
        return found[[distinct[text] for text in texts]]

    def _tokens(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text, between its lead and its end."""
        if not texts:
            return []
        pieces = self._pieces(texts)
        room = self._pretrained.context - len(self._lead)  # the end is predicted and not read
        for text, piece in zip(texts, pieces, strict=True):
            if len(piece) > room:
                start = text if len(text) <= 60 else text[:60] + "…"
                raise BadInput(f"{start!r}: {len(piece)} tokens; {self.name} reads at most {room}: shorten the text")
        return [[*self._lead, *piece, self._close] for piece in pieces]

    def _pieces(self, texts: list[str]) -> list[list[int]]:
        """The tokens of each text alone."""
        for text in texts:
            if any("\ud800" <= letter <= "\udfff" for letter in text):  # what Python makes of bytes it cannot decode
                raise BadInput(f"{text!r}: not valid text; save it as UTF-8")
        found: list[list[int]] = self._pretrained.tokenizer(
            texts,
            add_special_tokens=False,
            split_special_tokens=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )["input_ids"]
        return found

    def _score(self, tokens: list[list[int]]) -> Tensor:
        """[N] float64: the sum of log p of every token after the lead."""
        longest = max(map(len, tokens))
        rows = [[*one, *[self.end] * (longest - len(one))] for one in tokens]
        ids = torch.tensor(rows, device=self._pretrained.device)  # [N,L]
        lengths = torch.tensor([len(one) for one in tokens], device=ids.device)
        present = torch.arange(1, longest, device=ids.device) < lengths[:, None]  # [N,L-1]
        logits = self._logits(ids[:, :-1], present)  # [N,L-1,T]
        log_token = logits.gather(2, ids[:, 1:, None])[..., 0] - logits.logsumexp(-1)  # [N,L-1]
        counted = present & (torch.arange(1, longest, device=ids.device) >= len(self._lead))
        return log_token.double().masked_fill(~counted, 0.0).sum(-1)

    def _logits(self, ids: Tensor, present: Tensor) -> Tensor:
        """[N,L,T], in float32 at least; padding stands at the right."""
        answer: Any = self._pretrained.network(input_ids=ids, attention_mask=present.long(), use_cache=False)
        logits: Tensor = answer.logits
        return logits if logits.dtype is torch.float64 else logits.float()

    @torch.inference_mode()
    def _check_network(self) -> None:
        """Refuse a network that looks ahead, such as BERT as a decoder, and one whose numbers are none."""
        last = min(4, self._pretrained.vocabulary_size)
        ids = torch.tensor([[self.begin, self.end, at] for at in range(last)], device=self._pretrained.device)  # [N,3]
        logits = self._logits(ids, torch.ones_like(ids))[:, :2]  # [N,2,T]: before the last token
        if not bool(logits.isfinite().all()):
            raise BadModel(f"{self.name}: its logits are not numbers; the weights are damaged")
        if not torch.allclose(logits, logits[:1].expand_as(logits), rtol=1e-3, atol=1e-3):
            raise BadModel(f"{self.name}: not a causal language model: what it expects depends on words further on")


def load_huggingface(name_or_path: str | Path, device: str | torch.device = "cpu") -> HuggingFaceModel:
    """A causal language model from a directory or from the hub (extra `hf`).

    Weights must be safetensors; code that comes with a model is never run.
    """
    return HuggingFaceModel(load_pretrained("causal", name_or_path, device))
