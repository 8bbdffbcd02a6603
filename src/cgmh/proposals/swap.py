"""Exchange two neighbouring blocks of words."""

import math

import torch

from ..draws import Draws
from .edits import unreachable
from .protocols import SWAP, Candidate, View


class SwapBlocks:
    """Neighbouring blocks of `first` and `second` words change places; both lengths are uniform on 1..longest.

    The step back draws the lengths the other way round, at the same place, with the same probability.
    """

    def __init__(self, longest: int = 3) -> None:
        if longest < 1:
            raise ValueError(f"blocks need at least one word, not {longest}")
        self._longest = longest

    def propose(self, draws: Draws, view: View) -> Candidate:
        sentences = view.sentences
        lengths = sentences.lengths
        pair = draws.integer(torch.full_like(lengths, self._longest**2), "swap blocks")  # [R]: both lengths at once
        first, second = pair // self._longest + 1, pair % self._longest + 1
        rest = lengths - first - second  # words outside the blocks; below 0 the blocks do not fit
        places = (rest + 1).clamp(min=1)
        at = draws.integer(places, "swap at")
        impossible = rest < 0
        first, second = first.masked_fill(impossible, 0), second.masked_fill(impossible, 0)
        log_forward = -places.double().log() - 2 * math.log(self._longest)
        return Candidate(
            sentences.swap_blocks(at, first, second),
            torch.full_like(at, SWAP),
            at,
            same_left=at,
            same_right=rest - at,
            log_forward=log_forward,
            log_reverse=unreachable(log_forward, impossible),
        )
