"""Beam search against every sequence there is, for a decoder small enough to list them."""

from itertools import product

import pytest
import torch
from torch import Tensor

from cgmh.evaluation.rivals.beam import Hypothesis, State, beam_search

START, END, NUM_WORDS, MAX_WORDS = 0, 1, 5, 4


class Chain:
    """Next words by the last word and by the source; the state holds the source's number."""

    def __init__(self, seed: int, num_sources: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.log_probs = torch.randn(num_sources, NUM_WORDS, NUM_WORDS, generator=generator).log_softmax(-1)
        self.begin: State = (torch.arange(num_sources)[None, :, None],)

    def __call__(self, last: Tensor, state: State) -> tuple[Tensor, State, Tensor]:
        return self.log_probs[state[0][0, :, 0], last].clone(), state, 10 + last

    def search(self, beam: int, length_power: float, banned: tuple[int, ...] = (START,)) -> list[Hypothesis]:
        return beam_search(
            self, self.begin, start=START, end=END, banned=banned, beam=beam, max_words=MAX_WORDS,
            length_power=length_power,
        )  # fmt: skip

    def best(self, source: int, length_power: float) -> tuple[list[int], float]:
        """By enumeration."""
        found = []
        for length in range(MAX_WORDS):
            for words in product(range(2, NUM_WORDS), repeat=length):
                steps = zip((START, *words), (*words, END), strict=True)
                total = sum(float(self.log_probs[source, one, other]) for one, other in steps)
                found.append((total / (length + 1) ** length_power, list(words)))
        score, words = max(found)
        return words, score


@pytest.mark.parametrize("length_power", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_wide_beam_finds_the_best_of_all(seed: int, length_power: float) -> None:
    chain = Chain(seed, 3)
    for source, found in enumerate(chain.search(200, length_power)):
        words, score = chain.best(source, length_power)
        assert found.ids == words
        assert found.log_prob == pytest.approx(score, rel=1e-5)


def test_one_row_takes_the_likeliest_word_at_each_step() -> None:
    chain = Chain(1, 2)
    for source, found in enumerate(chain.search(1, 0.0)):
        last, words = START, []
        while len(words) < MAX_WORDS:
            likely = chain.log_probs[source, last].clone()
            likely[START] = -torch.inf
            last = int(likely.argmax())
            if last == END:
                break
            words.append(last)
        assert found.ids == words


def test_sources_do_not_meet() -> None:
    together = Chain(2, 4).search(3, 1.0)
    for source, found in enumerate(together):
        alone = Chain(2, 4)
        alone.begin = (alone.begin[0][:, [source]],)
        assert alone.search(3, 1.0) == [found]


def test_what_is_banned_is_not_written() -> None:
    for found in Chain(3, 8).search(3, 1.0, (START, 2)):
        assert not {START, 2} & set(found.ids)


def test_places_belong_to_the_words() -> None:
    for found in Chain(4, 8).search(4, 1.0):
        assert found.places == [10 + last for last in (START, *found.ids)][:-1]


def test_without_an_end_the_likeliest_open_sequence_counts() -> None:
    (found,) = Chain(5, 1).search(3, 1.0, (START, END))
    assert len(found.ids) == MAX_WORDS
