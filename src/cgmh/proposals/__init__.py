"""Ways to step from one sentence to another, each with its probability there and back."""

from .edits import SwapBlocks, WordEdits
from .fillers import FillHead, GibbsOver, MaskedFiller
from .mixture import Mixture
from .phrases import Alternatives, Group, Variants
from .protocols import MOVES, Candidate, Filler, Proposal, View

__all__ = [
    "MOVES",
    "Alternatives",
    "Candidate",
    "FillHead",
    "Filler",
    "GibbsOver",
    "Group",
    "MaskedFiller",
    "Mixture",
    "Proposal",
    "SwapBlocks",
    "Variants",
    "View",
    "WordEdits",
]
