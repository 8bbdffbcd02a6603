"""Where the chains of keywords start."""

import pytest
import torch

import cgmh
from cgmh.errors import BadInput
from cgmh.inputs import KeywordInput
from cgmh.models.load import Models, load_embedded
from cgmh.tasks import Keywords, Problem
from cgmh.tasks.keywords import starts
from posed import tiny

torch.set_num_threads(1)


def pose(*inputs: KeywordInput, chains: int = 6) -> Problem:
    models = Models(load_embedded())
    sources = [source for input in inputs for source in Keywords().read(input, models.words.vocabulary)]
    return Keywords().pose(sources, models, chains, 2)


def test_chains_start_at_possible_sentences_in_any_order_of_the_keywords() -> None:
    inputs = KeywordInput(("snow", "mountain", "boat|ship")), KeywordInput(("BMW",), min_words=9)
    problem = pose(*inputs)
    assert bool(problem.target.possible(problem.start).all())
    assert problem.start.inputs.tolist() == [0] * 6 + [1] * 6
    starts = [[word.lower() for word in problem.lexicon.words(ids)] for ids in problem.start.to_lists()]
    assert {words.index("snow") < words.index("mountain") for words in starts[:6]} == {True, False}
    assert [("boat" in words, "ship" in words) for words in starts[:6]] == [(True, False), (False, True)] * 3
    assert len({tuple(words) for words in starts}) == len(starts)


def test_a_start_is_found_where_marks_might_take_the_room() -> None:
    models = Models(tiny("cat", "sat", ".", "!", "?", ","))
    sources = Keywords().read(KeywordInput(("cat",), min_words=3, max_words=3), models.words.vocabulary)
    problem = Keywords().pose(sources, models, 2000, 0)
    assert bool(problem.target.possible(problem.start).all())


def test_chains_start_at_the_sentence_that_was_given() -> None:
    text = "I wrote a letter to my friend."
    given, free = KeywordInput(("letter", "friend"), start=text), KeywordInput(("snow",))
    vocabulary = load_embedded().vocabulary
    models = Models(load_embedded())
    sources = [Keywords().read(input, vocabulary)[0] for input in (given, free)]
    problem = Keywords().pose(sources, models, 3, 0)
    texts = problem.target.texts(problem.start)
    assert texts[:3] == [text] * 3
    alone = Keywords().pose(sources[1:], models, 3, 0)
    assert texts[3:] == alone.target.texts(alone.start)


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        ("I wrote to my friend.", "`start` does not obey"),
        ("I wrote a letter to my friend", "`start` does not obey"),
        ("I wrote a letter " + "again " * 60 + "to my friend.", "`start` does not obey"),
        ("I wrote a letter to my frobnicated friend.", "'frobnicated' is neither"),
        ("I wrote a letter to my <s> friend.", "is neither"),
    ],
)
def test_a_start_that_cannot_be_one(start: str, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        cgmh.keywords(["letter", "friend"], start=start, chains=2, steps=1)


def per_word(problem: Problem) -> float:
    """The log probability per word of all starts."""
    sentences = problem.start
    log_prob = problem.words.log_prob(problem.words.encode(sentences))
    return float((log_prob / (sentences.lengths + 1)).mean())


def texts_of(problem: Problem) -> list[str]:
    return [" ".join(problem.lexicon.words(ids)) for ids in problem.start.to_lists()]


def test_a_search_finds_likelier_starts_than_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = KeywordInput(("river", "bridge"))
    searched = per_word(pose(asked))
    monkeypatch.setattr(starts, "MAX_SEARCHES", 0)
    assert searched > per_word(pose(asked)) + 1


def test_further_chains_are_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = KeywordInput(("river", "bridge"))
    searched = pose(asked).start.to_lists()
    monkeypatch.setattr(starts, "MAX_SEARCHES", 0)
    grown = pose(asked).start.to_lists()
    monkeypatch.setattr(starts, "MAX_SEARCHES", 4)
    assert pose(asked).start.to_lists() == [*searched[:4], *grown[4:]]


def test_a_start_is_the_same_beside_other_inputs_and_more_chains() -> None:
    inputs = KeywordInput(("river", "bridge")), KeywordInput(("snow",), max_words=6), KeywordInput(("zorbling", "boat"))
    texts = texts_of(pose(*inputs))
    for number, input in enumerate(inputs):
        alone = texts_of(pose(input))
        assert texts[6 * number : 6 * number + 6] == alone
        assert texts_of(pose(input, chains=9))[:6] == alone


def test_what_no_search_found_is_grown() -> None:
    words = ("water", "bridge", "tree", "child", "river", "dog", "boat", "stone", "house")
    for ids in pose(KeywordInput(words)).start.to_lists():
        assert len(ids) > len(words) + 1  # more than the keywords and a mark


def test_a_keyword_that_ends_sentences_is_not_searched_for() -> None:
    problem = pose(KeywordInput(("river", "?")))
    for text in texts_of(problem):
        assert not text.startswith("?")


def test_a_rule_of_the_users_is_met_from_grown_starts() -> None:
    @cgmh.constraint(hard=True)
    def brief(words: list[str]) -> bool:
        return len(words) <= 5

    result = cgmh.keywords(["river"], constraints=[brief], chains=8, steps=5)
    assert all(len(sentence.words) <= 5 for sentence in result)
