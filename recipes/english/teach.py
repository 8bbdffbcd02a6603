"""Train the embedded English model after a teacher: SmolLM2-135M, made a model of our words, on one GPU.

    python recipes/english/teach.py pieces SMOLLM2 ENCODED
    python recipes/english/teach.py run SMOLLM2 ENCODED OUT --begin WEIGHTS --teacher-minutes 7.5 --minutes 22

SMOLLM2 is the folder of the model (``cgmh models path smollm2``), ENCODED what ``prepare.py`` and ``questions.py``
wrote; the first form adds ``pieces.npy``, the tokens of each word. In the second form a word is one position of the
transformer, which begins as the mean of the vectors of its tokens; all of its weights are trained on the corpora. Then
it reads every training sentence once, and what it expects is kept on the GPU (46 GB for 100M words): the probabilities
of the classes, and of the words of the class that came. The forward network of the embedded model learns these beside
the words that came; the backward network and the fill head learn the words alone. OUT receives ``teacher.safetensors``
(which is not made again if it is there), ``weights.safetensors`` at each check (the parameters of a `Network`, for
``train.py --export``: the mean over the last steps) and ``log.jsonl``. The weights that ship are nine tenths
of those of such a run and one tenth of those before: docs/experiments.md, 2026-11-19.
"""

import argparse
import copy
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from questions import NAME as QUESTIONS
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional
from train import encoded_text, read_weights

from cgmh.models.text.bpe import BytePairs
from cgmh.models.text.build import dequantized
from cgmh.models.word.network import Network, NetworkConfig, products_by_class
from cgmh.text.tokenizer import join
from cgmh.text.vocabulary import Vocabulary, is_special
from cgmh.training.streams import PREDICTORS, Epoch, Stream, evaluate_network

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, EPSILON, ROPE_BASE = 30, 576, 9, 3, 64, 1e-5, 1e5
MATRICES = ("q", "k", "v", "o", "gate", "up", "down")
MAX_PIECES, BOUNDARY = 8, 0
AVERAGE_EVERY, AVERAGED = 10, 500  # steps
LONGEST = 40  # words of a sentence that is read
STEPS_OF_NAT = 16  # log probabilities are kept as bytes of so many steps in a nat
# How often a sentence of each corpus is read in an epoch.
WEIGHTS = {
    "wikipedia-1": 0.45, "wikipedia-2": 0.45, "reuters": 0.9, "un_debates": 0.4, "imdb": 0.6, "fiction": 0.7,
    "talk": 1.4, "captions": 1.5, "stories": 1.5, "inference": 1.9, "commonsense": 1.8, "dialog": 1.6, "reviews": 0.6,
    "reasons": 1.2, "examples": 1.2, "childes": 1.4, "mnli": 0.6, "simplewiki": 1.6,
}  # fmt: skip
NUM_QUESTIONS = 2.0  # how often it reads a question


def write_pieces(model: Path, encoded: Path) -> None:
    """The tokens [V, MAX_PIECES] of each word, as it stands inside a sentence; -1 behind the last."""
    vocabulary = Vocabulary.load(encoded / "vocabulary.json")
    stored = json.loads((model / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer = BytePairs(stored["tokens"], stored["merges"])
    before = tokenizer.encode("So")
    rows = np.full((len(vocabulary), MAX_PIECES), -1, np.int32)
    for at, word in enumerate(vocabulary.words):
        if is_special(word):
            continue
        tokens = tokenizer.encode(join(["So", word]))
        # Where a mark merges with what stands before it, its own tokens have to do.
        own = tokens[len(before) :] if tokens[: len(before)] == before else tokenizer.encode(word)
        rows[at, : len(own[:MAX_PIECES])] = own[:MAX_PIECES]
    np.save(encoded / "pieces.npy", rows)
    counts = (rows >= 0).sum(1)
    print(f"{(counts == 1).sum():,} words are one token, {(counts > 1).sum():,} several, {(counts == 0).sum():,} none")


def block(stream: Tensor, weights: tuple[Tensor, ...], cos: Tensor, sin: Tensor) -> Tensor:
    """One layer on the float32 stream [B, L, W]."""
    attention_norm, feed_norm, qkv, out, gate_up, down = weights
    size, length, width = stream.shape
    heads, kv = qkv.shape[0] // HEAD - 2 * KV_HEADS, KV_HEADS
    x = functional.rms_norm(stream, (width,), attention_norm, EPSILON)
    mixed = functional.linear(x, qkv).view(size, length, -1, HEAD).transpose(1, 2)  # [B, heads, L, D]
    q, k, v = mixed.split([heads, kv, kv], 1)
    q, k = turned(q, cos, sin), turned(k, cos, sin)
    k, v = (each.repeat_interleave(heads // kv, 1) for each in (k, v))
    seen = functional.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v, is_causal=True)
    stream = stream + functional.linear(seen.transpose(1, 2).flatten(2), out)
    x = functional.rms_norm(stream, (width,), feed_norm, EPSILON)
    gate, up = functional.linear(x, gate_up).chunk(2, -1)
    return stream + functional.linear(functional.silu(gate) * up, down)


def turned(heads: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    left, right = heads.chunk(2, -1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], -1)


def nats(hidden: Tensor, rows: Tensor, bias: Tensor, following: Tensor) -> Tensor:
    return functional.cross_entropy(functional.linear(hidden, rows, bias).float(), following, reduction="none")


class Teacher(nn.Module):
    """SmolLM2 over whole words."""

    def __init__(self, tensors: dict[str, Tensor], pieces: np.ndarray, counts: Tensor, vocabulary: Vocabulary) -> None:
        super().__init__()
        tokens = dequantized(tensors, "table")  # [tokens, W]
        known = torch.from_numpy(pieces.astype(np.int64))  # [V, K]
        has = (known >= 0).float()
        mean = (tokens[known.clamp(min=0)] * has[..., None]).sum(1) / has.sum(1, keepdim=True).clamp(min=1)
        none = has.sum(1) == 0
        mean[none] = tokens.mean(0)
        first = known[:, 0]
        outputs = tokens[first.clamp(min=0)].clone()
        outputs[none] = tokens.mean(0)
        outputs[vocabulary.end] = mean[vocabulary.start] = tokens[BOUNDARY]
        # Words that begin with one token share its probability by how common they are.
        shared = torch.zeros(len(tokens)).index_add_(0, first.clamp(min=0), (counts + 0.1) * ~none)
        bias = torch.where(none, torch.zeros(()), ((counts + 0.1) / shared[first.clamp(min=0)].clamp(min=0.1)).log())
        self.inputs, self.outputs, self.bias = nn.Parameter(mean), nn.Parameter(outputs), nn.Parameter(bias)
        self.norm = nn.Parameter(tensors["norm"].float())
        self.layers = nn.ParameterList()
        num_layers = 1 + max(int(name.split(".")[1]) for name in tensors if name.startswith("layers."))
        for at in (f"layers.{number}" for number in range(num_layers)):
            q, k, v, out, gate, up, down = (dequantized(tensors, f"{at}.{part}") for part in MATRICES)
            norms = [tensors[f"{at}.{norm}"].float() for norm in ("attention_norm", "feed_norm")]
            self.layers.extend([*norms, torch.cat([q, k, v]), out, torch.cat([gate, up]), down])
        self.start, self.end = vocabulary.start, vocabulary.end
        rates = ROPE_BASE ** (-torch.arange(HEAD // 2, dtype=torch.float64) / (HEAD // 2))
        angles = torch.arange(LONGEST + 2, dtype=torch.float64)[:, None] * rates
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)
        self.block: Callable[..., Tensor] = block
        self.nats: Callable[..., Tensor] = nats
        self.by_class: Callable[..., tuple[Tensor, Tensor]] = by_class

    def hidden(self, ids: Tensor) -> Tensor:
        """[N (T+1), W]: the states after the start mark and after each of the words [T, N]."""
        rows = torch.cat([ids.new_full((1, ids.shape[1]), self.start), ids]).t()  # [N, T+1]
        stream = functional.embedding(rows, self.inputs)
        cos, sin = self.cos[: rows.shape[1]], self.sin[: rows.shape[1]]
        for at in range(0, len(self.layers), 6):
            stream = self.block(stream, tuple(self.layers[at : at + 6]), cos, sin)
        return functional.rms_norm(stream, (stream.shape[-1],), self.norm, EPSILON).flatten(0, 1)

    def losses(self, ids: Tensor) -> Tensor:
        """[N (T+1)]: nats of each word and of the end mark."""
        following = torch.cat([ids, ids.new_full((1, ids.shape[1]), self.end)]).t().flatten()
        return self.nats(self.hidden(ids), self.outputs, self.bias, following)

    @torch.no_grad()
    def expected(self, ids: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
        """Bytes [N (T+1), C] and [N (T+1), S]: of each class, and of the words of the class that came."""
        following = torch.cat([ids, ids.new_full((1, ids.shape[1]), self.end)]).t().flatten()
        parts = [
            self.by_class(functional.linear(hidden, self.outputs, self.bias), came, num_classes)
            for hidden, came in zip(self.hidden(ids).split(16_384), following.split(16_384), strict=True)
        ]
        classes, words = zip(*parts, strict=True)
        return torch.cat(classes), torch.cat(words)


def by_class(logits: Tensor, came: Tensor, num_classes: int) -> tuple[Tensor, Tensor]:
    """Bytes [P, C] and [P, S]: log probabilities of the classes, and of the words of the class that came."""
    grouped = logits.view(len(came), num_classes, -1)  # [P, C, S]
    number = (came // grouped.shape[-1])[:, None, None].expand(-1, 1, grouped.shape[-1])
    inside = grouped.gather(1, number)[:, 0].float().log_softmax(-1)
    return as_bytes(grouped.float().logsumexp(-1).log_softmax(-1)), as_bytes(inside)


def as_bytes(log_probs: Tensor) -> Tensor:
    return (-log_probs * STEPS_OF_NAT).round().clamp(0, 255).to(torch.uint8)


def as_probs(kept: Tensor) -> Tensor:
    return (-kept.float() / STEPS_OF_NAT).softmax(-1)


def half_precision(device: torch.device) -> Any:
    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")


def rate_at(done: float, step: int, rate: float, warm_up: int) -> float:
    return rate * min(1.0, (step + 1) / warm_up) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(done, 1.0))))


@torch.no_grad()
def teacher_perplexity(teacher: Teacher, held: Mapping[str, Stream]) -> dict[str, float]:
    result, total, number = {}, 0.0, 0
    for name, part in held.items():
        batches = list(part.by_length(16_384))
        own = sum(teacher.losses(ids).double().sum().item() for ids in batches)
        many = sum((len(ids) + 1) * ids.shape[1] for ids in batches)
        result[name] = round(math.exp(own / many), 2)
        total, number = total + own, number + many
    return {"all": round(math.exp(total / number), 2), **result}


def train_teacher(teacher: Teacher, parts: dict[str, Stream], weights: dict[str, float], args: Any, say: Any) -> None:
    """All weights of the teacher, for so many minutes."""
    tables = [teacher.inputs, teacher.outputs, teacher.bias]
    body = [parameter for parameter in teacher.parameters() if all(parameter is not table for table in tables)]
    groups = [
        {"params": [p for p in body if p.ndim > 1], "weight_decay": 0.05, "share": 1.0},
        {"params": [p for p in body if p.ndim < 2], "weight_decay": 0.0, "share": 1.0},
        {"params": tables, "weight_decay": 0.0, "share": 1.5},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.teacher_rate, betas=(0.9, 0.98), eps=1e-8, fused=args.device != "cpu")
    began, limit, step, words, recent = time.monotonic(), args.teacher_minutes * 60, 0, 0, []
    for number in range(10**6):
        generator = np.random.default_rng([args.seed, number])
        epoch = Epoch([parts[name] for name in weights], list(weights.values()), args.teacher_words, generator)
        for ids in epoch.batches():
            done = (time.monotonic() - began) / limit
            if done >= 1 or (args.max_steps and step >= args.max_steps):
                return
            for group in optimizer.param_groups:
                group["lr"] = group["share"] * rate_at(done, step, args.teacher_rate, 200)
            with half_precision(ids.device):
                loss = teacher.losses(ids).mean()
            loss.backward()
            nn.utils.clip_grad_norm_(teacher.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            step, words = step + 1, words + ids.numel()
            recent.append(loss.detach())
            if step % 200 == 0:
                seconds, trained = round(time.monotonic() - began), torch.stack(recent).mean().exp().item()
                say({"teacher step": step, "words": words, "seconds": seconds, "training": round(trained, 2)})
                recent.clear()


class Expectations:
    """What the teacher expects at each place of each corpus."""

    def __init__(self, teacher: Teacher, parts: Mapping[str, Stream], config: NetworkConfig) -> None:
        self._classes, self._words = {}, {}
        for name, part in parts.items():
            device = part.ids.device
            classes = torch.zeros(len(part.ids), config.num_classes, dtype=torch.uint8, device=device)
            words = torch.zeros(len(part.ids), config.class_size, dtype=torch.uint8, device=device)
            for length in np.unique(part.lengths).tolist():
                rows = np.flatnonzero(part.lengths == length)
                for chosen in np.array_split(rows, max(1, len(rows) * (length + 1) // 131_072)):
                    with half_precision(device):
                        expected = teacher.expected(part.batch(chosen, length), config.num_classes)
                    places = places_of(part, chosen, length).t().flatten()
                    classes[places], words[places] = expected
            self._classes[name], self._words[name] = classes, words

    def at(self, name: str, places: Tensor) -> tuple[Tensor, Tensor]:
        """[P, C], [P, S] at the places [P] of a corpus."""
        return self._classes[name][places], self._words[name][places]


def places_of(part: Stream, chosen: np.ndarray, length: int) -> Tensor:
    """[T+1, N]: where the words and end marks of these sentences stand in the corpus."""
    first = torch.from_numpy(part.starts[chosen]).to(part.ids.device)
    return first[None] + torch.arange(length + 1, device=part.ids.device)[:, None]


class TaughtEpoch(Epoch):
    """Batches with what the teacher expects there."""

    def taught(self, names: list[str], expectations: Expectations) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Ids [T, N], and bytes [T+1, N, C] and [T+1, N, S]."""
        for length, picked in self._batches:
            corpora, rows = self._corpora[picked], self._rows[picked]
            ids, classes, words = [], [], []
            for at in np.unique(corpora):
                chosen, part = rows[corpora == at], self._parts[at]
                ids.append(part.batch(chosen, length))
                places = places_of(part, chosen, length)
                some, others = expectations.at(names[at], places.flatten())
                classes.append(some.view(*places.shape, -1))
                words.append(others.view(*places.shape, -1))
            yield torch.cat(ids, 1), torch.cat(classes, 1), torch.cat(words, 1)


def taught_losses(
    network: Network, ids: Tensor, classes: Tensor, words: Tensor, share: float, start: int, end: int
) -> tuple[Tensor, Tensor]:
    """`Network.losses` [3], and what is to become small: `share` of the forward part is what the teacher expects."""
    config = network.config
    length, number = ids.shape
    starts, ends = ids.new_full((1, number), start), ids.new_full((1, number), end)
    forward, _ = network.forward_lstm(network.embed(torch.cat([starts, ids])))
    backward, _ = network.backward_lstm(network.embed(torch.cat([ends, ids.flip(0)])))
    forward, backward = network.dropout(forward), network.dropout(backward)
    around = torch.cat([forward[:length], backward[:length].flip(0)], -1)
    mixed = network.dropout(functional.gelu(network.mix(around)))
    parts = (
        (network.forward_head, forward, torch.cat([ids, ends])),
        (network.backward_head, backward, torch.cat([ids.flip(0), starts])),
        (network.fill_head, mixed, ids),
    )
    log_classes, queries, following = [], [], []
    for head, states, came in parts:
        class_logits, query = head(states.flatten(0, 1))
        log_classes.append(class_logits.float().log_softmax(-1))
        queries.append(query)
        following.append(came.flatten())
    joined = torch.cat(following)
    table = network.table.view(config.num_classes, config.class_size, -1)
    products, of_chunk, order, place = products_by_class(torch.cat(queries), joined // config.class_size, table)
    bias = network.bias.view(config.num_classes, config.class_size)
    log_inside = (products.float() + bias[of_chunk][:, None]).log_softmax(-1).flatten(0, 1)
    places = torch.empty_like(order)
    places[order] = place
    log_inside = log_inside[places]  # [P, S], in the order of the words that came
    came_inside = log_inside.gather(1, (joined % config.class_size)[:, None])[:, 0]
    sizes = [len(came) for came in following]
    losses = torch.stack([
        -(log_class.gather(1, (came // config.class_size)[:, None])[:, 0] + inside).mean()
        for log_class, came, inside in zip(log_classes, following, came_inside.split(sizes), strict=True)
    ])  # fmt: skip
    expected = as_probs(classes.flatten(0, 1)), as_probs(words.flatten(0, 1))
    taught = -(expected[0] * log_classes[0]).sum(-1).mean() - (expected[1] * log_inside[: sizes[0]]).sum(-1).mean()
    return losses, (1 - share) * losses[0] + share * taught + 0.5 * losses[1] + 0.75 * losses[2]


def train_student(
    network: Network, parts: dict[str, Stream], held: dict[str, Stream], weights: dict[str, float],
    expectations: Expectations, vocabulary: Vocabulary, args: Any, say: Any,
) -> None:  # fmt: skip
    names = list(weights)
    groups = [
        {"params": [p for p in network.parameters() if p.ndim > 1], "weight_decay": 0.01},
        {"params": [p for p in network.parameters() if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=args.rate, betas=(0.9, 0.98), eps=1e-8, fused=args.device != "cpu")
    mean = copy.deepcopy(network).eval()  # over the last AVERAGED steps or so: does what a falling rate would do
    began, step, words = time.monotonic(), 0, 0
    limit = max(args.began + args.minutes * 60 - began, 1)
    recent, saved = [], time.monotonic()

    def check() -> None:
        with half_precision(torch.device(args.device)):
            found = evaluate_network(mean, held, vocabulary.start, vocabulary.end)
        trained = torch.stack(recent).mean(0).exp().tolist() if recent else []
        say({
            "step": step, "words": words, "seconds": round(time.monotonic() - began),
            "training": [round(value, 2) for value in trained],
            "held-out": [round(found[name], 2) for name in PREDICTORS],
            "forward": {name: round(each["forward"], 2) for name, each in found["corpora"].items()},
        })  # fmt: skip
        recent.clear()
        tensors = {name: tensor.detach().float().cpu() for name, tensor in mean.state_dict().items()}
        partial = args.out / "weights.partial"
        save_file(tensors, partial)
        partial.replace(args.out / "weights.safetensors")  # whole at any moment, for who fetches it meanwhile

    for number in range(10**6):
        generator = np.random.default_rng([args.seed, 1, number])
        epoch = TaughtEpoch([parts[name] for name in names], list(weights.values()), args.words, generator)
        for ids, classes, inside in epoch.taught(names, expectations):
            done = (time.monotonic() - began) / limit
            if done >= 1 or (args.max_steps and step >= args.max_steps):
                check()
                return
            for group in optimizer.param_groups:
                group["lr"] = rate_at(done, step, args.rate, 300)
            with half_precision(ids.device):
                losses, total = taught_losses(
                    network, ids, classes, inside, args.share, vocabulary.start, vocabulary.end
                )
            total.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            recent.append(losses.detach())
            step, words = step + 1, words + ids.numel()
            if step % AVERAGE_EVERY == 0:
                with torch.no_grad():
                    share = AVERAGE_EVERY / min(AVERAGED, step)
                    torch._foreach_lerp_(list(mean.parameters()), list(network.parameters()), share)
            if time.monotonic() - saved > args.check_seconds:
                check()
                saved = time.monotonic()


def run(args: Any) -> None:
    args.out.mkdir(parents=True, exist_ok=True)
    device = torch.device(args.device)
    torch.manual_seed(args.seed)
    others = {name: float(weight) for name, _, weight in (each.partition("=") for each in args.weight)}
    text = encoded_text(args.encoded, 256, others.pop(QUESTIONS, NUM_QUESTIONS), {**WEIGHTS, **others})
    vocabulary, weights = text.vocabulary, text.weights
    config = NetworkConfig(text.num_classes, text.class_size)
    parts, held = (
        {name: Stream(ids, vocabulary.end, LONGEST, device) for name, ids in streams.items()}
        for streams in (text.train, text.held)
    )
    log = (args.out / "log.jsonl").open("a", encoding="utf-8")

    def say(record: dict[str, Any]) -> None:
        log.write(json.dumps(record) + "\n")
        log.flush()
        print(json.dumps(record), flush=True)

    counts = np.zeros(len(vocabulary))
    for name, ids in text.train.items():
        counts += weights[name] * np.bincount(ids, minlength=len(vocabulary))
    teacher = Teacher(
        load_file(args.model / "weights.safetensors"), np.load(args.encoded / "pieces.npy"),
        torch.from_numpy(counts).float(), vocabulary,
    ).to(device)  # fmt: skip
    if device.type == "cuda":
        teacher.block, teacher.nats, teacher.by_class = (
            torch.compile(each, dynamic=True) for each in (block, nats, by_class)
        )
    path = args.out / "teacher.safetensors"
    if path.exists():
        teacher.load_state_dict({name: tensor.float() for name, tensor in load_file(path).items()}, strict=False)
    else:
        train_teacher(teacher, parts, weights, args, say)
        with half_precision(device):
            say({"teacher": teacher_perplexity(teacher, held)})
        save_file({name: tensor.detach().bfloat16().cpu() for name, tensor in teacher.state_dict().items()}, path)
    teacher.nats = nats
    began = time.monotonic()
    expectations = Expectations(teacher, parts, config)
    say({"expectations": round(time.monotonic() - began), "questions": weights[QUESTIONS]})
    del teacher
    network = Network(config, args.dropout).to(device)
    begin = read_weights(args.begin, vocabulary, config)
    network.load_state_dict({name: tensor.float() for name, tensor in begin.items()})
    train_student(network, parts, held, weights, expectations, vocabulary, args, say)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    pieces = verbs.add_parser("pieces")
    train = verbs.add_parser("run")
    for each in (pieces, train):
        each.add_argument("model", type=Path)
        each.add_argument("encoded", type=Path)
    train.add_argument("out", type=Path)
    train.add_argument("--begin", type=Path, required=True, metavar="WEIGHTS")
    train.add_argument("--weight", action="append", default=[], metavar="CORPUS=W", help="another weight of a corpus")
    train.add_argument("--teacher-minutes", type=float, default=7.5)
    train.add_argument("--teacher-rate", type=float, default=4e-4)
    train.add_argument("--teacher-words", type=int, default=32_000, help="words per batch")
    train.add_argument("--minutes", type=float, default=22, help="of everything; the teacher leaves the rest")
    train.add_argument("--rate", type=float, default=1.5e-3)
    train.add_argument("--dropout", type=float, default=0.1)
    train.add_argument("--share", type=float, default=0.6, help="of what the teacher expects in the forward part")
    train.add_argument("--words", type=int, default=40_000, help="words per batch")
    train.add_argument("--check-seconds", type=float, default=60, help="between two held-out checks")
    train.add_argument("--max-steps", type=int, default=0, help="for trials")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    args.began = time.monotonic()
    if args.verb == "pieces":
        write_pieces(args.model, args.encoded)
    else:
        run(args)


if __name__ == "__main__":
    main()
