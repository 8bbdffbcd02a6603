"""ContainsWords and NeverBeside against trying everything; Forbids, LengthBetween and EndsWith by hand."""

import random
from typing import Any

import pytest
import torch

from cgmh.constraints import ContainsWords, EndsWith, Forbids, LengthBetween, NeverBeside
from cgmh.errors import BadInput
from cgmh.laws import check_constraint
from cgmh.text.sentences import Sentences
from spaces import meets, phrase, word

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


@pytest.mark.parametrize("after", [False, True])
def test_never_beside_agrees_with_looking_at_every_place(after: bool) -> None:
    chance = random.Random(5)
    requirements = [[word(3, 4), phrase(5, 6, 7)], [phrase(0, 5)], []]
    unwanted = [{0, 8}, {3}, {3}]
    rows = [[chance.randrange(9) for _ in range(chance.randrange(7))] for _ in range(3000)]
    inputs = [chance.randrange(3) for _ in rows]

    def allowed(words: list[int], input: int) -> bool:
        for (some,) in requirements[input]:
            for start in range(len(words) - len(some) + 1):
                end = start + len(some)
                beside = words[end : end + 1] if after else words[max(start - 1, 0) : start]
                stands = all(words[start + at] in place for at, place in enumerate(some))
                if stands and set(beside) & unwanted[input]:
                    return False
        return True

    expected = [allowed(words, input) for words, input in zip(rows, inputs, strict=True)]
    sentences = Sentences.from_lists(rows, 7, inputs)
    beside = NeverBeside(requirements, unwanted, after=after)
    assert beside.holds(sentences).tolist() == expected
    assert 500 < sum(expected) < 2990
    check_constraint(beside, SENTENCES)
    assert NeverBeside([[]], [{1}], after=after).holds(sentences).all()


def random_requirements(chance: random.Random, words: int, most: int) -> list[Any]:
    def place() -> set[int]:
        return {chance.randrange(words) for _ in range(chance.choice((1, 1, 2)))}

    def requirement() -> list[list[set[int]]]:
        return [[place() for _ in range(chance.choice((1, 1, 1, 2, 3)))] for _ in range(chance.choice((1, 1, 2)))]

    listed = [requirement() for _ in range(chance.randrange(most))]
    if listed and chance.random() < 0.5:
        listed.append(chance.choice(listed))  # a repeated one
    return listed


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_agrees_with_trying_everything(seed: int, ordered: bool) -> None:
    chance = random.Random(seed)
    words = chance.choice((3, 4, 6))
    requirements = [random_requirements(chance, words, chance.choice((2, 4, 5))) for _ in range(5)]
    lists = [[chance.randrange(words) for _ in range(chance.randrange(10))] for _ in range(300)]
    inputs = [number % 5 for number in range(300)]
    expected = [meets(some, requirements[input], ordered=ordered) for some, input in zip(lists, inputs, strict=True)]
    constraint = ContainsWords(requirements, ordered=ordered)
    assert constraint.holds(Sentences.from_lists(lists, 10, inputs)).tolist() == expected


def test_nine_entangled_requirements() -> None:
    requirements = [[word(number, number + 1) for number in range(1, 10)]]
    sentences = Sentences.from_lists([list(range(1, 10)), [10, *range(2, 10)], [1, 1, *range(3, 10)]], 12)
    assert ContainsWords(requirements).holds(sentences).tolist() == [True, True, False]


def test_too_many_entangled_requirements_are_refused() -> None:
    """Telling them apart takes time and memory that double with each."""
    requirements = [[word(number, number + 1) for number in range(1, 12)]]
    with pytest.raises(BadInput, match="11 of the words and phrases have words in common; at most 10 of them"):
        ContainsWords(requirements)
    ContainsWords(requirements, ordered=True)  # in order there is nothing to search


def test_what_the_documentation_says() -> None:
    new_york = ContainsWords([[word(1), phrase(1, 2)]])  # "new" and "new york"
    sentences = Sentences.from_lists([[1, 2], [1, 2, 1], [1, 1, 2], [2, 1, 3, 1]], 6)
    assert new_york.holds(sentences).tolist() == [False, True, True, False]
    twice = ContainsWords([[phrase(1, 1), phrase(1, 1)]])
    assert twice.holds(Sentences.from_lists([[1, 1, 1], [1, 1, 1, 1], [1, 1, 2, 1, 1]], 6)).tolist() == [
        False,
        True,
        True,
    ]


def test_nothing_required() -> None:
    sentences = Sentences.from_lists([[1], []], 3, [0, 1])
    for ordered in (False, True):
        assert ContainsWords([[], []], ordered=ordered).holds(sentences).all()
        some = ContainsWords([[word(2)], []], ordered=ordered)
        assert some.holds(sentences).tolist() == [False, True]


def test_a_requirement_without_words_is_an_error() -> None:
    for empty in ([], [[]], [[set()]]):
        with pytest.raises(ValueError, match="at least one"):
            ContainsWords([[empty]])
