"""The Metropolis-Hastings ratio, in one place."""

from torch import Tensor

from ..proposals.protocols import Candidate
from ..target import LogFactors


def log_acceptance(current: LogFactors, proposed: LogFactors, candidate: Candidate, beta: Tensor) -> Tensor:
    """[B]: log of pi(y) q(x|y) / (pi(x) q(y|x)), before the minimum with 0."""
    return proposed.total(beta) - current.total(beta) + (candidate.log_reverse - candidate.log_forward)


def log_screen(hard: Tensor, log_gain: Tensor, candidate: Candidate, beta: Tensor) -> Tensor:
    """[B]: the ratio with part of the model's gain in place of the whole: the first stage of delayed acceptance.

    `log_gain` changes sign with the direction of the step, so this does too.
    """
    return hard + beta * log_gain + (candidate.log_reverse - candidate.log_forward)


def log_second(log_ratio: Tensor, log_first: Tensor) -> Tensor:
    """[B]: the ratio of the second stage, for those that passed the first (Christen and Fox 2005).

    A step is taken with probability min(1, e^first) min(1, e^(ratio - first)). Both minima are a(r) with
    a(r) = e^r a(-r), so the product of the two keeps the balance of the whole ratio.
    """
    return log_ratio - log_first
