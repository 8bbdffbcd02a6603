"""Claims about a sentence: what the target multiplies the language model with."""

from .claims import PythonConstraint, UserConstraint, constraint, contains, ends_with, forbids, length_between
from .overlap import Differs, Overlap
from .protocols import Claim, Constraint, HardConstraint, Product
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
from .words import Apart, ContainsWords, EndsWith, Forbids, LengthBetween, NeverBeside, Requirement

__all__ = [
    "Apart",
    "AtLeast",
    "Claim",
    "Constraint",
    "ContainsWords",
    "ContentWords",
    "Differs",
    "EndsWith",
    "Forbids",
    "HardConstraint",
    "KeywordsKept",
    "LengthBetween",
    "NeverBeside",
    "Overlap",
    "Product",
    "PythonConstraint",
    "Requirement",
    "SentenceVectors",
    "Similarity",
    "TextVectors",
    "UserConstraint",
    "Weighted",
    "WordVectors",
    "constraint",
    "contains",
    "ends_with",
    "forbids",
    "length_between",
]
