"""What the words of a lexicon are: those of the vocabulary, and those that an input brought along."""

from cgmh.models.load import load_embedded
from cgmh.models.meaning import load_meaning
from cgmh.tasks.wordlists import WordLists
from cgmh.text.lexicon import Lexicon


def test_every_word_is_looked_up_known_or_not() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    own = [lexicon.add(word) for word in ("1234567", "Qqzx", "xqzzy", "(")]
    lists = WordLists(lexicon)
    tables = {
        "numbers": (lists.numbers, ["1999", "1234567", "two"], ["the", "Qqzx"]),
        "names": (lists.names, ["London", "Qqzx"], ["the", "walked", "1999"]),
        "negations": (lists.negations, ["not", "don't", "never"], ["the", "Qqzx"]),
        "paired": (lists.paired, ["(", '"'], [".", "xqzzy"]),
        "closing": (lists.closing, [".", "?", "!"], [",", "xqzzy"]),
        "spoken": (lists.spoken, ["the", "1999", "xqzzy"], [",", ".", "("]),
    }
    for name, (table, true, false) in tables.items():
        assert len(table) == len(lexicon) == own[-1] + 1
        assert all(bool(table[lexicon.add(word)]) for word in true), name
        assert not any(bool(table[lexicon.add(word)]) for word in false), name


def test_casings_are_of_one_class_and_the_marks_at_the_end_of_none() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    new = [lexicon.add(word) for word in ("xqzzy", "Xqzzy", "vvrrk")]
    classes = WordLists(lexicon).classes

    def class_of(word: str) -> int:
        return int(classes[lexicon.add(word)])

    assert class_of("the") == class_of("The") != class_of("dog")
    assert class_of("xqzzy") == class_of("Xqzzy") != class_of("vvrrk")
    assert class_of(".") == class_of("?") == -1 < class_of(",")
    assert len(classes) == new[-1] + 1
    known = set(classes[: len(lexicon.vocabulary)].tolist())
    assert not known & {class_of("xqzzy"), class_of("vvrrk")}


def test_rows_are_those_of_the_word_vectors() -> None:
    lexicon = Lexicon(load_embedded().vocabulary)
    unknown = lexicon.add("xqzzy")
    rows = WordLists(lexicon).rows
    words = ["river", "boat", "the"]
    assert rows[[lexicon.add(word) for word in words]].tolist() == load_meaning().rows(words).tolist()
    assert int(rows[unknown]) == 0
