"""Train the embedded English model on one GPU within a time budget.

    python recipes/english/train.py ENCODED OUT --minutes 16
    python recipes/english/train.py ENCODED OUT --begin WEIGHTS --minutes 15 --rate 1e-3 --dropout 0.03 --questions 2
    python recipes/english/train.py ENCODED OUT --export WEIGHTS [WEIGHTS ...] [--shares S ...]

ENCODED is what `prepare.py` wrote. OUT becomes the model directory: int8 weights, vocabulary, and a configuration with
the held-out perplexities of just these weights. The second form goes on from trained weights; --questions adds the
questions that `questions.py` encoded, each so many times per epoch. OUT.training keeps the checkpoints (go on with
--resume) and, in `best.safetensors`, the weights before rounding. The third form writes OUT from such weights
(.safetensors, or .npz with arrays named as in `Network.state_dict()`) of a network of the same sizes, or from the mean
of several files (weighted by --shares, if given), which is sensible where one went on from another. WEIGHTS may also
be a model directory: its int8 weights are unpacked, and words that its vocabulary has not or in another place begin as
the average of their class.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from prepare import NUM_CLASSES, WEIGHTS
from questions import NAME as QUESTIONS
from safetensors.torch import load_file
from torch import Tensor

from cgmh.models.pull.store import WEIGHTS as WEIGHT_FILE
from cgmh.models.word.checkpoint import VOCABULARY
from cgmh.models.word.network import NetworkConfig
from cgmh.text.vocabulary import Vocabulary
from cgmh.training.corpus import TrainingText
from cgmh.training.loop import TrainingPlan, resume, train
from cgmh.training.state import export_model, read_tensors

_NAMES = {"right": "forward", "left": "backward", "right_head": "forward_head", "left_head": "backward_head"}
FACTS = {"name": "en", "language": "English"}


def encoded_text(directory: Path, num_classes: int, questions: float, others: Mapping[str, float]) -> TrainingText:
    """The corpora as `prepare.py` encoded them, some with `others` than the usual weights, and the questions."""
    weights = {**WEIGHTS, **others} | ({QUESTIONS: questions} if questions else {})
    train, held = ({name: np.load(directory / f"{name}{suffix}.npy") for name in weights} for suffix in ("", ".held"))
    return TrainingText(Vocabulary.load(directory / "vocabulary.json"), num_classes, train, held, weights)


def unpacked(directory: Path, vocabulary: Vocabulary, config: NetworkConfig) -> dict[str, Tensor]:
    """The parameters of a network from the weights of a model directory: what `checkpoint.pack` did, undone."""
    packed = load_file(directory / WEIGHT_FILE)
    packed = {".".join(_NAMES.get(part, part) for part in name.split(".")): packed[name] for name in packed}

    def dense(name: str) -> Tensor:
        return packed[name].float() * packed[f"{name}.scale"].float()[:, None]

    def gates(tensor: Tensor) -> Tensor:
        i, f, o, g = tensor.float().chunk(4)
        return torch.cat([i, f, g, o])

    weights = {"table": dense("table"), "bias": packed["table.bias"].float()}
    for direction, hidden in config.hidden.items():
        if direction == "fill":
            continue
        lstm = f"{direction}_lstm"
        weights[f"{lstm}.weight_ih_l0"] = (
            gates(dense(f"{direction}.inputs")) * packed["input_scale"] / config.width**0.5
        )
        for layer in range(config.layers):
            matrix = gates(dense(f"{direction}.{layer}"))
            if layer:
                weights[f"{lstm}.weight_ih_l{layer}"], matrix = matrix.split(hidden, 1)
            weights[f"{lstm}.weight_hh_l{layer}"] = matrix
            weights[f"{lstm}.bias_ih_l{layer}"] = gates(packed[f"{direction}.{layer}.bias"])
            weights[f"{lstm}.bias_hh_l{layer}"] = torch.zeros(4 * hidden)
    weights |= {"mix.weight": dense("mix"), "mix.bias": packed["mix.bias"].float()}
    for head in config.hidden:
        for part in (f"{head}_head.query", f"{head}_head.classes"):
            weights |= {f"{part}.weight": dense(part), f"{part}.bias": packed[f"{part}.bias"].float()}
    before = Vocabulary.load(directory / VOCABULARY).words
    moved = torch.tensor([at for at, word in enumerate(vocabulary.words) if word != before[at]], dtype=torch.int64)
    print(f"{len(moved):,} words begin as the average of their class")
    for name in ("table", "bias"):
        means = weights[name].view(config.num_classes, config.class_size, -1).mean(1).view(config.num_classes, -1)
        weights[name][moved] = means[moved // config.class_size].view(len(moved), *weights[name].shape[1:])
    return {name: tensor.contiguous() for name, tensor in weights.items()}


def read_weights(path: Path, vocabulary: Vocabulary, config: NetworkConfig) -> dict[str, Tensor]:
    if path.is_dir():
        return unpacked(path, vocabulary, config)
    if path.suffix == ".safetensors":
        return read_tensors(path)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}


def mean_weights(several: Sequence[Mapping[str, Tensor]], shares: Sequence[float]) -> dict[str, Tensor]:
    """The mean of the parameters of several networks, each weighted by its share."""
    parts = torch.tensor(shares) / sum(shares)
    return {
        name: torch.tensordot(parts, torch.stack([each[name].float() for each in several]), 1) for name in several[0]
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=16)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--words", type=int, default=40_000, help="words per batch")
    parser.add_argument("--forward", type=int, default=896)
    parser.add_argument("--backward", type=int, default=640)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--classes", type=int, default=NUM_CLASSES)
    parser.add_argument("--questions", type=float, default=0, help="how often an epoch takes each question")
    parser.add_argument("--weight", action="append", default=[], metavar="CORPUS=W", help="another weight of a corpus")
    parser.add_argument("--check-steps", type=int, default=1500, help="steps between two held-out checks")
    parser.add_argument("--begin", type=Path, metavar="WEIGHTS", help="trained weights to go on from")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--export", type=Path, nargs="+", metavar="WEIGHTS")
    parser.add_argument("--shares", type=float, nargs="+", metavar="S", help="of each --export in the mean; else equal")
    args = parser.parse_args()
    shares = args.shares or [1.0] * len(args.export or [])
    if len(shares) != len(args.export or []) or (shares and sum(shares) <= 0):
        parser.error("--shares wants a number for each of --export's weights, more than 0 together")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.resume:
        facts = resume(args.out, device=device, minutes=args.minutes)
    else:
        others = {name: float(weight) for name, _, weight in (each.partition("=") for each in args.weight)}
        text = encoded_text(args.encoded, args.classes, args.questions, others)
        config = NetworkConfig(text.num_classes, text.class_size, args.width, args.forward, args.backward)
        if args.export:
            several = [read_weights(path, text.vocabulary, config) for path in args.export]
            if any(each.keys() != several[0].keys() for each in several):
                parser.error("the weights are of networks that differ")
            weights = mean_weights(several, shares)
            known = {**FACTS, **text.facts()}
            facts = export_model(args.out, weights, config, text.vocabulary, text.held, known)
        else:
            plan = TrainingPlan(
                epochs=None,
                minutes=args.minutes,
                patience=None,
                check_steps=args.check_steps,
                words=args.words,
                longest=40,
                rate=args.rate,
                dropout=args.dropout,
                keep_run=True,
            )
            begin = read_weights(args.begin, text.vocabulary, config) if args.begin else {}
            floats = {name: tensor.float() for name, tensor in begin.items()} or None
            facts = train(text, config, plan, args.out, device=device, facts=FACTS, weights=floats)
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
