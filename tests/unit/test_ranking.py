"""Which sentences are shown."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cgmh.models import load as choice
from cgmh.ranking import POOL, Visit, choose, consensus, expected_gleu, judge, occupancy, resample, thinned
from cgmh.text.gleu import compare, ngrams, score

FALSE_ALARM = 1e-4  # that a test of frequencies fails although all is well; seeds are fixed
SEEDS = 6000


def _ids(*words: str) -> tuple[int, ...]:
    return tuple(choice.as_model(None).vocabulary.ids[word] for word in words)


GOOD = _ids("the", "train", "was", "late", ".")
OTHER = _ids("she", "bought", "some", "bread", ".")
ODD = _ids("late", "the", "was", "train", ".")


def _visit(ids: tuple[int, ...], log_model: float, chain: int = 0, clock: int = 0) -> Visit:
    return Visit(ids, log_model, log_model, chain, clock)


def _judged(pool: Sequence[Visit]) -> list[float]:
    """The embedded model's own judgement."""
    return judge([visit.ids for visit in pool], choice.load_embedded())


def _unasked(pool: Sequence[Visit]) -> list[float]:
    pytest.fail(f"asked about {len(pool)} sentences")


def test_best_prefers_english_whatever_the_order_of_visits() -> None:
    visits = [_visit(ODD, -30.0), _visit(GOOD, -20.0), _visit(OTHER, -20.0), _visit(GOOD, -20.0)]
    chosen = choose("best", visits, [], _judged, 3)
    assert {visit.ids for visit in chosen[:2]} == {GOOD, OTHER}
    assert chosen[2].ids == ODD


def test_best_is_what_the_fitness_says() -> None:
    """Not the target, which only says who is looked at: the best POOL a word, each once."""
    visits = [_visit((word, word + 1), -float(word), clock=word) for word in range(POOL + 100) for _ in range(2)]
    pools: list[list[Visit]] = []

    def fitness(pool: Sequence[Visit]) -> list[float]:
        pools.append(list(pool))
        return [float(visit.ids[0] % 100) for visit in pool]

    chosen = choose("best", visits[::-1], [], fitness, 4)
    assert [[visit.ids[0] for visit in pool] for pool in pools] == [list(range(POOL))]
    assert [visit.ids[0] for visit in chosen] == [99, 199, 98, 198]


def test_last_shows_final_states_only_each_once() -> None:
    final = [_visit(ODD, -9.0), _visit(OTHER, -5.0), _visit(ODD, -9.0)]
    chosen = choose("last", [_visit(GOOD, -1.0)], final, _unasked, 5)
    assert [visit.ids for visit in chosen] == [ODD, OTHER]


def test_consensus_is_the_mean_overlap_with_the_others() -> None:
    assert consensus([(1, 2), (1, 2), (3, 4)]) == pytest.approx([0.5, 0.5, 0.0])
    final = [_visit(some, -1.0) for some in ((7, 8, 9), (1, 2, 3), (1, 2, 4))]
    assert choose("consensus", [], final, _unasked, 1)[0].ids in {(1, 2, 3), (1, 2, 4)}


def test_answers_that_are_nearly_the_same_come_last() -> None:
    near = _ids("the", "train", "is", "late", ".")
    chosen = choose("best", [_visit(GOOD, -20.0), _visit(near, -20.0), _visit(OTHER, -26.0)], [], _judged, 2)
    assert OTHER in {visit.ids for visit in chosen}


def test_thinned_is_where_each_chain_was() -> None:
    """Worked by hand: 12 steps, at 12, 10 and 8; chain 1 was nowhere before step 9; visits come in any order."""
    visits = [
        _visit((1,), -1, chain=0, clock=3), _visit((2,), -1, chain=0, clock=8), _visit((3,), -1, chain=0, clock=11),
        _visit((3,), -1, chain=0, clock=12), _visit((4,), -1, chain=1, clock=9), _visit((4,), -1, chain=1, clock=12),
        _visit((5,), -1, chain=2, clock=1), _visit((5,), -1, chain=2, clock=12),
    ]  # fmt: skip
    wanted = [(2,), (2,), (3,), (4,), (4,), (5,), (5,), (5,)]
    assert sorted(visit.ids for visit in thinned(visits, 12, 3)) == wanted
    assert sorted(visit.ids for visit in thinned(visits[::-1], 12, 3)) == wanted
    assert sorted(visit.ids for visit in thinned(visits, 12, 1)) == [(3,), (4,), (5,)]
    # In the first half nothing is taken, however often one asks.
    assert (1,) not in {visit.ids for visit in thinned([*visits[:1], _visit((2,), -1, 0, 7), *visits[1:]], 12, 100)}


def test_thinned_counts_a_chain_by_the_time_it_spent() -> None:
    """Two states, one held three times as long: three times as many samples."""
    clocks = range(0, 400, 4)
    path = [_visit((1 + at % 2,), -1, clock=clock + at % 2) for clock in clocks for at in range(2)]
    found = thinned([*path, _visit((1,), -1, clock=400)], 400, 200)
    assert len(found) == 200
    assert sum(visit.ids == (2,) for visit in found) == 150


def test_occupancy_worked_by_hand() -> None:
    """10 steps, from the fourth on: chain 0 stays at its start for 2 more, chain 1 is long gone from it."""
    visits = [
        _visit((2,), -1, chain=0, clock=6), _visit((1,), -1, chain=0, clock=9), _visit((3,), -1, chain=1, clock=2),
        _visit((2,), -1, chain=1, clock=7), _visit((4,), -1, chain=1, clock=10),
    ]  # fmt: skip
    wanted = {(1,): (2 + 1) / 12, (2,): (3 + 3) / 12, (3,): 3 / 12}
    for some in (visits, visits[::-1]):
        assert occupancy(some, [(1,), (1,)], 10, 4) == pytest.approx(wanted)
    assert occupancy([], [(1,), (7, 8)], 10, 4) == pytest.approx({(1,): 0.5, (7, 8): 0.5})


@given(
    paths=st.lists(st.dictionaries(st.integers(1, 30), st.integers(1, 3)), min_size=1, max_size=4),
    steps=st.integers(1, 30),
    data=st.data(),
)
def test_occupancy_is_what_a_count_of_every_step_finds(
    paths: list[dict[int, int]], steps: int, data: st.DataObject
) -> None:
    burn = data.draw(st.integers(0, steps - 1))
    starts = [(chain % 2,) for chain in range(len(paths))]
    visits = [
        _visit((word,), -1, chain, clock) for chain, path in enumerate(paths) for clock, word in path.items()
        if clock <= steps
    ]  # fmt: skip
    times: Counter[tuple[int, ...]] = Counter()
    for start, path in zip(starts, paths, strict=True):
        here = start
        for time in range(steps):
            here = (path[time],) if time in path else here
            times[here] += time >= burn
    found = occupancy(data.draw(st.permutations(visits)), starts, steps, burn)
    assert found == pytest.approx({ids: time / times.total() for ids, time in times.items() if time})
    assert sum(found.values()) == pytest.approx(1)


SAMPLES = [(1, 2, 3, 4), (1, 2, 5, 4), (9, 2, 5, 4, 6)]


def test_expected_gleu_is_the_mean_over_the_references() -> None:
    source, shares = (1, 7, 3, 4), [0.5, 0.3, 0.1]

    def gleu(hypothesis: tuple[int, ...], reference: tuple[int, ...]) -> float:
        return float(score(compare(ngrams(source), ngrams(hypothesis), ngrams(reference)), smooth=True))

    wanted = [
        sum(share * gleu(one, other) for share, other in zip(shares, SAMPLES, strict=True)) / 0.9 for one in SAMPLES
    ]
    assert expected_gleu(source, SAMPLES, shares) == pytest.approx(wanted)
    assert len({round(value, 6) for value in wanted}) == 3
    assert wanted[0] < 100
    assert expected_gleu(source, SAMPLES[:1], [0.2]) == pytest.approx([100])


def test_expected_gleu_counts_a_sample_by_its_share() -> None:
    """The best one is the one that most agree with, and that depends on how many they are."""
    for best in range(3):
        shares = [0.8 if number == best else 0.1 for number in range(3)]
        values = expected_gleu((1, 7, 3, 4), SAMPLES, shares)
        assert max(range(3), key=values.__getitem__) == best


def test_expected_gleu_looks_at_the_first_ones_only() -> None:
    source, shares = (1, 7, 3, 4), [0.5, 0.4, 0.1]
    found = expected_gleu(source, SAMPLES, shares, most=2)
    assert found[:2] == pytest.approx(expected_gleu(source, SAMPLES[:2], shares[:2]))
    assert found[2] == -1
    assert min(found[:2]) > 0


WEIGHTS = (0.5, 0.25, 0.15, 0.06, 0.04)


def _samples() -> tuple[list[Visit], torch.Tensor]:
    """Five sentences; the first of them three times over, and all weights on a scale of their own."""
    visits = [_visit((number,), -1) for number in (0, 0, 0, 1, 2, 3, 4)]
    weights = torch.tensor([0.2, 0.2, 0.1, *WEIGHTS[1:]], dtype=torch.float64)
    return visits, weights.log() - 700.0


def _draws(place: int, n: int = 2) -> np.ndarray:
    """How often each sentence was drawn at a place."""
    visits, log_weights = _samples()
    drawn = [resample(visits, log_weights, n, seed)[0][place].ids[0] for seed in range(SEEDS)]
    return np.bincount(drawn, minlength=5)


def _p_value(counts: np.ndarray, shares: Sequence[float]) -> float:
    return float(stats.chisquare(counts, np.array(shares) * counts.sum()).pvalue)


def test_the_first_draw_follows_the_weights() -> None:
    counts = _draws(0)
    assert _p_value(counts, WEIGHTS) > FALSE_ALARM
    # Negative controls: neither how often a sentence was sampled nor slightly other weights.
    assert _p_value(counts, (3 / 7, 1 / 7, 1 / 7, 1 / 7, 1 / 7)) < 1e-12
    assert _p_value(counts, (0.44, 0.28, 0.17, 0.07, 0.04)) < 1e-6


def test_the_second_draw_is_from_what_is_left() -> None:
    second = [
        sum(first * weight / (1 - first) for at, first in enumerate(WEIGHTS) if at != place)
        for place, weight in enumerate(WEIGHTS)
    ]
    counts = _draws(1)
    assert _p_value(counts, second) > FALSE_ALARM
    assert _p_value(counts, WEIGHTS) < 1e-12


def test_resampled_sentences_are_distinct_and_repeat_with_the_seed() -> None:
    visits, log_weights = _samples()
    for seed in range(20):
        chosen, _ = resample(visits, log_weights, 9, seed)
        assert sorted(visit.ids[0] for visit in chosen) == [0, 1, 2, 3, 4]
        assert chosen == resample(visits, log_weights, 9, seed)[0]
    assert len({resample(visits, log_weights, 1, seed)[0][0].ids for seed in range(20)}) > 1


@pytest.mark.parametrize(
    ("weights", "size"),
    [([1, 1, 2], 16 / 6), ([3, 3, 3, 3], 4), ([1, 0, 0], 1), ([5], 1), ([1, 1e-9], 1), ([4, 1, 1], 2)],
)
@pytest.mark.parametrize("scale", [0.0, -800.0, 800.0])
def test_effective_samples_by_hand(weights: list[float], size: float, scale: float) -> None:
    """(sum of weights)^2 / sum of squares: of how many independent samples they are worth."""
    log_weights = torch.tensor(weights, dtype=torch.float64).log() + scale
    visits = [_visit((number,), -1) for number in range(len(weights))]
    _, effective = resample(visits, log_weights, 1, 0)
    assert effective == pytest.approx(size, rel=1e-6)
    assert math.isfinite(effective)


def test_an_impossible_sample_is_not_drawn() -> None:
    visits = [_visit((number,), -1) for number in range(4)]
    log_weights = torch.tensor([-torch.inf, -3.0, -torch.inf, -2.0])
    for seed in range(50):
        assert {visit.ids[0] for visit in resample(visits, log_weights, 4, seed)[0]} == {1, 3}
