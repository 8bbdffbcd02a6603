"""A recurrent model of the production class, small enough to list every sentence: random weights, float64."""

from pathlib import Path

import torch

from cgmh.models.word.checkpoint import load_model, save_model
from cgmh.models.word.network import Network, NetworkConfig
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.text.vocabulary import SPECIALS, Vocabulary

WORDS = ("the", "cat", "sat", ".")


def tiny_model(directory: Path, precision: str = "float64", sharpness: float = 2.0) -> RecurrentModel:
    """Four words in four classes of four, classes mixed with specials."""
    torch.manual_seed(0)
    config = NetworkConfig(4, 4, width=6, forward_hidden=5, backward_hidden=4, fill_hidden=6)
    network = Network(config)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(sharpness)
    specials, words = list(SPECIALS), list(WORDS)
    order = [word for k in range(4) for word in (words[k], *specials[3 * k : 3 * k + 3])]
    save_model(directory, network.state_dict(), config, Vocabulary(order), {"name": "tiny"})
    return load_model(directory, precision=precision)  # type: ignore[arg-type]
