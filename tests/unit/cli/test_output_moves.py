"""What a move did, in words."""

import pytest

from cgmh.cli.output import describe


@pytest.mark.parametrize(
    ("move", "before", "after", "said"),
    [
        ("replace", "what movie do you like ?", "which movie do you like ?", "replace what with which"),
        ("replace", "a b a", "a c a", "replace b with c"),
        ("insert", "you like most ?", "you like the most ?", "insert the"),
        ("insert", "very good", "very very good", "insert very"),
        ("insert", "good", "good news", "insert news"),
        ("delete", "you like most ?", "you like ?", "delete most"),
        ("delete", "What movie is it ?", "Movie is it ?", "delete What"),  # the new first word got a capital
        ("swap", "call me now please .", "call me please now .", "swap now and please"),
        ("swap", "in June we met .", "We met in June .", "swap in June and we met"),
        ("swap", "a b a c", "a c a b", "swap b and c"),  # around a word that both blocks begin with
        ("replace", "tell us more", "tell us more", "replace"),  # casing only: us and US
        ("replace", "a b c", "x y c", "replace"),  # more than one move does
        ("insert", "a b", "a", "insert"),
        ("swap", "a b c", "a b d", "swap"),
    ],
)
def test_what_changed_is_said(move: str, before: str, after: str, said: str) -> None:
    assert describe(move, before.split(), after.split()) == said
