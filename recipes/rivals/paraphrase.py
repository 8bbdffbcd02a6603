"""Train the rivals of the paraphrase table, and write down what they make of the questions of val and test.

    python recipes/rivals/paraphrase.py all --quora QUORA --out OUT

QUORA holds `train.tsv`, `val.tsv` and `test.tsv`: a source, a tab and a reference in each line, as Treebank tokens. Of
`test.tsv` the sources are answered; the references only tell where outputs hold questions of the data. A system is
`seq2seq-77k` (all pairs), `seq2seq-50k`, `seq2seq-20k` (the first pairs of a shuffle), `vae-svg`, `vae-svg-eq` (all
pairs) or `vae` (the single questions); `all` trains one after the other, and leaves out those that are done. Pairs are
used in both directions: a paraphrase of a paraphrase is one too.

Each system writes OUT/SYSTEM.val.txt and OUT/SYSTEM.test.txt, one line for each pair (=N for question N of the data);
OUT/SYSTEM.json, how it was trained and its figures on val; and OUT/weights/SYSTEM.safetensors with SYSTEM.words.json.
After each epoch it is tried on val, and the best epoch is what counts: by BLEU with the reference, or for `vae`, which
is to know no pairs, by loss.
Minutes on a GPU; --epochs 1 --width 32 --limit 500 shows within a minute on a CPU that everything works.
"""

import argparse
import json
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from cgmh.errors import BadInput, CgmhError
from cgmh.evaluation.bleu import bleu, sentence_bleu
from cgmh.evaluation.paraphrases import PARTS, Pair, ibleu, quotable, read_pairs
from cgmh.evaluation.rivals.beam import MAX_WORDS
from cgmh.evaluation.rivals.quoting import quote
from cgmh.evaluation.rivals.seq2seq import Batch, Seq2Seq
from cgmh.evaluation.rivals.vae import PairVAE, SentenceVAE
from cgmh.text.vocabulary import SPECIALS, Vocabulary

MIN_COUNT = 2  # occurrences of a word of the vocabulary
NEAR_COPY = 55  # BLEU with the source from which a paraphrase counts as none, as in the paper
WARM_UP = 200  # steps
WINDOW = 50  # batches that are sorted by length together

# Pairs (None: all), epochs and seconds of training at most, KL weight at the end.
SYSTEMS: dict[str, dict[str, Any]] = {
    "seq2seq-77k": {"kind": "seq2seq", "pairs": None, "epochs": 12, "seconds": 90},
    "seq2seq-50k": {"kind": "seq2seq", "pairs": 50_000, "epochs": 14, "seconds": 70},
    "seq2seq-20k": {"kind": "seq2seq", "pairs": 20_000, "epochs": 20, "seconds": 45},
    "vae-svg": {"kind": "pair-vae", "pairs": None, "epochs": 12, "seconds": 360, "kl": 1.0, "shared": False},
    "vae-svg-eq": {"kind": "pair-vae", "pairs": None, "epochs": 12, "seconds": 360, "kl": 1.0, "shared": True},
    "vae": {"kind": "vae", "pairs": None, "epochs": 20, "seconds": 60, "kl": 0.3},
}


def vocabulary_of(lines: Sequence[str]) -> Vocabulary:
    """The words that occur often enough, the most frequent first."""
    counts = Counter(word for line in lines for word in line.split())
    return Vocabulary([*SPECIALS, *(word for word, number in counts.most_common() if number >= MIN_COUNT)])


def batches(lengths: Tensor, size: int, generator: np.random.Generator) -> Iterator[Tensor]:
    """Rows in a random order, those of a batch being about as long as each other."""
    order = generator.permutation(len(lengths))
    whole = []
    for begin in range(0, len(order), size * WINDOW):
        window = order[begin : begin + size * WINDOW]
        window = window[np.argsort(lengths.numpy()[window], kind="stable")]
        whole += [window[at : at + size] for at in range(0, len(window), size)]
    for at in generator.permutation(len(whole)):
        yield torch.from_numpy(whole[at])


class Work:
    """One system: its data, its model, and how it is trained, tried and used."""

    def __init__(self, name: str, train: Sequence[Pair], val: Sequence[Pair], args: argparse.Namespace) -> None:
        self.name, self.args, self.val = name, args, val
        given = {key: getattr(args, key) for key in ("epochs", "seconds", "kl") if getattr(args, key) is not None}
        self.setting = {**SYSTEMS[name], **given}
        self.kind = self.setting["kind"]
        order = np.random.default_rng(args.seed).permutation(len(train))[: self.setting["pairs"]]
        chosen = [train[at] for at in order]
        self.device = torch.device(args.device)
        torch.manual_seed(args.seed)
        self.vocabulary = vocabulary_of([line for pair in chosen for line in (pair.source, pair.reference)])
        self.model = self._build().to(self.device)
        if self.kind == "vae":
            single = list(dict.fromkeys(line for pair in chosen for line in (pair.source, pair.reference)))
            self.data = (self._encode(single),)
            self.held = (self._encode(list(dict.fromkeys(pair.reference for pair in val))),)
        else:
            left, right = [pair.source for pair in chosen], [pair.reference for pair in chosen]
            self.data = (self._encode(left + right), self._encode(right + left))
            self.held = (
                self._encode([pair.source for pair in val]),
                self._encode([pair.reference for pair in val]),
            )

    def _build(self) -> nn.Module:
        sizes = {"width": self.args.width, "hidden": self.args.width}
        if self.kind == "seq2seq":
            return Seq2Seq(self.vocabulary, **sizes, drop=self.args.drop)
        if self.kind == "vae":
            return SentenceVAE(self.vocabulary, **sizes)
        return PairVAE(self.vocabulary, shared=self.setting["shared"], **sizes, drop=self.args.drop)

    def _encode(self, lines: Sequence[str]) -> Batch:
        return Batch.of(
            [self.vocabulary.encode(line.split()[:MAX_WORDS]) for line in lines], self.vocabulary.end, self.device
        )

    def loss(self, parts: Sequence[Batch], kl_weight: float, smoothing: float) -> tuple[Tensor, float | Tensor]:
        """What is minimised, and the divergence from the prior in it."""
        if self.kind == "seq2seq":
            return self.model.loss(*parts, smoothing=smoothing), 0.0
        return self.model.loss(*parts, kl_weight=kl_weight)

    @torch.inference_mode()
    def held_loss(self) -> tuple[float, float]:
        """The loss on val, with the KL weight that training ends with, and the divergence, both per word."""
        self.model.eval()
        total, apart, words = 0.0, 0.0, 0
        for rows in torch.arange(len(self.held[0])).split(self.args.batch):
            parts = [part[rows] for part in self.held]
            number = int(parts[-1].lengths.sum()) + len(rows)
            loss, kl = self.loss(parts, self.setting.get("kl", 0.0), 0.0)
            total, apart, words = total + float(loss) * number, apart + float(kl) * number, words + number
        return total / words, apart / words

    def answer(self, lines: Sequence[str], *, beam: int, draws: int) -> list[str]:
        """A paraphrase of each line; equal lines are answered once."""
        self.model.eval()
        torch.manual_seed(self.args.seed)
        distinct = sorted(dict.fromkeys(lines), key=lambda line: len(line.split()))
        options: dict[str, Any] = {"beam": beam, "length_power": self.args.length_power}
        if self.kind != "seq2seq":
            options["draws"] = draws
        if self.kind == "vae":
            options["is_copy"] = lambda output, source: sentence_bleu([output], [source])[0] >= NEAR_COPY
        answers: dict[str, str] = {}
        for begin in range(0, len(distinct), self.args.decode_batch):
            some = distinct[begin : begin + self.args.decode_batch]
            answers |= zip(some, self.model.paraphrase(some, **options), strict=True)
        return [answers[line] for line in lines]

    def figures(self, outputs: Sequence[str]) -> dict[str, float]:
        """BLEU on val."""
        ref, ori = (bleu(outputs, [getattr(pair, side) for pair in self.val]) for side in ("reference", "source"))
        return {"bleu_ref": round(ref, 2), "bleu_ori": round(ori, 2), "ibleu": round(ibleu(ref, ori), 2)}

    def train(self, say: Callable[[str], None]) -> list[dict[str, Any]]:
        """Train until the epochs or the seconds are over or val has long not become better; the best epoch stays."""
        args, epochs, seconds = self.args, self.setting["epochs"], self.setting["seconds"]
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.rate, weight_decay=0.01)
        generator = np.random.default_rng(args.seed)
        steps = math.ceil(len(self.data[0]) / args.batch)
        began, step, history = time.time(), 0, []
        best, best_epoch, weights = -math.inf, 0, {}
        for epoch in range(1, epochs + 1):
            self.model.train()
            losses = []
            for rows in batches(self.data[-1].lengths, args.batch, generator):
                progress = max(step / (steps * epochs), (time.time() - began) / seconds)
                if progress >= 1:
                    break
                for group in optimizer.param_groups:
                    group["lr"] = args.rate * min(1, (step + 1) / WARM_UP) * (1 - progress)
                kl_weight = self.setting.get("kl", 0.0) * min(1, progress / args.kl_rise)
                loss, _ = self.loss([part[rows] for part in self.data], kl_weight, args.smoothing)
                optimizer.zero_grad(set_to_none=True)
                torch.autograd.backward(loss)
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                optimizer.step()
                losses.append(loss.detach())
                step += 1
            held, apart = self.held_loss()
            record = {"epoch": epoch, "seconds": round(time.time() - began, 1), "val_loss": round(held, 4)}
            record["loss"] = round(float(torch.stack(losses).mean()), 4) if losses else None
            if self.kind != "seq2seq":
                record["val_kl"] = round(apart, 4)
            record |= self.figures(self.answer([pair.source for pair in self.val], beam=1, draws=1))
            history.append(record)
            say(json.dumps(record))
            if self._worth(record) > best:
                best, best_epoch = self._worth(record), epoch
                weights = {key: value.detach().clone() for key, value in self.model.state_dict().items()}
            if epoch - best_epoch >= args.patience or time.time() - began >= seconds:
                break
        self.model.load_state_dict(weights)
        return history

    def _worth(self, record: dict[str, Any]) -> float:
        return -record["val_loss"] if self.kind == "vae" else record["bleu_ref"]

    def save(self, out: Path) -> None:
        """The weights, as halves, and the words of their rows."""
        folder = out / "weights"
        folder.mkdir(parents=True, exist_ok=True)
        halves = {key: value.half().cpu().contiguous() for key, value in self.model.state_dict().items()}
        save_file(halves, folder / f"{self.name}.safetensors")
        self.vocabulary.save(folder / f"{self.name}.words.json")


def run(name: str, parts: Mapping[str, Sequence[Pair]], args: argparse.Namespace) -> None:
    """Train a system, and write everything about it; its .json comes last, and says that it is done."""
    began = time.time()
    work = Work(name, parts["train"], parts["val"], args)
    say = lambda text: print(f"{name}: {text}", file=sys.stderr, flush=True)  # noqa: E731
    say(f"{len(work.data[0]):,} examples, {len(work.vocabulary):,} words, {_size(work.model):.1f}M parameters")
    history = work.train(say)
    trained = time.time()
    outputs = {}
    for part in ("val", "test"):
        outputs[part] = work.answer([pair.source for pair in parts[part]], beam=args.beam, draws=args.draws)
        written = "".join(f"{line}\n" for line in quote(outputs[part], quotable(part, parts)))
        (args.out / f"{name}.{part}.txt").write_text(written, encoding="utf-8")
    work.save(args.out)
    report = {
        "system": name,
        **work.setting,
        "options": {key: value for key, value in vars(args).items() if key not in ("system", "quora", "out")},
        "examples": len(work.data[0]),
        "words": len(work.vocabulary),
        "parameters": sum(part.numel() for part in work.model.parameters()),
        "device": torch.cuda.get_device_name() if args.device.startswith("cuda") else args.device,
        "torch": torch.__version__,
        "seconds": {"training": round(trained - began, 1), "decoding": round(time.time() - trained, 1)},
        "val": work.figures(outputs["val"]),
        "epochs_done": history,
    }
    (args.out / f"{name}.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    say(f"done in {time.time() - began:.0f} s, {json.dumps(report['val'])}")


def _size(model: nn.Module) -> float:
    return sum(part.numel() for part in model.parameters()) / 1e6


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", choices=[*SYSTEMS, "all"])
    parser.add_argument("--quora", type=Path, required=True, help="the folder with train.tsv, val.tsv and test.tsv")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, help="of training at most; the system's own unless given")
    parser.add_argument("--epochs", type=int, help="at most; the system's own unless given")
    parser.add_argument("--patience", type=int, default=4, help="epochs without a better val before training ends")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--decode-batch", type=int, default=1024, help="sources that are decoded together")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--width", type=int, default=512, help="of word vectors and hidden states")
    parser.add_argument("--drop", type=float, default=0.4)
    parser.add_argument("--smoothing", type=float, default=0.1, help="of labels, for seq2seq")
    parser.add_argument("--kl", type=float, help="final weight of the divergence; the system's own unless given")
    parser.add_argument("--kl-rise", type=float, default=0.4, help="part of the training in which that weight grows")
    parser.add_argument("--beam", type=int, default=5)
    parser.add_argument("--draws", type=int, default=10, help="latent vectors that are drawn for each source")
    parser.add_argument("--length-power", type=float, default=1.0, help="of the length that scores are divided by")
    parser.add_argument("--limit", type=int, help="lines that are read of each file, to try everything quickly")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    args = parse()
    for part in PARTS:
        if not (args.quora / f"{part}.tsv").is_file():
            raise BadInput(f"{args.quora}: it holds no {part}.tsv; give the folder of the question pairs")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    parts = {part: read_pairs(args.quora / f"{part}.tsv")[: args.limit] for part in PARTS}
    args.out.mkdir(parents=True, exist_ok=True)
    for name in SYSTEMS if args.system == "all" else [args.system]:
        if args.system == "all" and (args.out / f"{name}.json").is_file():
            print(f"{name}: done before", file=sys.stderr)
            continue
        run(name, parts, args)


if __name__ == "__main__":
    try:
        main()
    except (CgmhError, OSError) as error:
        sys.exit(f"paraphrase: {error}")
