"""Edits of a batch against edits of lists."""

import random

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cgmh.text.sentences import Sentences, by_length, rows_within

CAPACITY = 8


def batch(rows: int = 200) -> tuple[list[list[int]], Sentences]:
    chance = random.Random(0)
    lists = [[chance.randrange(1, 9) for _ in range(chance.randrange(1, CAPACITY))] for _ in range(rows)]
    return lists, Sentences.from_lists(lists, CAPACITY, [number % 3 for number in range(rows)])


def places(lists: list[list[int]], extra: int = 0) -> list[int]:
    chance = random.Random(1)
    return [chance.randrange(len(words) + extra) for words in lists]


def padding_is_zero(sentences: Sentences) -> bool:
    return bool((sentences.present | (sentences.ids == 0)).all())


def test_lists_and_back() -> None:
    lists, sentences = batch()
    assert sentences.to_lists() == lists
    assert (len(sentences), sentences.capacity, sentences.device.type) == (200, CAPACITY, "cpu")
    assert sentences.inputs[:4].tolist() == [0, 1, 2, 0]
    assert Sentences.from_lists([], 3).to_lists() == []
    assert Sentences.from_lists([[1]], 3).inputs.tolist() == [0]
    with pytest.raises(ValueError, match="4 words does not fit a capacity of 3"):
        Sentences.from_lists([[1] * 4], 3)


def test_replace() -> None:
    lists, sentences = batch()
    at = places(lists)
    edited = sentences.replace(torch.tensor(at), torch.full((200,), 99))
    assert edited.to_lists() == [[*words[:m], 99, *words[m + 1 :]] for words, m in zip(lists, at, strict=True)]
    assert sentences.to_lists() == lists  # edits are pure


def test_insert_always_fits() -> None:
    lists, sentences = batch()
    at = places(lists, extra=1)
    edited = sentences.insert(torch.tensor(at), torch.full((200,), 99))
    assert edited.to_lists() == [[*words[:s], 99, *words[s:]] for words, s in zip(lists, at, strict=True)]
    assert padding_is_zero(edited)


def test_delete() -> None:
    lists, sentences = batch()
    at = places(lists)
    edited = sentences.delete(torch.tensor(at))
    assert edited.to_lists() == [[*words[:m], *words[m + 1 :]] for words, m in zip(lists, at, strict=True)]
    assert padding_is_zero(edited)


def test_edits_of_all_kinds_in_one_pass() -> None:
    lists, sentences = batch()
    at, word = torch.tensor(places(lists)), torch.arange(200) + 50
    growth = torch.arange(200) % 3 - 1
    edited = sentences.edit(at, word, growth)
    for change, each in ((-1, sentences.delete(at)), (0, sentences.replace(at, word)), (1, sentences.insert(at, word))):
        mine = growth == change
        assert torch.equal(edited.ids[mine], each.ids[mine])
        assert torch.equal(edited.lengths[mine], each.lengths[mine])


def test_a_full_row_can_be_shortened() -> None:
    full = Sentences.from_lists([[1, 2, 3]], 3)
    assert full.delete(torch.tensor([0])).to_lists() == [[2, 3]]
    assert full.delete(torch.tensor([2])).to_lists() == [[1, 2]]


def test_swap_blocks() -> None:
    lists, sentences = batch()
    chance = random.Random(2)
    triples = []
    for words in lists:
        cuts = sorted(chance.randrange(len(words) + 1) for _ in range(3))
        triples.append((cuts[0], cuts[1] - cuts[0], cuts[2] - cuts[1]))
    edited = sentences.swap_blocks(*(torch.tensor(some) for some in zip(*triples, strict=True)))
    for words, after, (at, first, second) in zip(lists, edited.to_lists(), triples, strict=True):
        middle, end = at + first, at + first + second
        assert after == [*words[:at], *words[middle:end], *words[at:middle], *words[end:]]


def test_select_where_differs_and_words() -> None:
    lists, sentences = batch(4)
    assert sentences.select(torch.tensor([2, 2, 0])).to_lists() == [lists[2], lists[2], lists[0]]
    other = sentences.replace(torch.zeros(4, dtype=torch.int64), torch.tensor([77, int(sentences.ids[1, 0]), 77, 77]))
    assert sentences.differs(other).tolist() == [True, False, True, True]
    mixed = sentences.where(torch.tensor([True, True, False, False]), other)
    assert mixed.to_lists() == [lists[0], lists[1], [77, *lists[2][1:]], [77, *lists[3][1:]]]
    assert sentences.word_at(sentences.lengths - 1).tolist() == [words[-1] for words in lists]
    assert sentences.word_at(torch.full((4,), CAPACITY + 5)).tolist() == [int(row[-1]) for row in sentences.ids]
    longer = Sentences.from_lists([[1], [1, 0]], 3)
    assert longer.differs(longer.select(torch.tensor([1, 0]))).all()  # a word 0 is not padding


@given(st.lists(st.integers(1, 50), max_size=30), st.integers(1, 200))
def test_groups_by_length_hold_every_place_once_and_no_more_words_than_allowed(lengths: list[int], words: int) -> None:
    groups = by_length(lengths, words)
    assert sorted(at for group in groups for at in group) == list(range(len(lengths)))
    for group in groups:
        assert group == sorted(group)
        assert len(group) == 1 or len(group) * max(lengths[at] for at in group) <= words
    longest = [max(lengths[at] for at in group) for group in groups]
    assert longest == sorted(longest)


def test_what_is_alike_in_length_is_together() -> None:
    assert by_length([3, 90, 4, 100, 5], 200) == [[0, 2, 4], [1, 3]]
    assert by_length([3, 3, 3], 9) == [[0, 1, 2]]
    assert by_length([], 9) == []


def test_the_longest_sentence_can_be_read_alone() -> None:
    assert rows_within({"cpu": 100, "cuda": 1000}, 30, "cpu") == 3
    assert rows_within({"cpu": 100, "cuda": 1000}, 30, torch.device("cuda")) == 33
    assert rows_within({"cpu": 100, "cuda": 1000}, 300, "meta") == 1


def test_parts_of_different_capacity_are_joined_in_the_widest() -> None:
    parts = [[[1, 2], [3]], [[4, 5, 6, 7]], [[8]]]
    joined = Sentences.concatenate(
        [Sentences.from_lists(rows, 5 + at, [at] * len(rows)) for at, rows in enumerate(parts)]
    )
    assert joined.to_lists() == [row for rows in parts for row in rows]
    assert (joined.capacity, joined.inputs.tolist()) == (7, [0, 0, 1, 2])
    assert padding_is_zero(joined)
