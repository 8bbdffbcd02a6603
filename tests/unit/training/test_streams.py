from collections import Counter

import numpy as np
import torch

from cgmh.training.streams import Epoch, Stream

END = 1


def stream(number: int, first: int, longest: int = 5) -> Stream:
    """Sentences of 1 to 6 words; each word occurs once."""
    ids: list[int] = []
    word = first
    for at in range(number):
        ids += [*range(word, word + at % 6 + 1), END]
        word += at % 6 + 1
    return Stream(np.array(ids, np.int32), END, longest, "cpu")


def words_of(batches: list[torch.Tensor]) -> Counter[int]:
    return Counter(int(word) for ids in batches for word in ids.flatten())


def test_epoch_takes_every_sentence_as_often_as_its_weight_says() -> None:
    parts = [stream(60, 10), stream(60, 1000)]
    assert len(parts[0]) == 50  # the sentences of six words are too long
    counts = words_of(list(Epoch(parts, [1.0, 2.0], 20, np.random.default_rng(0)).batches()))
    every = words_of(list(parts[0].by_length(20)))
    assert {word: count for word, count in counts.items() if word < 1000} == every
    assert {count for word, count in counts.items() if word >= 1000} == {2}
    part = words_of(list(Epoch(parts[:1], [0.5], 20, np.random.default_rng(0)).batches()))
    assert 0.2 * every.total() < part.total() < 0.8 * every.total()


def test_epoch_goes_on_from_any_batch_in_the_same_order() -> None:
    parts = [stream(60, 10)]
    first, second = (Epoch(parts, [1.4], 20, np.random.default_rng([3, 0])) for _ in range(2))
    whole, rest = list(first.batches()), list(second.batches(4))
    assert len(whole) == len(first)
    assert all(torch.equal(a, b) for a, b in zip(whole[4:], rest, strict=True))
    other = list(Epoch(parts, [1.4], 20, np.random.default_rng([3, 1])).batches())
    assert [ids.tolist() for ids in other] != [ids.tolist() for ids in whole]


def test_a_batch_holds_whole_sentences_of_one_length() -> None:
    part = stream(60, 10)
    for ids in part.by_length(12):
        assert ids.numel() <= 12
        assert bool((ids[1:] - ids[:-1] == 1).all())
