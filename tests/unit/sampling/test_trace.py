"""Trace and the diagnostics on what it holds."""

import sys

import arviz
import numpy as np
import pytest
import torch

from cgmh.errors import MissingExtra
from cgmh.proposals import FillHead, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Kernel, Trace, ess, sample, split_rhat
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from spaces import A, B, C
from toys import ToyModel

STEPS = 40


def traced(*, swap: bool = True) -> Trace:
    model = ToyModel(4)
    edits = WordEdits(FillHead(model))
    proposal = Mixture([(edits, 0.8), (SwapBlocks(1), 0.2)]) if swap else edits
    start = Sentences.from_lists([[A, B], [C], [B, B, B]], 6)
    trace = Trace(keep_sentences=True)
    for _, _, info in sample(Kernel(Target(model), proposal), start, STEPS, 0):
        trace.add(info)
    return trace


def test_a_trace_is_by_chain_and_step() -> None:
    plain = traced()
    assert plain.log_target.shape == plain.length.shape == plain.accepted.shape == (3, STEPS)
    assert plain.ids.shape == (3, STEPS, 6)
    model = ToyModel(4)
    last = Sentences.from_lists(
        [row[:n].tolist() for row, n in zip(plain.ids[:, -1], plain.length[:, -1], strict=True)], 6
    )
    np.testing.assert_allclose(plain.log_target[:, -1], model.log_prob(model.encode(last)))


def test_acceptance_by_move() -> None:
    trace = traced()
    rates = trace.acceptance()
    for number, move in enumerate(("replace", "insert", "delete", "swap")):
        mine = trace.move == number
        assert rates[move] == pytest.approx(trace.accepted[mine].mean())
    assert traced(swap=False).acceptance()["swap"] is None
    assert Trace().acceptance() == dict.fromkeys(("replace", "insert", "delete", "swap"))


def test_an_unfinished_or_empty_trace() -> None:
    assert Trace().log_target.shape == (0, 0)
    model = ToyModel(4)
    trace = Trace()
    start = Sentences.from_lists([[A, B], [C]], 6)
    rounds = sample(Kernel(Target(model), WordEdits(FillHead(model))), start, STEPS, 0, first_step=torch.tensor([0, 3]))
    for _ in range(4):
        trace.add(next(rounds)[2])
    with pytest.raises(ValueError, match="finish the run"):
        _ = trace.log_target
    with pytest.raises(ValueError, match="keep_sentences"):
        _ = trace.ids


def test_to_arviz() -> None:
    trace = traced()
    data = trace.to_arviz()
    assert data.posterior.sizes == {"chain": 3, "draw": STEPS}
    np.testing.assert_array_equal(data.posterior["length"], trace.length)
    assert set(data.sample_stats) == {"accepted", "move", "log_ratio"}


def test_without_arviz_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(MissingExtra, match=r"pip install 'cgmh\[arviz\]'"):
        traced().to_arviz()


def autoregressive(chains: int, draws: int, share: float, seed: int) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(chains, draws))
    values = noise.copy()
    for at in range(1, draws):
        values[:, at] = share * values[:, at - 1] + noise[:, at]
    return values


@pytest.mark.parametrize(("chains", "draws", "share"), [(4, 500, 0.9), (2, 401, 0.5), (3, 100, -0.6), (8, 50, 0.0)])
def test_diagnostics_agree_with_arviz(chains: int, draws: int, share: float) -> None:
    values = autoregressive(chains, draws, share, seed=1)
    assert split_rhat(values) == pytest.approx(float(arviz.rhat(values, method="split")), rel=1e-9)
    assert ess(values) == pytest.approx(
        float(arviz.ess(values, method="mean")), rel=0.05
    )  # it ends the sum a term later


def test_split_rhat_by_hand() -> None:
    """Halves (0, 2) and (4, 6): W = 2, variance of the means 8, so R-hat = sqrt((1/2 * 2 + 8) / 2)."""
    assert split_rhat(np.array([[0, 2, 4, 6]])) == pytest.approx(np.sqrt(4.5))


def test_ess_of_independent_draws_is_their_number() -> None:
    assert ess(autoregressive(10, 2000, 0.0, seed=2)) == pytest.approx(20_000, rel=0.05)
    expected = 20_000 * (1 - 0.8) / (1 + 0.8)
    assert ess(autoregressive(10, 2000, 0.8, seed=3)) == pytest.approx(expected, rel=0.15)


def test_chains_that_never_move_have_no_diagnostics() -> None:
    assert np.isnan(split_rhat(np.ones((2, 10))))
    assert np.isnan(ess(np.ones((2, 10))))
    for bad in (np.ones(10), np.ones((2, 3))):
        with pytest.raises(ValueError, match="at least 4 draws"):
            ess(bad)


def test_diagnostics_take_a_trace() -> None:
    trace = traced()
    assert 0 < ess(trace.length) < 3 * STEPS * 10
    assert split_rhat(torch.from_numpy(trace.log_target).numpy()) > 0.9
