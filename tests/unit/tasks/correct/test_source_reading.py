"""What is left alone in a sentence to correct."""

import pytest

from cgmh.tasks.correct.source import first_of, make_channel
from cgmh.text.sentences import Sentences
from typed import PRICES, known, mendings


def left_alone(text: str, **options: tuple[str, ...]) -> list[str]:
    (mending,), lexicon = mendings(text, **options)
    phrases = [" ".join(lexicon.words(phrase)) for phrase in mending.phrases]
    fixed = [word for word, stays in zip(mending.words, mending.fixed, strict=True) if stays]
    assert " ".join(phrases) == " ".join(fixed)  # in their order, and nothing else
    return phrases


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("She paid 300 dollars to Bob Smith.", ["300", "Bob Smith"]),
        ("He say that 'it is over' are wrong.", ["‘ it is over '"]),
        ('He say "it are over" and left.', ['" it are over "']),
        ("They lives in New York since 1999.", ["New York", "1999"]),
        ("Write to me@site.org or go at www.site.org now.", ["me@site.org", "www.site.org"]),
        ("See https://a.org/x?y=1 , please.", ["https://a.org/x?y=1"]),
        ("We like teh xqzzy dog.", []),  # misspelt, in lower case: no name
        ("We saw Obmaa in the house.", ["Obmaa"]),  # no slip of an ordinary word
        ("We saw Becuase in the house.", []),
        ("We saw that Bob recieve a letter.", ["Bob"]),  # misspelt beside a name
        ("Mary Smith recieve 300 letters.", ["Mary Smith", "300"]),
        ("The iPhone 7 are small.", ["iPhone 7"]),
        ("They walk from new York to Qqzx.", ["new York", "Qqzx"]),
        ("Tommorow we see Tommorow.", ["Tommorow"]),  # the capital that opens a sentence says little
        ("Obmaa saw the house.", ["Obmaa"]),
        ("He is a good Teacher of music.", []),  # an ordinary word with a capital
        ("I likes it 😀 alot.", ["😀"]),
        ("We saw ★ and → there.", ["★", "→"]),
        ("Good & bad thing * happens.", ["&", "*"]),
        ("He say: it are fine; yes, she say!", []),  # punctuation may be mended
        ("So … we go – or stay — now?", []),
    ],
)
def test_what_is_left_alone(text: str, phrases: list[str]) -> None:
    assert left_alone(text) == phrases


def test_only_what_is_asked_for_is_left_alone() -> None:
    text = 'Bob Smith paid 300 for "it" at me@site.org .'
    assert left_alone("I likes it 😀 .", protect=()) == ["😀"]  # no word that could be misspelt
    assert left_alone(text, protect=()) == ["me@site.org"]  # nobody misspells an address so that we could tell
    assert left_alone(text, protect=("names",)) == ["Bob Smith", "me@site.org"]
    assert left_alone("I do not know it.", protect=("negation",)) == ["not"]
    assert left_alone("We recieve 300 of them.", protect=("names",)) == []
    assert left_alone("We recieve 300 of them.", protect=("names", "numbers")) == ["300"]


def test_the_channel_of_several_sources() -> None:
    """The source costs nothing, or what its strange words do; a change costs its price and the first one more."""
    some, lexicon = mendings("the price is high .", "we like a xqzzy dog .")
    channel = make_channel(some, lexicon, known(), PRICES)

    def cost(number: int, text: str) -> float:
        ids = [lexicon.add(word) for word in text.split()]
        return -float(channel.log_factor(Sentences.from_lists([ids], len(ids) + 1, [number])))

    prices, first = PRICES.replace, PRICES.first * first_of(5)
    assert cost(0, "the price is high .") == 0.0
    assert cost(0, "the prices is high .") == pytest.approx(prices["number"] + first)
    assert cost(0, "the price has high .") == pytest.approx(prices["auxiliary"] + first)
    assert cost(0, "the price high is .") == pytest.approx(PRICES.order + first)
    assert cost(0, "the price is very high .") == pytest.approx(PRICES.insert["linking"] + first)
    assert cost(0, "price is high .") == pytest.approx(PRICES.delete["determiner"] + first)
    assert cost(0, "the elephant is high .") == pytest.approx(prices["word"] + first)
    assert cost(1, "we like a xqzzy dog .") == PRICES.strange
    first = PRICES.first * first_of(6)
    assert cost(1, "we like a small dog .") == pytest.approx(prices["word"] + PRICES.dropped + first)
    assert cost(1, "we like a dog .") == pytest.approx(PRICES.delete["word"] + PRICES.dropped + first)
    assert cost(1, "we like a xqzzy , dog .") == pytest.approx(PRICES.strange + PRICES.insert["comma"] + first)


def test_a_first_change_costs_more_in_a_longer_sentence() -> None:
    factors = [first_of(num) for num in (2, 5, 20, 60)]
    assert factors == sorted(factors)
    assert 0 < factors[0] == first_of(1)
    assert first_of(20) == 1.0  # a usual one
