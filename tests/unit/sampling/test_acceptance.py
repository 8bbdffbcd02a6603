"""The ratio and its stages, by hand."""

import math

import torch

from cgmh.proposals import Candidate
from cgmh.sampling.acceptance import least_gain, log_acceptance, log_exchange, log_screen, log_second
from cgmh.target import LogFactors
from cgmh.text.sentences import Sentences


def factors(hard: float, *soft: float) -> LogFactors:
    return LogFactors(torch.tensor([hard]), torch.tensor([soft]))


def candidate(log_forward: float, log_reverse: float) -> Candidate:
    place = torch.tensor([0])
    forward, reverse = torch.tensor([log_forward]), torch.tensor([log_reverse])
    return Candidate(Sentences.from_lists([[3]], 2), place, place, place, place, forward, reverse)


BETA = torch.tensor([0.5])
STEP, BACK = candidate(-1.0, -3.0), candidate(-3.0, -1.0)


def test_the_ratio_weighs_both_sentences_and_both_directions() -> None:
    x, y = factors(0.0, -8.0, 1.0), factors(0.0, -5.0, 2.0)
    assert log_acceptance(x, y, STEP, BETA).item() == 0.5 * (-3.0 - -7.0) + (-3.0 - -1.0)
    assert log_acceptance(y, x, BACK, BETA).item() == -log_acceptance(x, y, STEP, BETA).item()
    assert log_acceptance(x, factors(-math.inf, -5.0, 2.0), STEP, BETA).item() == -math.inf


def test_two_stages_make_the_whole_ratio() -> None:
    gain = torch.tensor([3.0])
    for trust in (0.0, 0.5, 1.0):
        first = log_screen(torch.zeros(1), gain, STEP, BETA, trust)
        assert first.item() == trust * (0.5 * 3.0 - 2.0)
        assert log_screen(torch.zeros(1), -gain, BACK, BETA, trust).item() == -first.item()
        assert (first + log_second(torch.tensor([1.25]), first)).item() == 1.25
    assert log_screen(torch.tensor([-math.inf]), gain, STEP, BETA).item() == -math.inf


def test_the_least_gain_is_the_one_with_which_the_first_stage_passes() -> None:
    for trust in (0.5, 1.0):
        least = least_gain(torch.tensor([-0.25]), STEP, BETA, trust)
        assert log_screen(torch.zeros(1), least, STEP, BETA, trust).item() == -0.25
    assert least_gain(torch.tensor([-0.25]), STEP, BETA, 0.0).item() == -math.inf  # whatever it gains, it passes


def test_replicas_exchange_by_what_their_places_would_gain() -> None:
    colder, hotter = factors(0.0, -8.0, 1.0), factors(0.0, -5.0, 2.0)
    cold, hot = torch.tensor([1.0]), torch.tensor([0.25])
    assert log_exchange(colder, hotter, cold, hot).item() == 0.75 * (-3.0 - -7.0)
    assert log_exchange(hotter, colder, cold, hot).item() == -0.75 * (-3.0 - -7.0)
