"""Variational rivals for paraphrases: an autoencoder of sentences, and two that are trained on pairs.

`SentenceVAE` is that of Bowman et al. 2016: a sentence becomes a Gaussian over a latent vector, from which it is
written again; a paraphrase is written from a draw of that Gaussian. `PairVAE` is VAE-SVG of Gupta et al. 2018, which
reads a paraphrase given its source and writes it given the latent vector and the source; with `shared`, one reader of
the source serves both sides (VAE-SVG-eq). Both weigh the divergence from the prior by a factor that grows during
training, and leave out some of the words that the writer is told. They do not attend to the source, and write no
unknown words.

Of several draws the authors report the one with the best BLEU against the reference. Here no rule sees a reference:
`PairVAE` gives the draw whose words its writer finds most likely, `SentenceVAE` the first that is no near-copy.
"""

from collections.abc import Callable, Sequence
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, linear, log_softmax

from ...text.vocabulary import SHAPES, Vocabulary
from .beam import Hypothesis, State, beam_search
from .seq2seq import Batch, Reader, both_ways


class Writer(nn.Module):
    """An LSTM that writes words given a latent vector at every word, over a table of words that readers share."""

    def __init__(
        self, vocabulary: Vocabulary, width: int, hidden: int, layers: int, latent: int, drop: float, word_drop: float
    ) -> None:
        super().__init__()
        self.vocabulary, self.drop, self.word_drop = vocabulary, drop, word_drop
        self.table = nn.Embedding(len(vocabulary), width)
        nn.init.normal_(self.table.weight, std=0.05)
        self.lstm = nn.LSTM(width + latent, hidden, layers, batch_first=True, dropout=drop if layers > 1 else 0.0)
        self.out = nn.Linear(hidden, width)
        self.bias = nn.Parameter(torch.zeros(len(vocabulary)))

    def embed(self, ids: Tensor) -> Tensor:
        return dropout(cast(Tensor, self.table(ids)), self.drop, self.training)

    def loss(self, target: Batch, latent: Tensor, state: State) -> Tensor:
        """The sum of -log p over the words of the targets and their end marks."""
        inputs, outputs, said = target.shifted(self.vocabulary.start, self.vocabulary.end)
        if self.training:
            hidden = torch.rand(inputs.shape, device=inputs.device) < self.word_drop
            hidden[:, 0] = False
            inputs = inputs.masked_fill(hidden, self.vocabulary.ids[SHAPES[0]])
        told = torch.cat([self.embed(inputs), latent[:, None].expand(-1, inputs.shape[1], -1)], -1)
        written, _ = self.lstm(told, state)  # [B,T,H]
        return cross_entropy(self._logits(written[said]), outputs[said], reduction="sum")

    def search(self, latent: Tensor, state: State, beam: int, max_words: int, length_power: float) -> list[Hypothesis]:
        """What beam search finds for each latent vector [I,Z]."""
        repeated = latent.repeat_interleave(beam, 0)

        def advance(last: Tensor, state: State) -> tuple[Tensor, State, None]:
            written, state = self.lstm(torch.cat([self.table(last), repeated], -1)[:, None], state)
            return log_softmax(self._logits(written[:, 0]).float(), -1), state, None

        vocabulary = self.vocabulary
        banned = [id for id in vocabulary.special_ids if id != vocabulary.end]
        return beam_search(
            advance, state, start=vocabulary.start, end=vocabulary.end, banned=banned, beam=beam,
            max_words=max_words, length_power=length_power,
        )  # fmt: skip

    def _logits(self, written: Tensor) -> Tensor:
        return linear(dropout(self.out(written).tanh(), self.drop, self.training), self.table.weight, self.bias)


class Gaussian(nn.Module):
    """The approximate posterior of the latent vector, from the last state of a reader."""

    def __init__(self, hidden: int, latent: int) -> None:
        super().__init__()
        self.mean, self.log_variance = nn.Linear(hidden, latent), nn.Linear(hidden, latent)

    def forward(self, last: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation, [B,Z] each, from [B,H]."""
        return self.mean(last), (self.log_variance(last).clamp(-10, 10) / 2).exp()


def divergence(mean: Tensor, deviation: Tensor) -> Tensor:
    """KL(N(mean, deviation²) | N(0, 1)) of each row, [B]."""
    return (mean.square() + deviation.square() - 1 - 2 * deviation.log()).sum(-1) / 2


class SentenceVAE(nn.Module):
    """An autoencoder of single sentences; nothing but sentences is needed to train it."""

    def __init__(
        self, vocabulary: Vocabulary, *, width: int = 512, hidden: int = 512, latent: int = 128, drop: float = 0.3,
        word_drop: float = 0.3,
    ) -> None:  # fmt: skip
        super().__init__()
        self.writer = Writer(vocabulary, width, hidden, 1, latent, drop, word_drop)
        self.reader = Reader(width, hidden, 1, drop)
        self.posterior = Gaussian(hidden, latent)
        self.begin = nn.Linear(latent, 2 * hidden)

    def read(self, source: Batch) -> tuple[Tensor, Tensor]:
        _, (last, _) = self.reader(self.writer.embed(source.ids), source.lengths)
        return cast(tuple[Tensor, Tensor], self.posterior(both_ways((last,))[0][-1]))

    def loss(self, sentences: Batch, *, kl_weight: float) -> tuple[Tensor, Tensor]:
        """What is minimised, and the divergence in it, per word."""
        mean, deviation = self.read(sentences)
        latent = mean + deviation * torch.randn_like(mean)
        apart = divergence(mean, deviation).sum()
        num_words = int(sentences.lengths.sum()) + len(sentences)
        loss = self.writer.loss(sentences, latent, self._begin(latent)) + kl_weight * apart
        return loss / num_words, apart.detach() / num_words

    @torch.inference_mode()
    def paraphrase(
        self, lines: Sequence[str], *, is_copy: Callable[[str, str], bool], draws: int = 10, beam: int = 5,
        length_power: float = 1.0,
    ) -> list[str]:  # fmt: skip
        """For each line the first that is written from a draw of its posterior and is no copy by `is_copy(output,
        source)`; or the last."""
        vocabulary = self.writer.vocabulary
        batch = Batch.of([vocabulary.encode(line.split()) for line in lines], vocabulary.end, self.writer.bias.device)
        mean, deviation = self.read(batch)
        outputs = [""] * len(lines)
        open_lines = list(range(len(lines)))
        for _ in range(draws):
            rows = torch.tensor(open_lines, device=mean.device)
            latent = mean[rows] + deviation[rows] * torch.randn_like(mean[rows])
            found = self.writer.search(latent, self._begin(latent), beam, batch.max_words, length_power)
            for at, one in zip(open_lines, found, strict=True):
                outputs[at] = " ".join(vocabulary.words[id] for id in one.ids)
            open_lines = [at for at in open_lines if is_copy(outputs[at], lines[at])]
            if not open_lines:
                break
        return outputs

    def _begin(self, latent: Tensor) -> State:
        hidden, cell = self.begin(latent).tanh().chunk(2, -1)
        return hidden[None].contiguous(), cell[None].contiguous()


class PairVAE(nn.Module):
    """VAE-SVG, and with `shared` VAE-SVG-eq: paraphrases given their sources, with a latent vector for what differs."""

    def __init__(
        self, vocabulary: Vocabulary, *, shared: bool, width: int = 512, hidden: int = 512, layers: int = 2,
        latent: int = 128, drop: float = 0.4, word_drop: float = 0.3,
    ) -> None:  # fmt: skip
        super().__init__()
        self.writer = Writer(vocabulary, width, hidden, layers, latent, drop, word_drop)
        self.reader = Reader(width, hidden, layers, drop)  # of the source, for the writer
        self.other = None if shared else Reader(width, hidden, layers, drop)  # of the source, for the posterior
        self.target_reader = Reader(width, hidden, layers, drop)
        self.posterior = Gaussian(hidden, latent)
        self.latent = latent

    def loss(self, source: Batch, target: Batch, *, kl_weight: float) -> tuple[Tensor, Tensor]:
        """What is minimised, and the divergence in it, per word of the targets."""
        read = self.writer.embed(source.ids)
        _, last = self.reader(read, source.lengths)
        _, beside = (last, last) if self.other is None else self.other(read, source.lengths)
        _, (told, _) = self.target_reader(self.writer.embed(target.ids), target.lengths, beside)
        mean, deviation = self.posterior(both_ways((told,))[0][-1])
        latent = mean + deviation * torch.randn_like(mean)
        apart = divergence(mean, deviation).sum()
        num_words = int(target.lengths.sum()) + len(target)
        loss = self.writer.loss(target, latent, both_ways(last)) + kl_weight * apart
        return loss / num_words, apart.detach() / num_words

    @torch.inference_mode()
    def paraphrase(
        self, lines: Sequence[str], *, draws: int = 10, beam: int = 5, length_power: float = 1.0
    ) -> list[str]:
        """For each line the most likely, per word, of what is written from draws of the prior."""
        vocabulary = self.writer.vocabulary
        batch = Batch.of([vocabulary.encode(line.split()) for line in lines], vocabulary.end, self.writer.bias.device)
        _, last = self.reader(self.writer.embed(batch.ids), batch.lengths)
        begin = both_ways(last)
        best: list[Hypothesis] = []
        for _ in range(draws):
            latent = torch.randn(len(lines), self.latent, device=self.writer.bias.device)
            found = self.writer.search(latent, begin, beam, batch.max_words, length_power)
            best = [max(pair, key=lambda one: one.log_prob) for pair in zip(best or found, found, strict=True)]
        return [" ".join(vocabulary.words[id] for id in one.ids) for one in best]
