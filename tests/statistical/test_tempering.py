"""Two modes with a barrier between them: plain chains stay where they start, tempered ones find the right shares.

All chains start in one mode. They are independent, so the counts of their last sentences are multinomial, and Pearson's
test applies. FALSE_ALARM is the probability that a test fails although all is well; seeds are fixed.
"""

from itertools import product

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor

from cgmh.constraints import LengthBetween
from cgmh.proposals import FillHead, WordEdits
from cgmh.sampling import Exchanges, Kernel, Ladder, acceptance, sample, tempered, tempering
from cgmh.target import Target
from cgmh.text.sentences import Sentences
from enumeration import keys, target_distribution
from toys import FIRST, ToyModel

torch.set_num_threads(1)

FALSE_ALARM = 1e-4
CONTROL = 1e-12  # what is broken must be this improbable
CHAINS, STEPS, WORDS = 600, 300, 8
ONE, OTHER = FIRST, FIRST + 1
GOOD = Ladder.geometric(4, 0.05)


class Camps:
    """A soft constraint: all words of one kind are best; a step from one camp to the other is a long way uphill."""

    name, hard = "camps", False

    def log_factor(self, sentences: Sentences) -> Tensor:
        others = ((sentences.ids == OTHER) & sentences.present).sum(-1).double()
        return 2.0 * (2 * others - WORDS).abs() + 0.2 * others


def built() -> Kernel:
    model = ToyModel(2, seed=1, sharpness=0.1)
    eight = LengthBetween([WORDS], [WORDS], torch.ones(FIRST + 2, dtype=torch.bool))
    return Kernel(Target(model, [eight, Camps()]), WordEdits(FillHead(model), (1.0, 0.0, 0.0)))


def start(chains: int = CHAINS) -> Sentences:
    return Sentences.from_lists([[ONE] * WORDS] * chains, WORDS + 1)


def states() -> Sentences:
    return Sentences.from_lists([list(some) for some in product((ONE, OTHER), repeat=WORDS)], WORDS + 1)


def in_other(sentences: Sentences) -> Tensor:
    return ((sentences.ids == OTHER) & sentences.present).sum(-1) * 2 > WORDS


def p_value(kernel: Kernel, last: Sentences) -> float:
    """Of Pearson's test that the sentences follow the target; rare sentences are taken together."""
    pi = target_distribution(kernel, states(), 1.0)
    number = {key: at for at, key in enumerate(keys(states()))}
    counts = np.bincount([number[key] for key in keys(last)], minlength=len(pi))
    common = len(last) * pi >= 5
    observed = np.append(counts[common], counts[~common].sum())
    expected = len(last) * np.append(pi[common], pi[~common].sum())
    return float(stats.chisquare(observed, expected).pvalue)


def last_of(kernel: Kernel, ladder: Ladder) -> tuple[Sentences, Exchanges]:
    exchanges = Exchanges()
    last = start()
    for _, replicas, info in tempered(kernel, last, STEPS, 1, ladder):
        exchanges.add(info)
        last = replicas.at()
    return last, exchanges


def test_the_modes_have_comparable_shares_and_little_between_them() -> None:
    pi = target_distribution(built(), states(), 1.0)
    others = ((states().ids == OTHER) & states().present).sum(-1).numpy()
    assert 0.3 < pi[in_other(states()).numpy()].sum() < 0.5
    assert pi[others == WORDS // 2].sum() < 1e-4


def test_a_tempered_chain_visits_both_modes_with_the_right_frequencies() -> None:
    kernel = built()
    last, exchanges = last_of(kernel, GOOD)
    assert p_value(kernel, last) > FALSE_ALARM
    rates = exchanges.rates()
    assert all(rate is not None and 0.1 < rate < 0.95 for rate in rates), rates


def test_a_plain_chain_stays_where_it_is() -> None:
    kernel = built()
    *_, (_, state, _) = sample(kernel, start(), STEPS, 1)
    assert float(in_other(state.sentences).double().mean()) < 0.05
    assert p_value(kernel, state.sentences) < CONTROL


def test_a_ladder_with_a_gap_is_seen_in_its_rates() -> None:
    """The two hottest exchange all the time, the coldest hardly ever."""
    _, exchanges = last_of(built(), Ladder((1.0, 0.011, 0.01)))
    first, second = exchanges.rates()
    assert first is not None
    assert second is not None
    assert first < 0.05 < 0.9 < second


def test_a_ladder_that_is_not_hot_enough_does_not_help() -> None:
    kernel = built()
    last, _ = last_of(kernel, Ladder((1.0, 0.9)))
    assert p_value(kernel, last) < CONTROL


def test_negative_control_an_exchange_that_leaves_out_the_soft_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(colder: acceptance.LogFactors, hotter: acceptance.LogFactors, cold: Tensor, hot: Tensor) -> Tensor:
        return (cold - hot) * (hotter.soft[:, 0] - colder.soft[:, 0])

    monkeypatch.setattr(tempering, "log_exchange", forgetful)
    kernel = built()
    assert p_value(kernel, last_of(kernel, GOOD)[0]) < CONTROL
