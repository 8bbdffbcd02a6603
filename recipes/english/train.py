"""Train the embedded English model on one GPU within a time budget.

    python recipes/english/train.py ENCODED OUT --minutes 16
    python recipes/english/train.py ENCODED OUT --begin WEIGHTS --minutes 15 --rate 1e-3 --dropout 0.03 --questions 2
    python recipes/english/train.py ENCODED OUT --export WEIGHTS

ENCODED is what `prepare.py` wrote. OUT becomes the model directory: int8 weights, vocabulary, and a configuration with
the held-out perplexities of just these weights. The second form goes on from trained weights; --questions adds the
questions that `questions.py` encoded, each so many times per epoch. OUT.training keeps the checkpoints (go on with
--resume) and, in `best.safetensors`, the weights before rounding. The third form writes OUT from such weights
(.safetensors, or .npz with arrays named as in `Network.state_dict()`) of a network of the same sizes.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from prepare import NUM_CLASSES, WEIGHTS
from questions import NAME as QUESTIONS
from torch import Tensor

from cgmh.models.word.network import NetworkConfig
from cgmh.text.vocabulary import Vocabulary
from cgmh.training.corpus import TrainingText
from cgmh.training.loop import TrainingPlan, resume, train
from cgmh.training.state import export_model, read_tensors

FACTS = {"name": "en", "language": "English"}


def encoded_text(directory: Path, num_classes: int, questions: float, *, only: bool = False) -> TrainingText:
    """The corpora as `prepare.py` encoded them, and the questions with the given weight."""
    weights = {} if only else dict(WEIGHTS)
    weights |= {QUESTIONS: questions} if questions else {}
    train, held = ({name: np.load(directory / f"{name}{suffix}.npy") for name in weights} for suffix in ("", ".held"))
    return TrainingText(Vocabulary.load(directory / "vocabulary.json"), num_classes, train, held, weights)


def read_weights(path: Path) -> dict[str, Tensor]:
    if path.suffix == ".safetensors":
        return read_tensors(path)
    with np.load(path, allow_pickle=False) as arrays:
        return {name: torch.from_numpy(arrays[name]) for name in arrays}


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
    parser.add_argument("--only-questions", action="store_true", help="leave the general corpora out")
    parser.add_argument("--check-steps", type=int, default=1500, help="steps between two held-out checks")
    parser.add_argument("--begin", type=Path, metavar="WEIGHTS", help="trained weights to go on from")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--export", type=Path, metavar="WEIGHTS")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    if args.resume:
        facts = resume(args.out, device=device, minutes=args.minutes)
    else:
        text = encoded_text(args.encoded, args.classes, args.questions, only=args.only_questions)
        config = NetworkConfig(text.num_classes, text.class_size, args.width, args.forward, args.backward)
        if args.export:
            weights = read_weights(args.export)
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
            begin = {name: tensor.float() for name, tensor in read_weights(args.begin).items()} if args.begin else None
            facts = train(text, config, plan, args.out, device=device, facts=FACTS, weights=begin)
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
