"""The matching functions that inputs ask for: as constraints, and as what every answer contains."""

import pytest
import torch

from cgmh.constraints.similarity import AtLeast, Weighted
from cgmh.inputs import MATCHES, ParaphraseInput
from cgmh.models.load import load_embedded
from cgmh.tasks.paraphrase.matching import Matching
from cgmh.tasks.paraphrase.source import read_source
from cgmh.tasks.wordlists import WordLists
from cgmh.text.lexicon import Lexicon
from cgmh.text.sentences import Sentences

torch.set_num_threads(1)

TEXTS = ("How do I learn 2 languages in Paris?", "Why is the xqzzy river so cold?")


class Matched:
    """Two sources that are matched alike."""

    def __init__(self, *match: str, protect: tuple[str, ...] = ("numbers", "names")) -> None:
        vocabulary = load_embedded().vocabulary
        self.lexicon = Lexicon(vocabulary)
        inputs = [ParaphraseInput(text, match, protect) for text in TEXTS]
        sources = [read_source(input, vocabulary).bound(self.lexicon) for input in inputs]
        self.matching = Matching(sources, self.lexicon, WordLists(self.lexicon))

    def batch(self, text: str, number: int = 0) -> Sentences:
        ids = [self.lexicon.add(word) for word in text.split()]
        return Sentences.from_lists([ids], len(ids) + 1, [number])

    def required(self, number: int) -> list[str]:
        return [
            " ".join(min((self.lexicon.word(id) for id in place), key=str.lower) for place in phrase).lower()
            for (phrase,) in self.matching.required(number)
        ]


def test_each_match_is_a_constraint_hard_or_soft() -> None:
    hard, soft = Matched("st=0.5", "wvm:3").matching.constraints()
    assert isinstance(hard, AtLeast)
    assert isinstance(soft, Weighted)
    assert (hard.hard, soft.hard) == (True, False)
    assert Matched("none").matching.constraints() == []
    assert Matched("kw").matching.constraints() == []  # they are required word by word
    (share,) = Matched("kw=0.5").matching.constraints()
    assert isinstance(share, AtLeast)


def test_what_every_answer_contains() -> None:
    """Facts; words outside the vocabulary; and the keywords, where all of them must stay."""
    assert Matched("none").required(0) == ["2", "paris"]
    assert Matched("none").required(1) == ["xqzzy"]
    assert (Matched("none", protect=()).required(0), Matched("none", protect=()).required(1)) == ([], ["xqzzy"])
    assert Matched("kw=0.5").required(0) == ["2", "paris"]
    kept = Matched("kw")
    assert kept.required(0) == ["2", "paris", "learn", "languages"]
    assert kept.matching.keywords(0) == ["learn", "languages"]
    assert Matched("st").matching.keywords(0) == []  # nobody asked for keywords


@pytest.mark.parametrize("name", [name for name in MATCHES if name != "minilm"])
def test_a_source_matches_itself_better_than_another_sentence(name: str) -> None:
    own = Matched(name)
    function = own.matching.function(name)
    same, other = (float(function(own.batch(text))) for text in ("how do I learn 2 languages in Paris ?", "it is ."))
    assert same == pytest.approx(1, abs=1e-4)
    assert other < 0.9
    assert own.matching.function(name) is function  # made once
