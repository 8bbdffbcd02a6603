"""Sentences under constraints, sampled exactly by Metropolis-Hastings over words.

>>> import cgmh
>>> cgmh.keywords(["lottery", "scholarships"], n=5).texts  # doctest: +SKIP
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import BadInput, BadModel, CgmhError, InfeasibleStart, MissingExtra
from .settings import Settings
from .version import __version__

if TYPE_CHECKING:
    from .api import keywords, paraphrase, score, solve
    from .constraints import constraint
    from .correction import correct, correct_all
    from .inputs import CorrectInput
    from .models.word.checkpoint import load_model
    from .result import Edit, Result, Score, Sentence, Step
    from .sampling import Annealing, Constant, Kernel, sample
    from .target import Target

# What needs torch is imported on first use, so that `import cgmh` and `cgmh --help` are quick.
_HOMES = {
    "keywords": "api", "paraphrase": "api", "score": "api", "solve": "api",
    "constraint": "constraints",
    "correct": "correction", "correct_all": "correction",
    "load_model": "models.checkpoint",
    "Edit": "result", "Result": "result", "Score": "result", "Sentence": "result", "Step": "result",
    "Annealing": "sampling", "Constant": "sampling", "Kernel": "sampling", "sample": "sampling",
    "Target": "target",
    "CorrectInput": "tasks.reading",
}  # fmt: skip

__all__ = [
    "Annealing",
    "BadInput",
    "BadModel",
    "CgmhError",
    "Constant",
    "CorrectInput",
    "Edit",
    "InfeasibleStart",
    "Kernel",
    "MissingExtra",
    "Result",
    "Score",
    "Sentence",
    "Settings",
    "Step",
    "Target",
    "__version__",
    "constraint",
    "correct",
    "correct_all",
    "keywords",
    "load_model",
    "paraphrase",
    "sample",
    "score",
    "solve",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'cgmh' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
