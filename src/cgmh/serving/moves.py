"""What the chains of a watched run did at a step, for who reads its events."""

import math
from typing import Any

import torch
from torch import Tensor

from ..proposals.protocols import MOVES
from ..sampling.kernel import Info, Kernel
from ..text.lexicon import Lexicon
from ..text.tokenizer import join


def moves_of(info: Info, number: int, kernel: Kernel, lexicon: Lexicon) -> list[dict[str, Any]]:
    """The moves that `kernel` made of the chains of input `number`; a number that JSON does not know is None.

    The terms of the ratio: `log_ratio` = `log_gain` + `log_reverse` - `log_forward`, where `log_gain` is what the
    target gains at this temperature. `log_first` is the log ratio of the first stage, which looks at less of the
    sentence or at fewer models: a candidate is taken with probability min(1, e^first) min(1, e^(ratio - first)). Where
    that stage refused it (`passed` is false), the exact gain was never worked out: `log_gain` is None, and `log_ratio`
    is that of the first stage. `log_first_gain` is the gain as that stage sees it, and `trust` how far the stage is
    trusted: `log_first` = `trust` (`log_first_gain` + `log_reverse` - `log_forward`). `broken` names the hard
    constraints that the candidate breaks.
    """
    own = info.select((info.sentences.inputs == number).nonzero()[:, 0])
    candidate = own.candidate
    columns = {
        "log_ratio": own.log_ratio,
        "log_gain": own.log_ratio - candidate.log_reverse + candidate.log_forward,
        "log_forward": candidate.log_forward,
        "log_reverse": candidate.log_reverse,
        "log_target": own.log_target,
    }
    columns["log_first"] = own.log_ratio if own.log_first is None else own.log_first
    columns["log_first_gain"] = columns["log_first"] / kernel.trust - candidate.log_reverse + candidate.log_forward
    passed = torch.ones_like(own.accepted) if own.passed is None else own.passed
    columns["log_gain"] = columns["log_gain"].masked_fill(~passed, torch.nan)
    numbers = {name: _finite(column) for name, column in columns.items()}
    broken = _broken(own, kernel)
    texts = [join(lexicon.words(ids)) for ids in candidate.sentences.to_lists()]
    rows = zip(
        candidate.move.tolist(), candidate.at.tolist(), texts, own.accepted.tolist(), passed.tolist(), strict=True
    )
    return [
        {
            "chain": chain,
            "move": MOVES[move],
            "at": at,
            "text": text,
            "accepted": accepted,
            "passed": has_passed,
            "broken": broken.get(chain, []),
            "trust": kernel.trust,
            **{name: of[chain] for name, of in numbers.items()},
        }
        for chain, (move, at, text, accepted, has_passed) in enumerate(rows)
    ]


def _broken(own: Info, kernel: Kernel) -> dict[int, list[str]]:
    """By chain, the hard constraints that an impossible candidate breaks; none where only its way back is missing."""
    rows = own.log_ratio.isneginf().nonzero()[:, 0]
    if not len(rows):
        return {}
    return dict(zip(rows.tolist(), kernel.target.broken_by_each(own.candidate.sentences.select(rows)), strict=True))


def _finite(column: Tensor) -> list[float | None]:
    """Rounded to what a reader can use: ten thousand moves a second are written."""
    return [round(value, 4) if math.isfinite(value) else None for value in column.tolist()]
