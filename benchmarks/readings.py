"""How many edited sentences a pulled LLM reads per second, prefixes kept: what a chain with it as target waits for.

    python benchmarks/readings.py MODEL [--device cuda] [--chains 4 8 16 32] [--seconds 10]

MODEL is a name of `cgmh models list` or a directory. Each reading is a sentence of twelve words in which one word,
anywhere, was replaced by another; half of the edits are kept. Readings per second of processor time do not depend on
what else the machine does. Writes benchmarks/results/readings-DEVICE.json.
"""

import argparse
import json
import platform
import random
import time
from pathlib import Path

import torch

from cgmh import __version__
from cgmh.models.pull.store import path_of
from cgmh.models.text.llama import LlamaModel, load_llama
from cgmh.threads import num_cores

SENTENCES = [
    "The old man walked slowly down the road to the small village",
    "She put the letter on the table and went out the door",
    "We took the train to the city and had lunch near water",
    "My sister bought a new car because her old one was broken",
    "The children played in the garden until their mother called them home",
    "He opened the window and looked at the snow on the roof",
    "They found a dog in the street and took it home today",
    "The teacher asked the students to read the book before next week",
]
WORDS = (
    "house river friend morning little yellow quickly because always mountain paper garden letter music winter doctor "
    "simple market bridge office summer kitchen window father person number answer coffee picture village"
).split()


def edited(sentence: str, chance: random.Random) -> str:
    words = sentence.removesuffix(".").split()
    words[chance.randrange(len(words))] = chance.choice(WORDS)
    return " ".join(words) + "."


def measure(model: LlamaModel, chains: int, seconds: float) -> tuple[float, float, float]:
    """Readings per second and per second of processor time, and tokens that were read for each."""
    chance = random.Random(0)  # noqa: S311
    cache = model.begin([f"{SENTENCES[chain % len(SENTENCES)]}." for chain in range(chains)])
    current = [f"{SENTENCES[chain % len(SENTENCES)]}." for chain in range(chains)]
    rows = torch.arange(chains)
    readings = tokens = 0
    start = end = before = 0.0
    steps = 0
    while end - start < seconds or steps < 5:
        texts = [edited(text, chance) for text in current]
        kept = torch.tensor([chance.random() < 0.5 for _ in range(chains)])
        pending = model.extend(cache, rows, texts)
        pending.log_prob.sum().item()
        model.keep(cache, pending, kept)
        current = [new if taken else old for new, old, taken in zip(texts, current, kept.tolist(), strict=True)]
        end = time.perf_counter()
        steps += 1
        if steps == 2:  # the first two only warm up
            start, readings, tokens, before = end, 0, 0, time.process_time()
            continue
        readings += chains
        tokens += len(pending.place)
    return readings / (end - start), readings / (time.process_time() - before), tokens / readings


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision")
    parser.add_argument("--chains", type=int, nargs="+")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=num_cores())
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    directory = Path(args.model) if Path(args.model).is_dir() else path_of(args.model)
    start = time.perf_counter()
    model = load_llama(directory, args.device, args.precision)
    loading = time.perf_counter() - start
    print(f"{model.name}: loaded in {loading:.2f} s", flush=True)
    rows = []
    for chains in args.chains or ([4, 8, 16, 32] if args.device == "cpu" else [256, 1024, 4096]):
        names = ("readings per second", "per second of processor time", "tokens per reading")
        figures = measure(model, chains, args.seconds)
        rows.append({"chains": chains, **{name: round(figure, 1) for name, figure in zip(names, figures, strict=True)}})
        print(rows[-1], flush=True)
    device = (
        torch.cuda.get_device_name() if args.device == "cuda" else f"{args.threads} threads, {platform.processor()}"
    )
    signature = f"cgmh {__version__} | {model.name} | {device} | torch {torch.__version__} | loaded in {loading:.2f} s"
    out = args.out or Path(__file__).parent / "results" / f"readings-{args.device}.json"
    out.write_text(json.dumps({"signature": signature, "rows": rows}, indent=1) + "\n")
    print(signature)


if __name__ == "__main__":
    main()
