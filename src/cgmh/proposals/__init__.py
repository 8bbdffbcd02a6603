"""Ways to step from one sentence to another, each with its probability there and back."""

from .edits import Leap, SwapBlocks, WordEdits
from .fillers import FillHead, GibbsOver, MaskedFiller, OwnWords
from .mixture import Mixture
from .phrases import Alternatives, Group, variants
from .protocols import MOVES, Candidate, Filler, Proposal, View

__all__ = [
    "MOVES",
    "Alternatives",
    "Candidate",
    "FillHead",
    "Filler",
    "GibbsOver",
    "Group",
    "Leap",
    "MaskedFiller",
    "Mixture",
    "OwnWords",
    "Proposal",
    "SwapBlocks",
    "View",
    "WordEdits",
    "variants",
]
