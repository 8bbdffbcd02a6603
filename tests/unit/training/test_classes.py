import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.text.vocabulary import SPECIALS, Vocabulary
from cgmh.training.classes import assign, balanced, cluster, cooccurrence, vectors


def in_turn(closeness: np.ndarray, order: np.ndarray, class_size: int) -> np.ndarray:
    """One word after the other takes its closest class with room."""
    room = np.full(closeness.shape[1], class_size)
    choice = np.zeros(len(closeness), np.int64)
    for word in order:
        choice[word] = next(c for c in np.argsort(-closeness[word], kind="stable") if room[c])
        room[choice[word]] -= 1
    return choice


@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 3), st.integers(0, 2**32))
def test_assignment_is_that_of_choosing_in_turn(words: int, classes: int, spare: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    closeness = generator.normal(size=(words, classes)).round(1)  # with ties
    order, size = generator.permutation(words), -(-words // classes) + spare
    assert np.array_equal(assign(closeness, order, size), in_turn(closeness, order, size))


def test_balanced_classes_find_the_groups() -> None:
    generator = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 10)
    points = np.eye(4)[truth] + generator.normal(size=(40, 4)) * 0.05
    choice = balanced((points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32), 4, 12)
    assert np.bincount(choice, minlength=4).max() <= 12
    pure = sum(np.bincount(truth[choice == c], minlength=4).max() for c in range(4))
    assert pure >= 34


def plain_vocabulary(number: int) -> Vocabulary:
    return Vocabulary([*SPECIALS, *(f"w{at}" for at in range(number))])


def test_cooccurrence_counts_by_hand() -> None:
    vocabulary = plain_vocabulary(3)
    a, b, c = (vocabulary.ids[word] for word in ("w0", "w1", "w2"))
    start, end, width = vocabulary.start, vocabulary.end, len(vocabulary)
    keys, counts = cooccurrence([np.array([a, b, end, a, c, end], np.uint16)], vocabulary)
    by_key = dict(zip(keys.tolist(), counts.tolist(), strict=True))

    def count(word: int, neighbour: int, context: int) -> int:
        return by_key.get((word * 4 + neighbour) * width + context, 0)

    assert count(a, 0, start) == 2  # directly before
    assert count(a, 1, b) == count(a, 1, c) == 1  # directly after
    assert count(c, 2, start) == 1  # two before
    assert count(a, 3, end) == 2  # two after
    assert count(a, 2, b) == 0


def test_vectors_bring_words_of_the_same_use_together() -> None:
    vocabulary = plain_vocabulary(40)
    first = len(SPECIALS)
    generator = np.random.default_rng(0)
    # Even words follow even words, odd words odd words.
    runs = first + 2 * generator.integers(0, 20, (500, 6)) + generator.integers(0, 2, (500, 1))
    stream = np.concatenate([runs, np.full((500, 1), vocabulary.end)], 1).ravel()
    rows = vectors(*cooccurrence([stream], vocabulary), len(vocabulary))[first:]
    closeness = rows @ rows.T
    same = np.add.outer(np.arange(40), np.arange(40)) % 2 == 0
    assert closeness[same].mean() > closeness[~same].mean() + 0.2


@pytest.mark.parametrize(("number", "classes", "size"), [(1, 1, 13), (1, 4, 4), (3, 15, 1), (20, 6, 6), (30, 2, 25)])
def test_every_word_is_kept_once_and_fillers_fill(number: int, classes: int, size: int) -> None:
    vocabulary = plain_vocabulary(number)
    stream = np.array([*range(len(SPECIALS), len(vocabulary)), vocabulary.end] * 3)
    words = cluster([stream], vocabulary, classes, size)
    assert len(words) == classes * size
    assert sorted(word for word in words if "filler" not in word) == sorted(vocabulary.words)
    assert len(Vocabulary(words)) == classes * size


def test_too_little_room_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        cluster([], plain_vocabulary(5), 2, 4)


def test_no_text_at_all_is_possible() -> None:
    assert len(cluster([], plain_vocabulary(4), 4, 4)) == 16
