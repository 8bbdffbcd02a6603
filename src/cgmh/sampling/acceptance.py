"""The Metropolis-Hastings ratio, in one place."""

from torch import Tensor

from ..proposals.protocols import Candidate
from ..target import LogFactors


def log_acceptance(current: LogFactors, proposed: LogFactors, candidate: Candidate, beta: Tensor) -> Tensor:
    """[B]: log of pi(y) q(x|y) / (pi(x) q(y|x)), before the minimum with 0."""
    return proposed.total(beta) - current.total(beta) + (candidate.log_reverse - candidate.log_forward)


def log_screen(hard: Tensor, log_gain: Tensor, candidate: Candidate, beta: Tensor, trust: float = 1.0) -> Tensor:
    """[B]: the first stage of delayed acceptance: the ratio with another gain in place of the target's own.

    That gain is part of the model's, or a cheaper model's. It changes sign with the direction of the step, and so does
    this, for any `trust`: a screen that is often wrong should be trusted less, and then refuses less.
    """
    return hard + trust * (beta * log_gain + (candidate.log_reverse - candidate.log_forward))


def least_gain(log_first: Tensor, candidate: Candidate, beta: Tensor, trust: float = 1.0) -> Tensor:
    """[B]: the gain with which the first stage comes to `log_first`, where no hard constraint is broken."""
    return (log_first / trust - (candidate.log_reverse - candidate.log_forward)) / beta


def log_second(log_ratio: Tensor, log_first: Tensor) -> Tensor:
    """[B]: the ratio of the second stage, for those that passed the first (Christen and Fox 2005).

    A step is taken with probability min(1, e^first) min(1, e^(ratio - first)). Both minima are a(r) with
    a(r) = e^r a(-r), so the product of the two keeps the balance of the whole ratio.
    """
    return log_ratio - log_first


def log_exchange(colder: LogFactors, hotter: LogFactors, beta_colder: Tensor, beta_hotter: Tensor) -> Tensor:
    """[N]: the log ratio with which two replicas x and y of a chain exchange their temperatures.

    log of pi(y)^b pi(x)^c / (pi(x)^b pi(y)^c) = (b - c) (log pi(y) - log pi(x)) in the untempered soft factors, which
    the states keep. Hard factors are not tempered: they stand above and below the line and leave it.
    """
    return (beta_colder - beta_hotter) * (hotter.soft.sum(-1) - colder.soft.sum(-1))
