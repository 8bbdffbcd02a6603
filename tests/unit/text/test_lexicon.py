"""Words of a run."""

from cgmh.text.lexicon import Lexicon
from cgmh.text.vocabulary import SPECIALS, Vocabulary

VOCABULARY = Vocabulary([*SPECIALS, "river", "the"])


def test_known_words_keep_their_ids_and_others_get_their_own() -> None:
    lexicon = Lexicon(VOCABULARY)
    size = len(VOCABULARY)
    assert lexicon.add("river") == VOCABULARY.ids["river"]
    assert [lexicon.add(word) for word in ("Zürich", "X-9", "Zürich", "🎉")] == [size, size + 1, size, size + 2]
    assert lexicon.words([size + 2, VOCABULARY.ids["the"], size]) == ["🎉", "the", "Zürich"]
    assert len(lexicon) == size + 3


def test_a_word_that_looks_like_a_mark_is_a_word() -> None:
    lexicon = Lexicon(VOCABULARY)
    id = lexicon.add("</s>")
    assert id >= len(VOCABULARY)
    assert lexicon.word(id) == "</s>"


def test_aliases_are_what_the_model_reads() -> None:
    lexicon = Lexicon(VOCABULARY)
    assert lexicon.aliases.tolist() == list(range(len(VOCABULARY)))
    id = lexicon.add("Zürich")
    assert lexicon.aliases[id] == VOCABULARY.ids["<capital>"]
    assert len(lexicon.aliases) == len(VOCABULARY) + 1


def test_typed_words_stand_for_their_casings_unless_they_have_capitals() -> None:
    lexicon = Lexicon(Vocabulary([*SPECIALS, "mark", "Mark", "Paris", "the", "U.S."]))
    ids = lexicon.vocabulary.ids
    assert lexicon.matches("mark") == {ids["mark"], ids["Mark"]}
    assert lexicon.matches("Mark") == {ids["Mark"]}
    assert lexicon.matches("paris") == {ids["Paris"]}
    assert "zürich" not in lexicon
    assert lexicon.matches("zürich") == {lexicon.add("zürich")}
    assert lexicon.casings("paris") == {ids["Paris"], lexicon.add("paris")}
    assert "zürich" in lexicon
    assert "<s>" not in lexicon
    assert lexicon.vocabulary.split("the mark's  U.S. X-9/b") == ["the", "mark", "'s", "U.S.", "X-9/b"]


def test_an_order_of_words_does_not_depend_on_when_they_came() -> None:
    words = ["zebrax", "aardvarkx", "Zebrax"]
    first, second = Lexicon(VOCABULARY), Lexicon(VOCABULARY)
    for lexicon, order in ((first, words), (second, words[::-1])):
        for word in order:
            lexicon.add(word)
    known = [0, len(VOCABULARY) - 1]
    for lexicon in (first, second):
        ids = lexicon.ordered([*map(lexicon.add, words), *known[::-1]])
        assert ids[:2] == known
        assert lexicon.words(ids[2:]) == ["Zebrax", "aardvarkx", "zebrax"]
