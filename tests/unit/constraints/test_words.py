"""Forbids, LengthBetween, EndsWith, PythonConstraint, and the target that multiplies them."""

import torch

from cgmh.constraints import EndsWith, Forbids, LengthBetween, PythonConstraint
from cgmh.laws import check_constraint
from cgmh.target import LogFactors, Target
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences
from cgmh.text.vocabulary import SPECIALS, Vocabulary
from spaces import Favours
from toys import ToyModel

SENTENCES = Sentences.from_lists([[3, 4], [4], [3, 0, 9], [], [5, 50]], 5, [0, 1, 0, 1, 1])


def test_forbids() -> None:
    assert Forbids([[4, 4], [9, 50]]).holds(SENTENCES).tolist() == [False, True, True, True, False]
    assert Forbids([[0], [0]]).holds(SENTENCES).tolist() == [True, True, False, True, True]  # padding is no word
    assert Forbids([[], []]).holds(SENTENCES).all()


def test_length_counts_what_the_table_says() -> None:
    counts = torch.tensor([True, True, True, True, False, True])  # 4 is a comma; ids past the table count
    between = LengthBetween([1, 0], [1, 1], counts)
    assert between.holds(SENTENCES).tolist() == [True, True, False, True, False]
    assert LengthBetween([0, 0], [2, 1]).holds(SENTENCES).tolist() == [True, True, False, True, False]


def test_ends_with() -> None:
    assert EndsWith([4, 9]).holds(SENTENCES).tolist() == [True, True, True, False, False]
    assert EndsWith([0]).holds(SENTENCES).tolist() == [False] * 5
    assert EndsWith([3]).log_factor(SENTENCES).tolist() == [-torch.inf] * 5


def test_python_constraints_see_words() -> None:
    lexicon = Lexicon(Vocabulary([*SPECIALS, "a", "b"]))
    ids = [lexicon.add(word) for word in ("a", "Zürich", "b")]
    sentences = Sentences.from_lists([ids, ids[:1], ids[:1]], 5)
    asked = []

    def function(words: list[str]) -> float:
        asked.append(words)
        return float(len(words))

    soft = PythonConstraint("length", function, lexicon, hard=False, weight=-0.5)
    assert soft.log_factor(sentences).tolist() == [-1.5, -0.5, -0.5]
    assert asked == [["a", "Zürich", "b"], ["a"]]  # a sentence that comes twice is asked about once
    hard = PythonConstraint("city", lambda words: "Zürich" in words, lexicon, hard=True)
    assert hard.log_factor(sentences).tolist() == [0.0, -torch.inf, -torch.inf]


def test_the_target_multiplies() -> None:
    target = Target(ToyModel(4), [EndsWith([4, 9, 50]), Favours(), Forbids([[], [50]])])
    assert target.possible(SENTENCES).tolist() == [True, True, True, False, False]
    assert target.soft(SENTENCES).shape == (5, 1)
    assert target.broken(SENTENCES) == ["ending", "forbids"]
    full = Sentences.from_lists([[4] * 5, [4] * 4], 5)
    assert target.possible(full).tolist() == [False, True]  # an insertion must still fit


def test_beta_tempers_soft_factors_only() -> None:
    factors = LogFactors(torch.tensor([0.0, -torch.inf]), torch.tensor([[-4.0, 1.0], [-2.0, 0.0]]))
    assert factors.total(0.5).tolist() == [-1.5, -torch.inf]
    assert factors.total(torch.tensor([2.0, 0.0])).tolist() == [-6.0, -torch.inf]
    assert factors.select(torch.tensor([1])).soft.tolist() == [[-2.0, 0.0]]


def test_ends_with_per_input() -> None:
    each = EndsWith([{4, 9}, {50}])
    assert each.holds(SENTENCES).tolist() == [True, False, True, False, True]
    assert EndsWith([{4}, set()]).holds(SENTENCES).tolist() == [True, False, False, False, False]
    assert EndsWith([{4, 9}, {4, 9}]).holds(SENTENCES).tolist() == EndsWith([4, 9]).holds(SENTENCES).tolist()
    # a table is as long as the largest id of any input: beyond it nothing ends a sentence
    assert EndsWith([{3}, {4}]).holds(Sentences.from_lists([[9], [5], [3], [4]], 2, [0, 1, 1, 1])).tolist() == [
        False,
        False,
        False,
        True,
    ]
    for ends in (each, EndsWith([set(), {0}])):
        check_constraint(ends, SENTENCES)


def test_no_ending_at_all_allows_nothing() -> None:
    assert not EndsWith([]).holds(SENTENCES).any()
