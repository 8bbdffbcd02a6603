"""Grid beam search: every keyword is written, in any order, and the sentence is the likeliest that was found."""

import pytest

from cgmh.evaluation.checkers import covers, flaws
from cgmh.evaluation.datasets import KeywordSet
from cgmh.evaluation.rivals.grid_beam import GridBeam, merit
from cgmh.models.load import load_embedded
from cgmh.text.lexicon import Lexicon
from cgmh.text.tokenizer import join, split, truecase
from cgmh.text.vocabulary import is_counted


@pytest.fixture(scope="module")
def search() -> GridBeam:
    return GridBeam(load_embedded(), beam=2, max_words=9)


SETS = [("river",), ("bank", "money"), ("Zürich", "weather"), ("New York", "train"), ("the", "the", "boat")]


def test_every_sentence_has_its_keywords_and_ends(search: GridBeam) -> None:
    texts = search.write(SETS)
    for keywords, text in zip(SETS, texts, strict=True):
        assert covers(text, keywords), text
        assert not flaws(text)
        assert sum(map(is_counted, split(text))) <= 9
    assert [answer.text for answer in search.answer([KeywordSet(words, (), 1) for words in SETS])] == texts
    assert search.write(SETS[1:2]) == texts[1:2]  # alone as among others


def test_lengths_are_kept() -> None:
    (text,) = GridBeam(load_embedded(), beam=2, min_words=11, max_words=12).write([("bank", "money")])
    assert 11 <= sum(map(is_counted, split(text))) <= 12


def test_inflected_forms_will_do() -> None:
    (text,) = GridBeam(load_embedded(), inflect=True, beam=3, max_words=8).write([("dog", "run")])
    assert covers(text, ("dog", "run"), inflect=True)


def test_scores_are_those_of_the_model(search: GridBeam) -> None:
    """The log probability of what was found is the one that the model gives to the whole sentence."""
    lexicon = Lexicon(search.model.vocabulary)
    (found,) = search.search([("letter", "friend")], lexicon)
    best = max(found, key=merit)
    assert search.write([("letter", "friend")]) == [join(lexicon.words(best.ids))]
    log_probs = search.model.log_probs([each.ids for each in found])
    assert [each.log_prob for each in found] == pytest.approx(log_probs, abs=0.05)


def test_a_wider_beam_finds_nothing_worse_here() -> None:
    """Not a law of beam search, but a search that did not look at more would be caught."""
    model = load_embedded()

    def score(beam: int) -> float:
        (text,) = GridBeam(model, beam=beam, max_words=9).write([("train", "station")])
        ids = model.vocabulary.encode(truecase(split(text), model.vocabulary.is_ordinary))
        return model.log_probs([ids])[0] / (len(ids) + 1)

    assert score(6) >= score(1)
