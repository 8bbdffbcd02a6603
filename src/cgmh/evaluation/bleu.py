"""BLEU as a function of sums, so that the score of any resampled corpus costs one product of matrices.

The figures are those of sacrebleu with `tokenize="none"`, `force=True` and its usual smoothing: tokens count as they
stand between blanks.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..errors import BadInput

ORDER = 4  # n-grams up to this many tokens
SIGNATURE = "BLEU case:mixed|eff:no|tok:none|smooth:exp"


def bleu_counts(outputs: Sequence[str], references: Sequence[Sequence[str]]) -> np.ndarray:
    """[N,10]: n-grams of each output that are in one of its references, n-grams in all, and tokens of both."""
    if len(outputs) != len(references):
        raise BadInput(f"{len(outputs)} outputs for {len(references)} references; give one for each")
    if not outputs:
        raise BadInput("BLEU needs at least one output")
    return np.array([_count(line, own) for line, own in zip(outputs, references, strict=True)], float)


def bleu_from_counts(sums: np.ndarray, *, effective_order: bool = False) -> np.ndarray:
    """[R]: BLEU, 0 to 100, from sums [R,10] of counts.

    With `effective_order`, as is usual for single sentences, only the orders that there are n-grams of count.
    """
    matches, totals = sums[:, :ORDER], sums[:, ORDER : 2 * ORDER]
    length, reference_length = sums[:, -2], sums[:, -1]
    present = totals > 0
    # An order without a match counts as a half of one, the next such order as a quarter, and so on.
    smoothed = 0.5 ** np.cumsum(present & (matches == 0), axis=1)
    shares = np.where(matches > 0, matches, smoothed) / np.where(present, totals, 1)
    num_orders = np.clip(present.sum(1), 1, ORDER) if effective_order else np.full(len(sums), ORDER)
    precision = np.exp(np.where(present, np.log(shares), 0).sum(1) / num_orders)
    if not effective_order:
        precision = np.where(present.all(1), precision, 0)
    brevity = np.exp(np.minimum(0, 1 - reference_length / np.maximum(length, 1e-9)))
    return np.where(matches.any(1), 100 * precision * brevity, 0.0)


def bleu(outputs: Sequence[str], references: Sequence[str]) -> float:
    """BLEU-4 of the corpus, 0 to 100; one reference for each output."""
    counts = bleu_counts(outputs, [[line] for line in references])
    return float(bleu_from_counts(counts.sum(0, keepdims=True))[0])


def sentence_bleu(outputs: Sequence[str], references: Sequence[str]) -> list[float]:
    """BLEU of each sentence, 0 to 100, over the orders that it is long enough for."""
    counts = bleu_counts(outputs, [[line] for line in references])
    return [float(score) for score in bleu_from_counts(counts, effective_order=True)]


def _count(output: str, references: Sequence[str]) -> list[int]:
    tokens, others = output.split(), [line.split() for line in references]
    matches, totals = [], []
    for order in range(1, ORDER + 1):
        grams = _ngrams(tokens, order)
        allowed: Counter[tuple[str, ...]] = Counter()
        for other in others:
            allowed |= _ngrams(other, order)
        matches.append((grams & allowed).total())
        totals.append(grams.total())
    closest = min((len(other) for other in others), key=lambda length: (abs(length - len(tokens)), length))
    return [*matches, *totals, len(tokens), closest]


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + order]) for at in range(len(tokens) - order + 1))
