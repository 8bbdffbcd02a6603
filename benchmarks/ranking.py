"""Which of the word model's own scores agrees best with a big model's ranking.

    python benchmarks/ranking.py commongen_dev.jsonl --sets 40

For each set of everyday words (as in sense.py, another draw), the 200 most probable visited sentences are ranked by the
big model's log probability per word and by combinations of the word model's forward, backward and fill log
probabilities over the number of words plus an offset. Printed: rank correlation, and the big model's mean log
probability per word of the top sentence and of the top five. Writes benchmarks/results/ranking.json.
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sense import everyday_sets

from cgmh import __version__
from cgmh.api import solve
from cgmh.inputs import KeywordInput
from cgmh.models.load import load_embedded
from cgmh.models.protocols import TextModel
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import load_llama
from cgmh.models.word.experts import log_readings
from cgmh.settings import STEPS, Settings
from cgmh.text.tokenizer import split, truecase

WEIGHTS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0.5, 0.5, 0.3), (0.5, 0.5, 0.5), (0.5, 0.5, 1), (1, 0, 1))
OFFSETS = (1, 3)


class Recorded:
    """A model of texts, and every list of texts that it was asked about, with its answers [N]."""

    def __init__(self, model: TextModel) -> None:
        self.name = model.name
        self.model = model
        self.asked: list[tuple[Sequence[str], np.ndarray]] = []

    def log_prob(self, texts: Sequence[str]) -> torch.Tensor:
        log_probs = self.model.log_prob(texts)
        self.asked.append((texts, log_probs.numpy()))
        return log_probs


def ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concepts", type=Path)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--big", default="smollm2", help="a name of `cgmh models list` or a directory")
    args = parser.parse_args()
    directory = Path(args.big) if Path(args.big).is_dir() else path_of(args.big)
    settings = Settings(chains=64, steps=STEPS, use="rerank")
    big, small = Recorded(load_llama(directory).after(settings.context)), load_embedded()
    inputs = [KeywordInput(words) for words in everyday_sets(args.concepts, args.sets, args.seed)]
    for result in solve(inputs, settings, model=small, big=big):
        signature = result.signature
    pools: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # readings [N,3], lengths [N], big [N]
    for texts, log_big in big.asked:
        sentences = [truecase(split(text), small.vocabulary.is_ordinary) for text in texts]
        with torch.inference_mode():
            readings = torch.stack(log_readings([small.vocabulary.encode(words) for words in sentences], small), -1)
        pools.append((readings.numpy(), np.array(list(map(len, sentences))), log_big))
    rows = []
    for weights in WEIGHTS:
        for offset in OFFSETS:
            agreement, top, five = [], [], []
            for readings, lengths, log_big in pools:
                own = readings @ np.array(weights) / (lengths + offset)
                theirs = log_big / (lengths + 1)
                order = np.argsort(-own)
                agreement.append(np.corrcoef(ranks(own), ranks(theirs))[0, 1])
                top.append(theirs[order[0]])
                five.append(theirs[order[:5]].mean())
            rows.append(
                {
                    "forward, backward, fill": weights,
                    "offset": offset,
                    "rank_correlation": round(float(np.mean(agreement)), 3),
                    "big_of_top": round(float(np.mean(top)), 3),
                    "big_of_top_five": round(float(np.mean(five)), 3),
                }
            )
            print(rows[-1], flush=True)
    signature = f"cgmh {__version__} | {signature.split(' | ', 2)[2]} | draw {args.seed}"
    out = Path(__file__).parent / "results" / "ranking.json"
    out.write_text(json.dumps({"signature": signature, "sets": len(pools), "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
