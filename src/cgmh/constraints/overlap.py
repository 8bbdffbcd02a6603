"""How much of a sentence is copied from a source: BLEU against the source, and the constraint that it be little."""

from collections import Counter
from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor

from ..text.sentences import OnDevice, Sentences, pad

ORDER = 4  # n-grams up to this many words
MIN_DIFFERENCE = 0.02  # a smaller one counts as this, so that its logarithm is finite


class Overlap:
    """BLEU-4 of a sentence against the source of its input, 0 to 1, with exponential smoothing and effective order.

    `classes` [ids] numbers the words that count as the same (casings); a word of class -1 is passed over at the end of
    the sentence: the mark that closes it.
    """

    def __init__(self, sources: Sequence[Sequence[int]], classes: Tensor) -> None:
        local = torch.zeros(len(sources), int(classes.max()) + 2, dtype=torch.int64)  # [I,classes+1]: 0 is not there
        lengths, widths, grams = [], [], []
        for number, source in enumerate(sources):
            words = [int(classes[id]) for id in source]
            words = words[:-1] if words and words[-1] < 0 else words
            distinct = {word: at for at, word in enumerate(dict.fromkeys(words), 1)}
            local[number, list(distinct)] = torch.arange(1, len(distinct) + 1)
            codes = [distinct[word] for word in words]
            width = len(distinct) + 1
            lengths.append(len(words))
            widths.append(width)
            grams.append(
                Counter(
                    reduce(lambda code, word: code * width + word, codes[at : at + n]) * ORDER + n - 1
                    for n in range(1, ORDER + 1)
                    for at in range(len(codes) - n + 1)
                )
            )
        self._tables = OnDevice(
            classes=classes,
            local=local,
            widths=torch.tensor(widths),
            lengths=torch.tensor(lengths),
            grams=pad([list(counts) for counts in grams], -1),  # [I,G]: the n-grams of the source, with their order
            counts=pad([list(counts.values()) for counts in grams], 0),  # [I,G]
        )

    def __call__(self, sentences: Sentences) -> Tensor:
        """[B] float64 in 0..1."""
        tables = self._tables.at(sentences.device)
        classes = tables["classes"][sentences.ids]  # [B,L]
        last = (sentences.lengths - 1).clamp(min=0)[:, None]
        marked = (classes.gather(1, last)[:, 0] < 0) & (sentences.lengths > 0)
        lengths = sentences.lengths - marked.long()  # [B]
        present = sentences.columns < lengths[:, None]
        local = tables["local"][sentences.inputs[:, None], classes] * present  # [B,L]; class -1 is the last column, 0
        width = tables["widths"][sentences.inputs][:, None]
        grams, counts = tables["grams"][sentences.inputs], tables["counts"][sentences.inputs]  # [B,G]
        order = grams % ORDER  # [B,G]
        precision = torch.zeros(len(sentences), dtype=torch.float64, device=sentences.device)
        smooth = torch.ones_like(precision)
        code = torch.zeros_like(local)
        whole = torch.ones_like(present)
        any_match = torch.zeros_like(marked)
        for n in range(ORDER):
            # codes of the n-grams that begin at each place; one with a word from outside the source matches nothing
            here = torch.nn.functional.pad(local[:, n:], (0, min(n, sentences.capacity)))
            code = code * width + here
            whole = whole & (here > 0)
            coded = torch.where(whole, code * ORDER + n, -2)  # [B,L]
            occurrences = (coded[:, :, None] == grams[:, None, :]).sum(1)  # [B,G]
            matches = torch.minimum(occurrences, counts).masked_fill(order != n, 0).sum(-1)  # [B]
            total = (lengths - n).clamp(min=0)
            any_match |= matches > 0
            smooth = torch.where((matches == 0) & (total > 0), smooth * 2, smooth)
            share = torch.where(matches > 0, matches.double(), 1 / smooth) / total.clamp(min=1)
            precision += torch.where(total > 0, share.log(), 0.0)
        score = torch.exp(precision / lengths.clamp(1, ORDER))
        brevity = (1 - tables["lengths"][sentences.inputs].double() / lengths.clamp(min=1)).clamp(max=0).exp()
        return torch.where(any_match, score * brevity, 0.0)


class Differs:
    """The difference from the source, 1 - overlap, to the power of `weight`: a soft constraint."""

    name = "difference"
    hard = False

    def __init__(self, overlap: Overlap, weight: float) -> None:
        self._overlap, self._weight = overlap, weight

    def log_factor(self, sentences: Sentences) -> Tensor:
        return self._weight * (1 - self._overlap(sentences)).clamp(min=MIN_DIFFERENCE).log()
