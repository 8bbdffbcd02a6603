"""From trained parameters to a model directory."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from ..models.checkpoint import load_model, save_model
from ..models.network import NetworkConfig
from ..text.vocabulary import Vocabulary
from .held_out import evaluate_model
from .state import whole_directory


def config_of(weights: Mapping[str, Tensor]) -> NetworkConfig:
    """The sizes of the network that has these parameters."""
    num_classes, width = weights["right_head.classes.weight"].shape
    return NetworkConfig(
        num_classes,
        len(weights["table"]) // num_classes,
        width,
        forward_hidden=weights["right.weight_hh_l0"].shape[1],
        backward_hidden=weights["left.weight_hh_l0"].shape[1],
        fill_hidden=len(weights["mix.weight"]),
        layers=sum(name.startswith("right.weight_hh") for name in weights),
    )


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
    with whole_directory(out) as partial:
        save_model(partial, parameters, config, vocabulary, {})
        perplexity = evaluate_model(load_model(partial), held)
        known = {**facts, "held_out": {**facts.get("held_out", {}), "perplexity": perplexity}}
        save_model(partial, parameters, config, vocabulary, known)
        if log is not None:
            (partial / "training.jsonl").write_bytes(log.read_bytes())
    return known
