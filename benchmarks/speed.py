"""Chain steps per second of the embedded model, beside the paper's kernel on the same model in the same run.

    python benchmarks/speed.py                 # CPU (all cores), and every GPU batch size if there is a GPU
    python benchmarks/speed.py --device cuda

"fill head" is the default kernel, which does not try words that a keyword pins; "all places" draws the place from all
words, as the paper does, so that many steps are refused without a model call. A step is one proposal of one chain; one
that was tried in vain, because the chain had changed before it, does not count. The chains answer eight fixed sets of
keywords at the default temperature, are shared out to the cores and step as in every run, and are warmed up before the
clock starts. Writes benchmarks/results/speed-DEVICE.json with a signature.
"""

import argparse
import json
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from cgmh import __version__
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models
from cgmh.models.word.checkpoint import load_model
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Constant, Info, Kernel, Target, sample
from cgmh.sampling.ahead import sample_ahead
from cgmh.sampling.runs import TRIED_TOGETHER, num_workers
from cgmh.sampling.shards import Tick, is_own, share_out
from cgmh.settings import Settings
from cgmh.tasks import Keywords, Problem
from cgmh.tasks.problem import WINDOW
from cgmh.threads import num_cores

SETS = (
    "lottery scholarships",
    "kitchen bread",
    "teacher homework students",
    "snow mountain",
    "friends",
    "decision build home",
    "train late meeting",
    "doctor patient hospital",
)
WARM_UP = 40


def pose(model: RecurrentModel, chains: int) -> Problem:
    inputs = [KeywordInput(tuple(words.split())) for words in SETS]
    sources = [source for input in inputs for source in Keywords().read(input, model.vocabulary)]
    return Keywords().pose(sources, Models(model), max(1, chains // len(SETS)), 0)


def clock(kernel: Kernel, problem: Problem, steps: int, warm_up: int = WARM_UP) -> dict[str, float]:
    """Steps per second, the chains shared out to the cores as a run shares them, and the share of steps accepted."""
    device = problem.start.device
    workers = num_workers(len(problem.start), device)
    cuda = device.type == "cuda"
    beta = 1 / Settings().temperature

    def rounds(rows: torch.Tensor) -> Iterator[Info]:
        start, names, num_steps = problem.start.select(rows), rows.cpu(), warm_up + steps
        if kernel.goes_ahead:
            ahead = sample_ahead(
                kernel, kernel.init(start), num_steps, 0, Constant(beta), names, most_rows=TRIED_TOGETHER,
                exact_refusals=False,
            )  # fmt: skip
            yield from (made.info for made in ahead)
        else:
            yield from (info for _, _, info in sample(kernel, start, num_steps, 0, Constant(beta), names))

    @torch.inference_mode()
    def walk(rows: torch.Tensor, _: Tick) -> tuple[float, float, int, float]:
        began, counted, accepted = 0.0, 0, torch.zeros((), device=rows.device)
        to_warm_up = warm_up * len(rows)
        for info in rounds(rows):
            if to_warm_up > 0:
                to_warm_up -= len(info.chain)
                if to_warm_up <= 0:
                    torch.cuda.synchronize() if cuda else None
                    began = time.perf_counter()
            else:
                counted += len(info.chain)
                accepted += info.accepted.sum()
        torch.cuda.synchronize() if cuda else None
        return began, time.perf_counter(), counted, float(accepted)

    shares = torch.arange(len(problem.start), device=device).chunk(workers)
    spans = share_out(walk, shares, workers, forks=is_own(kernel))
    begins, ends, counts, accepted = zip(*spans, strict=True)
    seconds, total = max(ends) - min(begins), sum(counts)
    return {"steps_per_second": total / seconds, "accepted": sum(accepted) / total, "seconds": seconds}


def show(kernel: str, chains: int, figures: dict[str, float]) -> None:
    rate = f"{figures['steps_per_second']:12,.0f} steps/s"
    print(f"{kernel:15} {chains:6d} chains {rate}  accepted {figures['accepted']:.2f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--chains", type=int, nargs="*", help="batch sizes")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--no-paper", action="store_true", help="leave the paper's kernel out")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    cuda = args.device.startswith("cuda")
    model = load_model(device=args.device)
    sizes = args.chains or ([4096, 16384, 32768, 65536] if cuda else [64, 256])
    rows = []
    for chains in sizes:
        problem = pose(model, chains)
        kernel = Kernel(problem.target, problem.moves(problem.target.model), window=WINDOW)
        figures = clock(kernel, problem, args.steps)
        rows.append({"kernel": "fill", "chains": chains, **figures})
        show("fill head", chains, figures)
        plain = Mixture([(WordEdits(FillHead(problem.target.model)), 0.9), (SwapBlocks(), 0.1)])
        figures = clock(Kernel(problem.target, plain, window=WINDOW), problem, args.steps)
        rows.append({"kernel": "fill, all places", "chains": chains, **figures})
        show("all places", chains, figures)
    if not args.no_paper:
        chains = 1024 if cuda else 64
        problem = pose(model, chains)
        target = Target(problem.words, problem.target.constraints)
        kernel = Kernel(target, WordEdits(GibbsOver(problem.words, target, 100)))
        figures = clock(kernel, problem, 8, warm_up=4)
        rows.append({"kernel": "gibbs-100", "chains": chains, **figures})
        show("gibbs over 100", chains, figures)
        fill = {row["chains"]: row["steps_per_second"] for row in rows if row["kernel"] == "fill"}
        slow = figures["steps_per_second"]
        for size, fast in fill.items():
            print(f"ratio of the fill head at {size} chains to gibbs over 100: {fast / slow:.0f}")
    processor = platform.processor() or platform.machine()
    name = torch.cuda.get_device_name() if cuda else f"{num_cores()} cores of {processor}"
    signature = f"cgmh {__version__} | speed | {name} | {model.name} | window {WINDOW} | torch {torch.__version__}"
    print(signature)
    out = args.out or Path(__file__).parent / "results" / f"speed-{'cuda' if cuda else 'cpu'}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
