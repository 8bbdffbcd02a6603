"""A recurrent model of the production class, small enough to list every sentence: random weights, float64."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import torch

from cgmh.models.word.checkpoint import load_model, save_model
from cgmh.models.word.network import Network, NetworkConfig
from cgmh.models.word.recurrent import RecurrentEncoding, RecurrentModel
from cgmh.text.vocabulary import SPECIALS, Vocabulary

WORDS = ("the", "cat", "sat", ".")


def tiny_model(
    directory: Path, precision: str = "float64", sharpness: float = 2.0, words: Sequence[str] = WORDS
) -> RecurrentModel:
    """Words mixed with specials, in four classes if that is possible."""
    torch.manual_seed(0)
    specials, num_words = list(SPECIALS), len(SPECIALS) + len(words)
    num_classes = next(number for number in (4, 3, 2, 1) if num_words % number == 0)
    sizes = {"width": 6, "forward_hidden": 5, "backward_hidden": 4, "fill_hidden": 6}
    config = NetworkConfig(num_classes, num_words // num_classes, **sizes)
    network = Network(config)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(sharpness)
    order = [word for pair in zip_longest(words, *(specials[k::3] for k in range(3))) for word in pair if word]
    save_model(directory, network.state_dict(), config, Vocabulary(order), {"name": "tiny"})
    return load_model(directory, precision=precision)  # type: ignore[arg-type]


def all_fills(model: RecurrentModel, encoding: RecurrentEncoding, *gaps: torch.Tensor) -> torch.Tensor:
    """[R,V]: log p of every word in each gap, of the fill head as trained."""
    return model._fill.all_log_probs(model._around(encoding, *gaps))
