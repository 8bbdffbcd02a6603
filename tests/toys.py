"""Small models in float64 whose every sentence can be listed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cgmh.draws import Draws
from cgmh.proposals import Alternatives, variants
from cgmh.text.sentences import Sentences
from enumeration import distinct

START, END, UNKNOWN = 0, 1, 2
NUM_SPECIALS = 3
FIRST = NUM_SPECIALS  # the first real word


@dataclass
class ToyEncoding:
    """The sentences and the log probability of each of their words."""

    sentences: Sentences
    logs: Tensor  # [B,L+1]

    def select(self, rows: Tensor) -> "ToyEncoding":
        return ToyEncoding(self.sentences.select(rows), self.logs[rows])


@dataclass
class ToyPending:
    rows: Tensor
    sentences: Sentences
    logs: Tensor
    log_gain: Tensor


class ToyFill:
    def __init__(self, log_words: Tensor) -> None:
        self.log_words = log_words  # [R,V]

    def choose(self, draws: Draws) -> Tensor:
        return draws.choose(self.log_words, "word")

    def log_prob(self, word: Tensor) -> Tensor:
        known = word < self.log_words.shape[1]
        log_prob = self.log_words.gather(1, word.clamp(max=self.log_words.shape[1] - 1)[:, None])[:, 0]
        return log_prob.masked_fill(~known, -torch.inf)


class ToyModel:
    """Every earlier word has its say in the next one, less with distance; run-local words are read as UNKNOWN."""

    def __init__(self, num_real: int = 4, seed: int = 0, sharpness: float = 1.5, holes: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.num_words = NUM_SPECIALS + num_real
        self.special_ids = torch.arange(NUM_SPECIALS)
        size = self.num_words

        def table(*shape: int) -> Tensor:
            return sharpness * torch.randn(*shape, generator=generator, dtype=torch.float64)

        self._bias = table(size)
        self._bias[START] = -torch.inf  # never follows anything
        self._lags = [table(size, size) / (lag + 1) for lag in range(6)]
        self._backward = table(size, size)
        log_fill = table(size, size, size)  # by the word before, the word after
        log_fill[..., :NUM_SPECIALS] = -torch.inf
        for hole in range(holes):  # words that are never proposed in most gaps
            log_fill[:, :, FIRST + hole] = -torch.inf
        self._log_fill = log_fill.log_softmax(-1)

    def _read(self, ids: Tensor) -> Tensor:
        return torch.where(ids < self.num_words, ids, UNKNOWN)

    def forward(self, ids: Tensor, at: int) -> Tensor:
        """[B,V]: log p(next word | words before `at`)."""
        logits = self._bias.expand(len(ids), -1)
        for lag in range(min(at + 1, len(self._lags))):
            before = ids[:, at - 1 - lag] if lag < at else torch.full_like(ids[:, 0], START)
            logits = logits + self._lags[lag][before]
        return logits.log_softmax(-1)

    def backward(self, after: Tensor) -> Tensor:
        """[B,V]: log p(word | the word after it), of a model that reads from right to left."""
        return self._backward[after].log_softmax(-1)

    def _logs(self, sentences: Sentences) -> Tensor:
        """[B,L+1]: the log probability of each word and of the end; 0 past it. Equal sentences are read once."""
        first, which = distinct(sentences) if len(sentences) > 100 else (slice(None), slice(None))
        ids, lengths = self._read(sentences.ids[first]), sentences.lengths[first]
        padded = torch.cat([ids, torch.full_like(ids[:, :1], END)], 1)
        columns = []
        for at in range(sentences.capacity + 1):
            word = torch.where(at < lengths, padded[:, at], END)
            log_word = self.forward(ids, at).gather(1, word[:, None])[:, 0]
            columns.append(torch.where(at <= lengths, log_word, 0.0))
        return torch.stack(columns, -1)[which]

    def encode(self, sentences: Sentences) -> ToyEncoding:
        return ToyEncoding(sentences, self._logs(sentences))

    def log_prob(self, encoding: ToyEncoding) -> Tensor:
        return encoding.logs.sum(-1)

    def _around(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> tuple[Tensor, Tensor]:
        sentences = encoding.sentences.select(rows)
        before = torch.where(left > 0, self._read(sentences.word_at(left - 1)), START)
        after = torch.where(right < sentences.lengths, self._read(sentences.word_at(right)), END)
        return before, after

    def fill(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> ToyFill:
        before, after = self._around(encoding, rows, left, right)
        return ToyFill(self._log_fill[before, after])

    def candidates(self, encoding: ToyEncoding, rows: Tensor, left: Tensor, right: Tensor) -> Tensor:
        ids = self._read(encoding.sentences.ids[rows])
        forward = torch.stack([self.forward(ids, at) for at in range(encoding.sentences.capacity + 1)], 1)
        forward = forward[torch.arange(len(rows)), left]  # [R,V]
        _, after = self._around(encoding, rows, left, right)
        return torch.minimum(forward, self.backward(after))

    def score(
        self,
        encoding: ToyEncoding,
        rows: Tensor,
        sentences: Sentences,
        same_left: Tensor,
        same_right: Tensor,
        window: int | None,
    ) -> ToyPending:
        logs = self._logs(sentences)
        columns = torch.arange(logs.shape[1])

        def part(logs: Tensor, lengths: Tensor) -> Tensor:
            if window is None:
                return logs.sum(-1)
            inside = (columns >= same_left[:, None]) & (columns < (lengths - same_right + window)[:, None])
            return (logs * inside).sum(-1)

        gain = part(logs, sentences.lengths) - part(encoding.logs[rows], encoding.sentences.lengths[rows])
        return ToyPending(rows, sentences, logs, gain)

    def finish(self, encoding: ToyEncoding, pending: ToyPending, keep: Tensor) -> Tensor:
        return pending.logs.sum(-1).masked_fill(~keep, 0.0)

    def commit(self, encoding: ToyEncoding, pending: ToyPending, accepted: Tensor) -> None:
        rows = pending.rows[accepted]
        ids, lengths = encoding.sentences.ids.clone(), encoding.sentences.lengths.clone()
        ids[rows], lengths[rows] = pending.sentences.ids[accepted], pending.sentences.lengths[accepted]
        encoding.sentences = Sentences(ids, lengths, encoding.sentences.inputs)
        encoding.logs[rows] = pending.logs[accepted]


def variant_moves(groups: Sequence[Sequence[Collection[int]]]) -> Alternatives:
    """Each word of a group becomes another one of it; `groups[i]` belong to input i."""
    return Alternatives([variants(own) for own in groups])
