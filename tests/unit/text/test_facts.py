"""What a paraphrase must not change: found in typed, shouted, titled and lower-case sentences."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgmh.errors import BadInput
from cgmh.models.pull.store import EMBEDDED
from cgmh.text import tokenizer
from cgmh.text.facts import KINDS, Fact, find_facts, is_name, is_negation, is_number, rivals_of
from cgmh.text.vocabulary import Vocabulary

VOCABULARY = Vocabulary.load(EMBEDDED / "vocabulary.json.gz")


def words_of(text: str) -> list[str]:
    words = tokenizer.truecase(tokenizer.split(text), VOCABULARY.is_ordinary)
    return [VOCABULARY.recase(word) for word in words]


def phrases(text: str, *kinds: str) -> list[str]:
    words = words_of(text)
    return [" ".join(words[fact.start : fact.end]) for fact in find_facts(words, VOCABULARY, kinds or KINDS)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs $5 million or 50% of it.", ["$ 5 million", "50 %"]),
        ("The 3rd man of the 1990s works 24/7 since 9/11.", ["3rd", "1990s", "24/7", "9/11"]),
        ("One man ran one hundred and five miles in twenty one days.", ["one hundred and five", "twenty one"]),
        ("It lies between 5 and 10, or 43 percent.", ["5", "10", "43 percent"]),
        ("He had half of it twice and a two-year lease.", ["half", "twice", "two-year"]),
        ("What is 2 + 2 and rs 500?", ["2 + 2", "rs 500"]),
        ("He is 5'10 tall.", ["5 ‘ 10"]),
        ("no one saw the dog", []),
        ("How do I lose weight in one month?", ["one"]),
        ("Which one is better, the one year ago or this one?", ["one"]),
        ("Can one learn it from one book?", []),
    ],
)
def test_numbers_keep_their_signs(text: str, expected: list[str]) -> None:
    assert phrases(text, "numbers") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't know why it never works without you.", ["don't", "never", "without"]),
        ("NOBODY can say no, nor can't they.", ["NOBODY", "no", "nor", "can't"]),
        ("it cannot be, i dont smoke in a non-smoking room", ["cannot", "dont", "non-smoking"]),
        ("I know a note about Norway and the nose.", []),
    ],
)
def test_each_negation_is_a_fact(text: str, expected: list[str]) -> None:
    assert phrases(text, "negation") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Where is Donald Trump's house in the U.S.?", ["Donald Trump", "U.S."]),
        ("I'm learning C++ in New York and I like it.", ["C++", "New York"]),
        ("New York is bigger than Boston.", ["new York", "Boston"]),
        ("Home Depot said that Credit Suisse fell.", ["home Depot", "Credit Suisse"]),
        ("Does Trump like three Germans?", ["Trump", "Germans"]),
        ("J. K. Rowling and Johnson & Johnson.", ["J. K. Rowling", "Johnson & Johnson"]),
        ("My iPhone 7 broke.", ["iPhone 7"]),
        ("It ended. The dog came back to Max.", ["Max"]),
        ("I met President Obama at Stanford University.", ["President Obama", "Stanford University"]),
        ("The president likes the Internet.", []),
        ("Who sang Let It Be?", ["Let It Be"]),
        ("Why is THIS so HARD for NASA?", ["NASA"]),
        ("The Bank of America is big.", ["Bank", "America"]),
    ],
)
def test_names_are_runs_of_capitals(text: str, expected: list[str]) -> None:
    assert phrases(text, "names") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("how do i learn python in india", ["Python", "India"]),
        ("why is quora better than a b.tech from iit", ["quora", "b.tech", "iit"]),
        ("will a war come between the us and russia", ["us", "Russia"]),
        ("tell us about the us president", ["us President"]),
        ("is game of thrones made in the united states", ["game of Thrones", "United States"]),
        ("what is the creepiest unverified thing", []),
        ("what do you like most", []),
    ],
)
def test_names_are_found_without_capitals(text: str, expected: list[str]) -> None:
    assert phrases(text, "names") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WHAT IS THE BEST WAY TO LEARN PYTHON IN THE US?", ["PYTHON", "US"]),
        ("HELLO WORLD", []),
        ("What Is The Best Way To Learn Python In India?", ["Python", "India"]),
        ("What is the Best Way to Learn Machine Learning from Andrew Ng?", ["Andrew Ng"]),
        ("How To Cook Rice", []),
        ("We visited the Golden Gate Bridge in San Francisco.", ["Golden Gate Bridge", "San Francisco"]),
    ],
)
def test_capitals_of_a_title_say_nothing(text: str, expected: list[str]) -> None:
    assert phrases(text, "names") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She said \"the 'big' dog isn't 5\" to Bob.", ["\" the ‘ big ' dog isn't 5 \"", "Bob"]),
        ("She said 'the \"big\" dog' to Bob.", ['‘ the " big " dog \'', "Bob"]),
        ("is there ' life after death ' for you", ["' life after death '"]),
        ('An "unbalanced quote with 3 dogs.', ["3"]),
        ('A "good" and an "unbalanced quote.', []),
        ('"Everything is quoted by 3 men."', ["3"]),
        ("The dogs' owner likes the cats' food.", []),
        ('He is 5\'10" and "very tall" indeed.', ["5 ‘ 10", '" very tall "']),
        ('"what did he mean by ""you need both"" ?"', ['" " you need both " "']),
    ],
)
def test_quotes_swallow_what_is_inside(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


def test_kinds_can_be_left_out() -> None:
    words = words_of('Bob can\'t say "no 5" twice.')
    assert find_facts(words, VOCABULARY) == [
        Fact("names", 0, 1),
        Fact("negation", 1, 2),
        Fact("quotes", 3, 7),
        Fact("numbers", 7, 8),
    ]
    assert find_facts(words, VOCABULARY, ("numbers", "negation")) == [
        Fact("negation", 1, 2),
        Fact("negation", 4, 5),
        Fact("numbers", 5, 6),
        Fact("numbers", 7, 8),
    ]
    assert find_facts(words, VOCABULARY, ()) == []
    with pytest.raises(BadInput, match="'dates' is no kind of fact; choose from numbers"):
        find_facts(words, VOCABULARY, ("dates",))


def test_what_a_name_leaves_of_a_number_is_kept() -> None:
    assert phrases("They sold iPhone 7 million times.") == ["iPhone 7", "million"]


def test_one_word_and_other_scripts() -> None:
    assert find_facts([], VOCABULARY) == []
    assert phrases("Hello") == []
    assert phrases("NASA") == ["NASA"]
    assert phrases("привет мир") == ["привет мир"]
    assert phrases("???") == []


def test_single_words() -> None:
    assert [word for word in ("one", "two", "I", "5", "mp3", "often") if is_number(word)] == ["two", "5", "mp3"]
    assert [word for word in ("not", "note", "Ain't", "non-veg", "know") if is_negation(word)] == [
        "not",
        "Ain't",
        "non-veg",
    ]
    names = [word for word in ("Paris", "I", "I'm", "dog", "blorfix", "3rd", "don't", "?") if is_name(word, VOCABULARY)]
    assert names == ["Paris", "blorfix"]


@given(
    st.lists(st.sampled_from([*"\"‘'.?$%&5", "two", "not", "the", "The", "Bob", "dogs", "new", "", "us"]), max_size=12)
)
def test_facts_are_in_order_and_apart(words: list[str]) -> None:
    facts = find_facts(words, VOCABULARY)
    assert all(0 <= fact.start < fact.end <= len(words) for fact in facts)
    assert all(before.end <= after.start for before, after in pairwise(facts))
    covered = {at for fact in facts for at in range(fact.start, fact.end)}
    assert {at for at, word in enumerate(words) if is_number(word) or is_negation(word)} <= covered


def test_who_and_when_have_rivals() -> None:
    kinds = ("names", "numbers")
    others = rivals_of("My brother runs every morning .".split(), kinds)
    assert {"sister", "father", "he", "she", "evening", "tomorrow"} <= others
    assert not {"brother", "brothers", "morning", "runs", "my"} & others
    assert "mum" not in rivals_of("Mother called .".split(), kinds)  # the same person
    assert rivals_of(["She"], ("numbers",)).isdisjoint({"he", "brother"})
    assert rivals_of(["She"], ()) == set()
