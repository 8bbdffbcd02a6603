"""Sentences of two searches that meet: which beginnings and ends go together."""

from cgmh.inputs import KeywordInput
from cgmh.models.load import load_embedded
from cgmh.tasks.keywords.grid import Hypothesis
from cgmh.tasks.keywords.joining import joined
from cgmh.tasks.keywords.source import read_keywords

FIRST, SECOND = 1, 2  # bits of the keywords
# Words are numbers: 10 is the first keyword, 20 the second, 9 the mark at the end.
ENDS = [
    Hypothesis((9,), -1.0),
    Hypothesis((9, 20), -4.0, SECOND, num_words=1),
    Hypothesis((9, 20, 6), -5.0, SECOND, num_words=2),
    Hypothesis((9, 20, 6, 10), -9.0, FIRST | SECOND, num_words=3),
]


def made(*beginnings: Hypothesis, max_words: int = 20) -> dict[tuple[int, ...], float]:
    source = read_keywords(KeywordInput(("river", "boat"), max_words=max_words), load_embedded().vocabulary)
    return {each.ids: each.log_prob for each in joined(beginnings, ENDS, source)}


def test_they_share_a_word_and_have_each_keyword_once() -> None:
    begun = Hypothesis((10, 5, 6), -7.0, FIRST, num_words=3)
    assert made(begun) == {(10, 5, 6, 20, 9): -11.0}
    assert made(begun, max_words=3) == {}
    assert made(begun._replace(written=0)) == {}
    assert made(begun._replace(written=FIRST | SECOND)) == {}
    assert made(begun._replace(ids=(10, 6, 5))) == {}


def test_the_word_in_common_may_be_a_keyword() -> None:
    assert made(Hypothesis((5, 10), -6.0, FIRST, num_words=2)) == {(5, 10, 6, 20, 9): -11.0}


def test_what_is_inside_a_phrase_or_has_ended_is_not_joined() -> None:
    begun = Hypothesis((10, 5, 6), -7.0, FIRST, num_words=3)
    assert made(begun._replace(pending=(frozenset({7}),))) == {}
    assert made(begun._replace(has_ended=True)) == {}
