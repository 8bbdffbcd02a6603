"""Training of the recurrent network: from encoded text and a plan to a model directory.

A run lives in `DIR.training` until it is finished, then the model appears in `DIR` at once. All chance is keyed by the
seed and by where the run stands, so a run that was interrupted and resumed goes the way it would have gone anyway (on a
CPU to the last bit; with a time budget the learning rate follows the clock).
"""

import json
import math
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor
from tqdm import tqdm

from ..errors import BadInput, BadModel, CgmhError
from ..models.word.network import Network, NetworkConfig
from .corpus import MAX_WORDS, TrainingText
from .state import (
    BEST,
    CHECKPOINT,
    LOG,
    PLAN,
    Counters,
    atomically,
    export_model,
    load_state,
    read_json,
    read_tensors,
    save_state,
    write_json,
    write_tensors,
)
from .streams import PREDICTORS, Epoch, Stream, evaluate_network

FORMAT = "cgmh-training-1"
MAX_MINUTES = 1e7  # some twenty years
SIZES: Mapping[str, Mapping[str, int]] = {
    "small": {"width": 128, "forward_hidden": 256, "backward_hidden": 192, "fill_hidden": 256, "layers": 1},
    "medium": {"width": 256, "forward_hidden": 512, "backward_hidden": 384, "fill_hidden": 512},
    "large": {},  # the sizes of the embedded model
}


@dataclass(frozen=True)
class TrainingPlan:
    """How a network is trained, and for how long. Whichever of `epochs` and `minutes` ends first ends the run."""

    epochs: int | None = 10
    minutes: float | None = None
    patience: int | None = 3  # held-out checks without a better one before the run stops early
    check_steps: int = 500  # steps between two checks; there is one at the end of each epoch, too
    save_seconds: float = 120.0  # between two checkpoints; every check makes one, too
    words: int = 40_000  # per batch
    longest: int = MAX_WORDS  # words of a sentence that is trained on
    rate: float = 2e-3
    warm_up: int = 400  # steps
    last_rate: float = 0.02  # share of `rate` that the cosine ends with
    decay: float = 0.01  # of matrices
    clip: float = 1.0
    dropout: float = 0.1
    loss_weights: tuple[float, float, float] = (1.0, 0.5, 0.75)  # forward, backward, fill
    seed: int = 0
    keep_run: bool = False  # leave DIR.training behind, with the weights before rounding

    def __post_init__(self) -> None:
        if self.epochs is None and self.minutes is None:
            raise BadInput("a training needs a number of epochs or of minutes")
        if self.minutes is not None and not 0 < self.minutes <= MAX_MINUTES:
            raise BadInput(f"`minutes` {self.minutes:g} is out of range: it must lie above 0 and up to {MAX_MINUTES:g}")
        object.__setattr__(self, "loss_weights", tuple(self.loss_weights))  # a list, when read from a file


def network_of_size(size: str, text: TrainingText) -> NetworkConfig:
    """The network of one of the `SIZES` for the classes of a text."""
    return NetworkConfig(text.num_classes, text.class_size, **SIZES[size])


def plan_for(text: TrainingText, *, epochs: int | None = 10, **changes: Any) -> TrainingPlan:
    """A plan for a text of any size: batches small enough that an epoch has some 200 of them, a warm-up of 5%."""
    num_words = text.facts()["training"]["words"]
    words = min(max(num_words // 200, 500), TrainingPlan.words)
    all_steps = TrainingPlan.warm_up * 20 if epochs is None else epochs * num_words // words
    return TrainingPlan(epochs, words=words, warm_up=min(TrainingPlan.warm_up, all_steps // 20), **changes)


def run_directory(out: Path) -> Path:
    """Where an unfinished run keeps its checkpoints."""
    return out.with_name(f"{out.name}.training")


def check_free(out: Path) -> None:
    """Raise `BadInput` if something stands where a new run would write."""
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise BadInput(f"{out}: exists already; choose another directory or remove it")
    if run_directory(out).exists():
        raise BadInput(f"{run_directory(out)}: an unfinished training; go on with `resume`, or remove it")


def train(
    text: TrainingText,
    config: NetworkConfig,
    plan: TrainingPlan,
    out: Path,
    *,
    device: torch.device | str = "cpu",
    facts: dict[str, Any] | None = None,
    weights: Mapping[str, Tensor] | None = None,
    quiet: bool = False,
) -> dict[str, Any]:
    """Train a network on encoded text and write the model directory `out`; returns the model's facts.

    `weights`, the parameters of a trained network of the same sizes, are where the training begins.
    """
    check_free(out)
    record = {"format": FORMAT, "network": asdict(config), "plan": asdict(plan), "facts": facts or {}}
    try:
        with atomically(run_directory(out)) as partial:
            partial.mkdir(parents=True)
            text.save(partial)
            write_json(partial / PLAN, record)
    except OSError as error:
        raise BadInput(f"{run_directory(out)}: cannot be written ({error.strerror})") from error
    run = _Run(out, text, config, plan, facts or {}, torch.device(device), quiet=quiet)
    if weights is not None:
        run.network.load_state_dict(weights)
    return run.go()


def read_run(out: Path) -> dict[str, Any]:
    """What was decided when the unfinished run of `out` began."""
    path = run_directory(out) / PLAN
    if not path.is_file():
        raise BadInput(f"{out}: no training to resume (there is no {path}); run without `resume`")
    record = read_json(path)
    if record.get("format") != FORMAT:
        raise BadModel(f"{path}: not a {FORMAT} record; remove the directory and train again")
    return record


def resume(out: Path, *, device: torch.device | str = "cpu", quiet: bool = False, **changes: Any) -> dict[str, Any]:
    """Go on with an unfinished run, parts of its plan replaced by `changes`; returns the model's facts."""
    record, path = read_run(out), run_directory(out) / PLAN
    text = TrainingText.load(run_directory(out))
    try:
        config, plan = NetworkConfig(**record["network"]), TrainingPlan(**record["plan"])
        facts = dict(record["facts"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadModel(f"{path}: cannot be used ({error})") from error
    plan = replace(plan, **changes)
    write_json(path, {**record, "plan": asdict(plan)})
    return _Run(out, text, config, plan, facts, torch.device(device), quiet=quiet).go()


@dataclass
class _Run:
    """A training in progress."""

    out: Path
    text: TrainingText
    config: NetworkConfig
    plan: TrainingPlan
    facts: dict[str, Any]
    device: torch.device
    quiet: bool

    def __post_init__(self) -> None:
        text, plan, device = self.text, self.plan, self.device
        self.directory = run_directory(self.out)
        self.start, self.end = text.vocabulary.start, text.vocabulary.end
        self.train_parts, self.held_parts = (
            {name: Stream(ids, self.end, plan.longest, device) for name, ids in streams.items()}
            for streams in (text.train, text.held)
        )
        with self._own_generator():
            torch.manual_seed(plan.seed)
            self.network = Network(self.config, plan.dropout).to(device)
        matrices = [parameter for parameter in self.network.parameters() if parameter.ndim > 1]
        vectors = [parameter for parameter in self.network.parameters() if parameter.ndim < 2]
        groups = [{"params": matrices, "weight_decay": plan.decay}, {"params": vectors, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=plan.rate, betas=(0.9, 0.98), eps=1e-8, fused=True)
        self.loss_weights = torch.tensor(plan.loss_weights, device=device)  # [3]
        self.counters = Counters()
        if (self.directory / CHECKPOINT).exists():
            self.counters = load_state(self.directory, self.network, self.optimizer)
        self.began = time.monotonic() - self.counters.seconds
        self.recent = torch.zeros(3, device=device)  # losses since the last check
        self.num_recent = 0

    def _own_generator(self) -> AbstractContextManager[None]:
        """Within it, random numbers are seeded and drawn; after it, torch's generators are as they were."""
        return torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else [])

    def _precision(self) -> AbstractContextManager[Any]:
        return torch.autocast("cuda", torch.bfloat16) if self.device.type == "cuda" else nullcontext()

    def go(self) -> dict[str, Any]:
        """Train to the end, then write the model; returns its facts."""
        shape = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
        hidden = True if self.quiet else None  # None: shown on a terminal only
        try:
            self._save()
            with (
                self._own_generator(),
                tqdm(total=1000, desc="training", bar_format=shape, disable=hidden, file=sys.stderr) as bar,
            ):
                self._train(bar)
            return self._export()
        except (OSError, SafetensorError) as error:
            raise CgmhError(f"{self.out}: cannot be written ({error}); make room and go on with `resume`") from error

    def _export(self) -> dict[str, Any]:
        best = read_tensors(self.directory / BEST)
        counters, text_facts = self.counters, self.text.facts()
        ran = {"steps": counters.step, "best_step": counters.best_step, "words_read": counters.words}
        facts = {
            "name": self.out.name,
            **self.facts,
            "training": {**text_facts["training"], **ran, "minutes": round(counters.seconds / 60, 1)},
            "held_out": text_facts["held_out"],
        }
        self._say("measuring the finished model")
        log = self.directory / LOG
        known = export_model(self.out, best, self.config, self.text.vocabulary, self.text.held, facts, log)
        if not self.plan.keep_run:
            shutil.rmtree(self.directory)
        return known

    def _train(self, bar: "tqdm[Any]") -> None:
        plan, counters = self.plan, self.counters
        weights = [self.text.weights[name] for name in self.train_parts]
        while not self._done():
            generator = np.random.default_rng([plan.seed, counters.epoch])
            epoch = Epoch(list(self.train_parts.values()), weights, plan.words, generator)
            for ids in epoch.batches(counters.batch):
                self._step(ids, self._progress(len(epoch)))
                counters.batch += 1
                counters.seconds = time.monotonic() - self.began
                bar.update(int(1000 * self._progress(len(epoch))) - bar.n)
                if counters.step % plan.check_steps == 0:
                    self._check(bar)
                elif time.monotonic() - self.saved > plan.save_seconds:
                    self._save()
                if self._done():
                    break
            if counters.batch >= len(epoch):
                counters.epoch, counters.batch = counters.epoch + 1, 0
                self._check(bar)
        self._check(bar)

    def _progress(self, num_batches: int) -> float:
        """How much of the run is over, by epochs or by the clock: 0 to 1."""
        plan, counters = self.plan, self.counters
        by_epochs = (counters.epoch + counters.batch / num_batches) / plan.epochs if plan.epochs else 0.0
        by_clock = counters.seconds / (plan.minutes * 60) if plan.minutes else 0.0
        return min(1.0, max(by_epochs, by_clock))

    def _done(self) -> bool:
        plan, counters = self.plan, self.counters
        return (
            (plan.epochs is not None and counters.epoch >= plan.epochs)
            or (plan.minutes is not None and counters.seconds >= plan.minutes * 60)
            or (plan.patience is not None and counters.num_worse >= plan.patience)
        )

    def _step(self, ids: Tensor, progress: float) -> None:
        plan = self.plan
        warm = min(1.0, (self.counters.step + 1) / max(plan.warm_up, 1))
        rate = plan.rate * warm * (plan.last_rate + (1 - plan.last_rate) * 0.5 * (1 + math.cos(math.pi * progress)))
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        torch.manual_seed((plan.seed << 32) + self.counters.step + 1)  # dropout of this step
        with self._precision():
            losses = self.network.losses(ids, self.start, self.end)  # [3]
        torch.autograd.backward((losses * self.loss_weights).sum())
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), plan.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.recent += losses.detach()
        self.num_recent += 1
        self.counters.step += 1
        self.counters.words += ids.numel()

    def _check(self, bar: "tqdm[Any]") -> None:
        """Measure the held-out text, keep the weights if they are the best yet, save."""
        counters = self.counters
        if counters.checked_step == counters.step > 0:
            return
        with self._precision():
            perplexities = evaluate_network(self.network, self.held_parts, self.start, self.end)
        held = {name: perplexities[name] for name in PREDICTORS}
        loss = sum(weight * math.log(held[name]) for weight, name in zip(self.plan.loss_weights, held, strict=True))
        if not math.isfinite(loss):
            raise CgmhError(f"training diverged at step {counters.step}; remove {self.directory}, try another `seed`")
        counters.checked_step = counters.step
        if counters.best is None or loss < counters.best:
            counters.best, counters.best_step, counters.num_worse = loss, counters.step, 0
            write_tensors(self.directory / BEST, self.network.state_dict())
        else:
            counters.num_worse += 1
        trained = (self.recent / max(self.num_recent, 1)).exp().tolist()
        record = {
            "step": counters.step,
            "epoch": counters.epoch,
            "words": counters.words,
            "seconds": round(counters.seconds, 1),
            "training": {name: round(value, 4) for name, value in zip(PREDICTORS, trained, strict=True)},
            "held_out": held,
        }
        with (self.directory / LOG).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record) + "\n")
        self.recent.zero_()
        self.num_recent = 0
        self._save()
        best = "" if counters.best_step == counters.step else f" (best: step {counters.best_step})"
        numbers = ", ".join(f"{name} {value:.2f}" for name, value in held.items())
        self._say(f"step {counters.step}, {counters.words:,} words: held-out perplexity {numbers}{best}")
        bar.set_postfix_str(f"held-out {held['forward']:.1f}", refresh=False)

    def _save(self) -> None:
        save_state(self.directory, self.network, self.optimizer, self.counters)
        self.saved = time.monotonic()

    def _say(self, message: str) -> None:
        if not self.quiet:
            tqdm.write(message, file=sys.stderr)
