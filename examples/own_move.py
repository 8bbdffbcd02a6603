"""A move of your own: two neighbouring words change places. The law check says whether it may step."""

import torch

import cgmh
from cgmh import constraints, proposals, sampling
from cgmh.draws import Draws
from cgmh.laws import check_proposal


class SwapNeighbours:
    """The place is uniform over the pairs of neighbours; the step back has the same probability."""

    def propose(self, draws: Draws, view: proposals.View) -> proposals.Candidate:
        sentences = view.sentences
        places = (sentences.lengths - 1).clamp(min=1)  # [R]
        at = draws.integer(places, "neighbours at")  # every draw has a site with a name of its own
        impossible = sentences.lengths < 2
        size = torch.ones_like(at).masked_fill(impossible, 0)
        log_q = -places.double().log()
        return proposals.Candidate(
            sentences.swap_blocks(at, size, size),
            torch.full_like(at, proposals.MOVES.index("swap")),  # under which name acceptance is counted
            at,
            same_left=at,
            same_right=sentences.lengths - at - 2,
            log_forward=log_q,
            log_reverse=log_q.masked_fill(impossible, -torch.inf),
        )


model = cgmh.load_model()
target = sampling.Target(model, constraints.contains("letter", "friend") * constraints.ends_with("."))
edits = proposals.WordEdits(proposals.FillHead(model))
kernel = sampling.Kernel(target, proposals.Mixture([(edits, 0.9), (SwapNeighbours(), 0.1)]))
start = target.start("letter friend.", chains=8)
check_proposal(SwapNeighbours(), target.model, start)
for _, _, info in sampling.sample(kernel, start, steps=60, seed=0):
    last = info.sentences
print(*target.texts(last)[:4], sep="\n")
