"""Alternatives proposes what a group makes of a sentence, at every place, and tells how likely that was."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cgmh.draws import SITES, Draws
from cgmh.proposals import MOVES, Alternatives, Candidate, Group, View
from cgmh.text.sentences import Sentences
from phrases import ALL, SHAPES, pair
from spaces import OUT, A, B, C, D

torch.set_num_threads(1)

words = st.sampled_from([A, B, C, OUT])
phrases = st.lists(words, min_size=1, max_size=4).map(tuple)
numbers = st.integers(1, 9).map(float)


@st.composite
def some_groups(draw: st.DrawFn) -> Group:
    some = draw(st.lists(phrases, min_size=2, max_size=4, unique=True))
    shares = draw(st.lists(numbers, min_size=len(some), max_size=len(some)))
    return Group(tuple(some), tuple(shares), draw(numbers))


def propose(groups: list[list[Group]], rows: Sentences, seed: int = 0) -> Candidate:
    every = torch.arange(len(rows))
    view = View(rows, None, every, torch.ones(len(rows), dtype=torch.float64))
    return Alternatives(groups).propose(Draws(seed, every, every), view)


def places(group: Group, sentence: list[int]) -> list[tuple[int, int]]:
    """Which phrase stands where."""
    return [
        (number, at)
        for number, phrase in enumerate(group.phrases)
        for at in range(len(sentence))
        if tuple(sentence[at : at + len(phrase)]) == phrase
    ]


def steps(group: Group, sentence: list[int]) -> list[tuple[tuple[int, ...], float, float]]:
    """What the group makes of a sentence, and how likely that is there and back, the group being given."""
    found = []
    for old, at in places(group, sentence):
        for new, phrase in enumerate(group.phrases):
            if new == old:
                continue
            after = [*sentence[:at], *phrase, *sentence[at + len(group.phrases[old]) :]]
            there = group.shares[new] / (sum(group.shares) - group.shares[old]) / len(places(group, sentence))
            back = group.shares[old] / (sum(group.shares) - group.shares[new]) / len(places(group, after))
            found.append((tuple(after), round(math.log(there), 9), round(math.log(back), 9)))
    return found


def shown(candidate: Candidate) -> list[tuple[tuple[int, ...], float, float]]:
    """The sentences proposed and the log probabilities there and back; nothing where the step was impossible."""
    rows = zip(
        candidate.sentences.to_lists(), candidate.log_forward.tolist(), candidate.log_reverse.tolist(), strict=True
    )
    return [(tuple(some), round(there, 9), round(back, 9)) for some, there, back in rows if back > -math.inf]


@settings(max_examples=60)
@given(
    groups=st.lists(some_groups(), max_size=3),
    sentence=st.lists(words, min_size=1, max_size=5),
    capacity=st.integers(5, 9),
    seed=st.integers(0, 99),
)
def test_candidates_are_those_of_a_plain_search(
    groups: list[Group], sentence: list[int], capacity: int, seed: int
) -> None:
    total = sum(group.weight for group in groups)
    expected, likely = set(), set()
    for group in groups:
        fitting = [step for step in steps(group, sentence) if len(step[0]) <= capacity]
        expected |= set(fitting)
        # missed with probability below 1e-9
        likely |= {step for step in fitting if group.weight / total * math.exp(step[1]) > 0.07}
    found = set(shown(propose([groups], Sentences.from_lists([sentence] * 300, capacity), seed)))
    assert likely <= found <= expected


def test_every_step_is_as_likely_as_it_says() -> None:
    groups = [pair((B, C), (C,), 1.0), Group(((A,), (B,), (D, A)), (5.0, 2.0, 1.0), 3.0)]
    candidate = propose([groups], Sentences.from_lists([[A, B, C]] * 4000, 6))
    assert not (candidate.log_reverse == -torch.inf).any()
    counts = Counter(map(tuple, candidate.sentences.to_lists()))
    # The pair stands at two places; of the three, A may become B (2 of 3) or D A, and B may become A (5 of 6) or D A.
    shares = {
        (A, C): 1 / 8,
        (A, B, B, C): 1 / 8,
        (B, B, C): 3 / 8 * 2 / 3,
        (D, A, B, C): 3 / 8 * 1 / 3,
        (A, A, C): 3 / 8 * 5 / 6,
        (A, D, A, C): 3 / 8 * 1 / 6,
    }
    assert set(counts) == set(shares)
    for some, share in shares.items():
        assert abs(counts[some] / 4000 - share) < 6 * math.sqrt(share / 4000)


@given(shares=st.tuples(numbers, numbers), times=st.integers(2, 9))
@settings(max_examples=20)
def test_the_shares_of_two_and_their_scale_do_not_matter(shares: tuple[float, float], times: int) -> None:
    rows = Sentences.from_lists([[A, B, A], [B], [C, A]] * 10, 6)
    even, uneven = (propose([[Group(((A,), (B, C)), some, 1.0)]], rows) for some in ((1.0, 1.0), shares))
    assert shown(even) == shown(uneven)
    three = [Group(((A,), (B,), (C, C)), tuple(scale * some for some in (*shares, 0.5)), 1.0) for scale in (1, times)]
    one, other = (propose([[group]], rows) for group in three)
    assert shown(one) == shown(other)


def test_a_phrase_with_nearly_all_the_shares_leaves_the_rest_to_the_others() -> None:
    """The rest is so little that one less the share would be 0."""
    group = Group(((A,), (B,), (C,)), (1.0, 3e-20, 1e-20), 1.0)
    candidate = propose([[group]], Sentences.from_lists([[A]] * 200, 3))
    assert set(shown(candidate)) == {
        ((B,), round(math.log(3 / 4), 9), 0.0),
        ((C,), round(math.log(1 / 4), 9), 0.0),
    }


@pytest.mark.parametrize(
    ("shape", "sentence", "after", "move", "same"),
    [
        ("replace", [C, A, C], [C, B, C], "replace", (1, 1)),
        ("insert before a word", [A, B, C], [A, C, B, C], "insert", (1, 2)),
        ("insert after a word", [B, A, B], [B, A, C, B], "insert", (2, 1)),
        ("insert between two", [A, B], [A, C, B], "insert", (1, 1)),
        ("delete", [B, C, A], [B, A], "delete", (1, 1)),
        ("split", [B, C, B], [B, A, B, B], "insert", (1, 1)),
        ("join", [A, B, A, B], [A, C, B], "delete", (1, 1)),
        ("swap", [C, A, B, C], [C, B, A, C], "swap", (1, 1)),
        ("three words", [B, A, B, C], [B, C, A, A], "replace", (1, 0)),
        ("a word doubled", [B, A, B], [B, A, A, B], "insert", (2, 1)),
        ("nothing or either before a word", [C, B, A, D], [C, C, A, D], "replace", (1, 2)),
        ("either order or one word", [D, A, B], [D, B, A], "swap", (1, 0)),
        ("either order or one word", [D, A, B], [D, C], "delete", (1, 0)),
        ("each begins with the one before", [D, A, B, D], [D, A, D], "delete", (2, 1)),
        ("each begins with the one before", [D, A, B, D], [D, A, B, C, B, D], "insert", (2, 2)),
        ("around a word, before it, after it", [D, A, B], [D, A, B, A], "insert", (3, 0)),
        ("around a word, before it, after it", [D, A, B], [D, B, A], "swap", (1, 0)),
    ],
)
def test_moves_by_hand(shape: str, sentence: list[int], after: list[int], move: str, same: tuple[int, int]) -> None:
    """The kind of the move, and how many words are the same at either end."""
    candidate = propose([SHAPES[shape]], Sentences.from_lists([sentence] * 80, 7))
    row = candidate.sentences.to_lists().index(after)  # a group may apply elsewhere too
    assert MOVES[int(candidate.move[row])] == move
    assert (int(candidate.same_left[row]), int(candidate.same_right[row])) == same


def test_inputs_have_groups_of_their_own() -> None:
    groups = [
        [pair((A,), (B,))],
        [],
        [pair((A,), (C,)), pair((A,), (D,))],
        [Group(((A,), (B, B), (C, C), (D, D)), (1.0, 1.0, 1.0, 1.0), 1.0)],
    ]
    candidate = propose(groups, Sentences.from_lists([[A]] * 160, 3, [0, 1, 2, 3] * 40))
    found = candidate.sentences.to_lists()
    assert [set(map(tuple, found[number::4])) for number in range(4)] == [
        {(B,)},
        {(A,)},
        {(C,), (D,)},
        {(B, B), (C, C), (D, D)},
    ]
    assert (candidate.log_reverse[1::4] == -torch.inf).all()
    assert candidate.log_forward.isfinite().all()


def test_an_alternative_that_does_not_fit_is_no_step() -> None:
    candidate = propose(
        [[Group(((A,), (A, B, C), (B,)), (1.0, 1.0, 1.0), 1.0)]], Sentences.from_lists([[A, D]] * 40, 3)
    )
    short = torch.tensor([some == [B, D] for some in candidate.sentences.to_lists()])
    assert 0 < int(short.sum()) < 40
    assert {tuple(some) for some in candidate.sentences.to_lists()} == {(B, D), (A, D)}
    assert torch.equal(candidate.log_reverse > -torch.inf, short)


@pytest.mark.parametrize(
    ("group", "message"),
    [
        (Group((), (), 1.0), "two or more distinct phrases"),
        (Group(((A,),), (1.0,), 1.0), "two or more distinct phrases"),
        (pair((A,), (A,)), "two or more distinct phrases"),
        (Group(((A,), (B,), (A,)), (1.0, 1.0, 1.0), 1.0), "two or more distinct phrases"),
        (Group(((A,), (B,)), (1.0,), 1.0), "each with a share"),
        (pair((), (A,)), "at least one word"),
        *((pair((A,), (B,), weight), "positive") for weight in (0.0, -1.0, math.inf, math.nan)),
        *((Group(((A,), (B,)), (1.0, share), 1.0), "positive") for share in (0.0, -1.0, math.inf, math.nan)),
    ],
)
def test_what_is_no_group_is_an_error(group: Group, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Alternatives([[], [*ALL, group]])


def test_sites_are_listed() -> None:
    """A site that is not costs a call of its own at every step."""

    class Noting(Draws):
        def uniform(self, site: str) -> torch.Tensor:
            noted.add(site)
            return super().uniform(site)

    noted: set[str] = set()
    every = torch.arange(2)
    view = View(Sentences.from_lists([[A], [B]], 4), None, every, torch.ones(2))
    Alternatives([ALL]).propose(Noting(0, every, every), view)
    assert noted == {"group", "group at", "alternative"}
    assert noted <= set(SITES)
