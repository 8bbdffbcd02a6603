"""Weights of the ranking of paraphrases, from the sentences that recipes/paraphrase/visit.py wrote.

    python recipes/paraphrase/fit.py TRAIN_POOLS DEV_POOLS

The score of a candidate is the fluency as cgmh.ranking has it plus a weight times each feature. The weights make
large, on the first file, the expected BLEU with what people wrote, less a tenth of BLEU with the source, of a candidate
drawn with probability in proportion to exp(sharpness · score). Printed are, on the second file, the figures of the
shipped weights (`MERIT`), of these without each feature in turn, of the fitted ones, and of the best candidates.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from cgmh.evaluation.paraphrases import REFERENCE_SHARE, Pair, measure, sentence_bleu
from cgmh.readings import BACKWARD, FILL, FORWARD
from cgmh.tasks.paraphrase.merit import MERIT

STEPS, RATE, SHRINKAGE = 300, 0.05, 0.0003  # of the search; what it costs to leave the shipped weights, squared


@dataclass(frozen=True)
class Pool:
    """The candidates of one source."""

    source: str
    references: list[str]
    candidates: list[str]
    fluency: Tensor  # [N]
    features: Tensor  # [N, F]
    utility: Tensor  # [N]: BLEU of each with the first reference, less a part of that with the source; 0 to 1


def read(path: Path, names: Sequence[str]) -> list[Pool]:
    """The pools of a file, with the features of these names."""
    pools = []
    for line in path.read_text(encoding="utf-8").splitlines():
        pool = json.loads(line)
        columns = {name: torch.tensor(values, dtype=torch.float64) for name, values in pool["features"].items()}
        candidates, num = pool["candidates"], len(pool["candidates"])
        ref = torch.tensor(sentence_bleu(candidates, pool["references"][:1] * num), dtype=torch.float64)
        ori = torch.tensor(sentence_bleu(candidates, [pool["source"]] * num), dtype=torch.float64)
        fluency = FORWARD * columns["forward"] + BACKWARD * columns["backward"] + FILL * columns["fill"]
        features = torch.stack([columns[name] for name in names], -1)
        utility = (REFERENCE_SHARE * ref - (1 - REFERENCE_SHARE) * ori) / 100
        pools.append(Pool(pool["source"], pool["references"], candidates, fluency, features, utility))
    return pools


def fit(pools: Sequence[Pool], shipped: Tensor, sharpness: float) -> Tensor:
    """[F]: the weights with the highest expected utility, near the shipped ones."""
    weights = shipped.clone().requires_grad_()
    optimizer = torch.optim.Adam([weights], RATE)
    for _ in range(STEPS):
        expected = [
            (torch.softmax(sharpness * (pool.fluency + pool.features @ weights), 0) * pool.utility).sum()
            for pool in pools
        ]
        loss = SHRINKAGE * (weights - shipped).square().sum() - torch.stack(expected).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return weights.detach()


def row(name: str, pools: Sequence[Pool], choices: Sequence[int]) -> str:
    """The figures of one candidate chosen from each pool."""
    pairs = [Pair(pool.source, reference) for pool in pools for reference in pool.references]
    outputs = [pool.candidates[at] for pool, at in zip(pools, choices, strict=True) for _ in pool.references]
    scores = measure(outputs, pairs)
    return f"{name:28}{scores.bleu_ref:9.2f}{scores.bleu_ori:9.2f}{scores.ibleu:8.2f}{scores.sentence_bleu_ref:9.2f}"


def best(pools: Sequence[Pool], weights: Tensor) -> list[int]:
    return [int((pool.fluency + pool.features @ weights).argmax()) for pool in pools]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", type=Path)
    parser.add_argument("dev", type=Path)
    parser.add_argument("--sharpness", type=float, default=4.0)
    args = parser.parse_args()
    names = list(MERIT)
    train, dev = read(args.train, names), read(args.dev, names)
    shipped = torch.tensor(list(MERIT.values()), dtype=torch.float64)
    fitted = fit(train, shipped, args.sharpness)
    print(f"{len(train)} sources to fit, {len(dev)} to measure")
    print("fitted: " + ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, fitted.tolist(), strict=True)))
    print(f"{'':28}{'BLEU-ref':>9}{'BLEU-ori':>9}{'iBLEU':>8}{'s-ref':>9}")
    print(row("fluency alone", dev, best(dev, torch.zeros_like(fitted))))
    print(row("shipped", dev, best(dev, shipped)))
    for at, name in enumerate(names):
        without = shipped.clone()
        without[at] = 0.0
        print(row(f"  without {name}", dev, best(dev, without)))
    print(row("fitted", dev, best(dev, fitted)))
    print(row("best of those visited", dev, [int(pool.utility.argmax()) for pool in dev]))


if __name__ == "__main__":
    main()
