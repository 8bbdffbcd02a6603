"""Tune Gemma 3 270M on plain sentences: low-rank changes of its matrices, in minutes on one GPU.

    python recipes/gemma/tune.py BASE ENCODED OUT --minutes 5

BASE is the file that ``pack.py`` wrote, ENCODED the folder of ``prepare.py``. A sentence stands between the token that
begins a text and the one that ends it, and its words are predicted among the rows that were kept. OUT receives
``adapter.safetensors`` (of every matrix M the factors M.down [R,K] and M.up [N,R]) and ``log.jsonl`` with the held-out
nats per token of every corpus. With --prompted, the lines of ``prompts.py`` are read too; with --corrections, mistaken
sentences and what was meant (``corrections.py``); with --pairs, the sensible one of two sentences (``pairs.py``) is to
become the likelier one. --begin goes on from an adapter, of a lower rank perhaps.
"""

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from cgmh.models.text.build import dequantized

WIDTH, HEADS, HEAD, HIDDEN, LAYERS, GLOBAL_EVERY = 640, 4, 256, 2048, 18, 6
ROPE_BASE, LOCAL_ROPE_BASE, EPSILON = 1e6, 1e4, 1e-6
MATRICES = ("q", "k", "v", "o", "gate", "up", "down")
MULTIPLE, MAX_LENGTH = 4, 100
# How often a sentence of each corpus is read in an epoch.
WEIGHTS = {
    "wikipedia-1": 0.7, "wikipedia-2": 0.7, "reuters": 0.7, "un_debates": 0.5, "imdb": 0.6, "fiction": 0.7, "talk": 1.0,
    "captions": 1.2, "stories": 1.3, "inference": 1.3, "commonsense": 1.6, "dialog": 1.0, "reviews": 0.5,
    "reasons": 0.6, "examples": 1.2, "childes": 0.5, "mnli": 0.7, "simplewiki": 1.0, "quora": 1.5,
}  # fmt: skip


CORRECTIONS = "corrections"


def rotations(length: int, base: float, device: str) -> tuple[Tensor, Tensor]:
    rates = base ** (-torch.arange(HEAD // 2, dtype=torch.float64) / (HEAD // 2))
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return angles.cos().float().to(device), angles.sin().float().to(device)


def normed(x: Tensor, weight: Tensor) -> Tensor:
    x = x.float()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * weight


def turned(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Heads [B,H,L,D] at their positions."""
    left, right = heads.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def block(stream: Tensor, w: dict[str, Tensor], cos: Tensor, sin: Tensor) -> Tensor:
    """One layer on the float32 stream [B,L,W]; matrices are in the type of the products."""
    kind = w["q"].dtype
    size, length, _ = stream.shape
    x = normed(stream, w["attention_norm"]).to(kind)
    q = functional.linear(x, w["q"]).view(size, length, HEADS, HEAD).transpose(1, 2)
    k, v = (functional.linear(x, w[name]).view(size, length, 1, HEAD).transpose(1, 2) for name in "kv")
    q, k = turned(normed(q, w["query_norm"]), cos, sin).to(kind), turned(normed(k, w["key_norm"]), cos, sin).to(kind)
    k, v = k.expand(-1, HEADS, -1, -1), v.expand(-1, HEADS, -1, -1)
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
    stream = stream + normed(functional.linear(seen, w["o"]), w["attention_after"])
    x = normed(stream, w["feed_norm"]).to(kind)
    opened = functional.gelu(functional.linear(x, w["gate"]), approximate="tanh") * functional.linear(x, w["up"])
    return stream + normed(functional.linear(opened, w["down"]), w["feed_after"])


class Tuned(torch.nn.Module):
    """The frozen network and the low-rank changes of its matrices; rank 0 changes the matrices themselves."""

    def __init__(self, base: dict[str, Tensor], line: int, rank: int, device: str, kind: torch.dtype) -> None:
        super().__init__()
        self.rank, self.kind = rank, kind
        self.table = base["table"].to(device, kind)
        self.line = line
        self.boundary = base["boundary"].to(device, kind)
        self.norm = base["norm"].to(device)
        self.layers: list[dict[str, Tensor]] = []
        self.factors = torch.nn.ParameterDict()
        for number in range(LAYERS):
            parts = {
                name.split(".")[2]: tensor for name, tensor in base.items() if name.startswith(f"layers.{number}.")
            }
            self.layers.append(
                {name: part.to(device, kind if name in MATRICES else torch.float32) for name, part in parts.items()}
            )
            for name in MATRICES:
                rows, columns = parts[name].shape
                key = f"{number}-{name}"
                if rank:
                    self.factors[f"{key}-down"] = torch.nn.Parameter(
                        torch.randn(rank, columns, device=device) / math.sqrt(columns)
                    )
                    self.factors[f"{key}-up"] = torch.nn.Parameter(torch.zeros(rows, rank, device=device))
                else:
                    self.factors[f"{key}-full"] = torch.nn.Parameter(parts[name].to(device, torch.float32))
        self.turns = [rotations(MAX_LENGTH + MULTIPLE, base_, device) for base_ in (ROPE_BASE, LOCAL_ROPE_BASE)]
        self.block = block

    def weights(self) -> list[dict[str, Tensor]]:
        changed = []
        for number, layer in enumerate(self.layers):
            own = {}
            for name in MATRICES:
                key = f"{number}-{name}"
                if self.rank:
                    change = self.factors[f"{key}-up"].to(self.kind) @ self.factors[f"{key}-down"].to(self.kind)
                    own[name] = layer[name] + change
                else:
                    own[name] = self.factors[f"{key}-full"].to(self.kind)
            changed.append(layer | own)
        return changed

    def hidden(self, tokens: Tensor, weights: list[dict[str, Tensor]]) -> Tensor:
        """[B,L,W]: states before each of the tokens [B,L], the first of which comes after the boundary."""
        first = self.boundary[None].expand(len(tokens), -1, -1)
        stream = torch.cat([first, self.table[tokens[:, :-1]]], 1).float() * math.sqrt(WIDTH)
        for number, layer in enumerate(weights):
            cos, sin = self.turns[(number + 1) % GLOBAL_EVERY != 0]
            stream = self.block(stream, layer, cos[: tokens.shape[1]], sin[: tokens.shape[1]])
        return normed(stream, self.norm).to(self.kind)

    def losses(self, tokens: Tensor, weights: list[dict[str, Tensor]] | None = None) -> Tensor:
        """[B,L]: nats of each token; 0 for padding, which is -1."""
        hidden = self.hidden(tokens.clamp(min=0), weights or self.weights())
        logits = hidden.flatten(0, 1) @ self.table.t()
        is_line = tokens == self.line
        is_prompt = is_line.any(1, keepdim=True) & (is_line.cumsum(1) - is_line.long() == 0)
        wanted = tokens.masked_fill(is_prompt, -1).flatten()
        return functional.cross_entropy(logits.float(), wanted, ignore_index=-1, reduction="none").view(tokens.shape)


def weight_of(name: str, prompted: float, corrections: float) -> float:
    """How often a sentence of a corpus is read: half as often where there are lines with words too."""
    corpus, _, is_prompted = name.partition(" ")
    if corpus == CORRECTIONS:
        return corrections
    return WEIGHTS[corpus] * (prompted if is_prompted else 0.5 if prompted else 1.0)


def sentences_of(file: Path, end: int) -> list[np.ndarray]:
    ids = np.load(file).astype(np.int64)
    cuts = np.flatnonzero(ids == end) + 1
    return np.split(ids, cuts[:-1]) if len(cuts) else []


def batches(
    lengths: np.ndarray, order: np.ndarray, num_tokens: int, generator: np.random.Generator | None
) -> list[np.ndarray]:
    """Numbers of sentences of like length, so many tokens at a time."""
    rounded = -(-lengths[order] // MULTIPLE) * MULTIPLE
    groups = []
    for length in np.unique(rounded):
        members = order[rounded == length]
        size = max(1, num_tokens // int(length))
        groups += [members[at : at + size] for at in range(0, len(members), size)]
    if generator is not None:
        groups = [group for group in groups if len(group) * MULTIPLE >= 64] or groups
        generator.shuffle(groups)
    return groups


def padded(sentences: list[np.ndarray], group: np.ndarray, device: str) -> Tensor:
    chosen = [sentences[at] for at in group]
    length = -(-max(map(len, chosen)) // MULTIPLE) * MULTIPLE
    rows = np.full((len(chosen), length), -1, np.int64)
    for row, ids in zip(rows, chosen, strict=True):
        row[: len(ids)] = ids
    return torch.from_numpy(rows).to(device)


@torch.no_grad()
def totals(model: Tuned, sentences: list[np.ndarray], num_tokens: int, device: str) -> np.ndarray:
    """[N]: nats of each sentence."""
    lengths = np.array([len(ids) for ids in sentences])
    result = np.zeros(len(sentences))
    weights = model.weights()
    for group in batches(lengths, np.arange(len(sentences)), num_tokens, None):
        result[group] = model.losses(padded(sentences, group, device), weights).double().sum(1).cpu().numpy()
    return result


def main() -> None:  # noqa: C901 - a run from top to bottom
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", type=Path)
    parser.add_argument("encoded", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--rank", type=int, default=16, help="0: all of the matrices")
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--batch", type=int, default=65_536, help="tokens of a step")
    parser.add_argument("--held", type=int, default=1000, help="held-out sentences of each corpus")
    parser.add_argument("--prompted", type=float, default=0, help="weight of lines with words before their sentence")
    parser.add_argument("--corrections", type=float, default=0, help="weight of mistaken sentences with what was meant")
    parser.add_argument("--begin", type=Path, help="an adapter to go on from")
    parser.add_argument("--pairs", type=Path, help="JSON: pairs of a sensible and a nonsensical text, as row numbers")
    parser.add_argument("--pair-weight", type=float, default=0.5)
    parser.add_argument("--sharpness", type=float, default=0.5, help="of the preference, per nat")
    parser.add_argument("--pair-batch", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    device = args.device
    kind = torch.bfloat16 if device == "cuda" else torch.float32
    torch.manual_seed(args.seed)
    stored = load_file(args.base)
    end, line = int(stored.pop("end")), int(stored.pop("line"))
    names = {name for name in stored if not name.endswith((".scale", ".offset"))}
    base = {name: dequantized(stored, name) if stored[name].ndim > 1 else stored[name] for name in names}
    model = Tuned(base, line, args.rank, device, kind)
    if args.begin:
        begin = load_file(args.begin)
        with torch.no_grad():
            for key, part in model.factors.items():
                known = begin[f"layers.{key.replace('-', '.')}"].float()
                part[: known.shape[0], : known.shape[1]].copy_(known)
    pairs = (
        [[np.array(ids, np.int64) for ids in pair] for pair in json.loads(args.pairs.read_text())] if args.pairs else []
    )
    generator_of_pairs = np.random.default_rng(args.seed + 1)
    apart = generator_of_pairs.permutation(len(pairs))  # the first 1,000 are held out
    unseen, pairs = [pairs[at] for at in apart[:1000]], [pairs[at] for at in apart[1000:]]
    if args.compile:
        model.block = torch.compile(block, dynamic=True)
    generator = np.random.default_rng(args.seed)
    corpora = {name: sentences_of(args.encoded / f"{name}.npy", end) for name in WEIGHTS}
    held = {name: sentences_of(args.encoded / f"{name}.held.npy", end)[: args.held] for name in WEIGHTS}
    if args.prompted:
        for name in WEIGHTS:
            lines = sentences_of(args.encoded / f"{name}.prompted.npy", end)
            corpora[f"{name} prompted"], held[f"{name} prompted"] = lines[: -args.held], lines[-args.held :]
    if args.corrections:
        lines = sentences_of(args.encoded / f"{CORRECTIONS}.npy", end)
        corpora[CORRECTIONS], held[CORRECTIONS] = lines[: -args.held], lines[-args.held :]
    sentences = [ids for some in corpora.values() for ids in some]
    weight = np.concatenate([
        np.full(len(some), weight_of(name, args.prompted, args.corrections)) for name, some in corpora.items()
    ])  # fmt: skip
    lengths = np.array([len(ids) for ids in sentences])
    print(f"{len(sentences):,} sentences, {lengths.sum():,} tokens", flush=True)
    log = (args.out / "log.jsonl").open("w", encoding="utf-8")

    def report(step: int, seen: int, train: float) -> None:
        if unseen:
            nats = totals(model, [ids for pair in unseen for ids in pair], args.batch, device).reshape(-1, 2)
            print("pairs told apart:", float((nats[:, 0] < nats[:, 1]).mean()), flush=True)
        figures = {
            name: round(float(totals(model, some, args.batch, device).sum() / sum(map(len, some))), 4)
            for name, some in held.items()
            if some
        }
        record = {
            "step": step,
            "tokens": seen,
            "seconds": round(time.time() - began),
            "train": round(train, 4),
            "held": figures,
        }
        print(json.dumps(record), flush=True)
        log.write(json.dumps(record) + "\n")
        log.flush()

    def save() -> None:
        if args.rank:
            tensors = {
                f"layers.{key.replace('-', '.')}": part.detach().half().cpu().contiguous()
                for key, part in model.factors.items()
            }
            save_file(tensors, args.out / "adapter.safetensors")

    began = time.time()
    report(0, 0, 0.0)
    began, limit, step, seen, kept, mean = time.time(), args.minutes * 60, 0, 0, time.time(), 0.0
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=args.rate, betas=(0.9, 0.95), weight_decay=0.0, fused=device == "cuda"
    )
    while time.time() - began < limit:
        copies = np.floor(weight + generator.random(len(weight))).astype(np.int64)
        order = np.repeat(np.arange(len(sentences)), copies)
        generator.shuffle(order)
        for group in batches(lengths, order, args.batch, generator):
            done = (time.time() - began) / limit
            if done >= 1:
                break
            rate = args.rate * min(1.0, (step + 1) / 40) * (0.5 * (1 + math.cos(math.pi * done)) * 0.98 + 0.02)
            for each in optimizer.param_groups:
                each["lr"] = rate
            tokens = padded(sentences, group, device)
            count = (tokens >= 0).sum()
            weights = model.weights()
            loss = model.losses(tokens, weights).sum() / count
            total = loss
            if pairs:
                chosen = [pairs[at] for at in generator_of_pairs.integers(len(pairs), size=args.pair_batch)]
                flat = [ids for pair in chosen for ids in pair]
                nats = model.losses(padded(flat, np.arange(len(flat)), device), weights).sum(1).view(-1, 2)
                preference = -functional.logsigmoid(args.sharpness * (nats[:, 1] - nats[:, 0])).mean()
                total = loss + args.pair_weight * preference
            total.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step, seen = step + 1, seen + int(count)
            mean = loss.item() if step == 1 else 0.98 * mean + 0.02 * loss.item()
            if step % 50 == 0:
                print(step, seen, round(time.time() - began), round(mean, 4), flush=True)
            if time.time() - kept > 120:
                report(step, seen, mean)
                save()
                kept = time.time()
    report(step, seen, mean)
    save()


if __name__ == "__main__":
    main()
