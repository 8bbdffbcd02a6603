"""From what a user names to models: the word model, and a big one beside it."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from .errors import BadInput
from .models.checkpoint import load_model
from .models.functions import FunctionModel
from .models.opening import open_model
from .models.protocols import TextModel
from .models.recurrent import RecurrentModel
from .sampling.runs import single_threaded
from .settings import Use

AnyModel = RecurrentModel | TextModel | Callable[[list[str]], Any] | str | Path


def as_model(model: AnyModel | None, precision: str | None = None) -> RecurrentModel | TextModel:
    """A model as it is, a function of texts, or what a name or a path stands for; None is the embedded English one.

    What was opened by name stays open.
    """
    if model is None:
        return load_embedded()
    if isinstance(model, str | Path):
        return _opened(str(model), precision)
    if isinstance(model, RecurrentModel | TextModel):
        return model
    if not callable(model):
        raise BadInput(f"{model!r} is no model: give a name, a path, a model or a function of texts")
    found: TextModel = FunctionModel(model)
    return found


@lru_cache(maxsize=1)
def load_embedded() -> RecurrentModel:
    """The embedded English model."""
    return load_model()


@lru_cache(maxsize=2)
def _opened(name: str, precision: str | None) -> RecurrentModel | TextModel:
    with single_threaded():  # many small conversions: threads cost more than they give
        return open_model(name, precision=precision)


def as_models(
    model: AnyModel | None, big: AnyModel | None, use: Use | None
) -> tuple[RecurrentModel, TextModel | None, Use | None]:
    """The word model, the big model if there is one, and what that does. A `model` of texts is a big one as target."""
    small = as_model(model, "float32")
    if not isinstance(small, RecurrentModel):
        if big is not None:
            raise BadInput(f"{small.name} is a big model already; leave out --big, or give --model a word model")
        return load_embedded(), small, use or "target"
    if big is None:
        if use is not None:
            raise BadInput(
                f"--use {use} needs a big model; run: cgmh models pull smollm2, and name it with --big smollm2"
            )
        return small, None, None
    use = use or "rerank"
    # Ranking bears rounding; a target or a weight should be the same number in every batch.
    judge = as_model(big, None if use == "rerank" else "float32")
    if isinstance(judge, RecurrentModel):
        raise BadInput(
            f"{big if isinstance(big, str) else judge.name} is a word model and cannot be --big; give --model"
        )
    return small, judge, use
