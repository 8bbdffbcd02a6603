"""How a network is trained, and how large it is."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import BadInput
from ..models.network import NetworkConfig
from .corpus import LONGEST, TrainingText

SIZES: Mapping[str, Mapping[str, int]] = {
    "small": {"width": 128, "forward_hidden": 256, "backward_hidden": 192, "fill_hidden": 256, "layers": 1},
    "medium": {"width": 256, "forward_hidden": 512, "backward_hidden": 384, "fill_hidden": 512},
    "large": {},  # that of the embedded model
}


@dataclass(frozen=True)
class TrainingPlan:
    """How long and how a network is trained. Whichever of `epochs` and `minutes` ends first ends the run."""

    epochs: int | None = 10
    minutes: float | None = None
    patience: int | None = 3  # held-out checks without a better one before the run stops early
    check_steps: int = 500  # steps between two checks; there is one at the end of each epoch, too
    save_seconds: float = 120.0  # between two checkpoints; every check makes one, too
    words: int = 40_000  # a batch
    longest: int = LONGEST  # words of a sentence
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
        object.__setattr__(self, "loss_weights", tuple(self.loss_weights))  # a list, when read from a file


def network_of_size(size: str, text: TrainingText) -> NetworkConfig:
    """The network of a preset for the classes of a text."""
    return NetworkConfig(text.num_classes, text.class_size, **SIZES[size])


def plan_for(
    text: TrainingText,
    *,
    epochs: int | None = 10,
    minutes: float | None = None,
    patience: int | None = 3,
    seed: int = 0,
) -> TrainingPlan:
    """A plan for one's own text: batches small enough that an epoch has some 200 of them, a warm-up of 5%."""
    num_words = text.facts()["training"]["words"]
    words = min(max(num_words // 200, 500), TrainingPlan.words)
    warm_up = TrainingPlan.warm_up
    if epochs is not None:
        warm_up = min(warm_up, epochs * num_words // words // 20)
    return TrainingPlan(epochs, minutes, patience, words=words, warm_up=warm_up, seed=seed)
