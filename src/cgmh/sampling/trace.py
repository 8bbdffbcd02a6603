"""What a run leaves behind: every step of every chain, and how often each move was accepted."""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ..errors import MissingExtra
from ..proposals.protocols import MOVES
from .kernel import Info

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tally:
    """How often each move was proposed and accepted; costs no more than a count a round."""

    def __init__(self) -> None:
        self._counts: Tensor | None = None  # [2 * moves]: refused and accepted, by move

    def add(self, info: Info) -> None:
        """Count the steps of a round."""
        counts = torch.bincount(info.move * 2 + info.accepted, minlength=2 * len(MOVES))
        self._counts = counts if self._counts is None else self._counts + counts

    def proposed(self) -> dict[str, int]:
        """How often each move was proposed."""
        return {move: refused + accepted for move, (refused, accepted) in self._pairs().items()}

    def acceptance(self) -> dict[str, float | None]:
        """The share of proposals accepted, by move; None where a move was never proposed."""
        return {
            move: accepted / (refused + accepted) if refused + accepted else None
            for move, (refused, accepted) in self._pairs().items()
        }

    def _pairs(self) -> dict[str, tuple[int, int]]:
        counts = [0] * (2 * len(MOVES)) if self._counts is None else self._counts.tolist()
        return {move: (counts[2 * at], counts[2 * at + 1]) for at, move in enumerate(MOVES)}


class Trace:
    """The steps of a run by chain and step; with `keep_sentences`, also the sentence after each step."""

    def __init__(self, *, keep_sentences: bool = False) -> None:
        self._keep_sentences = keep_sentences
        self._rounds: dict[str, list[Tensor]] = {}
        self._tally = Tally()

    def add(self, info: Info) -> None:
        """Record the steps of a round."""
        columns = {
            "chain": info.chain, "step": info.step, "log_target": info.log_target, "length": info.sentences.lengths,
            "move": info.move, "log_ratio": info.log_ratio, "accepted": info.accepted, "changed": info.changed,
        }  # fmt: skip
        if self._keep_sentences:
            columns["ids"] = info.sentences.ids
        for name, column in columns.items():
            self._rounds.setdefault(name, []).append(column)
        self._tally.add(info)

    def acceptance(self) -> dict[str, float | None]:
        """The share of proposals accepted, by move; None where a move was never proposed."""
        return self._tally.acceptance()

    def _arrange(self, name: str) -> "NDArray[Any]":
        """[chains, steps]: a column of the rounds at its chain and step."""
        if not self._rounds:
            return np.empty((0, 0))
        chain, step, flat = (torch.cat(self._rounds[column]).cpu().numpy() for column in ("chain", "step", name))
        first, last = int(step.min()), int(step.max())
        shape = (int(chain.max()) + 1, last - first + 1)
        if len(flat) != shape[0] * shape[1]:
            raise ValueError("the chains have not made the same steps yet; finish the run first")
        arranged = np.empty((*shape, *flat.shape[1:]), dtype=flat.dtype)
        arranged[chain, step - first] = flat
        return arranged

    @property
    def log_target(self) -> "NDArray[np.float64]":
        """[chains, steps]: log pi after each step, untempered and unnormalised."""
        return self._arrange("log_target")

    @property
    def length(self) -> "NDArray[np.int64]":
        """[chains, steps]: words in the sentence after each step."""
        return self._arrange("length")

    @property
    def move(self) -> "NDArray[np.int64]":
        """[chains, steps], into MOVES."""
        return self._arrange("move")

    @property
    def log_ratio(self) -> "NDArray[np.float64]":
        """[chains, steps]: the log acceptance ratio of each candidate."""
        return self._arrange("log_ratio")

    @property
    def accepted(self) -> "NDArray[np.bool_]":
        """[chains, steps]: whether the candidate was taken."""
        return self._arrange("accepted")

    @property
    def changed(self) -> "NDArray[np.bool_]":
        """[chains, steps]: whether the sentence became another one."""
        return self._arrange("changed")

    @property
    def ids(self) -> "NDArray[np.int64]":
        """[chains, steps, L]: the sentence after each step; needs `keep_sentences`."""
        if not self._keep_sentences:
            raise ValueError("this trace keeps no sentences; make it with keep_sentences=True")
        return self._arrange("ids")

    def to_arviz(self) -> Any:
        """The run as `arviz.InferenceData` with dimensions chain and draw; needs the extra "arviz"."""
        try:
            import arviz
        except ImportError as error:
            raise MissingExtra("arviz", "arviz") from error
        return arviz.from_dict(
            posterior={"log_target": self.log_target, "length": self.length},
            sample_stats={"accepted": self.accepted, "move": self.move, "log_ratio": self.log_ratio},
        )
