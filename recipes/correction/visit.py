"""The sentences that chains visit on their way to a correction, with what each model says of them.

    python recipes/correction/visit.py TEXTS POOLS [--big MODEL] [--device cuda]

TEXTS holds a text a line; POOLS receives a line of JSON for each sentence of it: `text`, `number` (of the sentence in
the text), `candidates` (words) and, for each, `readings` (forward, backward, filled, and the big model's if there is
one). `tune.py` weighs them anew under other costs. Chains run hot, so that they see what other costs would like.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from cgmh.inputs import LONGEST, SentenceInput
from cgmh.models.load import open_model
from cgmh.models.protocols import TextModel
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import TextTarget, log_readings
from cgmh.ranking import visited
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import run
from cgmh.tasks import Correct
from cgmh.text.passages import read_passage
from cgmh.text.tokenizer import join

TOGETHER = {"cpu": 32, "cuda": 160}  # sentences


def pools(
    inputs: Sequence[SentenceInput], small: RecurrentModel, big: TextModel | None, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """What is written of each of some sentences, which are sampled together."""
    problem = Correct().pose(list(inputs), small if big is None else TextTarget(small, big), args.chains, args.seed)
    model = problem.model
    kernel = Kernel(problem.target, problem.proposal, model.window, trust=model.trust)
    chains = torch.arange(args.chains).repeat(len(inputs))
    record = run(kernel, problem.start, args.steps, args.seed, Constant(1 / args.temperature), chains)
    for number, input in enumerate(inputs):
        source = tuple(problem.lexicon.add(word) for word in input.sentence.words)
        found = {visit.ids: visit.log_target for visit in visited(record.of(number), args.steps)[0]}
        best = [source, *(ids for ids in sorted(found, key=lambda ids: -found[ids]) if ids != source)][: args.most]
        readings = torch.stack([one.double().cpu() for one in log_readings(best, model.words, shapes=True)], -1)
        words = [problem.lexicon.words(ids) for ids in best]
        if big is not None:
            said = big.log_prob([join(some) for some in words]).double().cpu()
            readings = torch.cat([readings, said[:, None]], -1)
        rows = [[round(value, 4) for value in row] for row in readings.tolist()]
        yield {"text": input.passage.text, "number": input.number, "candidates": words, "readings": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("pools", type=Path)
    parser.add_argument("--big", metavar="MODEL", help="the target, beside the word model; such as smollm2")
    parser.add_argument("--device", choices=TOGETHER, default="cpu")
    parser.add_argument("--chains", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--temperature", type=float, default=1.5)
    parser.add_argument("--most", type=int, default=80, help="candidates of a sentence")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    small = open_model(None, args.device, "float32")
    assert isinstance(small, RecurrentModel)
    big = open_model(args.big, args.device, "float32") if args.big else None
    inputs = []
    for text in dict.fromkeys(args.texts.read_text(encoding="utf-8").removesuffix("\n").split("\n")):
        passage = read_passage(text, small.vocabulary, most=LONGEST)
        inputs += [SentenceInput(passage, number) for number in range(len(passage.sentences))]
    inputs.sort(key=lambda input: len(input.sentence.words))  # so that little is padding
    together = TOGETHER[args.device]
    with args.pools.open("w", encoding="utf-8") as file, torch.inference_mode():
        for at in tqdm(range(0, len(inputs), together), unit="batch"):
            for pool in pools(inputs[at : at + together], small, big, args):
                file.write(json.dumps(pool, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
