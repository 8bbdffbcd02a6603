"""How many sentences the big model reads for each accepted move, with and without delayed acceptance.

    python benchmarks/delayed.py                     # smollm2 as target, eight sets of keywords
    python benchmarks/delayed.py --device cuda

Both runs sample the same target from the same starts with the same seed; a move counts if it changed the sentence.
Writes benchmarks/results/delayed-DEVICE.json.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from speed import SETS

from cgmh import __version__
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models
from cgmh.models.protocols import TextModel
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import load_llama
from cgmh.models.word.checkpoint import load_model
from cgmh.models.word.two_stage import WHOLE, TextTarget
from cgmh.sampling import Constant, Kernel, sample
from cgmh.settings import Settings
from cgmh.tasks import Keywords


class Counted:
    """A text model that counts what it is asked; without prefix reuse, so that a call is a sentence."""

    def __init__(self, model: TextModel) -> None:
        self.model, self.name, self.asked = model, model.name, 0

    def log_prob(self, texts: Sequence[str]) -> torch.Tensor:
        self.asked += len(texts)
        return self.model.log_prob(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="smollm2", help="a name of `cgmh models list` or a directory")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--chains", type=int, default=8, help="for each set")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=40, help="steps before counting starts")
    args = parser.parse_args()
    directory = Path(args.model) if Path(args.model).is_dir() else path_of(args.model)
    settings = Settings()
    big = load_llama(directory, args.device, "float32").after(settings.context)
    small = load_model(None, args.device)
    rows = []
    for name, window, trust in (
        ("delayed acceptance", WHOLE, TextTarget.trust),
        ("delayed acceptance, full trust", WHOLE, 1.0),
        ("without", None, 1.0),
    ):
        counted = Counted(big)
        inputs = [KeywordInput(tuple(words.split())) for words in SETS]
        sources = [source for input in inputs for source in Keywords().read(input, small.vocabulary)]
        problem = Keywords().pose(sources, Models(small, counted, "target"), args.chains, 0)
        kernel = Kernel(problem.target, problem.moves(problem.target.model), window, trust=trust)
        accepted = steps = 0
        began = time.perf_counter()
        states = sample(kernel, problem.start, args.warm_up + args.steps, 0, Constant(1 / settings.temperature))
        for number, (_, _, info) in enumerate(states):
            if number == args.warm_up - 1:
                counted.asked = 0
            elif number >= args.warm_up:
                accepted += int(info.changed.sum())
                steps += len(info.changed)
        rows.append(
            {
                "kernel": name,
                "steps": steps,
                "moves": accepted,
                "sentences_read": counted.asked,
                "sentences_per_move": round(counted.asked / max(accepted, 1), 2),
                "seconds": round(time.perf_counter() - began, 1),
            }
        )
        print(rows[-1], flush=True)
    signature = (
        f"cgmh {__version__} | {small.name} | {big.name} | chains {args.chains * len(SETS)} | "
        f"steps {args.steps} | temperature {settings.temperature:g} | torch {torch.__version__}"
    )
    out = Path(__file__).parent / "results" / f"delayed-{args.device}.json"
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
