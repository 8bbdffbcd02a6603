"""Ways to step from one sentence to another, each with its probability there and back."""

from .alternatives import Alternatives, Group
from .edits import WordEdits
from .floor import FillHead
from .gibbs import GibbsOver
from .masked import MaskedFiller
from .mixture import Mixture
from .protocols import MOVES, Candidate, Filler, Proposal, View
from .swap import SwapBlocks
from .variants import Variants

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
