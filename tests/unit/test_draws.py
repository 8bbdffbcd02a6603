"""Draws: keyed, uniform, independent of the batch."""

from hashlib import blake2b

import numpy as np
import pytest
import torch
from scipy import stats

from cgmh import draws as module
from cgmh.draws import ROUND, SITES, Draws

FALSE_ALARM = 1e-6  # of each statistical check here; the seeds are fixed
ROWS = torch.arange(20_000)


def mix(z: int) -> int:
    """The finaliser of splitmix64, in plain integers."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def test_numbers_are_those_of_the_definition() -> None:
    """A change here changes every run that someone has a signature of."""
    golden = 0x9E3779B97F4A7C15
    chains, steps = [0, 1, 2**40], [0, 3, 5]
    for seed in (0, 7, 2**63 + 1, -3):
        draws = Draws(seed, torch.tensor(chains), torch.tensor(steps))
        for site in ("accept", "a site of my own"):
            key = int.from_bytes(blake2b(site.encode(), digest_size=8).digest(), "big")
            expected = []
            for chain, step in zip(chains, steps, strict=True):
                state = mix((mix((2 * seed + 1) % 2**64) + chain * golden) % 2**64)
                state = mix((mix((state + step * golden) % 2**64) + key) % 2**64)
                expected.append(((state >> 13) + 0.5) / 2**51)
            assert draws.uniform(site).tolist() == expected


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    together = Draws(1, ROWS, ROWS * 3)
    some = torch.tensor([5, 900, 5])
    for site in ("accept", "unlisted"):
        alone = Draws(1, some, some * 3).uniform(site)
        assert torch.equal(alone, together.uniform(site)[some])
        assert torch.equal(alone, together.select(some).uniform(site))
        assert torch.equal(alone, Draws(1, some, some).ahead(some * 3 - 2, 4)[2].uniform(site))


def test_a_batch_may_have_a_seed_for_each_chain() -> None:
    chains, steps, seeds = torch.tensor([0, 3, 3, 1]), torch.tensor([2, 2, 5, 0]), torch.tensor([0, 7, 2**62, 7])
    together = Draws(seeds, chains, steps).ahead(steps, 2)[1].uniform("accept")
    for row, seed in enumerate(seeds.tolist()):
        alone = Draws(seed, chains[row : row + 1], steps[row : row + 1]).ahead(steps[row : row + 1], 2)[1]
        assert float(together[row]) == float(alone.uniform("accept")[0])


def test_what_all_chains_draw_together_depends_on_seed_and_step_alone() -> None:
    draws = Draws(1, ROWS, ROWS // 100)
    together = draws.uniform(ROUND)
    assert together.unique().shape == (200,)
    assert torch.equal(together, together[::100].repeat_interleave(100))
    assert torch.equal(Draws(1, ROWS[:1], ROWS[:1]).ahead(ROWS[:1], 200)[199].uniform(ROUND), together[-1:])
    assert torch.equal(draws.select(ROWS[500:]).uniform(ROUND), together[500:])
    assert not bool(torch.isin(Draws(2, ROWS, ROWS // 100).uniform(ROUND), together).any())
    for site in SITES:  # it is nobody's own number
        assert not bool(torch.isin(draws.uniform(site), together).any())
    again = draws.again(1).uniform(ROUND)
    assert again.unique().shape == (200,)
    assert not bool(torch.isin(again, together).any())
    assert stats.kstest(Draws(0, 0 * ROWS, ROWS).uniform(ROUND).numpy(), "uniform").pvalue > FALSE_ALARM


def test_listed_and_unlisted_sites_are_computed_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Draws(3, ROWS, ROWS).uniform("accept")
    monkeypatch.setattr(module, "_PLACES", {})
    assert torch.equal(Draws(3, ROWS, ROWS).uniform("accept"), listed)


def test_uniform_and_independent_across_seeds_chains_steps_and_sites() -> None:
    zeros = torch.zeros_like(ROWS)
    ways = {
        "chains": Draws(0, ROWS, zeros).uniform("accept"),
        "steps": Draws(0, zeros, ROWS).uniform("accept"),
        "both": Draws(0, ROWS, ROWS).uniform("accept"),
        "seeds": torch.cat([Draws(seed, ROWS[:20], zeros[:20]).uniform("accept") for seed in range(1000)]),
        "sites": torch.cat([Draws(0, ROWS[:1300], zeros[:1300]).uniform(site) for site in SITES]),
    }
    for numbers in ways.values():
        values = numbers.numpy()
        assert 0 < values.min() < values.max() < 1
        assert stats.kstest(values, "uniform").pvalue > FALSE_ALARM
        assert stats.pearsonr(values[:-1], values[1:]).pvalue > FALSE_ALARM
    for site in SITES:
        if site != "accept":
            other = Draws(0, ROWS, ROWS).uniform(site)
            assert stats.pearsonr(ways["both"], other).pvalue > FALSE_ALARM


def test_choose_follows_the_weights() -> None:
    log_weights = torch.tensor([-torch.inf, 0.0, -1.0, -torch.inf, 2.0, -torch.inf]).expand(len(ROWS), 6)
    chosen = Draws(2, ROWS, ROWS).choose(log_weights, "word")
    counts = torch.bincount(chosen, minlength=6)
    assert counts[[0, 3, 5]].tolist() == [0, 0, 0]
    expected = torch.softmax(log_weights[0], -1)[[1, 2, 4]].double() * len(ROWS)
    assert stats.chisquare(counts[[1, 2, 4]], expected / expected.sum() * len(ROWS)).pvalue > FALSE_ALARM


class Extreme(Draws):
    """The largest or the smallest number there is."""

    def __init__(self, value: float) -> None:
        self.value = value

    def uniform(self, site: str) -> torch.Tensor:
        return torch.full((1,), self.value, dtype=torch.float64)


def test_several_draws_of_one_row_are_those_of_equal_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    log_weights = torch.randn(7, 30, generator=torch.Generator().manual_seed(1)) * 4
    log_weights[2] = -torch.inf
    draws = Draws(3, torch.arange(28), torch.zeros(28, dtype=torch.int64))
    wanted = draws.choose(log_weights.repeat_interleave(4, 0), "word")
    assert len(set(wanted.tolist())) > 3
    assert wanted[8:12].tolist() == [0] * 4
    assert torch.equal(draws.choose(log_weights, "word"), wanted)
    monkeypatch.setattr("cgmh.draws.ROWS_OF_WEIGHTS", 3)
    assert torch.equal(draws.choose(log_weights, "word"), wanted)
    none = draws.select(torch.arange(0))
    assert none.choose(log_weights[:0], "word").tolist() == []


def test_the_ends_of_the_unit_interval_are_safe() -> None:
    for value in (2.0**-52, 1 - 2.0**-52):
        for total in (1.0, 1 / 3, 1e-30, 0.1 + 0.2, 7.0):
            log_weights = torch.tensor([[-torch.inf, total, total, -torch.inf]], dtype=torch.float64).log()
            log_weights[0, [0, 3]] = -torch.inf
            assert int(Extreme(value).choose(log_weights, "word")) in (1, 2)
        for high in (1, 2, 3, 1000, 2**31 - 1):
            assert 0 <= int(Extreme(value).integer(torch.tensor([high]), "at")) < high


def test_integer_covers_its_range_evenly() -> None:
    drawn = Draws(4, ROWS, ROWS).integer(torch.full_like(ROWS, 7), "at")
    assert stats.chisquare(torch.bincount(drawn, minlength=7)).pvalue > FALSE_ALARM
    assert Draws(4, ROWS, ROWS).integer(torch.ones_like(ROWS), "at").max() == 0


def test_accept() -> None:
    log_ratio = torch.tensor([0.0, 1.0, torch.inf, -torch.inf, torch.nan])
    for chain in range(50):
        accepted = Draws(0, torch.full((5,), chain), torch.arange(5)).accept(log_ratio, "accept")
        assert accepted.tolist() == [True, True, True, False, False]
    share = Draws(0, ROWS, ROWS).accept(torch.full((len(ROWS),), -1.0), "accept").double().mean()
    assert abs(float(share) - np.exp(-1)) < 6 * np.sqrt(0.25 / len(ROWS))
