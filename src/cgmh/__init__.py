"""Sentences under constraints, sampled exactly by Metropolis-Hastings over words.

>>> import cgmh
>>> cgmh.keywords(["lottery", "scholarships"], n=5).texts  # doctest: +SKIP

The verbs do a task; `constraints`, `proposals`, `sampling` and `models` hold the building blocks beneath.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BadInput, BadModel, CgmhError, InfeasibleStart, MissingExtra
from .inputs import CorrectInput, KeywordInput, ParaphraseInput
from .result import Result, Score, Sentence, Step
from .settings import Settings
from .text.edits import Edit

__version__ = "0.1.0"

if TYPE_CHECKING:
    from . import constraints, models, proposals, sampling
    from .api import correct, correct_all, keywords, paraphrase, score, solve
    from .client import AsyncClient, Client, ServerError
    from .constraints import constraint
    from .jobs.augment import augment
    from .models.word.checkpoint import load_model

# What needs torch or another package is imported on first use, so that `import cgmh` and `cgmh --help` are quick.
_HOMES = {
    **dict.fromkeys(("correct", "correct_all", "keywords", "paraphrase", "score", "solve"), "api"),
    **dict.fromkeys(("AsyncClient", "Client", "ServerError"), "client"),
    "augment": "jobs.augment",
    "constraint": "constraints",
    "load_model": "models.word.checkpoint",
}
_NAMESPACES = ("constraints", "models", "proposals", "sampling")
_MOVED = dict.fromkeys(("Annealing", "Constant", "Kernel", "Target", "sample"), "sampling")  # until the next release

__all__ = [
    "AsyncClient",
    "BadInput",
    "BadModel",
    "CgmhError",
    "Client",
    "CorrectInput",
    "Edit",
    "InfeasibleStart",
    "KeywordInput",
    "MissingExtra",
    "ParaphraseInput",
    "Result",
    "Score",
    "Sentence",
    "ServerError",
    "Settings",
    "Step",
    "__version__",
    "augment",
    "constraint",
    "constraints",
    "correct",
    "correct_all",
    "keywords",
    "load_model",
    "models",
    "paraphrase",
    "proposals",
    "sampling",
    "score",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _NAMESPACES:
        return import_module(f".{name}", __name__)
    if name in _MOVED:
        warnings.warn(f"cgmh.{name} is now cgmh.{_MOVED[name]}.{name}", DeprecationWarning, stacklevel=2)
    home = _HOMES.get(name) or _MOVED.get(name)
    if home is None:
        raise AttributeError(f"module 'cgmh' has no attribute {name!r}")
    return getattr(import_module(f".{home}", __name__), name)


def __dir__() -> list[str]:
    return __all__
