"""The tasks, each posing its problem to the sampler. Names that need torch are imported on first use."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..inputs import CorrectInput, KeywordInput, ParaphraseInput, read_keywords

if TYPE_CHECKING:
    from .correct import Correct
    from .keywords import Keywords
    from .paraphrase import Paraphrase
    from .problem import Problem, Task

_HOMES = {
    "Correct": "correct",
    "Keywords": "keywords",
    "Paraphrase": "paraphrase",
    "Problem": "problem",
    "Task": "problem",
}

__all__ = [
    "Correct",
    "CorrectInput",
    "KeywordInput",
    "Keywords",
    "Paraphrase",
    "ParaphraseInput",
    "Problem",
    "Task",
    "read_keywords",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module 'cgmh.tasks' has no attribute {name!r}")
