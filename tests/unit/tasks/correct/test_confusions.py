"""What a word may have been meant to be."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cgmh.tasks.correct.confusions import GROUPS, MISSING, SMALL, Confusions, load_confusions
from cgmh.tasks.correct.costs import COSTS, COSTS_BIG
from cgmh.text.vocabulary import SPECIALS, Vocabulary, is_special
from typed import known, vocabulary


def offered(word: str) -> dict[str, str]:
    """What is offered for a word, and its kind."""
    return {" ".join(one.words): one.kind for one in known().of(word)}


@pytest.mark.parametrize(
    ("typed", "meant", "kind"),
    [
        ("recieve", "receive", "spelling"),
        ("thier", "their", "spelling"),
        ("Thier", "their", "spelling"),
        ("dont", "don't", "spelling"),
        ("than", "then", "spelling"),
        ("there", "their", "spelling"),
        ("wether", "whether", "real word"),
        ("price", "prices", "number"),
        ("has", "have", "agreement"),
        ("is", "are", "agreement"),
        ("don't", "doesn't", "agreement"),
        ("is", "was", "tense"),
        ("don't", "didn't", "auxiliary"),
        ("runned", "ran", "inflection"),
        ("goed", "went", "inflection"),
        ("difference", "different", "derivation"),
        ("different", "difference", "derivation"),
        ("in", "on", "preposition"),
        ("a", "an", "agreement"),
        ("this", "these", "agreement"),
        ("that", "those", "number"),
        ("a", "the", "determiner"),
        ("is", "has", "auxiliary"),
        ("who", "which", "pronoun"),
        ("but", "and", "linking"),
        ("alot", "a lot", "splitting"),
        ("eachother", "each other", "splitting"),
        ("everyone", "every one", "splitting"),
        ("well-known", "well known", "splitting"),
        ("its", "it 's", "splitting"),
        ("Its", "it 's", "splitting"),
        ("thats", "that 's", "splitting"),
        ("whats", "what 's", "splitting"),
        ("lets", "let 's", "splitting"),
        ("i", "I", "casing"),
        ("english", "English", "casing"),
        (",", ";", "punctuation"),
    ],
)
def test_the_kind_of_a_typical_mistake(typed: str, meant: str, kind: str) -> None:
    assert offered(typed)[meant] == kind


@pytest.mark.parametrize(
    ("before", "kind"), [("he", "agreement"), ("They", "agreement"), ("the", "number"), ("", "number")]
)
def test_after_a_pronoun_what_may_be_a_verb_is_one(before: str, kind: str) -> None:
    (found,) = (one.kind for one in known().of("work", before) if one.words == ("works",))
    assert found == kind
    assert [one.kind for one in known().of("apple", before) if one.words == ("apples",)] == ["number"]  # never a verb


def distance(typed: str, meant: str) -> float:
    (found,) = (one.distance for one in known().of(typed) if one.words == (meant,))
    return found


@pytest.mark.parametrize(
    ("typed", "meant"), [("recieve", "receive"), ("thier", "their"), ("beutiful", "beautiful"), ("freind", "friend")]
)
def test_what_was_meant_is_nearest(typed: str, meant: str) -> None:
    spelled = [one.distance for one in known().of(typed) if one.kind == "spelling"]
    assert distance(typed, meant) == min(spelled)


def test_slips_are_nearer_and_other_first_letters_farther() -> None:
    assert distance("thier", "their") < distance("thier", "the")
    assert distance("recieve", "receive") == 0.5  # two letters changed places
    assert distance("hoise", "house") == 0.5  # the key beside it
    assert distance("hoese", "house") == 1.0
    assert distance("pouse", "house") == 2.0  # the first letter is rarely wrong
    assert distance("everytime", "everything") == 3.0  # for a long word that is near no other


def test_small_words_are_confused_within_their_group_only() -> None:
    assert {"without", "against"}.isdisjoint(offered("in"))
    for kind, groups in GROUPS.items():
        for word in {word for group in groups for word in group.split()}:
            company = {other for group in groups for other in group.split() if word in group.split()}
            assert {other for other, found in offered(word).items() if found == kind} <= company, word


def test_numbers_and_addresses_are_confused_with_nothing() -> None:
    for word in ("1990", "3rd", "b2b", "24/7"):
        assert known().of(word) == ()


def test_marks_are_confused_with_marks() -> None:
    for mark in ", . ; ' -".split():
        assert set(offered(mark)) <= set(",.;:?!-") - {mark}
        assert set(offered(mark).values()) == {"punctuation"}


def test_a_name_is_not_a_misspelt_word() -> None:
    """Known with a capital, it may still be another word, at the price of a real one."""
    assert "spelling" not in offered("Smith").values()
    assert "spelling" in offered("smiht").values()


@pytest.mark.parametrize(("typed", "name"), [("lundun", "London"), ("girmeny", "Germany")])
def test_what_is_typed_in_lower_case_is_no_name_from_afar(typed: str, name: str) -> None:
    assert distance(typed.capitalize(), name) > 1
    assert name not in offered(typed)


@pytest.mark.parametrize(("typed", "name"), [("londno", "London"), ("amercia", "America"), ("californa", "California")])
def test_a_name_one_letter_away_may_be_meant(typed: str, name: str) -> None:
    assert distance(typed, name) <= 1


@pytest.mark.parametrize("word", ["dogs", "cats", "sits", "houses"])
def test_no_other_word_hides_a_shortened_one(word: str) -> None:
    """Its may be it's; dogs is never dog's, which takes another word after it."""
    assert not any(one.words[-1] == "'s" for one in known().of(word))


anything = st.text(max_size=9) | st.text("aehinorst'-", min_size=1, max_size=9)
ours = st.deferred(lambda: st.sampled_from(vocabulary().words)).filter(lambda word: not is_special(word))


@st.composite
def misspelt(draw: st.DrawFn) -> str:
    word = draw(ours)
    at = draw(st.integers(0, len(word)))
    return word[:at] + draw(st.sampled_from(["", "e", "S"])) + word[at + draw(st.integers(0, 2)) :]


@settings(max_examples=120)
@given(word=ours | misspelt() | anything)
@example(word="its")
@example(word="it's")
@example(word="I")
@example(word="")
def test_laws_of_confusions(word: str) -> None:
    """Only words of the vocabulary, none special, never the word itself, each once, of a kind that has a price."""
    found = known().of(word)
    assert len({one.words for one in found}) == len(found)
    for one in found:
        assert one.words != (word,)
        assert 1 <= len(one.words) <= 2
        assert all(part in vocabulary().ids and not is_special(part) for part in one.words)
        assert (len(one.words) == 2) == (one.kind == "splitting")
        assert (one.distance > 0) == (one.kind in ("spelling", "real word"))
        assert one.kind in COSTS.replace
        assert one.kind in COSTS_BIG.replace
        if word == word.lower() and one.distance > 1:
            assert one.words[0] == one.words[0].lower()


def test_nothing_outside_a_small_vocabulary() -> None:
    small = Confusions(Vocabulary([*SPECIALS, "receive", "the", "a", "of", "in", "prices"]))
    assert [one.words for one in small.of("recieve")] == [("receive",)]
    assert [one.words for one in small.of("price")] == [("prices",)]
    assert [one.words for one in small.of("in")] == [("of",)]
    assert small.of("english") == ()
    assert small.joined("every", "one") == []


def test_confusions_are_made_once_a_vocabulary() -> None:
    assert load_confusions(vocabulary()) is known()


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("every", "one", ["everyone"]),
        ("Every", "one", ["Everyone"]),
        ("can", "not", ["cannot"]),
        ("well", "known", ["well-known"]),
        ("red", "table", []),
        ("it", "'s", ["its"]),
        ("It", "'s", ["Its"]),
        ("dog", "'s", []),
        ("it", "'", []),
        ("2", "nd", []),
        ("", "one", []),
    ],
)
def test_neighbours_that_are_one_word(first: str, second: str, joined: list[str]) -> None:
    assert known().joined(first, second) == joined


def test_what_is_a_word() -> None:
    assert all(map(known().is_word, ("house", "House", "HOUSE", "paris", "Paris", "aardvark", "zeugma", ",", "123")))
    assert not any(map(known().is_word, ("recieve", "teh", "zxqv", "xqzzy")))


def test_a_slip_is_a_letter_from_a_word_that_everyone_knows() -> None:
    assert all(map(known().is_slip, ("recieve", "teh", "Teh", "becuase", "beutiful")))
    assert not any(map(known().is_slip, ("house", "zxqv", "Obmaa", "recieveeed")))


def test_a_respelt_word_has_the_letters_of_another() -> None:
    assert all(map(known().is_respelt, ("Tommorow", "tomorow", "Becuase", "Teh", "Beleive", "Finaly")))
    names = "Bianchi Fournier Gauthier Chantal Mertens Marlena Daniela Jonhson Obmaa House Goverment".split()
    assert not any(map(known().is_respelt, names))


def test_small_words_have_a_price() -> None:
    assert set(SMALL.values()) | {"word"} == set(COSTS.insert) == set(COSTS.delete) == set(COSTS_BIG.insert)
    assert all(word in vocabulary().ids for word in MISSING)
