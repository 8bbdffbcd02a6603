"""Claims about a sentence: what the target multiplies the language model with."""

from .contains import ContainsWords
from .patterns import Alternative, Requirement
from .protocols import Constraint, HardConstraint
from .python import PythonConstraint
from .simple import EndsWith, Forbids, LengthBetween

__all__ = [
    "Alternative",
    "Constraint",
    "ContainsWords",
    "EndsWith",
    "Forbids",
    "HardConstraint",
    "LengthBetween",
    "PythonConstraint",
    "Requirement",
]
