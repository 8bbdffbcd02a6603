"""The search for sentences at which chains of keywords start."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch

from cgmh.models.load import load_embedded
from cgmh.tasks.keywords import search as module
from cgmh.tasks.keywords.search import MAX_PLACES, MAX_WORDS, NUM_FOUND, Beginning, Plan, Search, Way, search
from cgmh.text.lexicon import Lexicon
from cgmh.text.vocabulary import is_counted

torch.set_num_threads(1)

MODEL = load_embedded()
LEXICON = Lexicon(MODEL.vocabulary)


def plan(*places: str, joined: Sequence[int] = (), closed: str = ". ! ?", least: int = 0, most: int = 20) -> Plan:
    """Places with the words that will do, given by spaces between; those of the numbers `joined` follow at once."""
    ids = [[LEXICON.add(word) for word in place.split()] for place in places]
    counted = [is_counted(LEXICON.word(id)) for id in range(len(LEXICON))]
    is_joined = [at in joined for at in range(len(places))]
    ends = [LEXICON.add(mark) for mark in (".", "?")]
    return Plan(ids, is_joined, ends, frozenset(LEXICON.add(word) for word in closed.split()), counted, least, most)


def found(*plans: Plan, seed: int = 0, first: int = 0) -> list[list[str]]:
    names = torch.arange(first, first + len(plans))
    searched = search(plans, MODEL.bound(LEXICON), LEXICON.aliases, seed, names)
    return [LEXICON.words(some[0].ids) if some else [] for some in searched]


def test_the_places_are_written_in_their_order() -> None:
    for words in found(*[plan("river rivers", "bridge")] * 4, *[plan("bridge", "river rivers")] * 4):
        assert words[-1] in (".", "?")
        assert words.count("bridge") == 1
        assert sum(words.count(word) for word in ("river", "rivers")) == 1
    one, other = found(plan("river rivers", "bridge"), plan("bridge", "river rivers"))
    assert next(at for at, word in enumerate(one) if word in ("river", "rivers")) < one.index("bridge")
    assert other.index("bridge") < next(at for at, word in enumerate(other) if word in ("river", "rivers"))


def test_a_phrase_stays_together() -> None:
    for words in found(*[plan("prime", "minister", "river", joined=[1])] * 4):
        at = words.index("prime")
        assert words[at + 1] == "minister"


def test_what_is_closed_is_not_drawn_and_lengths_are_kept() -> None:
    free = found(*[plan("letter")] * 8)
    assert any("a" in words for words in free)
    assert not any("a" in words for words in found(*[plan("letter", closed=". ! ? a")] * 8))
    for words in found(*[plan("letter", least=15, most=16)] * 4):
        assert 15 <= sum(map(is_counted, words)) <= 16
    for words in found(*[plan("letter", most=4)] * 4):
        assert sum(map(is_counted, words)) <= 4


def test_a_word_that_the_model_does_not_know_is_written_too() -> None:
    assert "frobnicator" in found(plan("frobnicator", "river"))[0]


def test_a_search_depends_on_its_own_seed_and_chain_alone() -> None:
    plans = [plan("river", "bridge"), plan("letter"), plan("snow", "cold", "winter")]
    together = found(*plans)
    assert together == [found(each, first=at)[0] for at, each in enumerate(plans)]
    assert found(*plans, seed=1) != together
    assert found(plans[0], first=5) != together[:1]


def test_nothing_is_found_for_too_many_places() -> None:
    words = "one two three four five six seven eight nine".split()
    assert len(words) == MAX_PLACES + 1
    assert found(plan(*words), plan(*words[1:]))[0] == []


def test_most_words() -> None:
    assert plan("river").most == MAX_WORDS
    assert plan("river", most=5).most == 5
    assert plan("river", least=18).most == 20
    assert plan(*["river"] * 10).most == 14


def test_a_beam_holds_the_most_probable_of_each_number_of_places(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BEAM", 2)
    one = Search(plan("river"))
    ways = [Way(-float(at), Beginning(), at, at % 2, 1) for at in range(6)]
    one.keep(ways)
    assert {each.ids for each in one.kept} == {(0,), (1,), (2,), (3,)}
    one.keep([*ways, ways[5]._replace(log_prob=0.0)])
    assert {each.ids for each in one.kept} == {(0,), (1,), (2,), (5,)}
    one.keep([*ways, ways[2]._replace(word=7), ways[0]._replace(log_prob=-torch.inf, num_places=2)])
    assert {each.ids for each in one.kept} == {(0,), (1,), (2,), (3,)}, "of equal ones the first; none without hope"


def test_a_search_ends_where_nothing_may_become_better() -> None:
    one = Search(replace(plan("river"), min_words=0))
    one.best = Beginning((1, 2, 3), -1.0, 1, 2)
    one.keep([Way(-9.0, one.best, 4, 1, 3)])
    assert one.kept == []
    one.keep([Way(-1.0, one.best, 4, 1, 3)])
    assert one.kept == [Beginning((1, 2, 3, 4), -1.0, 1, 3)]


def test_the_first_of_the_best_ends_is_taken() -> None:
    one = Search(replace(plan("river"), min_words=0))
    begun = Beginning((1, 2, 3), -1.0, 1, 2)
    assert one.extend(begun, {8: -2.0, 9: -2.0, 10: -3.0}, {}) == []
    assert one.best is not None
    assert one.best.ids == (1, 2, 3, 8)
    one.extend(begun, {9: -2.5}, {})
    assert one.best.ids == (1, 2, 3, 8)
    one.extend(begun, {9: -1.5}, {})
    assert one.best.ids == (1, 2, 3, 9)


def test_a_keyword_is_not_drawn_and_no_word_comes_twice_in_a_row() -> None:
    river, the = LEXICON.add("river"), LEXICON.add("the")
    one = Search(plan("river"))
    begun = Beginning((the,), -1.0, 0, 1)
    ways = one.extend(begun, {river: -3.0}, {river: -3.0, the: -1.0, LEXICON.add("old"): -2.0})
    assert [(LEXICON.words(each.beginning.ids), each.log_prob, each.num_places) for each in ways] == [
        (["the", "river"], -4.0, 1),
        (["the", "old"], -3.0, 0),
    ]


def test_a_search_goes_on_where_no_word_is_asked_for() -> None:
    """All places are written, and the sentence is too short to end."""
    (words,) = found(plan("river", least=12, most=12), seed=3)
    assert sum(map(is_counted, words)) == 12 or not words


def test_without_marks_that_end_sentences_nothing_is_found() -> None:
    assert found(replace(plan("river"), endings=[])) == [[]]


def test_what_else_a_search_came_to_is_handed_over_the_best_first() -> None:
    names = torch.arange(2)
    for some in search([plan("river")] * 2, MODEL.bound(LEXICON), LEXICON.aliases, 0, names):
        assert 1 < len(some) <= NUM_FOUND
        assert len({each.ids for each in some}) == len(some)
        assert [each.merit for each in some] == sorted((each.merit for each in some), reverse=True)
        assert all(LEXICON.add("river") in each.ids and LEXICON.word(each.ids[-1]) in ".?" for each in some)
