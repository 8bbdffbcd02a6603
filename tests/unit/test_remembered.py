"""What was answered before: the same answer wherever the sentence stands, and only if everything is the same."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

import cgmh
from cgmh.constraints import forbids
from cgmh.inputs import CorrectInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.text.functions import FunctionModel
from cgmh.remembered import ANSWERS, Remembered, key_of
from cgmh.result import Result, Sentence
from cgmh.settings import Settings
from cgmh.tasks.correct import Correct
from cgmh.tasks.keywords import Keywords

QUICK = Settings(n=2, chains=4, steps=12, temperature=1.0, select="threshold", context=())
FIRST, SECOND = "He go to the schol.", "She likes it."


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    ANSWERS.clear()
    yield
    ANSWERS.clear()


def correct(text: str, settings: Settings = QUICK, **asked: object) -> Result:
    (result,) = cgmh.solve([CorrectInput(text, **asked)], settings)  # type: ignore[arg-type]
    return result


def test_a_sentence_that_was_seen_is_not_sampled_again() -> None:
    alone = correct(FIRST)
    hits = ANSWERS.hits
    assert len(ANSWERS) == 1
    again = correct(FIRST)
    assert ANSWERS.hits == hits + 1
    assert again == alone
    assert again is not alone
    again.notes["protected"].append("mine")
    again.acceptance.clear()
    assert correct(FIRST) == alone


def test_in_another_text_its_edits_stand_elsewhere() -> None:
    correct(FIRST)
    text = f"  {SECOND} {FIRST}"
    recalled = correct(text)
    assert recalled.edits
    ANSWERS.clear()
    fresh = correct(text)
    assert recalled.to_dict() == fresh.to_dict()
    assert all(text[edit.start : edit.end] == edit.original for edit in (*recalled.edits, *recalled.doubtful))


@pytest.mark.parametrize(
    "other",
    [
        lambda: correct("He go to the schol ."),  # typed otherwise
        lambda: correct("HE GO TO THE SCHOL."),
        lambda: correct(FIRST, protect=("names",)),
        lambda: correct(FIRST, paper=True),
        lambda: correct(FIRST, replace(QUICK, seed=1)),
        lambda: correct(FIRST, replace(QUICK, steps=13)),
        lambda: correct(FIRST, replace(QUICK, trace="all")),
        lambda: next(cgmh.solve([CorrectInput(FIRST)], QUICK, constraints=[forbids("goes")])),
    ],
)
def test_nothing_is_recalled_where_anything_differs(other: object) -> None:
    correct(FIRST)
    hits = ANSWERS.hits
    assert callable(other)
    other()
    assert ANSWERS.hits == hits


def test_other_tasks_and_text_models_are_not_remembered() -> None:
    words = load_embedded()
    (source,) = Correct().read(CorrectInput(FIRST), words.vocabulary)  # type: ignore[misc]
    assert key_of(Correct(), source, QUICK, Models(words)) is not None
    assert key_of(Correct(), source, replace(QUICK, trace="all"), Models(words)) is None
    assert key_of(Keywords(), source, QUICK, Models(words)) is None
    big = FunctionModel(lambda texts: [0.0] * len(texts))
    assert key_of(Correct(), source, QUICK, Models(words, big, "target")) is None


class Numbers:
    """A task whose sources are numbers, and whose results say where they were asked."""

    name = "numbers"

    def key(self, source: int) -> int:
        return source % 10

    def moved(self, result: Result, before: int, source: int) -> Result:
        return replace(result, input=f"{result.input} from {before} to {source}")


def test_the_oldest_are_forgotten_first() -> None:
    kept, task, models = Remembered(2), Numbers(), Models(load_embedded())
    for number in (1, 2):
        kept.put(task, number, QUICK, models, Result(str(number), (Sentence("", (), 0.0, 0.0),), {}, ""))
    found = kept.get(task, 11, QUICK, models)
    assert found is not None
    assert found.input == "1 from 1 to 11"
    kept.put(task, 3, QUICK, models, found)
    assert len(kept) == 2
    assert kept.get(task, 2, QUICK, models) is None  # asked for longer ago than 1
    assert kept.get(task, 1, QUICK, models) is not None
    assert (kept.hits, kept.misses) == (2, 1)
