"""Which of the word model's own scores agrees best with a big model's ranking.

    python benchmarks/ranking.py commongen_dev.jsonl --sets 40

For each set of everyday words (as in sense.py, another draw), the 200 most probable visited sentences are ranked by
combinations of the word model's forward, backward and fill log probabilities over the number of words plus an offset,
and by the big model's log probability a word. Printed: rank correlation, and the big model's mean verdict on the top
sentence and on the top five. Writes benchmarks/results/ranking.json.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from sense import everyday_sets

from cgmh import __version__
from cgmh import ranking as answers
from cgmh.api import as_model, solve
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import load_llama
from cgmh.models.word.two_stage import log_readings
from cgmh.ranking import POOL, Visit
from cgmh.settings import Settings
from cgmh.tasks import KeywordInput, Keywords, Problem
from cgmh.text.tokenizer import join

WEIGHTS = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0.5, 0.5, 0.3), (0.5, 0.5, 0.5), (0.5, 0.5, 1), (1, 0, 1))
OFFSETS = (1, 3)


def ranks(values: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("concepts", type=Path)
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--big", default="smollm2", help="a name of `cgmh models list` or a directory")
    args = parser.parse_args()
    settings = Settings(chains=64)
    directory = Path(args.big) if Path(args.big).is_dir() else path_of(args.big)
    big = load_llama(directory).after(settings.context)
    pools: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # features [N,3], lengths [N], big [N]

    class Watched(answers.Answers):
        """Keeps the pool that selection looks at."""

        def _fitness(self, pool: list[Visit]) -> list[float]:
            pools.append(measured(pool, self.problem))
            return super()._fitness(pool)

    def measured(pool: list[Visit], problem: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = torch.stack(log_readings([visit.ids for visit in pool], problem.words), -1).numpy()
        texts = [join(problem.lexicon.words(visit.ids)) for visit in pool]
        return found, np.array([len(visit.ids) for visit in pool]), big.log_prob(texts).numpy()

    import cgmh.api

    cgmh.api.Answers = Watched
    inputs = [KeywordInput(words) for words in everyday_sets(args.concepts, args.sets, args.seed)]
    signature = ""
    for result in solve(Keywords(), inputs, settings, model=as_model(None)):
        signature = result.signature
    rows = []
    for weights in WEIGHTS:
        for offset in OFFSETS:
            agreement, top, five = [], [], []
            for found, lengths, log_big in pools:
                own = found @ np.array(weights) / (lengths + offset)
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
    signature = (
        f"cgmh {__version__} | {signature.split(' | ', 2)[2]} | judge {big.name} | pool {POOL} | draw {args.seed}"
    )
    out = Path(__file__).parent / "results" / "ranking.json"
    out.write_text(json.dumps({"signature": signature, "sets": len(pools), "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
