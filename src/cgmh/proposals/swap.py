"""Exchange two neighbouring blocks of words."""

from collections.abc import Sequence

import torch

from ..constraints.tables import OnDevice
from ..draws import Draws
from .edits import unreachable
from .protocols import SWAP, Candidate, View


class SwapBlocks:
    """Neighbouring blocks of `first` and `second` words change places; both lengths are uniform on 1..longest.

    The step back draws the lengths the other way round, at the same place, with the same probability.
    """

    def __init__(self, longest: int | Sequence[int] = 3) -> None:
        """`longest` is one number, or one an input."""
        lengths = [longest] if isinstance(longest, int) else list(longest)
        if min(lengths) < 1:
            raise ValueError(f"blocks need at least one word, not {min(lengths)}")
        self._same = isinstance(longest, int)
        self._tables = OnDevice(longest=torch.tensor(lengths, dtype=torch.int64))

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences = view.sentences
        lengths = sentences.lengths
        table = self._tables.at(sentences.device)["longest"]
        longest = table.expand(len(lengths)) if self._same else table[sentences.inputs]  # [R]
        pair = draws.integer(longest * longest, "swap blocks")  # [R]: both lengths at once
        first, second = pair // longest + 1, pair % longest + 1
        rest = lengths - first - second  # words outside the blocks; below 0 the blocks do not fit
        places = (rest + 1).clamp(min=1)
        at = draws.integer(places, "swap at")
        impossible = rest < 0
        first, second = first.masked_fill(impossible, 0), second.masked_fill(impossible, 0)
        log_forward = -places.double().log() - 2 * longest.double().log()
        return Candidate(
            sentences.swap_blocks(at, first, second),
            torch.full_like(at, SWAP),
            at,
            same_left=at,
            same_right=rest - at,
            log_forward=log_forward,
            log_reverse=unreachable(log_forward, impossible),
        )
