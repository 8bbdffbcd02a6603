"""The sentences that chains visit on their way to a correction, with what each model says of them.

    python recipes/correction/visit.py TEXTS POOLS [--big MODEL] [--read MODEL] [--device cuda]
    python recipes/correction/visit.py EARLIER_POOLS POOLS --again

TEXTS holds one text per line; POOLS receives a line of JSON for each sentence of it: `text`, `number` (of the sentence
in the text), `candidates` (words) and, for each, `readings` (forward, backward, filled; then, if there is a big model,
what it says of the sentence as what was meant by the text, where it can read that, and of the sentence by itself). With
--read, the big model only reads what the word model's chains visited. `tune.py` weighs the candidates anew under other
costs. Chains run hot, so that they see what other costs would like.

With --again, nothing is sampled: what was visited before is read by the word model that is there now, in minutes, and
what a big model said of it stays. That will do for new weights that differ little from those that visited.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_models, open_model
from cgmh.models.protocols import CorrectingModel, TextModel
from cgmh.models.word.experts import log_readings
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.models.word.two_stage import TwoStageModel
from cgmh.sampling import Constant, Kernel
from cgmh.sampling.runs import run
from cgmh.tasks import Correct
from cgmh.tasks.correct.report import Corrections
from cgmh.tasks.correct.source import TypedSentence
from cgmh.text.lexicon import Lexicon
from cgmh.text.tokenizer import join

TOGETHER = {"cpu": 32, "cuda": 160}  # sentences
NUM_OWN = 3  # readings of the word model, which come first


def pools(
    typed: Sequence[TypedSentence], models: Models, reader: TextModel | None, args: argparse.Namespace
) -> Iterator[dict[str, Any]]:
    """What is written of each of some sentences, which are sampled together."""
    problem = Correct().pose(typed, models, args.chains, args.seed)
    model = problem.target.model
    assert isinstance(model, TwoStageModel)
    kernel = Kernel(problem.target, problem.moves(model), model.window, trust=model.trust)
    chains = torch.arange(args.chains).repeat(len(typed))
    record = run(kernel, problem.start, args.steps, args.seed, Constant(1 / args.temperature), chains)
    assert isinstance(problem.report, Corrections)
    for number, sentence in enumerate(typed):
        source = tuple(problem.report.sources[number].ids)
        own = record.of(number)
        visited = dict(zip(map(tuple, own.proposed.to_lists()), own.steps["log_target"].tolist(), strict=True))
        visited |= zip(map(tuple, own.final.to_lists()), own.finals["log_target"].tolist(), strict=True)
        best = [source, *(ids for ids in sorted(visited, key=lambda ids: -visited[ids]) if ids != source)][: args.most]
        logs = [reading.double().cpu() for reading in log_readings(best, problem.words, shapes=True)]
        candidates = [problem.lexicon.words(ids) for ids in best]
        texts = [join(words) for words in candidates]
        if isinstance(reader, CorrectingModel):
            logs.append(reader.log_prob_of_meant([join(problem.lexicon.words(source))] * len(texts), texts))
        if reader is not None:
            logs.append(reader.log_prob(texts).double().cpu())
        readings = [[round(value, 4) for value in row] for row in torch.stack(logs, -1).tolist()]
        yield {
            "text": sentence.passage.text, "number": sentence.number, "candidates": candidates, "readings": readings,
        }  # fmt: skip


def read_again(rows: Sequence[dict[str, Any]], words: RecurrentModel) -> Iterator[dict[str, Any]]:
    """Pools with new readings of the word model."""
    lexicon = Lexicon(words.vocabulary)
    candidates = [tuple(map(lexicon.add, each)) for row in rows for each in row["candidates"]]
    logs = torch.stack(
        [reading.double().cpu() for reading in log_readings(candidates, words.bound(lexicon), shapes=True)], -1
    ).round(decimals=4)
    parts = logs.split([len(row["candidates"]) for row in rows])
    for row, own in zip(rows, parts, strict=True):
        readings = [[*new, *before[NUM_OWN:]] for new, before in zip(own.tolist(), row["readings"], strict=True)]
        yield {**row, "readings": readings}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("pools", type=Path)
    parser.add_argument("--big", metavar="MODEL", help="the target, beside the word model; such as smollm2")
    parser.add_argument("--read", metavar="MODEL", help="a big model that only reads what was visited")
    parser.add_argument("--again", action="store_true", help="TEXTS are pools: read them anew, and visit nothing")
    parser.add_argument("--device", choices=TOGETHER, default="cpu")
    parser.add_argument("--chains", type=int, default=12)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--temperature", type=float, default=1.5)
    parser.add_argument("--most", type=int, default=80, help="candidates of a sentence")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    together = TOGETHER[args.device]
    if args.again:
        if args.big or args.read:
            parser.error("with --again the word model alone reads; leave out --big and --read")
        words = open_model(None, args.device, "float32")
        rows = [json.loads(line) for line in args.texts.read_text(encoding="utf-8").removesuffix("\n").split("\n")]
        with args.pools.open("w", encoding="utf-8") as file, torch.inference_mode():
            for at in tqdm(range(0, len(rows), together), unit="batch"):
                for pool in read_again(rows[at : at + together], words):
                    file.write(json.dumps(pool, ensure_ascii=False) + "\n")
        return
    big = open_model(args.big, args.device, "float32") if args.big else None
    models = load_models(open_model(None, args.device, "float32"), big, uses=CorrectInput.uses)
    reader = open_model(args.read, args.device) if args.read else models.text
    if isinstance(reader, RecurrentModel):
        parser.error(f"{args.read} is a word model; give a big one")
    typed: list[TypedSentence] = []
    for text in dict.fromkeys(args.texts.read_text(encoding="utf-8").removesuffix("\n").split("\n")):
        read = Correct().read(CorrectInput(text), models.words.vocabulary)
        typed += read if isinstance(read, list) else []  # a line without a sentence is left alone
    typed.sort(key=lambda sentence: len(sentence.sentence.words))  # so that little is padding
    with args.pools.open("w", encoding="utf-8") as file, torch.inference_mode():
        for at in tqdm(range(0, len(typed), together), unit="batch"):
            for pool in pools(typed[at : at + together], models, reader, args):
                file.write(json.dumps(pool, ensure_ascii=False) + "\n")
            file.flush()


if __name__ == "__main__":
    main()
