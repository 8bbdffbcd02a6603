"""Plain mistakes of sampled sentences."""

import pytest

from cgmh.tasks.paraphrase.flaws import num_flaws


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
