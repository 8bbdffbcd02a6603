"""Samples of the production chain against the exact distribution, on a space too large to enumerate every branch of.

Chains start from exact draws of the target, so after any number of steps each of them still is one, and chains are
independent: the counts are multinomial and Pearson's test applies as it stands. FALSE_ALARM is the probability that
one of these tests fails although all is well; seeds are fixed, so it cannot fail at random.
"""

import numpy as np
import pytest
import torch
from scipy import stats

from cgmh.proposals import FillHead, GibbsOver, Mixture, SwapBlocks, WordEdits
from cgmh.sampling import Constant, Kernel, Trace, acceptance, ess, kernel, sample, split_rhat
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from enumeration import all_sentences, keys, target_distribution
from toys import FIRST, ToyModel

torch.set_num_threads(1)

FALSE_ALARM = 1e-4
CHAINS, STEPS, BETA = 20_000, 25, 0.8
CONTROL = 1e-12  # a broken kernel must be this improbable


def space() -> tuple[ToyModel, Sentences]:
    model = ToyModel(6, seed=8, sharpness=0.9)
    return model, all_sentences(range(FIRST, FIRST + 6), 5)  # 1554 sentences


def p_value(built: Kernel, states: Sentences, chains: int = CHAINS, steps: int = STEPS) -> float:
    """Of Pearson's test that the last sentences follow the target; rare sentences are taken together."""
    pi = target_distribution(built, states, BETA)
    starts = np.random.default_rng(0).choice(len(pi), size=chains, p=pi)
    last = None
    for _, last, _ in sample(built, states.select(torch.from_numpy(starts)), steps, 1, Constant(BETA)):  # noqa: B007
        pass
    assert last is not None
    number = {key: at for at, key in enumerate(keys(states))}
    counts = np.bincount([number[key] for key in keys(last.sentences)], minlength=len(pi))
    common = chains * pi >= 5
    observed = np.append(counts[common], counts[~common].sum())
    expected = chains * np.append(pi[common], pi[~common].sum())
    kept = expected > 0
    return float(stats.chisquare(observed[kept], expected[kept] * observed[kept].sum() / expected[kept].sum()).pvalue)


@pytest.mark.parametrize("window", [None, 1])
def test_samples_follow_the_target(window: int | None) -> None:
    model, states = space()
    edits = WordEdits(FillHead(model), (1.0, 2.0, 0.7))
    proposal = Mixture([(edits, 0.8), (SwapBlocks(2), 0.2)])
    assert p_value(Kernel(Target(model), proposal, window), states) > FALSE_ALARM


def test_samples_of_the_gibbs_kernel_follow_the_target() -> None:
    model, states = space()
    target = Target(model)
    assert p_value(Kernel(target, WordEdits(GibbsOver(model, target, 3))), states, 8_000, 12) > FALSE_ALARM


def test_negative_control_a_small_bonus_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a nat on insertions only: the same test must reject."""
    right = acceptance.log_acceptance
    monkeypatch.setattr(kernel, "log_acceptance", lambda *some: right(*some) + 0.5 * (some[2].move == 1))
    model, states = space()
    assert p_value(Kernel(Target(model), WordEdits(FillHead(model))), states) < CONTROL


def test_the_mean_of_log_target_lies_within_its_error() -> None:
    """A few long chains: the mean over draws, against the exact mean, in standard errors by ESS."""
    model, states = space()
    built = Kernel(Target(model), Mixture([(WordEdits(FillHead(model)), 0.8), (SwapBlocks(2), 0.2)]))
    trace = Trace()
    start = states.select(torch.arange(64) * 20)
    for _, _, info in sample(built, start, 600, 2, Constant(BETA)):
        trace.add(info)
    values = trace.log_target[:, 100:]
    pi = target_distribution(built, states, BETA)
    exact = float(pi @ model.log_prob(model.encode(states)).numpy())
    error = values.std() / np.sqrt(ess(values))
    assert abs(values.mean() - exact) < stats.norm.isf(FALSE_ALARM / 2) * error
    assert split_rhat(values) < 1.1
    assert error < 0.1
