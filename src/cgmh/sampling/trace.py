"""What a run leaves behind, and how far its chains have mixed.

The diagnostics take any array of [chains, draws]. Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), Bayesian
Data Analysis, third edition, Sections 11.4 and 11.5; Geyer (1992), Practical Markov Chain Monte Carlo; Vehtari et al.
(2021), Rank-normalization, folding, and localization.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from ..errors import MissingExtra
from ..proposals.protocols import MOVES
from .kernel import Info

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Column:
    """An array [chains, steps] of a trace, by the name of the attribute."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, trace: "Trace", owner: type) -> "NDArray[Any]":
        return trace.column(self._name)


class Trace:
    """The steps of a run by chain and step; with `keep_sentences`, also the sentence after each step."""

    log_target = Column()  # log pi after the step, untempered and unnormalised
    length = Column()  # words in the sentence after the step
    move = Column()  # into MOVES
    log_ratio = Column()  # the log acceptance ratio of the candidate
    accepted = Column()  # whether the candidate was taken
    changed = Column()  # whether the sentence became another one

    def __init__(self, *, keep_sentences: bool = False) -> None:
        self._keep_sentences = keep_sentences
        self._rounds: dict[str, list[Tensor]] = {}

    def add(self, info: Info) -> None:
        """Record the steps of a round."""
        names = ("chain", "step", "log_target", "log_ratio", "accepted", "changed")
        columns: dict[str, Tensor] = {name: getattr(info, name) for name in names}
        columns |= {"length": info.sentences.lengths, "move": info.candidate.move}
        if self._keep_sentences:
            columns["ids"] = info.sentences.ids
        for name, column in columns.items():
            self._rounds.setdefault(name, []).append(column)

    def acceptance(self) -> dict[str, float | None]:
        """The share of proposals accepted, by move; None where a move was never proposed."""
        if not self._rounds:
            return dict.fromkeys(MOVES)
        move, accepted = self._flat("move"), self._flat("accepted")
        return {
            name: float(accepted[move == at].mean()) if (move == at).any() else None for at, name in enumerate(MOVES)
        }

    def _flat(self, name: str) -> "NDArray[Any]":
        """[N]: a column of all steps, in the order in which they were added."""
        return torch.cat(self._rounds[name]).cpu().numpy()

    def column(self, name: str) -> "NDArray[Any]":
        """[chains, steps]: a column with each step at its chain and number."""
        if not self._rounds:
            return np.empty((0, 0))
        chain, step, flat = (self._flat(column) for column in ("chain", "step", name))
        first, last = int(step.min()), int(step.max())
        shape = (int(chain.max()) + 1, last - first + 1)
        if len(flat) != shape[0] * shape[1]:
            raise ValueError("the chains have not made the same steps yet; finish the run first")
        arranged = np.empty((*shape, *flat.shape[1:]), dtype=flat.dtype)
        arranged[chain, step - first] = flat
        return arranged

    @property
    def ids(self) -> "NDArray[np.int64]":
        """[chains, steps, L]: the sentence after each step; needs `keep_sentences`."""
        if not self._keep_sentences:
            raise ValueError("this trace keeps no sentences; make it with keep_sentences=True")
        return self.column("ids")

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


def _split(values: "NDArray[Any]") -> "NDArray[np.float64]":
    """[2 chains, draws // 2]: each chain in two halves; of an odd number the middle draw is left out."""
    values = np.asarray(values, dtype=np.float64)
    half = values.shape[1] // 2 if values.ndim == 2 else 0
    if half < 2:
        raise ValueError("give an array of [chains, draws] with at least 4 draws")
    return np.concatenate([values[:, :half], values[:, -half:]])


def split_rhat(values: "NDArray[Any]") -> float:
    """Split R-hat of [chains, draws]: sqrt(((n-1)/n W + B/n) / W); 1 when every half chain looks like the rest.

    nan if no chain ever moves: then there is nothing to compare.
    """
    halves = _split(values)
    num = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean()
    between_over_num = halves.mean(axis=1).var(ddof=1)
    if within == 0:
        return float("nan")
    return float(np.sqrt(((num - 1) / num * within + between_over_num) / within))


def ess(values: "NDArray[Any]") -> float:
    """Effective number of independent draws for the mean of [chains, draws], over split chains.

    Chains times draws over 1 + 2 sum of autocorrelations, where the sum stops by Geyer's initial monotone sequence.
    nan if no chain ever moves.
    """
    halves = _split(values)
    chains, num = halves.shape
    covariance = _autocovariance(halves)  # [chains, draws], divided by the number of draws
    within = covariance[:, 0].mean() * num / (num - 1)
    if within == 0:
        return float("nan")
    total = within * (num - 1) / num + halves.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance.mean(axis=0) * num / (num - 1)) / total  # [draws]
    correlation[0] = 1.0
    pairs = correlation[: num - num % 2].reshape(-1, 2).sum(axis=1)  # of an exact chain positive and falling
    stop = int(np.argmax(pairs < 0)) if bool((pairs < 0).any()) else len(pairs)
    time = -1 + 2 * np.minimum.accumulate(pairs[:stop]).sum()
    # An antithetic chain may beat independent draws; the bound is that of Vehtari et al. (2021)
    time = max(float(time), 1 / np.log10(chains * num))
    return float(chains * num / time)


def _autocovariance(values: "NDArray[np.float64]") -> "NDArray[np.float64]":
    """[chains, draws]: by lag, divided by the number of draws."""
    num = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * num, axis=1)
    covariance: NDArray[np.float64] = np.fft.irfft(spectrum * np.conj(spectrum), n=2 * num, axis=1)[:, :num] / num
    return covariance
