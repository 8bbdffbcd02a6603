"""Train the backward and forward LSTMs of sep-B/F and asyn-B/F, and let them write the sentences of the keyword table.

    python recipes/rivals/backward_forward.py prepare DATA OUT            encode a sample of the corpora (minutes)
    python recipes/rivals/backward_forward.py train OUT --seconds 150     three LSTMs at once (a GPU)
    python recipes/rivals/backward_forward.py write OUT                   the sentences, as the table reads them

DATA is the data folder of `cgmh evaluate`, with lm/NAME.txt.xz and everyday/NAME.txt.xz, one sentence per line. OUT
receives corpus.xz and keywords.json (prepare); weights.safetensors and log.jsonl (train); sep.jsonl and asyn.jsonl
(write), which belong into src/cgmh/evaluation/rivals/outputs/keywords. `train` started again goes on from OUT/state.
Only the vocabulary of the embedded model is used, none of its weights.
"""

import argparse
import json
import lzma
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tqdm import tqdm

from cgmh.errors import CgmhError
from cgmh.evaluation.datasets import KeywordSet, keyword_sets
from cgmh.evaluation.folder import DataFolder
from cgmh.evaluation.rivals.backward_forward import HALVES, BackwardForward, Halves, save_halves
from cgmh.evaluation.tables.keywords import key_of
from cgmh.models.pull.store import EMBEDDED
from cgmh.models.word.checkpoint import VOCABULARY
from cgmh.models.word.network import NetworkConfig
from cgmh.text.tokenizer import TERMINALS, split, truecase
from cgmh.text.vocabulary import Vocabulary, is_counted
from cgmh.training.corpus import read_lines

NUM_CLASSES = 256  # of the embedded model's vocabulary
MIN_WORDS, MAX_WORDS = 4, 26  # of a sentence, marks counted
STRETCH, HOLD_EVERY = 500, 200  # lines of the corpora that the embedded model did not see either are held out
NUM_SETS = 3000  # keyword sets of the table, a quarter of them with one keyword
CHECK_EVERY = 30  # seconds
WARM_UP = 200  # steps


def embedded_vocabulary() -> Vocabulary:
    return Vocabulary.load(EMBEDDED / VOCABULARY)


def sentences(
    path: Path, vocabulary: Vocabulary, share: float, draws: np.random.Generator
) -> Iterator[tuple[bool, Any]]:
    """The ids of a share of the sentences of a corpus, and whether each is held out."""
    for at, line in enumerate(read_lines(path)):
        held = (at // STRETCH) % HOLD_EVERY == 7
        if draws.random() >= (0.1 if held else share):
            continue
        words = split(line)
        if MIN_WORDS <= len(words) <= MAX_WORDS and words[-1] in TERMINALS and words[0][:1].isupper():
            yield held, vocabulary.encode(truecase(words, vocabulary.is_ordinary))


def prepare(args: argparse.Namespace) -> None:
    vocabulary, draws = embedded_vocabulary(), np.random.default_rng(0)
    args.out.mkdir(parents=True, exist_ok=True)
    files = sorted((args.data / "lm").glob("*.txt.xz")) + sorted((args.data / "everyday").glob("*.txt.xz"))
    if not files:
        sys.exit(f"{args.data}: neither lm/*.txt.xz nor everyday/*.txt.xz")
    parts: dict[bool, list[int]] = {False: [], True: []}
    for file in tqdm(files, desc="corpora"):
        for held, ids in sentences(file, vocabulary, args.share, draws):
            parts[held] += [*ids, vocabulary.end]
    arrays = [np.array(parts[held], np.uint16) for held in (False, True)]
    head = json.dumps([len(array) for array in arrays]).encode() + b"\n"
    with lzma.open(args.out / "corpus.xz", "wb", preset=6) as sink:
        sink.write(head + b"".join(array.tobytes() for array in arrays))
    sets = keyword_sets(DataFolder(args.data).file("news"), NUM_SETS, args.seed)
    single = [{"key": key_of(each), "keyword": each.keywords[0]} for each in sets if len(each.keywords) == 1]
    (args.out / "keywords.json").write_text(json.dumps(single, ensure_ascii=False), encoding="utf-8")
    size = (args.out / "corpus.xz").stat().st_size / 2**20
    print(f"{len(arrays[0]):,} training tokens, {len(arrays[1]):,} held out, {size:.1f} MiB; {len(single)} keywords")


def read_encoded(out: Path) -> list[np.ndarray]:
    """The training and the held-out ids that `prepare` wrote."""
    with lzma.open(out / "corpus.xz", "rb") as source:
        sizes = json.loads(source.readline())
        return [np.frombuffer(source.read(2 * size), np.uint16).astype(np.int64) for size in sizes]


class Batches:
    """Sentences of one length at a time, [T, N] on the device; the ids of a corpus stay there."""

    def __init__(self, ids: np.ndarray, end: int, device: str) -> None:
        ends = np.flatnonzero(ids == end)
        starts = np.concatenate([[0], ends[:-1] + 1])
        lengths = ends - starts
        self.ids = torch.from_numpy(ids).to(device)
        self.starts = {
            int(length): torch.from_numpy(starts[lengths == length]).to(device) for length in np.unique(lengths)
        }
        total = sum(length * len(starts) for length, starts in self.starts.items())
        self.lengths = list(self.starts)
        self.shares = np.array([length * len(self.starts[length]) / total for length in self.lengths])

    def draw(self, num_words: int, draws: np.random.Generator) -> torch.Tensor:
        """About `num_words` words of sentences of a length that is drawn by its share of the words."""
        length = int(draws.choice(self.lengths, p=self.shares))
        starts = self.starts[length]
        rows = torch.from_numpy(draws.integers(len(starts), size=max(1, num_words // length))).to(starts.device)
        return self.ids[starts[rows] + torch.arange(length, device=starts.device)[:, None]]


def train(args: argparse.Namespace) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    vocabulary = embedded_vocabulary()
    config = NetworkConfig(
        NUM_CLASSES, len(vocabulary) // NUM_CLASSES, args.width, args.hidden, args.hidden, layers=args.layers
    )
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = True
    network = Halves(config, args.dropout).to(device)
    optimizer = torch.optim.AdamW(network.parameters(), lr=args.rate, weight_decay=0.01, fused=device == "cuda")
    state = args.out / "state.safetensors"
    step, spent = restore(state, network, optimizer) if state.exists() else (0, 0.0)
    training, held = (Batches(ids, vocabulary.end, device) for ids in read_encoded(args.out))
    counted = torch.tensor([is_counted(word) for word in vocabulary.words], device=device)  # [V]
    draws = np.random.default_rng(step)
    began, checked = time.time() - spent, time.time()

    def loss_of(batch: torch.Tensor, at: int) -> torch.Tensor:
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            return network.losses(batch, at, counted[batch[at]].float(), vocabulary.start, vocabulary.end)

    def check() -> dict[str, Any]:
        """Perplexity of the three halves on held-out sentences, the same ones each time."""
        network.eval()
        same = np.random.default_rng(1)
        with torch.inference_mode():
            losses = []
            for _ in range(args.checks):
                batch = held.draw(args.words, same)
                losses.append(loss_of(batch, int(same.integers(len(batch)))))
        network.train()
        means = torch.stack(losses).mean(0).tolist()
        seconds = round(time.time() - began, 1)
        perplexity = {name: round(math.exp(loss), 2) for name, loss in zip(HALVES, means, strict=True)}
        record = {"step": step, "seconds": seconds, **perplexity}
        with (args.out / "log.jsonl").open("a") as log:
            log.write(json.dumps(record) + "\n")
        print(json.dumps(record), flush=True)
        return record

    network.train()
    while (progress := (time.time() - began) / args.seconds) < 1:
        for group in optimizer.param_groups:
            group["lr"] = args.rate * min(1, (step + 1) / WARM_UP) * max(0.02, 1 - progress)
        batch = training.draw(args.words, draws)
        losses = loss_of(batch, int(draws.integers(len(batch))))
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(losses.sum())
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        step += 1
        if time.time() - checked > CHECK_EVERY:
            check()
            keep(state, network, optimizer, step, time.time() - began)
            checked = time.time()
    record = check()
    save_halves(network, args.out / "weights.safetensors", {"held_out": json.dumps(record)})
    state.unlink(missing_ok=True)


def keep(path: Path, network: Halves, optimizer: torch.optim.Optimizer, step: int, spent: float) -> None:
    """Write a checkpoint: parameters and moments."""
    tensors = {f"network.{name}": tensor.contiguous() for name, tensor in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value.contiguous() for name, value in moments.items()}
    save_file(tensors, path.with_suffix(".part"), {"step": str(step), "spent": str(spent)})
    path.with_suffix(".part").replace(path)


def restore(path: Path, network: Halves, optimizer: torch.optim.Optimizer) -> tuple[int, float]:
    """Go on from a checkpoint: the number of steps made, and the seconds they took."""
    from safetensors import safe_open

    with safe_open(path, "pt") as file:
        facts = file.metadata()
    tensors = load_file(path)
    network.load_state_dict({name[8:]: tensor for name, tensor in tensors.items() if name.startswith("network.")})
    record = optimizer.state_dict()
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, number, moment = name.split(".")
            record["state"].setdefault(int(number), {})[moment] = tensor
    optimizer.load_state_dict(record)
    return int(facts["step"]), float(facts["spent"])


def write(args: argparse.Namespace) -> None:
    vocabulary = embedded_vocabulary()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    records = json.loads((args.out / "keywords.json").read_text(encoding="utf-8"))[: args.limit]
    sets = [KeywordSet((record["keyword"],), (), line) for line, record in enumerate(records)]
    for name in ("sep", "asyn"):
        system = BackwardForward.load(name, args.out / "weights.safetensors", vocabulary)
        system.network.to(device)
        with (args.out / f"{name}.jsonl").open("w", encoding="utf-8") as sink:
            sink.write(json.dumps({"run": {"table": "keywords", "system": name, "settings": system.signature}}) + "\n")
            answers = tqdm(system.answer(sets), desc=name, total=len(sets), mininterval=2)
            for record, answer in zip(records, answers, strict=True):
                assert answer is not None
                line = {"key": record["key"], "text": answer.text}
                sink.write(json.dumps(line, ensure_ascii=False) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True, metavar="prepare|train|write")
    part = parts.add_parser("prepare")
    part.add_argument("data", type=Path)
    part.add_argument("out", type=Path)
    part.add_argument("--share", type=float, default=0.12, help="of the sentences of the corpora")
    part.add_argument("--seed", type=int, default=0, help="of the keyword sets, as `cgmh evaluate keywords --seed`")
    part.set_defaults(run=prepare)
    part = parts.add_parser("train")
    part.add_argument("out", type=Path)
    part.add_argument("--seconds", type=float, default=150)
    part.add_argument("--rate", type=float, default=2e-3)
    part.add_argument("--dropout", type=float, default=0.1)
    part.add_argument("--words", type=int, default=16_000, help="words per batch")
    part.add_argument("--width", type=int, default=256)
    part.add_argument("--hidden", type=int, default=512)
    part.add_argument("--layers", type=int, default=2)
    part.add_argument("--checks", type=int, default=8, help="held-out batches per check")
    part.set_defaults(run=train)
    part = parts.add_parser("write")
    part.add_argument("out", type=Path)
    part.add_argument("--limit", type=int, help="only so many keywords")
    part.set_defaults(run=write)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    try:
        main()
    except CgmhError as error:
        sys.exit(f"backward_forward: {error}")
