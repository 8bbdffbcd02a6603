"""Means, agreement and p-values, against numbers worked out by hand or elsewhere."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cgmh.evaluation.agreement import alpha, holm, mean_of, paired_p, report, tables
from cgmh.evaluation.ratings import Click, Item, Ratings


def test_alpha_of_krippendorffs_own_example() -> None:
    """Krippendorff (2011), Section C: four observers, interval data: 0.849."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[score for score in unit if score is not None] for unit in zip(*observers, strict=True)]
    assert alpha([unit for unit in units if len(unit) > 1]) == pytest.approx(0.849, abs=5e-4)  # type: ignore[misc]


def test_alpha_of_agreement_of_chance_and_of_nothing() -> None:
    assert alpha([[0, 0], [1, 1], [0.5, 0.5]]) == 1
    generator = np.random.default_rng(0)
    assert alpha(generator.random((4000, 2)).tolist()) == pytest.approx(0, abs=0.05)
    assert alpha([[1, 1], [1, 1]]) is None
    assert alpha([]) is None


def test_p_of_few_pairs_is_exact() -> None:
    differences = [0.5, 0.25, 0.75, -0.25, 1.0]
    sums = [
        sum(sign * value for sign, value in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=5)
    ]
    at_hand = sum(differences)
    assert paired_p(differences) == pytest.approx(np.mean([abs(total) >= at_hand - 1e-12 for total in sums]))
    assert paired_p([0.0, 0.0]) == 1.0
    assert paired_p([1.0]) == 1.0
    assert paired_p([0.0, *differences]) == paired_p(differences)


def test_p_of_many_pairs_is_near_that_of_another_test() -> None:
    differences = np.random.default_rng(1).normal(0.2, 1, 120)
    assert paired_p(differences.tolist()) == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, abs=0.01)


def test_p_values_of_no_difference_are_uniform() -> None:
    generator = np.random.default_rng(2)
    found = [paired_p(generator.normal(0, 1, 9).tolist()) for _ in range(300)]
    assert np.mean(np.array(found) < 0.05) == pytest.approx(0.05, abs=0.035)


def test_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_an_interval_covers_the_mean_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(3)
    hits = 0
    for _ in range(100):
        found = mean_of(generator.beta(2, 2, 40).tolist())
        hits += found.low <= 0.5 <= found.high
    assert 88 <= hits <= 99


def test_the_tables_of_a_study(tmp_path: Path) -> None:
    items = [Item(str(number), f"{system} {number}", (system,)) for number in range(8) for system in ("old", "new")]
    items.append(Item("shared", "same", ("old", "new")))
    ratings = Ratings(items, ["score"], tmp_path / "clicks.jsonl")
    for rater in ("Ann", "Bob"):
        for item in items:
            score = {"old": 0.25, "new": 0.75, "same": 1.0}[item.text.split()[0]]
            ratings.add(Click(rater, item.id, "score", score))
    found = report(ratings)
    assert found.means["old"]["score"].mean == pytest.approx((8 * 0.25 + 1) / 9)  # type: ignore[union-attr]
    assert found.agreement == {"score": 1.0}
    (compared,) = found.comparisons
    assert compared.difference == pytest.approx(-0.5 * 8 / 9)
    assert compared.p == compared.p_holm == pytest.approx(2 / 2**8)
    assert found.raters == {"Ann": 17, "Bob": 17}
    text = tables(found)
    assert "0.33 [" in text
    assert "old – new: -0.444" in text
    assert "Ann 17, Bob 17" in text


def test_groups_have_tables_of_their_own(tmp_path: Path) -> None:
    """The paper's pair of tables: scores by the number of keywords; deviations and p-values."""
    items = [
        Item(f"{group} {number}", f"{system} {group} {number}", (system,), group)
        for group, count in (("1 keyword", 5), ("2 keywords", 7))
        for number in range(count)
        for system in ("old", "new")
    ]
    ratings = Ratings(items, ["score"], tmp_path / "clicks.jsonl")
    generator = np.random.default_rng(4)
    given: dict[str, dict[str, list[float]]] = {}
    for item in items:
        for rater in ("Ann", "Bob", "Cid"):
            score = float(generator.choice([0, 0.25, 0.5, 0.75, 1]))
            ratings.add(Click(rater, item.id, "score", score))
            given.setdefault(item.systems[0], {}).setdefault(item.input, []).append(score)
    found = report(ratings)
    means = {system: {input: np.mean(scores) for input, scores in of.items()} for system, of in given.items()}
    assert list(found.groups) == ["1 keyword", "2 keywords"]
    for group, part in found.groups.items():
        own = {system: np.array([of[input] for input in of if input.startswith(group)]) for system, of in means.items()}
        for system in ("old", "new"):
            assert part.means[system]["score"].mean == pytest.approx(own[system].mean())  # type: ignore[union-attr]
        (compared,) = part.comparisons
        expected = stats.permutation_test(
            (own["old"], own["new"]),
            lambda one, other: np.mean(one - other),
            permutation_type="samples",
            n_resamples=10**6,
        )
        assert compared.p == pytest.approx(expected.pvalue)
    every = [scores for of in given.values() for scores in of.values()]
    assert found.spread["score"].raters == pytest.approx(np.mean([np.std(scores, ddof=1) for scores in every]))
    within = [np.std(list(of.values()), ddof=1) for of in means.values()]
    assert found.spread["score"].systems == pytest.approx(np.mean(within))
    text = tables(found)
    assert "old – new, 2 keywords: " in text
    assert "1 keyword" in text.split("\n\n")[1]


def test_a_study_that_nobody_has_begun(tmp_path: Path) -> None:
    found = report(Ratings([Item("a", "b", ("x",))], ["score"], tmp_path / "clicks.jsonl"))
    assert found.means == {"x": {"score": None}}
    assert "none yet" in tables(found)
