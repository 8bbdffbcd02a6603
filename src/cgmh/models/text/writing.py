"""Sentences around given words, by a model that was tuned to write them: drawn from left to right, token by token.

The model reads the words on a line of their own and then writes the sentence. What is written need not contain the
words: whoever asks has to look. It is no sample of anything that is promised, and serves as a start of chains.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from ...draws import Draws
from ...threads import second_thread, single_threaded
from .scored import ScoredPairs
from .transformer import MAX_TOKENS as MOST_READ
from .transformer import Layout, LlamaNetwork, Preamble

EXACT, INFLECTED = ", ", " / "  # what stands between words that are wanted as they are, or in any form
TEMPERATURE, NUM_LIKELIEST = 0.7, 40  # of the tokens that are drawn, and how many there are to choose from
MAX_TOKENS = 32  # of a sentence
FIRST_STEP = -2_000_000  # it draws at steps from here downwards, at which no chain and no search draws


def line_of(words: Sequence[str], *, inflected: bool) -> str:
    """What the model reads before it writes a sentence with these words."""
    between = INFLECTED if inflected else EXACT
    line = between.join(words) if len(words) > 1 else f"{words[0]}{between.rstrip()}"
    return f" {line}\n"


class Writer:
    """Writes with the network of a tuned model; texts begin with the `preamble` and end with the token `end`."""

    def __init__(self, network: LlamaNetwork, tokenizer: ScoredPairs, preamble: Preamble, end: int) -> None:
        self._network, self._tokenizer, self._preamble, self._end = network, tokenizer, preamble, end

    def write(self, words: Sequence[str], number: int, seed: int, *, inflected: bool) -> list[str]:
        """So many sentences; those that did not come to an end are left out, all of them if the words are too long."""
        prompt = self._tokenizer.encode(line_of(words, inflected=inflected))
        if len(self._preamble) + len(prompt) + MAX_TOKENS > MOST_READ:  # more than the network reads
            return []
        samples = torch.arange(number)
        other = second_thread() if self._network.is_int8 and number > 1 else None
        if other is None:
            return self._write(prompt, samples, seed)
        early, late = samples.chunk(2)  # in int8 a text has the same numbers in every batch
        promise = other.submit(self._write, prompt, early, seed)
        with single_threaded():
            later = self._write(prompt, late, seed)
        return [*promise.result(), *later]

    @torch.inference_mode()
    def _write(self, prompt: Sequence[int], samples: Tensor, seed: int) -> list[str]:
        device, before = self._network.device, len(prompt)
        layers, _, *shape = self._preamble.pairs.shape
        width = self._preamble.room(before + MAX_TOKENS)
        cache = self._preamble.pairs.new_zeros(layers, 1, width, *shape)  # [layers,N,L,2,kv,D]
        hidden = self._read(torch.tensor(list(prompt), device=device), 0, before, cache)[-1:]
        cache, hidden = cache.repeat(1, len(samples), 1, 1, 1, 1), hidden.repeat(len(samples), 1)  # all begin alike
        written: list[list[int]] = [[] for _ in samples]
        going = samples - samples[0]  # those that have not ended
        for at in range(MAX_TOKENS):
            draws = Draws(seed, samples[going], torch.full_like(going, FIRST_STEP - at))
            likeliest, logits = self._network.likeliest(hidden, NUM_LIKELIEST)  # [N,K]
            drawn = draws.choose(logits.cpu() / TEMPERATURE, "token").to(device)
            tokens = likeliest.gather(1, drawn[:, None])[:, 0]
            for row, token in zip(going.tolist(), tokens.tolist(), strict=True):
                written[row].append(token)
            goes_on = (tokens != self._end).nonzero()[:, 0]
            going = going[goes_on.cpu()]
            if not len(going):
                break
            if len(goes_on) < len(tokens):
                cache, tokens = cache[:, goes_on], tokens[goes_on]
            hidden = self._read(tokens, before + at, before + at + 1, cache)
        return [self._tokenizer.decode(row[:-1]) for row in written if row[-1] == self._end]

    def _read(self, tokens: Tensor, first: int, last: int, cache: Tensor) -> Tensor:
        """[T,W]: states of the tokens [T] of each of N texts from place `first` to `last`; they go into the cache."""
        number = cache.shape[1]
        same, lengths = (torch.full((number,), place, device=tokens.device) for place in (first, last))
        width = self._preamble.room(last)
        layout = Layout.of(same, lengths, len(self._preamble), width)

        def gather(layer: int, pairs: Tensor) -> Tensor:
            cache[layer, layout.owner, layout.place] = pairs
            own = cache[layer, :, :width]
            return torch.cat([self._preamble.pairs[layer].expand(number, -1, -1, -1, -1), own], 1)

        return self._network.read(tokens, layout, gather)
