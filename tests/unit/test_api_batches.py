"""An input is answered as it would be alone, whatever stands beside it."""

from dataclasses import replace
from typing import Any

import pytest

import cgmh
from cgmh import CorrectInput, KeywordInput, ParaphraseInput, Settings, threads
from cgmh.api import solve_each
from cgmh.models.load import Models, load_embedded
from cgmh.remembered import ANSWERS
from cgmh.sampling import shards
from cgmh.settings import Use
from cgmh.tasks import Keywords
from cgmh.text.sentences import Sentences
from llama_toys import toy_llama
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


@pytest.mark.parametrize(
    ("task", "beside"),
    [(task, use) for task in INPUTS for use in (None, "rerank", "target") if (task, use) != ("correct", "rerank")],
)
def test_as_in_a_process_of_its_own(task: str, beside: Use | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many inputs are shared out whole, beside an LLM too. What cannot be answered is told from there, too.

    Not so where chains settle before they go on with an LLM as the target: interrupted, they give what all have found.
    """
    inputs, model, used = [*INPUTS[task][::-1], *INPUTS[task], *INPUTS[task]], tiny(*WORDS), set[bool]()
    if task == "keywords":
        inputs[3:3] = [KeywordInput(("cat", "dog"), max_words=2, forbid=("the", "The"), start="a cat sat dog !")]
    in_processes, big = shards._in_processes, toy_llama() if beside else None

    def watched(*parts: Any, queued: bool = False) -> Any:
        used.add(queued)
        return in_processes(*parts, queued=queued)

    def found() -> list[Any]:
        settings = Settings(n=2, chains=6, steps=20, select="best", temperature=1.0, use=beside)
        outcomes = solve_each(inputs, settings, model=model, big=big)
        ANSWERS.clear()
        return [each.to_dict() if isinstance(each, cgmh.Result) else (type(each), str(each)) for each in outcomes]

    monkeypatch.setattr(shards, "can_fork", lambda: True)
    monkeypatch.setattr(shards, "_in_processes", watched)
    monkeypatch.setattr(threads, "_share", 1)
    alone = found()
    assert not used
    monkeypatch.setattr(threads, "_share", 2)
    assert found() == alone
    assert (True in used) == (beside != "target" or task == "correct")
    assert threads.num_cores() == 2


WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "tempered": {"temper": 2},
    "big target": {"big": lambda texts: [-2.0 * len(text) for text in texts]},
    "redrawn": {"big": lambda texts: [-2.0 * len(text) for text in texts], "use": "resample"},
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", INPUTS)
def test_an_input_with_a_seed_of_its_own_is_answered_as_alone_with_that_seed(task: str, way: str) -> None:
    inputs, model = [*INPUTS[task][:2], INPUTS[task][3]], tiny(*WORDS)
    if task == "paraphrase":
        inputs = [replace(input, start="corrupt-10", match=("kw",)) for input in inputs]
    asked = dict(WAYS[way])
    models = {"model": model, "big": asked.pop("big", None)}
    if task == "correct" and "use" in asked:
        asked["use"] = "target"
    settings = Settings(n=2, chains=4, steps=12, temperature=1.0, **asked)
    seeds = [7, 2**62, 7]
    together = [result.to_dict() for result in solve_each(inputs, settings, seeds=seeds, **models)]
    alone = [
        next(solve_each([input], replace(settings, seed=seed), **models)).to_dict()
        for input, seed in zip(inputs, seeds, strict=True)
    ]
    assert together == alone
    assert [f"seed {seed}" in answer["signature"] for seed, answer in zip(seeds, together, strict=True)] == [True] * 3
    others = [result.to_dict() for result in solve_each(inputs, replace(settings, seed=5), **models)]
    assert all(one["acceptance"] != other["acceptance"] for one, other in zip(together[:2], others[:2], strict=True))


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
