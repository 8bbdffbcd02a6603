"""How often the embedded sentence encoder finds the paraphrase of a question among many.

    python recipes/english/try_encoder.py PAIRS [NUMBER]

PAIRS has two sentences per line, separated by a tab, in the tokenisation of the Penn Treebank; the first NUMBER (2,000)
are taken. Printed are the share found first and the mean reciprocal rank, of the encoder and of sums of word vectors.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from cgmh.evaluation.paraphrases import from_treebank, read_pairs
from cgmh.models.meaning.vectors import load_meaning
from cgmh.text.tokenizer import split

MIN_RARITY = 4.0  # -log frequency up to which a word counts nothing


def main(file: Path, number: int) -> None:
    meaning = load_meaning()
    pairs = read_pairs(file)[:number]

    def rows(texts: Sequence[str]) -> Tensor:
        ids = [meaning.rows(split(from_treebank(text))) for text in texts]
        return torch.nn.utils.rnn.pad_sequence(ids, batch_first=True)

    def summed(weight: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        return lambda ids: torch.nn.functional.normalize((meaning.vectors[ids] * weight(ids)[..., None]).sum(1), dim=-1)

    ways = {
        "encoder": meaning.encoder,
        "sum of word vectors": summed(lambda ids: (ids > 0).double()),
        "sum weighted by rarity": summed(lambda ids: (meaning.rarity[ids] - MIN_RARITY).clamp(min=0) * (ids > 0)),
    }
    for name, way in ways.items():
        left, right = (way(rows(side)) for side in ([p.source for p in pairs], [p.reference for p in pairs]))
        scores = left @ right.T
        rank = (scores > scores.diag()[:, None]).sum(1) + 1
        print(
            f"{name}: {float((rank == 1).double().mean()):.1%} first, "
            f"mean reciprocal rank {float((1 / rank).mean()):.3f}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
