"""What a training run writes: the files from which it can go on where it stopped, and in the end the model directory.

DIR.training/
  plan.json, text.json, vocabulary.json.gz, *.npy      what was decided when the run began
  checkpoint.json, state-STEP.safetensors              counters, and the parameters and moments that go with them
  best.safetensors                                     parameters with the best held-out perplexity so far
  log.jsonl                                            one line per held-out check

Reading these files executes no code.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from .. import files
from ..errors import BadModel
from ..models.word.checkpoint import load_model, save_model
from ..models.word.network import Network, NetworkConfig
from ..text.vocabulary import Vocabulary
from .streams import evaluate_model

PLAN, CHECKPOINT, BEST, LOG = "plan.json", "checkpoint.json", "best.safetensors", "log.jsonl"
# Names that earlier versions gave to parts of the network.
_FORMER = {"right": "forward_lstm", "left": "backward_lstm", "right_head": "forward_head", "left_head": "backward_head"}


@dataclass
class Counters:
    """Where a run stands."""

    epoch: int = 0
    batch: int = 0  # batches of this epoch that are done
    step: int = 0
    words: int = 0  # words trained on
    seconds: float = 0.0
    best: float | None = None  # smallest held-out loss
    best_step: int = 0
    checked_step: int = 0
    num_worse: int = 0  # held-out checks since the best


@contextmanager
def atomically(path: Path) -> Iterator[Path]:
    """A path for a file or directory that takes its place at `path` only when it is complete.

    An empty directory may stand at `path` already.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        if path.is_dir():
            path.rmdir()
        partial.replace(path)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial, ignore_errors=True)
        else:
            partial.unlink(missing_ok=True)


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    with atomically(path) as partial:
        partial.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    try:
        return dict(files.read_json(path))
    except (OSError, ValueError, TypeError) as error:
        raise BadModel(f"{path}: cannot be read ({error})") from error


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    with atomically(path) as partial:
        save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, partial)


def read_tensors(path: Path) -> dict[str, Tensor]:
    try:
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise BadModel(f"{path}: cannot be read ({error}); start the training again") from error
    return {".".join(_FORMER.get(part, part) for part in name.split(".")): tensors[name] for name in tensors}


def save_state(directory: Path, network: Network, optimizer: torch.optim.Optimizer, counters: Counters) -> None:
    """Write a checkpoint: the tensors first, then the small file that names them; then the old tensors are removed."""
    tensors = {f"network.{name}": tensor for name, tensor in network.state_dict().items()}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in moments.items()}
    current = directory / f"state-{counters.step}.safetensors"
    write_tensors(current, tensors)
    write_json(directory / CHECKPOINT, {"state": current.name, "counters": asdict(counters)})
    for old in directory.glob("state-*.safetensors"):
        if old != current:
            old.unlink()


def load_state(directory: Path, network: Network, optimizer: torch.optim.Optimizer) -> Counters:
    """Bring network and optimizer to the last checkpoint of a run."""
    record = read_json(directory / CHECKPOINT)
    try:
        counters = Counters(**record["counters"])
        parameters: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in read_tensors(directory / Path(record["state"]).name).items():
            owner, _, rest = name.partition(".")
            if owner == "network":
                parameters[rest] = tensor
            else:
                number, _, moment = rest.partition(".")
                moments.setdefault(int(number), {})[moment] = tensor
        network.load_state_dict(parameters)
        optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise BadModel(f"{directory}: its checkpoint does not fit ({error}); start the training again") from error
    return counters


def export_model(
    out: Path,
    weights: Mapping[str, Tensor],
    config: NetworkConfig,
    vocabulary: Vocabulary,
    held: Mapping[str, np.ndarray],
    facts: Mapping[str, Any],
    log: Path | None = None,
) -> dict[str, Any]:
    """Write a model directory, all of it or nothing, and return its facts.

    The perplexities among the facts are those of the rounded weights, computed as the sampler will on this machine.
    `log`, if there is one, goes along as `training.jsonl`.
    """
    parameters = {name: tensor.detach().float().cpu() for name, tensor in weights.items()}
    with atomically(out) as partial:
        partial.mkdir(parents=True)
        save_model(partial, parameters, config, vocabulary, {})
        perplexity = evaluate_model(load_model(partial), held)
        known = {**facts, "held_out": {**facts.get("held_out", {}), "perplexity": perplexity}}
        save_model(partial, parameters, config, vocabulary, known)
        if log is not None:
            (partial / "training.jsonl").write_bytes(log.read_bytes())
    return known
