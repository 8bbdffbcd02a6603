"""An input is answered as it would be alone, whatever stands beside it."""

from typing import Any

import pytest

import cgmh
from cgmh import CorrectInput, KeywordInput, ParaphraseInput, Settings
from cgmh.models.load import Models, load_embedded
from cgmh.tasks import Keywords
from cgmh.text.sentences import Sentences
from posed import tiny

WORDS = ("the", "The", "cat", "Cat", "sat", "dog", "not", "never", "saw", "a", ",", "!", "?", ".")
INPUTS: dict[str, list[Any]] = {
    "keywords": [
        KeywordInput(("cat",), max_words=3),
        KeywordInput((",",) * 12, max_words=3),
        KeywordInput(("dog|the cat sat", "zzz|saw"), max_words=12, forbid=("a",)),
        KeywordInput(("yyy",), min_words=5, max_words=5),
        KeywordInput(("sat",), max_words=40),
    ],
    "paraphrase": [
        ParaphraseInput("The cat sat."),
        ParaphraseInput("The dog saw the zzzy, the cat, the dog, a cat and not a dog, the cat sat!"),
        ParaphraseInput("A cat saw 2 cat?"),
        ParaphraseInput('The "cat the dog sat a" dog saw a cat.'),
    ],
    "correct": [
        CorrectInput("teh cat."),
        CorrectInput("The dog saw the cat, the cat saw the the dog, a cat sat, never a dogg sat, the cat not saw!"),
        CorrectInput("cat 2"),
        CorrectInput("A cat cat sat. The Zorb saw!"),
    ],
}


def answers(inputs: list[Any], **asked: Any) -> list[Any]:
    settings = Settings(n=4, chains=6, steps=60, select="best", temperature=1.0)
    return [(result.texts, result.to_dict()) for result in cgmh.solve(inputs, settings, **asked)]


@pytest.mark.parametrize("task", INPUTS)
def test_alone_as_in_any_batch(task: str) -> None:
    """In float64, where no decision hangs on the last digit of a score."""
    inputs, model = INPUTS[task], tiny(*WORDS)
    alone = [answers([input], model=model)[0] for input in inputs]
    assert len({texts[0] for texts, _ in alone}) == len(inputs)
    for order in (range(len(inputs)), reversed(range(len(inputs)))):
        numbers = list(order)
        together = answers([inputs[number] for number in numbers], model=model)
        for number, answer in zip(numbers, together, strict=True):
            assert answer == alone[number]


def test_a_line_of_commas_gives_no_room_to_another() -> None:
    models = Models(load_embedded())
    river, commas = KeywordInput(("river",), max_words=3), KeywordInput((",",) * 20, max_words=3)
    starts = []
    for inputs in ([river], [river, commas]):
        sources = [source for input in inputs for source in Keywords().read(input, models.words.vocabulary)]
        problem = Keywords().pose(sources, models, 4, 0)
        word, comma, stop = (problem.lexicon.add(word) for word in ("river", ",", "."))
        batch = Sentences.from_lists([[word, *[comma] * number, stop] for number in range(25)], 30)
        assert problem.target.possible(batch).tolist() == [number <= 5 for number in range(25)]
        starts.append(problem.start.to_lists()[:4])
    assert starts[0] == starts[1]
