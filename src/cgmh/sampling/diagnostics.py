"""How far chains have mixed, from any number that each step leaves behind.

Gelman, Carlin, Stern, Dunson, Vehtari and Rubin (2013), Bayesian Data Analysis, third edition, Sections 11.4 and 11.5;
Geyer (1992), Practical Markov Chain Monte Carlo; Vehtari et al. (2021), Rank-normalization, folding, and localization.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    found: NDArray[np.float64] = np.fft.irfft(spectrum * np.conj(spectrum), n=2 * num, axis=1)[:, :num] / num
    return found
