"""The search for the likeliest sentences: what it may write, and that chains start there where it is asked for."""

from collections.abc import Sequence
from functools import partial

import pytest

import cgmh
from cgmh.evaluation.checkers import covers
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.models.word.recurrent import RecurrentModel
from cgmh.readings import read_words
from cgmh.selection import choose
from cgmh.tasks import Keywords
from cgmh.tasks.keywords.grid import Grid, fill_grids
from cgmh.tasks.keywords.joining import joined
from cgmh.tasks.keywords.likeliness import likeliness, repeats
from cgmh.tasks.keywords.source import read_keywords
from cgmh.text.lexicon import Lexicon
from cgmh.text.tokenizer import join


@pytest.fixture(scope="module")
def model() -> RecurrentModel:
    return load_embedded()


BOTH_WAYS = pytest.mark.parametrize("from_right", [False, True], ids=["from left", "from right"])


def searched(
    model: RecurrentModel, *inputs: KeywordInput, repeats: bool = False, from_right: bool = False
) -> list[list[list[str]]]:
    """The words of all that is found for each input."""
    lexicon = Lexicon(model.vocabulary)
    sources = [read_keywords(input, model.vocabulary) for input in inputs]
    grids = [Grid(source, lexicon, 3, repeats=repeats, from_right=from_right) for source in sources]
    return [[lexicon.words(each.ids) for each in found] for found, _ in fill_grids(grids, model, lexicon)]


@BOTH_WAYS
def test_no_pair_of_words_comes_twice(model: RecurrentModel, *, from_right: bool) -> None:
    asked = KeywordInput(("company", "market"), min_words=18)
    assert any(map(repeats, searched(model, asked, repeats=True, from_right=from_right)[0]))
    (found,) = searched(model, asked, from_right=from_right)
    assert found
    assert not any(map(repeats, found))


@BOTH_WAYS
def test_what_is_found_is_as_probable_as_the_model_says(model: RecurrentModel, *, from_right: bool) -> None:
    """The words of a phrase come in their order, a mark comes last, and there are as many words as asked for."""
    lexicon = Lexicon(model.vocabulary)
    source = read_keywords(KeywordInput(("ice cream", "summer"), min_words=4, max_words=9), model.vocabulary)
    ((found, _),) = fill_grids([Grid(source, lexicon, 3, from_right=from_right)], model, lexicon)
    texts = [join(lexicon.words(each.ids)) for each in found]
    assert texts
    assert all("ice cream" in text.lower() and text[-1] in ".?!" for text in texts)
    assert all(4 <= each.num_words <= 9 for each in found)
    readings = read_words([each.ids for each in found], model)
    assert [each.log_prob for each in found] == pytest.approx(
        readings.backward if from_right else readings.forward, abs=1e-3
    )


@BOTH_WAYS
def test_order_and_forbidden_words_are_kept(model: RecurrentModel, *, from_right: bool) -> None:
    ordered = KeywordInput(("station", "train"), ordered=True, max_words=8, forbid=("the",))
    any_order = KeywordInput(("station", "train"), max_words=8)
    found, free = searched(model, ordered, any_order, from_right=from_right)
    assert found
    assert all(_is_first("station", "train", words) for words in found)
    assert not all(_is_first("station", "train", words) for words in free)
    assert not any("the" in words for words in found)
    assert any("the" in words for words in free)


def _is_first(one: str, other: str, words: Sequence[str]) -> bool:
    """Whether a word comes before some occurrence of another."""
    lower = [word.lower() for word in words]
    return other in lower[lower.index(one) :]


def test_a_sentence_that_repeats_itself_is_the_least_likely(model: RecurrentModel) -> None:
    sentences = [["it", "is", "good", "."], ["it", "is", "as", "it", "is", "."], ["snow", "reads", "the", "of", "."]]
    values = likeliness(read_words([tuple(model.vocabulary.encode(words)) for words in sentences], model), sentences)
    assert sorted(values, reverse=True) == [values[0], values[2], values[1]]


def test_half_of_the_chains_start_at_what_it_finds(model: RecurrentModel) -> None:
    models, vocabulary = Models(model), model.vocabulary
    given = KeywordInput(("boat",), start="I have a boat.")
    inputs = KeywordInput(("letter", "friend"), max_words=8), given, KeywordInput(tuple("abcdefg"))
    sources = [source for input in inputs for source in Keywords().read(input, vocabulary)]
    problem = Keywords().pose(sources, models, 5, 0)
    likely = problem.chosen_by("likeliest")
    assert problem.chosen_by("best") is problem
    assert bool(likely.target.possible(likely.start).all())
    before, after = problem.start.to_lists(), likely.start.to_lists()
    assert [one == other for one, other in zip(before, after, strict=True)] == [False] * 3 + [True] * 12
    alone = Keywords().pose(sources[:1], models, 5, 0).chosen_by("likeliest")
    assert alone.start.to_lists() == after[:5]


def test_the_likeliest_is_at_least_as_likely_as_what_the_searches_found(
    model: RecurrentModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However few of the visited sentences are looked at closely."""
    monkeypatch.setattr("cgmh.ranking.choose", partial(choose, pool_size=1))
    asked = ["letter", "friend"]
    result = cgmh.keywords(asked, n=3, chains=4, steps=4, select="likeliest", max_words=8, model=model, big=None)
    assert all(covers(text, asked) for text in result.texts)
    lexicon = Lexicon(model.vocabulary)
    source = read_keywords(KeywordInput(tuple(asked), max_words=8), model.vocabulary)
    both_ways = [Grid(source, lexicon, 5, repeats=False, from_right=from_right) for from_right in (False, True)]
    left, right = fill_grids(both_ways, model, lexicon)
    found = [*left.found, *right.found, *joined(left.passed, right.passed, source)]
    sentences = [each.ids for each in found]
    best = max(likeliness(read_words(sentences, model), list(map(lexicon.words, sentences))))
    words = [*result.best.words]
    words[0] = words[0] if words[0] == "I" else words[0].lower()
    (value,) = likeliness(read_words([tuple(model.vocabulary.encode(words))], model), [words])
    assert value >= best - 1e-6
