"""Go on training what reads forward, on a CPU: the forward LSTM, its head, and the fill head; everything else stays.

    python recipes/english/polish.py ENCODED OUT --begin WEIGHTS --minutes 46
    python recipes/english/polish.py ENCODED OUT --begin WEIGHTS --between 0.8

ENCODED is what `prepare.py` and `questions.py` wrote, WEIGHTS a model directory or what `train.py` keeps. The word
table and the backward LSTM stay as they are: backward readings do not change, and a word costs a quarter of what all of
training does. Two cores with bfloat16 read 4,000 words a second. OUT receives `log.jsonl` and, at each check,
`weights.safetensors`, for `train.py --export`. The second form puts weights between those before and those of OUT, so
much of the way, into `between.safetensors`, and prints their perplexities.
"""

import argparse
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch import Tensor
from torch.nn import functional
from train import encoded_text, read_weights

from cgmh.models.word.network import Network, NetworkConfig
from cgmh.text.vocabulary import Vocabulary
from cgmh.training.streams import Epoch, Stream

TRAINED = ("forward_lstm", "forward_head", "mix", "fill_head")
LONGEST = 40  # words of a sentence that is read
CHECK_WORDS = 4096  # of a batch of a held-out check
# What an epoch takes of each corpus: everyday English first.
WEIGHTS = {
    "wikipedia-1": 0.04, "wikipedia-2": 0.04, "reuters": 0.1, "un_debates": 0.05, "imdb": 0.06, "fiction": 0.12,
    "talk": 0.8, "captions": 0.5, "stories": 0.6, "inference": 1.0, "commonsense": 0.8, "dialog": 0.9, "reviews": 0.2,
    "reasons": 0.8, "examples": 0.8, "childes": 1.0, "mnli": 0.2, "simplewiki": 1.0,
}  # fmt: skip
NUM_QUESTIONS = 1.0


class Polished:
    """A network of which the forward half and the fill head learn, in one of several processes."""

    def __init__(self, network: Network, vocabulary: Vocabulary) -> None:
        self.network, self.start, self.end = network, vocabulary.start, vocabulary.end
        self.classes, self.size = network.config.num_classes, network.config.class_size
        for name, parameter in network.named_parameters():
            parameter.requires_grad_(name.split(".")[0] in TRAINED)
        self.trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
        self.table = network.table.detach().bfloat16()  # [V,D]
        self.bias = network.bias.detach().view(self.classes, self.size)

    def losses(self, ids: Tensor) -> Tensor:
        """[2]: mean negative log probability per word, forward and filled, of sentences [T,N] of one length."""
        network, (length, number) = self.network, ids.shape
        starts, ends = ids.new_full((1, number), self.start), ids.new_full((1, number), self.end)
        with torch.autocast("cpu", torch.bfloat16):
            forward, _ = network.forward_lstm(self._embed(torch.cat([starts, ids])))
            with torch.no_grad():
                backward, _ = network.backward_lstm(self._embed(torch.cat([ends, ids.flip(0)])))
            forward, backward = network.dropout(forward), network.dropout(backward)
            around = torch.cat([forward[:length], backward[:length].flip(0)], -1)
            mixed = network.dropout(functional.gelu(network.mix(around)))
            parts = (
                (network.forward_head, forward, torch.cat([ids, ends])),
                (network.fill_head, mixed, ids),
            )
            losses = []
            for head, states, following in parts:
                logits, query = head(states.flatten(0, 1))
                words = following.flatten()
                by_class = functional.cross_entropy(logits.float(), words // self.size)
                losses.append(by_class + self._within(query, words) / len(words))
        return torch.stack(losses)

    def _embed(self, ids: Tensor) -> Tensor:
        return functional.embedding(ids, self.table) * self.network.config.width**0.5

    def _within(self, query: Tensor, words: Tensor) -> Tensor:
        """The sum of -log p(word | its class): a product for each class, which is less work on a CPU than chunks."""
        order = torch.argsort(words // self.size)
        counts = torch.bincount(words // self.size, minlength=self.classes).tolist()
        table, places = self.table.view(self.classes, self.size, -1), (words % self.size)[order]
        total, at = query.new_zeros((), dtype=torch.float32), 0
        for number, (rows, at_most) in enumerate(zip(query[order].split(counts), counts, strict=True)):
            if at_most:
                logits = (rows @ table[number].t()).float() + self.bias[number]
                total = total + functional.cross_entropy(logits, places[at : at + at_most], reduction="sum")
                at += at_most
        return total

    def learn(self, ids: Tensor, optimizer: torch.optim.Optimizer, fill: float) -> Tensor:
        """One step on this process's part of a batch; returns the losses [2]."""
        losses = self.losses(ids)
        torch.autograd.backward(losses[0] + fill * losses[1])
        flat = torch.cat([parameter.grad.flatten() for parameter in self.trained if parameter.grad is not None])
        dist.all_reduce(flat)
        flat /= max(float(flat.norm()), dist.get_world_size())  # the mean, at most 1 long
        parts = flat.split([parameter.numel() for parameter in self.trained])
        for parameter, part in zip(self.trained, parts, strict=True):
            parameter.grad = part.view_as(parameter)
        optimizer.step()
        return losses.detach()

    @torch.no_grad()
    def perplexities(self, held: dict[str, Stream]) -> dict[str, list[float]]:
        """Of each corpus, forward and filled; each process reads its share of the batches."""
        self.network.eval()
        found = {}
        for name, part in held.items():
            total = torch.zeros(2, 2, dtype=torch.float64)
            for ids in list(part.by_length(CHECK_WORDS))[dist.get_rank() :: dist.get_world_size()]:
                counts = torch.tensor([(len(ids) + 1) * ids.shape[1], ids.numel()], dtype=torch.float64)
                total += torch.stack([self.losses(ids).double() * counts, counts])
            dist.all_reduce(total)
            found[name] = [round(value, 2) for value in (total[0] / total[1]).exp().tolist()]
        self.network.train()
        return found


def polish(rank: int, args: argparse.Namespace) -> None:
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(args.port))
    dist.init_process_group("gloo", rank=rank, world_size=args.processes)
    torch.set_num_threads(1)
    torch.manual_seed(args.seed * args.processes + rank)
    text = encoded_text(args.encoded, 256, NUM_QUESTIONS, WEIGHTS)
    config = NetworkConfig(text.num_classes, text.class_size)
    parts, held = (
        {name: Stream(ids, text.vocabulary.end, LONGEST, "cpu") for name, ids in streams.items()}
        for streams in (text.train, text.held)
    )
    network = Network(config, args.dropout)
    before = {name: each.float() for name, each in read_weights(args.begin, text.vocabulary, config).items()}
    network.load_state_dict(before)
    polished = Polished(network, text.vocabulary)
    if args.between is not None:
        after = read_weights(args.out / "weights.safetensors", text.vocabulary, config)
        between = {name: each.lerp(after[name], args.between) for name, each in before.items()}
        network.load_state_dict(between)
        record = polished.perplexities(held)
        if rank == 0:
            save_file(between, args.out / "between.safetensors")
            print(json.dumps(record))
        return
    groups = [
        {"params": [each for each in polished.trained if each.ndim > 1], "weight_decay": 0.01},
        {"params": [each for each in polished.trained if each.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.99), eps=1e-8)
    began = checked = time.monotonic()
    step = words = 0
    recent: list[Tensor] = []

    def check() -> None:
        found = polished.perplexities(held)
        if rank == 0:
            trained = torch.stack(recent).mean(0).exp().tolist() if recent else []
            record = {"step": step, "words": words, "seconds": round(time.monotonic() - began), "training": trained}
            line = json.dumps(record | {"held-out": found})
            print(line, flush=True)
            with (args.out / "log.jsonl").open("a", encoding="utf-8") as log:
                log.write(line + "\n")
            save_file({name: each.contiguous() for name, each in network.state_dict().items()}, args.out / "partial")
            (args.out / "partial").replace(args.out / "weights.safetensors")
        recent.clear()

    check()
    for number in range(10**6):
        generator = np.random.default_rng([args.seed, number])
        epoch = Epoch([parts[name] for name in text.weights], list(text.weights.values()), args.words, generator)
        for ids in epoch.batches():
            clock = torch.tensor([time.monotonic() - began, time.monotonic() - checked])
            dist.broadcast(clock, 0)
            done = clock[0].item() / (args.minutes * 60)
            if done >= 1:
                check()
                return
            for group in optimizer.param_groups:
                group["lr"] = rate_at(done, step, args)
            own = ids[:, rank :: args.processes]
            recent.append(polished.learn(own if own.shape[1] else ids, optimizer, args.fill))
            step, words = step + 1, words + ids.numel()
            if clock[1] > args.check_seconds:
                check()
                checked = time.monotonic()


def rate_at(done: float, step: int, args: argparse.Namespace) -> float:
    """It rises for 50 steps, stays, and falls to nothing in the last part of the run."""
    rate: float = args.rate
    return rate * min(1.0, (step + 1) / 50, max(0.01, (1 - done) / args.falling))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--begin", type=Path, required=True, metavar="WEIGHTS")
    parser.add_argument("--between", type=float, metavar="SHARE", help="how far from BEGIN to OUT")
    parser.add_argument("--minutes", type=float, default=46)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--falling", type=float, default=0.75, help="share of the run in which the rate falls")
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--fill", type=float, default=0.5, help="what the fill head counts")
    parser.add_argument("--words", type=int, default=16_000, help="words per batch")
    parser.add_argument("--check-seconds", type=float, default=690, help="between two held-out checks")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--port", type=int, default=29511, help="on loopback, for the processes to speak through")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    args.out.mkdir(parents=True, exist_ok=True)
    torch.multiprocessing.spawn(polish, (args,), nprocs=args.processes)


if __name__ == "__main__":
    main()
