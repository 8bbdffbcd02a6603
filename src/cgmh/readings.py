"""What the word model says about whole sentences, read forward, backward and word by word."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from .models.word.experts import log_fills
from .models.word.recurrent import RecurrentModel, total
from .sampling.runs import num_workers
from .sampling.shards import Tick, is_own, share_out
from .text.sentences import MAX_READ, Sentences, by_length, rows_within

# How the word model's three readings count, and what is added to the number of words: chosen for agreement with a big
# model's ranking (benchmarks/ranking.py).
FORWARD, BACKWARD, FILL, READING_OFFSET = 0.5, 0.5, 0.3, 3.0
ALL_READINGS = 1.15  # what the three come to, of the one forward


@dataclass(frozen=True)
class Readings:
    """What the word model says about N sentences: log probabilities, read forward, backward and word by word."""

    forward: list[float]
    backward: list[float]
    fills: list[list[float]]  # of each sentence, each of its words in its place

    def fluency(self, offset: float = READING_OFFSET) -> list[float]:
        """How well the word model likes each sentence, per word: all three readings together.

        `offset` is added to the number of words: the larger it is, the less a long sentence gains by its length.
        """
        return [
            (FORWARD * forward + BACKWARD * backward + FILL * sum(fills)) / (len(fills) + offset)
            for forward, backward, fills in zip(self.forward, self.backward, self.fills, strict=True)
        ]


def rough_fluency(log_forward: float, length: int) -> float:
    """What `Readings.fluency` will be like of a sentence that was read forward."""
    return ALL_READINGS * log_forward / (length + READING_OFFSET)


def read_words(sentences: Sequence[tuple[int, ...]], model: RecurrentModel) -> Readings:
    """The word model's readings of sentences; all cores take part."""
    lengths = [len(ids) + 1 for ids in sentences]
    workers = num_workers(len(sentences), model.device)
    most = min(rows_within(MAX_READ, 1, model.device), max(-(-sum(lengths) // workers), max(lengths, default=1)))
    groups = by_length(lengths, most)

    @torch.inference_mode()
    def read(places: list[int], _: Tick) -> list[tuple[float, float, list[float]]]:
        batch = Sentences.from_lists([sentences[at] for at in places], max(lengths[at] for at in places))
        batch = batch.to(model.device)
        encoding = model.encode(batch)
        fills = iter(log_fills(batch, encoding, model, shapes=False)[1].tolist())
        both = zip(total(encoding.log_words).tolist(), model.backward_log_prob(encoding).tolist(), places, strict=True)
        return [(forward, backward, list(islice(fills, len(sentences[at])))) for forward, backward, at in both]

    found = share_out(read, groups, workers, forks=workers > 1 and is_own(model))
    by_place = {
        at: each for group, some in zip(groups, found, strict=True) for at, each in zip(group, some, strict=True)
    }
    ordered = [by_place[at] for at in range(len(sentences))]
    return Readings([each[0] for each in ordered], [each[1] for each in ordered], [each[2] for each in ordered])
