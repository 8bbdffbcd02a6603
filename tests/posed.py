"""What a task really poses, on a model small enough to list every sentence that its target allows."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cgmh.models.load import Models
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.target import Target
from cgmh.tasks import Problem
from cgmh.text.edits import Ids
from cgmh.text.sentences import Sentences
from recurrent_toys import tiny_model


@lru_cache(maxsize=16)
def tiny(*words: str) -> RecurrentModel:
    """A model of the production class over these words, in float64."""
    with TemporaryDirectory() as directory:
        return tiny_model(Path(directory), words=words)


def pose(task: Any, inputs: Sequence[Any], words: Sequence[str], chains: int = 2) -> Problem:
    """The problem of some inputs that a session would pose."""
    models = Models(tiny(*words))
    sources = [source for input in inputs for source in task.read(input, models.words.vocabulary)]
    return task.pose(sources, models, chains, 0)


def states_of(problem: Problem, target: Target, blocks: Sequence[str] = ()) -> Sentences:
    """Every sentence of the vocabulary and of the words that the input brings along, if the target allows it.

    `blocks` are phrases that every allowed sentence contains, which shortens the search.
    """
    vocabulary = problem.lexicon.vocabulary
    known = [id for id in range(len(vocabulary)) if id not in vocabulary.special_ids]
    phrases = [tuple(map(problem.lexicon.add, block.split())) for block in blocks]
    capacity, rows, inputs = problem.start.capacity, [], []
    for input, own in enumerate(problem.own):
        listed = sorted(set(_containing(phrases, [*known, *sorted(own)], capacity - 1)))
        batch = Sentences.from_lists(listed, capacity, [input] * len(listed))
        possible = batch.select(target.possible(batch).nonzero()[:, 0]).to_lists()
        rows += possible
        inputs += [input] * len(possible)
    return Sentences.from_lists(rows, capacity, inputs)


def _containing(phrases: Sequence[Ids], words: Sequence[int], longest: int) -> Iterator[Ids]:
    """All sentences of up to so many words in which the phrases stand, each at a place of its own."""
    room = longest - sum(map(len, phrases))
    for number in range(room + 1):
        for others in product(words, repeat=number):
            for places in permutations(range(number + len(phrases)), len(phrases)):
                rest = iter(others)
                at = dict(zip(places, phrases, strict=True))
                yield tuple(id for place in range(number + len(phrases)) for id in at.get(place) or (next(rest),))
