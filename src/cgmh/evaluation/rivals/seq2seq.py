"""A supervised rival for paraphrases: an LSTM that reads the source, and one that writes, attending to what was read.

The attention is that of Luong et al. 2015 ("general"); one table of words serves reading and writing. There is no copy
mechanism; an unknown word in the output is replaced by the source's word that was attended to most, as is usual.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, linear, log_softmax
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from ...text.sentences import pad
from ...text.vocabulary import Vocabulary, is_special
from .beam import MAX_LONGER, MAX_WORDS, State, beam_search


@dataclass(frozen=True)
class Batch:
    """Sentences as ids [B,T], padded with the end mark, and their lengths [B], which stay on the CPU."""

    ids: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]], end: int, device: torch.device) -> "Batch":
        lengths = torch.tensor([len(ids) for ids in sentences])
        return cls(pad(sentences, end).to(device), lengths)

    def __getitem__(self, rows: Tensor) -> "Batch":
        """The rows, no wider than the longest of them."""
        lengths = self.lengths[rows]
        return Batch(self.ids[rows.to(self.ids.device), : int(lengths.max())], lengths)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def max_words(self) -> int:
        """The words that paraphrases of them may have."""
        return min(MAX_WORDS, self.ids.shape[1] + MAX_LONGER)

    @property
    def present(self) -> Tensor:
        """[B,T]: whether a word stands there."""
        return torch.arange(self.ids.shape[1], device=self.ids.device) < self.lengths.to(self.ids.device)[:, None]

    def shifted(self, start: int, end: int) -> tuple[Tensor, Tensor, Tensor]:
        """What a decoder reads and what it is to say, both [B,T+1], and where there is something to say."""
        ends = torch.full((len(self), 1), end, device=self.ids.device)
        said = torch.arange(self.ids.shape[1] + 1, device=self.ids.device) <= self.lengths.to(self.ids.device)[:, None]
        return torch.cat([torch.full_like(ends, start), self.ids], 1), torch.cat([self.ids, ends], 1), said


class Reader(nn.Module):
    """A bidirectional LSTM over sentences of any lengths."""

    def __init__(self, width: int, hidden: int, layers: int, drop: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(
            width, hidden // 2, layers, bidirectional=True, batch_first=True, dropout=drop if layers > 1 else 0.0
        )

    def forward(self, inputs: Tensor, lengths: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """States at every place [B,T,H], and the last ones, each [2*layers,B,H/2]; `state` is such a pair too."""
        packed = pack_padded_sequence(inputs, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.lstm(packed, state)
        return pad_packed_sequence(states, batch_first=True)[0], last


def both_ways(state: State) -> State:
    """The last states of a `Reader` with those of both directions side by side: [layers,B,H], as a writer begins."""
    return tuple(torch.cat([part[0::2], part[1::2]], -1).contiguous() for part in state)


def to_words(vocabulary: Vocabulary, ids: Sequence[int], places: Sequence[int], source: Sequence[str]) -> str:
    """The line that was written, with the source's word at its place for each unknown one."""
    words = [vocabulary.words[id] for id in ids]
    return " ".join(source[place] if is_special(word) else word for word, place in zip(words, places, strict=True))


class Seq2Seq(nn.Module):
    """Encoder and decoder with attention over the words of `vocabulary`."""

    def __init__(
        self, vocabulary: Vocabulary, *, width: int = 512, hidden: int = 512, layers: int = 2, drop: float = 0.4
    ) -> None:
        super().__init__()
        self.vocabulary, self.drop = vocabulary, drop
        self.table = nn.Embedding(len(vocabulary), width)
        nn.init.normal_(self.table.weight, std=0.05)
        self.reader = Reader(width, hidden, layers, drop)
        self.writer = nn.LSTM(width, hidden, layers, batch_first=True, dropout=drop if layers > 1 else 0.0)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.mix = nn.Linear(2 * hidden, width)
        self.bias = nn.Parameter(torch.zeros(len(vocabulary)))

    def read(self, source: Batch) -> tuple[Tensor, Tensor, State]:
        """What was read [B,S,H], where there is a word [B,S], and the state to begin to write with."""
        states, last = self.reader(self._embed(source.ids), source.lengths)
        return self._dropped(states), source.present, both_ways(last)

    def attend(self, written: Tensor, read: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """From the writer's states [B,T,H]: the vectors [B,T,D] that choose words, and the attention [B,T,S]."""
        scores = self.query(written) @ read.transpose(1, 2)  # [B,T,S]
        attention = scores.masked_fill(~present[:, None], -torch.inf).softmax(-1)
        return self.mix(torch.cat([written, attention @ read], -1)).tanh(), attention

    def loss(self, source: Batch, target: Batch, *, smoothing: float = 0.0) -> Tensor:
        """The mean of -log p over the words of the targets and their end marks."""
        inputs, outputs, said = target.shifted(self.vocabulary.start, self.vocabulary.end)
        read, present, state = self.read(source)
        written, _ = self.writer(self._embed(inputs), state)  # [B,T,H]
        vectors, _ = self.attend(self._dropped(written), read, present)
        logits = linear(self._dropped(vectors[said]), self.table.weight, self.bias)  # [N,V]
        return cross_entropy(logits, outputs[said], label_smoothing=smoothing)

    @torch.inference_mode()
    def paraphrase(self, lines: Sequence[str], *, beam: int = 5, length_power: float = 1.0) -> list[str]:
        """What beam search finds for each line of tokens."""
        vocabulary, device = self.vocabulary, self.table.weight.device
        sources = [line.split() for line in lines]
        batch = Batch.of([vocabulary.encode(words) for words in sources], vocabulary.end, device)
        read, present, begin = self.read(batch)
        read, present = read.repeat_interleave(beam, 0), present.repeat_interleave(beam, 0)

        def advance(last: Tensor, state: State) -> tuple[Tensor, State, Tensor]:
            written, state = self.writer(self.table(last)[:, None], state)
            vectors, attention = self.attend(written, read, present)
            logits = linear(vectors[:, 0], self.table.weight, self.bias)
            return log_softmax(logits.float(), -1), state, attention[:, 0].argmax(-1)

        found = beam_search(
            advance, begin, start=vocabulary.start, end=vocabulary.end, banned=[vocabulary.start], beam=beam,
            max_words=batch.max_words, length_power=length_power,
        )  # fmt: skip
        return [to_words(vocabulary, one.ids, one.places, words) for one, words in zip(found, sources, strict=True)]

    def _embed(self, ids: Tensor) -> Tensor:
        return self._dropped(cast(Tensor, self.table(ids)))

    def _dropped(self, values: Tensor) -> Tensor:
        return dropout(values, self.drop, self.training)
