"""What happened in a run, step by step, to compare it with another one."""

from typing import Any

import torch

from cgmh.sampling import Annealing, Info, Kernel, sample
from cgmh.text.sentences import Sentences
from spaces import Space

STEPS = 40
SCHEDULE = Annealing(0.5, 1.5, STEPS)


def start_of(space: Space, rows: int = 12) -> Sentences:
    picks = torch.arange(rows) * 7 % len(space.states)
    return space.states.select(picks)


def history(kernel: Kernel, start: Sentences, **settings: Any) -> dict[tuple[int, int], tuple[Any, ...]]:
    """What happened at each (chain, step)."""
    found: dict[tuple[int, int], tuple[Any, ...]] = {}
    settings = {"steps": STEPS, "seed": 5, "schedule": SCHEDULE, **settings}
    names = settings.get("chains", torch.arange(len(start)))
    for clock, state, info in sample(kernel, start, **settings):
        assert len(clock) == len(state.sentences) == len(start)
        for key, value in events(info, names).items():
            assert key not in found
            found[key] = value
    return found


def events(info: Info, names: torch.Tensor) -> dict[tuple[int, int], tuple[Any, ...]]:
    """What happened in a round, by chain and step."""
    rows = zip(
        names[info.chain].tolist(),
        info.step.tolist(),
        info.sentences.to_lists(),
        info.candidate.sentences.to_lists(),
        info.candidate.move.tolist(),
        info.candidate.at.tolist(),
        info.accepted.tolist(),
        [round(some, 9) for some in info.log_ratio.tolist()],
        [round(some, 9) for some in info.log_target.tolist()],
        strict=True,
    )
    found = {(chain, step): tuple(rest) for chain, step, *rest in rows}
    assert len(found) == len(info.chain)
    return found
