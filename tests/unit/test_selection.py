"""Which of the visited sentences are shown."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from scipy import stats

from cgmh.models.load import load_embedded
from cgmh.readings import read_words
from cgmh.selection import POOL_SIZE, Visit, agreement, choose, per_word, resample, thinned

FALSE_ALARM = 1e-4  # that a test of frequencies fails although all is well; seeds are fixed
SEEDS = 6000


def _ids(*words: str) -> tuple[int, ...]:
    return tuple(load_embedded().vocabulary.ids[word] for word in words)


GOOD = _ids("the", "train", "was", "late", ".")
OTHER = _ids("she", "bought", "some", "bread", ".")
ODD = _ids("late", "the", "was", "train", ".")


def _visit(ids: tuple[int, ...], log_model: float, chain: int = 0, clock: int = 0) -> Visit:
    return Visit(ids, log_model, log_model, chain, clock)


def _fluent(pool: Sequence[Visit]) -> list[float]:
    """How well the embedded model likes each sentence."""
    return read_words([visit.ids for visit in pool], load_embedded()).fluency()


def _unasked(pool: Sequence[Visit]) -> list[float]:
    pytest.fail(f"asked about {len(pool)} sentences")


def test_best_prefers_english_whatever_the_order_of_visits() -> None:
    visits = [_visit(ODD, -30.0), _visit(GOOD, -20.0), _visit(OTHER, -20.0), _visit(GOOD, -20.0)]
    chosen = choose("best", visits, [], _fluent, 3)
    assert {visit.ids for visit in chosen[:2]} == {GOOD, OTHER}
    assert chosen[2].ids == ODD


def test_best_is_what_the_fitness_says() -> None:
    """Not the target, which only says who is looked at: the best POOL_SIZE per word, each once."""
    visits = [_visit((word, word + 1), -float(word), clock=word) for word in range(POOL_SIZE + 100) for _ in range(2)]
    pools: list[list[Visit]] = []

    def fitness(pool: Sequence[Visit]) -> list[float]:
        pools.append(list(pool))
        return [float(visit.ids[0] % 100) for visit in pool]

    chosen = choose("best", visits[::-1], [], fitness, 4)
    assert [[visit.ids[0] for visit in pool] for pool in pools] == [list(range(POOL_SIZE))]
    assert [visit.ids[0] for visit in chosen] == [99, 199, 98, 198]


def test_last_shows_final_states_only_each_once() -> None:
    final = [_visit(ODD, -9.0), _visit(OTHER, -5.0), _visit(ODD, -9.0)]
    chosen = choose("last", [_visit(GOOD, -1.0)], final, _unasked, 5)
    assert [visit.ids for visit in chosen] == [ODD, OTHER]


def test_consensus_is_the_mean_overlap_with_the_others() -> None:
    assert agreement([(1, 2), (1, 2), (3, 4)]) == pytest.approx([0.5, 0.5, 0.0])
    final = [_visit(ids, -1.0) for ids in ((7, 8, 9), (1, 2, 3), (1, 2, 4))]
    assert choose("consensus", [], final, _unasked, 1)[0].ids in {(1, 2, 3), (1, 2, 4)}


def test_answers_that_are_nearly_the_same_come_last() -> None:
    near = _ids("the", "train", "is", "late", ".")
    chosen = choose("best", [_visit(GOOD, -20.0), _visit(near, -20.0), _visit(OTHER, -26.0)], [], _fluent, 2)
    assert OTHER in {visit.ids for visit in chosen}


def test_how_alike_answers_may_be_is_up_to_the_task() -> None:
    visits = [_visit((1, 2, 3, 4), -1.0), _visit((1, 2, 3, 5), -2.0), _visit((6, 7, 8, 9), -3.0)]

    def fitness(pool: Sequence[Visit]) -> list[float]:
        return [visit.log_target for visit in pool]

    for max_in_common, second in ((0.6, (6, 7, 8, 9)), (0.75, (1, 2, 3, 5))):
        chosen = choose("best", visits, [], fitness, 2, max_in_common)
        assert [visit.ids for visit in chosen] == [(1, 2, 3, 4), second]


def test_first_shows_what_was_reached_first_each_once() -> None:
    visits = [_visit(OTHER, -5.0, 1, 7), _visit(GOOD, -9.0, 1, 3), _visit(ODD, -1.0, 0, 3), _visit(GOOD, -9.0, 0, 9)]
    chosen = choose("first", visits, [], _unasked, 2)
    assert [visit.ids for visit in chosen] == [ODD, GOOD]


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
    samples = thinned([*path, _visit((1,), -1, clock=400)], 400, 200)
    assert len(samples) == 200
    assert sum(visit.ids == (2,) for visit in samples) == 150


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


def test_what_every_answer_must_have_does_not_make_them_alike() -> None:
    """Words 1 and 2 were asked for: what else they say differs, so both are shown before the third, which does not."""
    visits = [_visit((1, 2, 3, 4), -1.0), _visit((1, 2, 3, 4, 3), -2.0), _visit((2, 1, 5, 6), -3.0)]

    def fitness(pool: Sequence[Visit]) -> list[float]:
        return [visit.log_target for visit in pool]

    chosen = choose("best", visits, [], fitness, 2, 0.4, given={1, 2})
    assert [visit.ids for visit in chosen] == [(1, 2, 3, 4), (2, 1, 5, 6)]
    chosen = choose("best", visits, [], fitness, 2, 0.4)
    assert [visit.ids for visit in chosen] == [(1, 2, 3, 4), (1, 2, 3, 4, 3)]  # all alike: the next best fills up


def test_the_likeliest_are_ordered_by_what_they_are_asked_for() -> None:
    long = _ids("she", "bought", "some", "bread", "and", "some", "bread", ".")
    visits = [_visit(ODD, -30.0), _visit(long, -27.0), _visit(GOOD, -24.0)]
    chosen = choose("likeliest", visits, [], lambda pool: [per_word(visit) for visit in pool], 2)
    assert [visit.ids for visit in chosen] == [long, GOOD]
