"""Starts that a big model wrote: which of them count, and that chains begin there."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

import cgmh
from cgmh.api import solve
from cgmh.errors import BadModel
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.settings import Settings
from cgmh.tasks import Keywords
from cgmh.tasks.keywords import written


class Author:
    """A text model that writes what it was given, and finds one sentence far more likely than any other."""

    name = "author"

    def __init__(self, texts: Sequence[str], liked: str = "") -> None:
        self.texts, self.liked, self.asked = list(texts), liked, list[tuple[tuple[str, ...], int, bool]]()

    def log_prob(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([0.0 if text == self.liked else -3.0 * len(text.split()) for text in texts]).double()

    def write(self, words: Sequence[str], number: int, seed: int, *, inflected: bool) -> list[str]:
        self.asked.append((tuple(words), number, inflected))
        return self.texts


def starts(author: Author, input: KeywordInput) -> list[str]:
    words = load_embedded()
    problem = Keywords().pose(Keywords().read(input, words.vocabulary), Models(words, author, "target"), 2, 0)
    assert problem.written is not None
    (found,) = problem.written()
    return [" ".join(problem.lexicon.words(ids)) for ids in found]


def test_what_obeys_counts_once() -> None:
    author = Author(["A letter came.", "My friend got a letter.", "My friend got a letter.", "A friend has a lettre."])
    assert starts(author, KeywordInput(("letter", "friend"))) == ["my friend got a letter ."]
    assert author.asked == [(("letter", "friend"), written.NUM_WRITTEN, False)]


@pytest.mark.parametrize(
    ("options", "kept"),
    [({}, 1), ({"max_words": 4}, 0), ({"forbid": ("got",)}, 0), ({"ordered": True}, 0), ({"inflect": True}, 2)],
)
def test_the_rules_of_the_input_hold(options: dict[str, object], kept: int) -> None:
    author = Author(["My friend got a letter.", "My friends got letters."])
    assert len(starts(author, KeywordInput(("letter", "friend"), **options))) == kept  # type: ignore[arg-type]


def test_words_that_other_sets_bring_along_are_unknown_here() -> None:
    words, author = load_embedded(), Author(["The dog saw a labradoodle."])
    inputs = [KeywordInput(("dog",)), KeywordInput(("labradoodle",))]
    sources = [source for input in inputs for source in Keywords().read(input, words.vocabulary)]
    problem = Keywords().pose(sources, Models(words, author, "target"), 2, 0)
    assert problem.written is not None
    first, second = problem.written()
    assert not first
    assert len(second) == 1


def test_what_a_model_does_wrong_is_its_own_fault() -> None:
    with pytest.raises(BadModel, match="author of class Author: `write` gives a list of texts"):
        starts(Author([7]), KeywordInput(("dog",)))  # type: ignore[list-item]

    class Saved(Author):
        def write(self, path: str) -> None:  # type: ignore[override]
            raise AssertionError(path)

    with pytest.raises(BadModel, match="author of class Saved"):
        starts(Saved([]), KeywordInput(("dog",)))


def test_forbidden_alternatives_are_not_asked_for() -> None:
    author = Author([])
    starts(author, KeywordInput(("cat|dog", "road"), forbid=("cat",)))
    assert author.asked == [(("dog", "road"), written.NUM_WRITTEN, False)]


def test_alternatives_take_turns() -> None:
    author = Author([])
    starts(author, KeywordInput(("car|lorry", "road"), inflect=True))
    half = written.NUM_WRITTEN // 2
    assert author.asked == [(("car", "road"), half, True), (("lorry", "road"), half, True)]


def test_a_sentence_of_the_user_is_the_start() -> None:
    author = Author(["My friend got a letter."])
    assert starts(author, KeywordInput(("letter",), start="The letter is here.")) == []
    assert not author.asked


@pytest.mark.parametrize("settings", [Settings(chains=4, readings=12), Settings(chains=4, steps=3, use="target")])
def test_chains_begin_there(settings: Settings) -> None:
    liked = "The old gardener burned the letter to his friend."
    (result,) = solve([KeywordInput(("letter", "friend"))], settings, big=Author([liked], liked))
    assert liked in result.texts
    (other,) = solve([KeywordInput(("letter", "friend"))], settings, big=Author([], liked))
    assert liked not in other.texts


def test_a_rule_of_the_user_keeps_it_out() -> None:
    @cgmh.constraint(hard=True)
    def without_gardener(words: list[str]) -> bool:
        return "gardener" not in words

    liked = "The old gardener burned the letter to his friend."
    big = Author([liked], liked)
    (result,) = solve(
        [KeywordInput(("letter", "friend"))], Settings(chains=4, readings=12), big=big, constraints=[without_gardener]
    )
    assert liked not in result.texts
