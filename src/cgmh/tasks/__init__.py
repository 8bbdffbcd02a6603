"""The tasks, each posing its problem to the sampler. The type of an input says which task it is for."""

from typing import Any

from ..errors import BadInput
from ..inputs import CorrectInput, KeywordInput, ParaphraseInput
from .correct import Correct
from .keywords import Keywords
from .paraphrase import Paraphrase
from .problem import Problem, Report, Task

TASKS: dict[type, Task[Any, Any]] = {KeywordInput: Keywords(), ParaphraseInput: Paraphrase(), CorrectInput: Correct()}

__all__ = ["TASKS", "Correct", "Keywords", "Paraphrase", "Problem", "Report", "Task", "task_of"]


def task_of(kind: type) -> Task[Any, Any]:
    """The task of inputs of a type."""
    if kind not in TASKS:
        known = ", ".join(known.__name__ for known in TASKS)
        raise BadInput(f"inputs of type {kind.__name__} have no task; give inputs of type {known}")
    return TASKS[kind]
