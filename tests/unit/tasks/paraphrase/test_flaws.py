"""Plain mistakes of sampled sentences."""

import pytest

from cgmh.tasks.paraphrase.flaws import is_turned_around, num_changed_verbs, num_flaws


@pytest.mark.parametrize(
    ("sentence", "number"),
    [
        ("what is the average salary in India ?", 0),
        ("what is the average average salary ?", 2),  # side by side, and said again
        ("what are the college colleges in Australia ?", 1),
        ("did the the man run ?", 1),
        ("is it an apple or a pear ?", 0),
        ("is it a apple or an pear ?", 2),
        ("an hour at a university , a European and an honest man", 0),
        ("a hour at an university", 2),
        ("an MBA or a MBA", 1),  # who can say; but it is said again
        ("what are some best options ?", 1),
        ("what are the best options ?", 0),
        ("what is the my plan ?", 1),
        ("what is they ?", 1),
        ("what is it and what are they ?", 0),
        ("what is are the rules ?", 1),
    ],
)
def test_mistakes_are_counted(sentence: str, number: int) -> None:
    assert num_flaws(sentence.split()) == number


def test_a_capital_hides_nothing() -> None:
    assert num_flaws("An university is is here .".split()) == 2


@pytest.mark.parametrize(
    ("sentence", "source", "number"),
    [
        ("how do cats sleep ?", "how do cats sleep ?", 0),
        ("how cats sleep ?", "how do cats sleep ?", 1),  # one went
        ("how cats do sleep and can eat ?", "how do cats sleep and eat ?", 0),  # one came
        ("does cats sleep ?", "do cats sleep ?", 1),  # of one thing
        ("where is the cats ?", "where are the cats ?", 1),
        ("where are the cat ?", "where is the cat ?", 1),  # of several
        ("do cats eat bread ?", "can cats eat bread ?", 1),  # another question
        ("Do cats eat bread ?", "Can cats eat bread ?", 1),
        ("could cats eat bread ?", "Can cats eat bread ?", 0),
        ("cats eat bread ?", "Can cats eat bread ?", 2),  # one went, and it opened the question
        ("is sleep good ?", "does sleep good ?", 1),
        ("how do I sleep ?", "how can I sleep ?", 0),  # the same question
        ("why don't cats sleep ?", "why do cats not sleep ?", 0),
        ("I can't sleep .", "I can not sleep .", 0),
        ("what 's sleep ?", "what is sleep ?", 0),
        ("is it the cat of John ?", "is it John 's cat ?", 0),  # whose
    ],
)
def test_small_verbs_that_changed(sentence: str, source: str, number: int) -> None:
    assert num_changed_verbs(sentence.split(), source.split()) == number


@pytest.mark.parametrize(
    ("sentence", "source", "turned"),
    [
        ("how much weight a drone can carry ?", "how much weight can a drone carry ?", True),
        ("how much weight can a drone carry ?", "how much weight can a drone carry ?", False),
        ("how much weight drones do carry ?", "how much weight do drones carry ?", True),
        ("how much can a drone lift ?", "how much weight can the drone carry ?", False),
        ("how much can they carry ?", "how much weight can a drone carry ?", False),  # nothing to compare
        ("a drone carries how much ?", "how much weight can a drone carry ?", False),
        ("what the difference is ?", "what is the difference ?", True),
        ("do you think I can fly ?", "can I fly ?", False),  # a pronoun
        ("if cats sleep , do cats dream ?", "do cats dream if cats sleep ?", False),  # said more than once
        ("which good books are they ?", "which books are good books ?", True),
        ("coffee is better than tea .", "tea is better than coffee .", True),
        ("tea is far better than the coffee .", "tea is better than coffee .", False),
        ("here is the answer .", "the answer is here .", False),  # no question
    ],
)
def test_what_stands_before_its_verb(sentence: str, source: str, turned: bool) -> None:
    assert is_turned_around(sentence.split(), source.split()) == turned
