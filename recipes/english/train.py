"""Train the embedded English model on one GPU within a time budget, and write half-precision weights.

    python recipes/english/train.py ENCODED OUT --minutes 16

ENCODED is what `prepare.py` wrote. OUT receives `log.jsonl`, `last.pt` (to go on with --resume) and `weights.npz`.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from prepare import CLASS_SIZE, CORPORA, NUM_CLASSES, WEIGHTS

from cgmh.models.network import Network, NetworkConfig
from cgmh.text.vocabulary import Vocabulary
from cgmh.training.batches import Sentences, epoch


@torch.no_grad()
def evaluate(network: Network, parts: dict[str, Sentences], start: int, end: int, autocast: torch.autocast) -> dict[str, list[float]]:
    """Perplexities [forward, backward, fill] of each corpus and of all together; a word counts once, so does an end mark."""
    network.eval()
    sums: dict[str, np.ndarray] = {}
    counts: dict[str, np.ndarray] = {}
    for name, part in parts.items():
        total, count = np.zeros(3), np.zeros(3)
        for ids in part.by_length(32768):
            with autocast:
                losses = network.losses(ids, start, end)
            length, number = ids.shape
            size = np.array([(length + 1) * number, (length + 1) * number, length * number])
            total += losses.double().cpu().numpy() * size
            count += size
        sums[name], counts[name] = total, count
    sums["all"], counts["all"] = sum(sums.values()), sum(counts.values())  # type: ignore[assignment]
    network.train()
    return {name: [round(float(x), 3) for x in np.exp(sums[name] / counts[name])] for name in sums}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=16)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--words", type=int, default=40_000, help="words a batch")
    parser.add_argument("--forward", type=int, default=896)
    parser.add_argument("--backward", type=int, default=640)
    parser.add_argument("--width", type=int, default=384)
    parser.add_argument("--classes", type=int, default=NUM_CLASSES)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    vocabulary = Vocabulary.load(args.encoded / "vocabulary.json")
    start, end = vocabulary.start, vocabulary.end
    train = [Sentences(np.load(args.encoded / f"{name}.npy"), end, 40, device) for name in CORPORA]
    held = {name: Sentences(np.load(args.encoded / f"{name}.held.npy"), end, 40, device) for name in CORPORA}
    config = NetworkConfig(args.classes, CLASS_SIZE, args.width, args.forward, args.backward)
    network = Network(config, args.dropout).to(device)
    autocast = torch.autocast(device, torch.bfloat16)
    matrices = [p for p in network.parameters() if p.ndim > 1]
    vectors = [p for p in network.parameters() if p.ndim < 2]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": vectors, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), eps=1e-8, fused=True)
    step, spent, seen = 0, 0.0, 0
    if args.resume:
        saved = torch.load(args.out / "last.pt", map_location=device, weights_only=True)
        network.load_state_dict(saved["network"])
        optimizer.load_state_dict(saved["optimizer"])
        step, spent, seen = saved["step"], saved["spent"], saved["seen"]
    weight = torch.tensor([1.0, 0.5, 0.75], device=device)
    generator = np.random.default_rng(step)
    log = (args.out / "log.jsonl").open("a")
    began, budget, done = time.time() - spent, args.minutes * 60, False
    next_report, next_check, running = 0, time.time() + 150, torch.zeros(3, device=device)
    since, count = time.time(), 0
    while not done:
        for ids in epoch(train, [WEIGHTS[name] for name in CORPORA], args.words, generator):
            progress = min(1.0, (time.time() - began) / budget)
            rate = args.rate * min(1.0, (step + 1) / 400) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
            for group in optimizer.param_groups:
                group["lr"] = rate
            with autocast:
                losses = network.losses(ids, start, end)
            (losses * weight).sum().backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            running += losses.detach()
            step, seen, count = step + 1, seen + ids.numel(), count + 1
            if step >= next_report:
                torch.cuda.synchronize() if device == "cuda" else None
                record = {"step": step, "seconds": round(time.time() - began, 1), "rate": round(rate, 6), "words": seen,
                          "train": [round(x, 2) for x in (running / count).exp().tolist()]}  # fmt: skip
                if time.time() > next_check:
                    record["held"] = evaluate(network, held, start, end, autocast)["all"]
                    next_check = time.time() + 150
                    state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                    torch.save({**state, "spent": time.time() - began, "seen": seen}, args.out / "last.pt")
                print(json.dumps(record), flush=True)
                log.write(json.dumps(record) + "\n")
                log.flush()
                running.zero_()
                count, next_report = 0, step + 500
            done = progress >= 1.0
            if done:
                break
    final = evaluate(network, held, start, end, autocast)
    record = {"step": step, "words": seen, "seconds": round(time.time() - began, 1), "held": final, "config": config.to_dict()}
    print(json.dumps(record, indent=1))
    log.write(json.dumps(record) + "\n")
    np.savez(args.out / "weights.npz", **{name: value.half().cpu().numpy() for name, value in network.state_dict().items()})


if __name__ == "__main__":
    main()
