"""One of several proposals, chosen at random."""

from collections.abc import Sequence

import torch

from ..draws import ROUND, Draws
from ..text.sentences import OnDevice, indices
from .protocols import Candidate, Proposal, View


class Mixture:
    """A component by weight, the same in every state: exact, because each component is reversible by itself.

    The weight would stand in both log_forward and log_reverse and is left out of both. With `together`, all chains take
    the same component in a step, which saves time; the components of one chain are drawn as ever.
    """

    def __init__(self, components: Sequence[tuple[Proposal, float]], *, together: bool = False) -> None:
        weights = torch.tensor([weight for _, weight in components], dtype=torch.float64)
        if not components or not bool((weights > 0).all()) or not bool(weights.isfinite().all()):
            raise ValueError("a mixture needs components with positive weights")
        self._weights, self._together = weights, together
        self._components = [proposal for proposal, _ in components]
        self._logs = OnDevice(weight=weights.log())

    def beside(self, proposal: Proposal, share: float) -> "Mixture":
        """This mixture, with another proposal that gets a share of the steps; a mixture inside one would draw twice."""
        rest = (self._weights / self._weights.sum() * (1 - share)).tolist()
        return Mixture([*zip(self._components, rest, strict=True), (proposal, share)], together=self._together)

    def propose(self, draws: Draws, view: View) -> Candidate:
        num = len(self._components)
        log_weight = self._logs.at(view.rows.device)["weight"]
        component = draws.choose(
            log_weight.expand(len(view.rows), num), ROUND if self._together else "component"
        )  # [R]
        order = component.argsort(stable=True)  # [R]
        parts = []
        groups = torch.split(order, torch.bincount(component, minlength=num).tolist())
        for proposal, rows in zip(self._components, groups, strict=True):
            if len(rows) == len(order):
                return proposal.propose(draws, view)
            if len(rows):
                parts.append(proposal.propose(draws.select(rows), view.select(rows)))
        back = torch.empty_like(order).scatter_(0, order, indices(len(order), order.device))
        return Candidate.concatenate(parts).select(back)
