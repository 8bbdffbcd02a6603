"""Claims about a sentence: what the target multiplies the language model with."""

from .contains import ContainsWords
from .overlap import Differs, Overlap
from .patterns import Alternative, Requirement
from .protocols import Constraint, HardConstraint
from .python import PythonConstraint, UserConstraint, constraint
from .similarity import (
    AtLeast,
    ContentWords,
    KeywordsKept,
    SentenceVectors,
    Similarity,
    TextVectors,
    Weighted,
    WordVectors,
)
from .simple import Apart, EndsWith, Forbids, LengthBetween

__all__ = [
    "Alternative",
    "Apart",
    "AtLeast",
    "Constraint",
    "ContainsWords",
    "ContentWords",
    "Differs",
    "EndsWith",
    "Forbids",
    "HardConstraint",
    "KeywordsKept",
    "LengthBetween",
    "Overlap",
    "PythonConstraint",
    "Requirement",
    "SentenceVectors",
    "Similarity",
    "TextVectors",
    "UserConstraint",
    "Weighted",
    "WordVectors",
    "constraint",
]
