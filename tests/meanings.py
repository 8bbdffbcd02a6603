"""Toy words with meanings, and the matching functions by plain arithmetic that knows nothing of the package's code."""

import math
from collections.abc import Callable, Sequence

import torch
from sacrebleu.metrics.bleu import BLEU

from cgmh.models.meaning.vectors import Encoder
from toys import FIRST

A, B, C, D = range(FIRST, FIRST + 4)
OUT = 20  # a run-local id
NUM_IDS = 22

# A and B point apart by 60 degrees, C stands square to A; D is a mark and has no vector, and neither has OUT.
WORDS = {A: (1.0, 0.0), B: (0.5, math.sqrt(0.75)), C: (0.0, 1.0)}
IMPORTANCE = {A: 2.0, B: 1.0, C: 4.0, OUT: 3.0}
MARKS = (D,)


def cosine(one: int, other: int) -> float:
    """0 to 1; a word without a vector is like itself only."""
    if one == other:
        return 1.0
    if one not in WORDS or other not in WORDS:
        return 0.0
    return max(0.0, sum(a * b for a, b in zip(WORDS[one], WORDS[other], strict=True)))


def by_hand(name: str, source: Sequence[int], words: Sequence[int]) -> float:
    """WVA, WVM and CW of a sentence, from their definitions."""
    if name == "cw":
        return math.sqrt(_found(source, words) * _found(words, source))
    counted = [word for word in words if word not in MARKS]
    own = [word for word in source if word not in MARKS]
    best = [max((cosine(word, other) for other in own), default=0.0) for word in counted]
    if not best:
        return 1.0
    return min(best) if name == "wvm" else sum(best) / len(best)


def _found(these: Sequence[int], those: Sequence[int]) -> float:
    weights = [IMPORTANCE.get(word, 0.0) for word in these]
    near = [max((cosine(word, other) ** 2 for other in those), default=0.0) for word in these]
    return sum(w * n for w, n in zip(weights, near, strict=True)) / sum(weights) if sum(weights) else 1.0


_BLEU = BLEU(tokenize="none", effective_order=True)  # exponential smoothing


def bleu(source: Sequence[int], words: Sequence[int], name_of: Callable[[int], str] = str) -> float:
    """BLEU-4 from 0 to 1 by sacrebleu; the mark that closes a sentence does not count."""

    def text(some: Sequence[int]) -> str:
        some = some[:-1] if some and some[-1] in MARKS else some
        return " ".join(map(name_of, some))

    return _BLEU.sentence_score(text(words), [text(source)]).score / 100


def tables() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows [ids], vectors [W+1,2], what counts [ids] and importance [ids] of the words above."""
    rows = torch.zeros(NUM_IDS, dtype=torch.int64)
    rows[list(WORDS)] = torch.arange(1, len(WORDS) + 1)
    vectors = torch.tensor([(0.0, 0.0), *WORDS.values()], dtype=torch.float64)
    counts = torch.ones(NUM_IDS, dtype=torch.bool)
    counts[list(MARKS)] = False
    importance = torch.zeros(NUM_IDS, dtype=torch.float64)
    importance[list(IMPORTANCE)] = torch.tensor(list(IMPORTANCE.values()), dtype=torch.float64)
    return rows, vectors, counts, importance


def classes() -> torch.Tensor:
    """[ids]: every word is like itself only; the closing mark has -1."""
    found = torch.arange(NUM_IDS)
    found[list(MARKS)] = -1
    return found


def toy_encoder(reach: int = 3) -> Encoder:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        encoder = Encoder(num_words=len(WORDS) + 1, width=4, hidden=5, reach=reach)
        for parameter in encoder.parameters():  # far apart: some cosines are negative
            torch.nn.init.normal_(parameter)
    return encoder.double().eval().requires_grad_(False)


class Letters:
    """Counts of letters as vectors: what a text encoder may be. It notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        self.asked += texts
        counts = [[1 + text.count(letter) for letter in "aeiotmW?"] for text in texts]
        return torch.nn.functional.normalize(torch.tensor(counts, dtype=torch.float64).reshape(-1, 8), dim=-1)
